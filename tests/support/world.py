"""A tenant to act in, made through the product's own doors, with verbs that read as sentences."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

from memory.claims.actions.submit import submit_memory
from memory.claims.commands import SubmitCommand
from memory.claims.models import Artifact
from memory.claims.states import Kind, SubmitVerb
from oml.core.actor import Actor, Channel, Role
from oml.jobs import outbox
from review.actions.serve import serve_item
from review.actions.verdict import VerdictCommand, give_verdict
from review.models import Serve
from review.policy import ReasonCode, VerdictWord
from workareas.actions.keys import GrantSpec, NewPrincipal, add_grant, issue_key
from workareas.actions.nodes import advance_status, create_workarea
from workareas.actions.tenants import provision_tenant
from workareas.authentication import actor_of_key
from workareas.models import Workarea
from workareas.verbs import Capability
from workareas.words import Effect

_numbers = itertools.count(1)

ROLE_OF = {
    "reader": (Role.READER, [Capability.READER]),
    "writer": (Role.WRITER, [Capability.READER, Capability.WRITER]),
    "proposer": (Role.DREAMER, [Capability.READER, Capability.PROPOSE]),
    "reviewer": (Role.DREAMER, [Capability.READER, Capability.REVIEW]),
    "admin": (Role.ADMIN, [Capability.READER, Capability.ADMIN]),
}


@dataclass
class World:
    """One tenant. ``world.writer`` and friends are keys granted on the root; ``world.secret[actor]`` opens HTTP."""

    admin: Actor
    operator: Actor
    nodes: dict[str, Workarea]
    secret: dict[Actor, str] = field(default_factory=dict)

    @classmethod
    def build(cls, slug: str, *, paths: tuple[str, ...] = ("a", "a.team", "ab", "b"), committed: bool = True) -> World:
        made = provision_tenant(slug=slug, name=slug.title())
        world = cls(made.admin, made.operator, {"universe": made.root})
        world.secret = {made.admin: made.admin_secret, made.operator: made.operator_secret}
        for path in paths:
            parent, _, leaf = f"universe.{path}".rpartition(".")
            world.nodes[path] = create_workarea(
                made.admin,
                parent=world.nodes[parent.removeprefix("universe.")].pk if parent != "universe" else made.root.pk,
                leaf=leaf,
            )
            if committed:
                world.nodes[path] = advance_status(made.admin, workarea=world.nodes[path].pk, status="committed")
        world.reader = world.key("reader")
        world.writer = world.key("writer")
        world.writer2 = world.key("writer")
        world.reviewer = world.key("reviewer")
        world.reviewer2 = world.key("reviewer")
        return world

    reader: Actor = field(init=False)
    writer: Actor = field(init=False)
    writer2: Actor = field(init=False)
    reviewer: Actor = field(init=False)
    reviewer2: Actor = field(init=False)

    def key(self, kind: str, *, on: str = "universe", principal: str | None = None) -> Actor:
        """A new key with the usual grants of its kind on a node."""
        role, capabilities = ROLE_OF[kind]
        issued = issue_key(
            self.admin,
            principal=principal or NewPrincipal(f"{kind} {next(_numbers)}"),
            role=role,
            grants=[GrantSpec(self.nodes[on].pk, capability) for capability in capabilities],
        )
        actor = actor_of_key(issued.key.pk, channel=Channel.HTTP)
        self.secret[actor] = issued.secret
        return actor

    def bare_key(self, role: Role) -> Actor:
        """A key of a role with no grant at all."""
        issued = issue_key(self.admin, principal=NewPrincipal(f"bare {next(_numbers)}"), role=role)
        actor = actor_of_key(issued.key.pk, channel=Channel.HTTP)
        self.secret[actor] = issued.secret
        return actor

    def grant(self, actor: Actor, capability: Capability, *, on: str, deny: bool = False) -> None:
        effect = Effect.DENY if deny else Effect.ALLOW
        add_grant(self.admin, key=actor.key_id, spec=GrantSpec(self.nodes[on].pk, capability, effect))

    def deny(self, actor: Actor, capability: Capability, *, on: str) -> None:
        self.grant(actor, capability, on=on, deny=True)

    def submit(
        self, actor: Actor | None = None, *, on: str = "a", text: str = "A fact worth keeping.", **fields: Any
    ) -> str:
        """Submit as an actor (the writer by default) and return the artifact id."""
        return str(self.submitted(actor, on=on, text=text, **fields)["artifact_id"])

    def submitted(
        self, actor: Actor | None = None, *, on: str = "a", text: str = "A fact worth keeping.", **fields: Any
    ) -> dict[str, Any]:
        fields.setdefault("claim_key", f"claim-{next(_numbers)}")
        fields.setdefault("workarea", self.nodes[on].pk)
        return submit_memory(actor or self.writer, command=SubmitCommand(text=text, **fields))

    def learn(self, actor: Actor | None = None, *, sources: list[str], on: str = "a", **fields: Any) -> str:
        return self.submit(
            actor, on=on, verb=SubmitVerb.LEARN, kind=Kind.DERIVED_FACT, derives_from=tuple(sources), **fields
        )

    def scan(self) -> None:
        """Let the worker do everything that waits."""
        outbox.drain_all()

    def serve(self, artifact: str, *, by: Actor | None = None) -> Serve:
        return serve_item(by or self.reviewer, artifact=artifact)

    def judge(
        self, serve: Serve, *, by: Actor | None = None, word: VerdictWord = VerdictWord.RATIFY, **fields: Any
    ) -> dict[str, Any]:
        fields.setdefault("content_digest", serve.content_digest)
        return give_verdict(by or self.reviewer, command=VerdictCommand(serve_id=serve.pk, verdict=word, **fields))

    def ratify(self, artifact: str, *, by: Actor | None = None) -> dict[str, Any]:
        return self.judge(self.serve(artifact, by=by), by=by)

    def reject(self, artifact: str, *, by: Actor | None = None) -> dict[str, Any]:
        return self.judge(
            self.serve(artifact, by=by),
            by=by,
            word=VerdictWord.REJECT,
            reason_code=ReasonCode.WRONG,
            reason="It is wrong.",
        )

    def promoted(self, actor: Actor | None = None, *, by: Actor | None = None, **fields: Any) -> str:
        """Submit, scan and ratify; returns the artifact id."""
        artifact = self.submit(actor, **fields)
        self.scan()
        self.ratify(artifact, by=by)
        return artifact

    def row(self, artifact: str) -> Artifact:
        return Artifact.objects.get(pk=artifact)
