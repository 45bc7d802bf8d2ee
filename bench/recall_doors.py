"""The product's own doors, as a bench goes through them: a tenant, submissions, the worker, verdicts, recall."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory.api import operations
from memory.recall import statistics
from memory.recall.commands import RecallCommand
from memory.recall.selectors import recall
from oml.core.actor import Actor, Channel, Role
from oml.jobs import outbox
from review.actions.serve import serve_item
from review.actions.verdict import VerdictCommand, give_verdict
from review.policy import VerdictWord
from workareas.actions.keys import GrantSpec, NewPrincipal, issue_key
from workareas.actions.nodes import create_workarea
from workareas.actions.tenants import Provisioned, provision_tenant
from workareas.authentication import actor_of_key
from workareas.verbs import Capability
from workareas.words import PrincipalKind

Tick = Callable[[], None]


@dataclass
class Place:
    """One tenant with an author, a reviewer who is somebody else, and a reader."""

    made: Provisioned
    author: Actor
    reviewer: Actor
    reader: Actor

    @classmethod
    def build(cls, slug: str) -> Place:
        made = provision_tenant(slug=slug, name=slug)

        def key(name: str, role: Role, *capabilities: Capability) -> Actor:
            issued = issue_key(
                made.admin,
                principal=NewPrincipal(name, PrincipalKind.AGENT),
                role=role,
                grants=[GrantSpec(made.root.pk, capability) for capability in capabilities],
            )
            return actor_of_key(issued.key.pk, channel=Channel.CLI)

        return cls(
            made,
            author=key("author", Role.WRITER, Capability.READER, Capability.WRITER),
            reviewer=key("reviewer", Role.DREAMER, Capability.READER, Capability.REVIEW),
            reader=key("reader", Role.READER, Capability.READER),
        )

    def workarea(self, leaf: str) -> str:
        """A node of its own below the root; returns its path."""
        return create_workarea(self.made.admin, parent=self.made.root.pk, leaf=leaf).path

    def load(self, workarea: str, submissions: Iterable[dict[str, Any]], tick: Tick) -> dict[str, str]:
        """Submit, scan, serve and ratify; returns artifact ids by claim key.

        Args:
            workarea: where to.
            submissions: fields of ``POST /v1/memories``.
            tick: called twice a memory: when it is submitted and when it is ratified.
        """
        ids: dict[str, str] = {}
        for fields in submissions:
            body = operations.submit(self.author, {**fields, "workarea": workarea}).body
            ids[body["claim_key"]] = body["artifact_id"]
            tick()
        outbox.drain_all(ceiling=1_000_000)
        for artifact in ids.values():
            serve = serve_item(self.reviewer, artifact=artifact)
            give_verdict(
                self.reviewer,
                command=VerdictCommand(serve.pk, content_digest=serve.content_digest, verdict=VerdictWord.RATIFY),
            )
            tick()
        return ids

    def settle(self) -> None:
        """What the worker does every few minutes."""
        statistics.refresh_changed()

    def ask(self, query: str, scope: str, k: int = 10) -> list[str]:
        """Artifact ids that the product's recall returns, best first."""
        answer = recall(self.reader, command=RecallCommand(query=query, scope=scope, k=k))
        return [hit["artifact_id"] for hit in answer["hits"]]


@dataclass
class Figures:
    """Recall at 1, 5, 10 (share of the relevant rows found), MRR and nDCG over the first ten."""

    at1: float
    at5: float
    at10: float
    mrr: float
    ndcg: float
    questions: int

    @classmethod
    def of(cls, answers: Sequence[tuple[Sequence[str], Mapping[str, float]]]) -> Figures:
        """From ``(returned ids, grade by relevant id)`` per question."""
        count = len(answers)

        def share(k: int) -> float:
            return sum(len(set(got[:k]) & relevant.keys()) / len(relevant) for got, relevant in answers) / count

        reciprocal = sum(
            next((1 / rank for rank, name in enumerate(got[:10], 1) if name in relevant), 0.0)
            for got, relevant in answers
        )
        gain = sum(
            _gain([relevant.get(name, 0.0) for name in got[:10]]) / _gain(sorted(relevant.values(), reverse=True)[:10])
            for got, relevant in answers
        )
        return cls(share(1), share(5), share(10), reciprocal / count, gain / count, count)

    def cells(self) -> list[str]:
        return [f"{value:.3f}" for value in (self.at1, self.at5, self.at10, self.mrr, self.ndcg)]


def _gain(grades: Sequence[float]) -> float:
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))
