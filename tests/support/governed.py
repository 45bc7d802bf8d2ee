"""A tenant with one of everything that administration is about, and every administrative route once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from oml.core.actor import Actor
from tests.support.api import Api
from tests.support.world import World
from workareas.actions.bans import add_ban
from workareas.actions.keys import GrantSpec, add_grant
from workareas.actions.simulations import create_simulation
from workareas.verbs import Capability


@dataclass
class Governed:
    """``world`` with a promoted claim, a key, a grant, a ban and a simulation to act on."""

    world: World
    claim: str = field(init=False)
    key: str = field(init=False)
    grant: str = field(init=False)
    ban: str = field(init=False)
    simulation: str = field(init=False)

    def __post_init__(self) -> None:
        world = self.world
        self.claim = world.promoted()
        target = world.key("writer", on="b")
        self.key = target.key_id
        spec = GrantSpec(world.nodes["a"].pk, Capability.READER)
        self.grant = add_grant(world.admin, key=self.key, spec=spec).pk
        self.ban = add_ban(world.admin, kind="key", value=world.writer2.key_id, reason=None).pk
        self.simulation = create_simulation(world.admin, name="drill", audience=[self.key]).pk

    @property
    def tenant_id(self) -> str:
        return self.world.admin.tenant_id


@dataclass(frozen=True)
class Route:
    """One administrative route, as (method, path, body) made from a tenant's things.

    Attributes:
        unknown: the same request naming a thing that does not exist, with that name.
        at_root: whether it needs the root, so that an administrator of a subtree cannot.
        hides: whether a mere reader is told that the thing does not exist.
    """

    name: str
    request: Callable[[Governed], tuple[str, str, dict[str, Any] | None]]
    subject: Callable[[Governed], str] | None = None
    at_root: bool = False
    hides: bool = False


def _wa(governed: Governed) -> str:
    return governed.world.nodes["a"].pk


ROUTES = [
    Route("workarea_create", lambda g: ("POST", "workareas", {"parent": _wa(g), "leaf": "new"}), _wa),
    Route("workarea_status", lambda g: ("POST", f"workareas/{_wa(g)}/status", {"status": "validated"}), _wa),
    Route(
        "workarea_reassign",
        lambda g: ("POST", f"workareas/{_wa(g)}/reassign", {"parent": g.world.nodes["b"].pk, "reason": "merged"}),
        _wa,
    ),
    Route("workarea_crew", lambda g: ("POST", f"workareas/{_wa(g)}/crew", {"name": "metals"}), _wa),
    Route("workarea_policy", lambda g: ("POST", f"workareas/{_wa(g)}/policy", {"min_verdicts": 2}), _wa),
    Route(
        "key_issue",
        lambda g: (
            "POST",
            "keys",
            {
                "principal": {"name": "New agent"},
                "role": "reader",
                "grants": [{"workarea": _wa(g), "capability": "reader"}],
            },
        ),
        _wa,
    ),
    Route("key_list", lambda g: ("GET", "keys", None), at_root=True),
    Route("key_rotate", lambda g: ("POST", f"keys/{g.key}/rotate", {}), lambda g: g.key, at_root=True),
    Route("key_revoke", lambda g: ("POST", f"keys/{g.key}/revoke", {"reason": "lost"}), lambda g: g.key, at_root=True),
    Route(
        "grant_add",
        lambda g: (
            "POST",
            "grants",
            {"key": g.key, "workarea": _wa(g), "capability": "writer", "effect": "deny", "reason": "leave"},
        ),
        _wa,
    ),
    Route("grant_remove", lambda g: ("DELETE", f"grants/{g.grant}", None), lambda g: g.grant, hides=True),
    Route(
        "access_explain",
        lambda g: ("GET", f"access/explain?key={g.key}&verb=remember&workarea={_wa(g)}", None),
        _wa,
    ),
    Route(
        "ban_add",
        lambda g: ("POST", "bans", {"kind": "artifact", "value": g.claim, "reason": "poisoned"}),
        at_root=True,
    ),
    Route("ban_list", lambda g: ("GET", "bans", None), at_root=True),
    Route("ban_remove", lambda g: ("DELETE", f"bans/{g.ban}", None), lambda g: g.ban, at_root=True),
    Route(
        "simulation_create",
        lambda g: ("POST", "simulations", {"name": "what if", "audience": [g.key]}),
        lambda g: g.key,
        at_root=True,
    ),
    Route(
        "simulation_audience",
        lambda g: ("POST", f"simulations/{g.simulation}/audience", {"remove": [g.key]}),
        lambda g: g.simulation,
        at_root=True,
    ),
    Route(
        "simulation_close",
        lambda g: ("POST", f"simulations/{g.simulation}/close", {}),
        lambda g: g.simulation,
        at_root=True,
    ),
    Route("memory_demote", lambda g: ("POST", f"memories/{g.claim}/demote", {"reason": "outdated"}), lambda g: g.claim),
    Route("memory_erase", lambda g: ("POST", f"memories/{g.claim}/erase", {"reason": "asked"}), lambda g: g.claim),
]


def call(api: Api, request: tuple[str, str, dict[str, Any] | None], secret: str | None) -> Any:
    """Send one of :data:`ROUTES`' requests."""
    method, path, body = request
    if method == "POST":
        return api.post(path, body, key=secret)
    return api.delete(path, key=secret) if method == "DELETE" else api.get(path, key=secret)


def ask(api: Api, route: Route, governed: Governed, by: Actor) -> Any:
    """Send a route's request as a key of the tenant."""
    return call(api, route.request(governed), governed.world.secret[by])


def named(request: tuple[str, str, dict[str, Any] | None], old: str, new: str) -> Any:
    """The same request with another id in the place of one."""
    return _swap(request, old, new)


def _swap(value: Any, old: str, new: str) -> Any:
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, dict):
        return {name: _swap(inner, old, new) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_swap(inner, old, new) for inner in value)
    return value
