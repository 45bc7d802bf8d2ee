"""The demo tenant of ``make run``: who is there, where, with which keys (design: shapes, The demo tenant).

It stands at the top of the house because it uses every room's doors and none of its tables. All of it is one
transaction: there is a whole demo tenant or none.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Any

from oml.core.actor import Actor, Channel, Role
from review.demo_agents import do_agent_work
from review.demo_work import Cast, do_sample_work
from workareas.actions.keys import GrantSpec, NewPrincipal, enrol_human, issue_key, set_human_access
from workareas.actions.nodes import Crew, advance_status, allow_relaxed_review, create_workarea
from workareas.actions.tenants import ROOT, Provisioned, provision_tenant
from workareas.authentication import actor_of_key
from workareas.models import Principal
from workareas.verbs import Capability
from workareas.words import PrincipalKind

SLUG = "demo"

_KEYS: dict[str, tuple[Role, tuple[Capability, ...], str]] = {
    "reader": (Role.READER, (Capability.READER,), "Desk reader"),
    "writer": (Role.WRITER, (Capability.READER, Capability.WRITER), "Metals crew writer"),
    "writer2": (Role.WRITER, (Capability.READER, Capability.WRITER), "Logistics crew writer"),
    "proposer": (Role.DREAMER, (Capability.READER, Capability.PROPOSE), "Edge proposer"),
    "reviewer": (Role.DREAMER, (Capability.READER, Capability.REVIEW), "Review service"),
    "reviewer2": (Role.DREAMER, (Capability.READER, Capability.REVIEW), "Second review service"),
}
_HUMANS: dict[str, tuple[str, Role, tuple[str, ...]]] = {
    "reviewer": ("Rosa Reviewer", Role.DREAMER, ("read", "review", "persistence_read")),
    "reviewer2": ("Ravi Reviewer", Role.DREAMER, ("read", "review", "persistence_read")),
    "admin": ("Ada Admin", Role.ADMIN, ("read", "administer", "persistence_read", "persistence_delete")),
}


@dataclass(slots=True)
class Demo:
    """What ``demo.json`` says of the tenant; the secrets exist nowhere else."""

    tenant: str
    workareas: dict[str, str] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    key_ids: dict[str, str] = field(default_factory=dict)
    humans: dict[str, dict[str, str]] = field(default_factory=dict)
    agents: dict[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return {
            "tenant": self.tenant,
            "workareas": self.workareas,
            "keys": self.keys,
            "key_ids": self.key_ids,
            "humans": self.humans,
            "agents": self.agents,
        }


def build_demo() -> Demo:
    """Create the demo tenant with its people, places and sample work."""
    provisioned = provision_tenant(slug=SLUG, name="Demo organisation")
    demo = Demo(tenant=provisioned.tenant.pk)
    admin = provisioned.admin
    _places(demo, provisioned)
    demo.keys |= {"admin": provisioned.admin_secret, "operator": provisioned.operator_secret}
    demo.key_ids |= {"admin": admin.key_id, "operator": provisioned.operator.key_id}
    actors = {name: _key(demo, admin, name) for name in _KEYS}
    people = {name: _human(demo, admin, name) for name in _HUMANS}
    do_sample_work(
        Cast(
            writer=actors["writer"],
            writer2=actors["writer2"],
            reviewer=actors["reviewer"],
            reviewers_agent=_agent_of(admin, people["reviewer"]),
        )
    )
    demo.agents = do_agent_work(admin, actors["writer"])
    return demo


def _places(demo: Demo, provisioned: Provisioned) -> None:
    admin = provisioned.admin
    crew = Crew("metals-crew", "https://crews.example.com/metals/charter.md", "crewd.example.com")
    procurement = create_workarea(admin, parent=ROOT, leaf="procurement")
    metals = create_workarea(admin, parent=procurement.pk, leaf="metals-crew", crew=crew)
    playground = create_workarea(admin, parent=ROOT, leaf="playground")
    for node in (procurement, metals):
        advance_status(admin, workarea=node.pk, status="committed")
    allow_relaxed_review(admin, allowed=True)
    demo.workareas = {node.path: node.pk for node in (provisioned.root, procurement, metals, playground)}


def _key(demo: Demo, admin: Actor, name: str) -> Actor:
    role, capabilities, title = _KEYS[name]
    issued = issue_key(
        admin,
        principal=NewPrincipal(title, PrincipalKind.AGENT),
        role=role,
        grants=[GrantSpec(ROOT, capability) for capability in capabilities],
    )
    demo.keys[name] = issued.secret
    demo.key_ids[name] = issued.key.pk
    return actor_of_key(issued.key.pk, channel=Channel.CLI)


def _human(demo: Demo, admin: Actor, name: str) -> Principal:
    title, role, permissions = _HUMANS[name]
    password = "-".join(secrets.token_hex(3) for _ in range(3))
    key = enrol_human(admin, username=name, name=title, password=password, role=role, staff=role is Role.ADMIN)
    for permission in permissions:
        set_human_access(admin, holder=key.principal, workarea=ROOT, permission=permission)
    demo.humans[name] = {"username": name, "password": password}
    return key.principal


def _agent_of(admin: Actor, human: Principal) -> Actor:
    """A reviewer's own writing key: what it submits, its human may not judge (R2 by principal)."""
    issued = issue_key(
        admin,
        principal=human.pk,
        role=Role.WRITER,
        grants=[GrantSpec(ROOT, Capability.READER), GrantSpec(ROOT, Capability.WRITER)],
    )
    return actor_of_key(issued.key.pk, channel=Channel.CLI)
