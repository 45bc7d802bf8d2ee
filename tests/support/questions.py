"""What a tenant and its oracle are asked after every act: who is it, may they, and what does each read show.

Some questions go anywhere; most go where the last act was felt, to whoever felt it, in its own words: what a mutation
of the product breaks is seldom broken everywhere.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import transaction

from memory import reads
from memory.claims.commands import MyWorkQuery
from memory.claims.selectors.own_work import my_work
from memory.graph.selectors.graph import GraphQuery
from memory.recall.commands import RecallCommand
from memory.recall.selectors import recall
from oml.core.actor import Actor, Channel
from oml.core.errors import OmlError
from oml.journal.append import EpochMoved, append
from review.selectors.queue import QueueQuery, review_queue
from tests.support.oracle import VERBS, Oracle
from tests.support.world import World
from workareas import access
from workareas.authentication import actor_of_secret
from workareas.events import WorkareaCrewUpdated
from workareas.models import Workarea
from workareas.verbs import Verb

ALL_VERBS = [verb for verbs in VERBS.values() for verb in verbs]
#: How many claims are read one by one in each round; the lists show every one of them anyway.
ONE_BY_ONE = 4


def asked(call: Callable[[], Any]) -> tuple[str, Any]:
    """What a call was refused with and what it answered."""
    try:
        return "", call()
    except OmlError as error:
        return error.code, None


@dataclass
class Felt:
    """Where the last act was felt: at a node, by a key if by one alone, about which text."""

    node: str
    key: str | None = None
    claim: str | None = None
    text: str | None = None


class Questions:
    """``questions.compare()`` asks both and counts the decisions."""

    world: World
    dice: random.Random
    oracle: Oracle
    actors: dict[str, Actor]
    texts: list[str]
    felt: Felt
    #: Of permissions before the last act, and whether that act changed any.
    epoch: int = 0
    changed: bool = False
    decisions: int = 0

    def compare(self) -> None:
        """Every verb at every node for two keys; every read where the act was felt, and now and then anywhere."""
        anybody, anywhere = self.dice.choice(list(self.actors)), self.dice.choice(list(self.oracle.nodes))
        here = self.felt.node
        readers = [key for key in self.actors if "reader" in self.oracle.holds(key, here)]
        concerned = self.felt.key or self.dice.choice(readers or [anybody])
        for key in (anybody, concerned):
            self._authorizer(key)
            self._identity(key)
        self._late_write()
        if self.dice.random() < 0.3:
            self._reads(anybody, anywhere)
        self._reads(concerned, here)
        if self.felt.key and readers:  # what one key may no longer see, or does again, and nobody else was touched
            self._reads(self.dice.choice(readers), here)

    def _identity(self, key: str) -> None:
        actor = self.actors[key]
        code, found = asked(lambda: actor_of_secret(self.world.secret[actor], channel=Channel.HTTP))
        self._same(code, "" if self.oracle.authenticates(key) else "auth.invalid_key")
        if found:
            self._same((found.key_id, found.principal_id, str(found.role)), (key, actor.principal_id, str(actor.role)))
        self.decisions += 1

    def _authorizer(self, key: str) -> None:
        known = access.load(self.actors[key])
        nodes = {node.pk: node for node in Workarea.objects.filter(tenant_id=self.world.admin.tenant_id)}
        assert nodes.keys() == self.oracle.nodes.keys()
        for name, node in nodes.items():
            for verb in ALL_VERBS:
                decision = known.decide(Verb(verb), node, name)
                assert decision.code == self.oracle.decide(key, verb, name), (key, verb, name)
        self.decisions += len(nodes) * len(ALL_VERBS)

    def _late_write(self) -> None:
        """Whatever changes permissions raises their epoch; a write decided before that does not reach the journal."""
        known = access.load(self.world.admin)
        assert known.epoch > self.epoch or not self.changed, "permissions changed and their epoch did not"
        event = WorkareaCrewUpdated(workarea_id=self.felt.node, workarea=self.felt.node, crew_digest="")
        try:
            with transaction.atomic():
                append(self.world.admin, [event], epoch=known.epoch - 1)
        except EpochMoved:
            self.decisions += 1
        else:
            raise AssertionError("a write decided at an old epoch was taken")

    def _reads(self, key: str, scope: str) -> None:
        actor, oracle = self.actors[key], self.oracle
        refusal = oracle.decide(key, "read", scope)
        self._recall(key, scope, refusal)
        code, body = asked(lambda: reads.scoped_graph(actor, query=GraphQuery(scope=scope, limit=500)))
        self._same(code, refusal)
        if body:
            shown = ids(body["claims"])
            self._same(shown, oracle.in_scope(key, scope))
            self._same({(edge["from"], edge["to"]) for edge in body["edges"]}, oracle.edges(key, shown))
        code, body = asked(lambda: reads.tail(actor, scope=scope, after_seq=0, limit=500))
        self._same(code, refusal)
        if body:
            told = [(event["event_type"], next(iter(event["subject"].values()))) for event in body["events"]]
            self._same(told, oracle.tail(key, scope))
        code, body = asked(lambda: reads.workarea(actor, reference=scope))
        self._same(code, refusal)
        if body:
            self._same({child["id"] for child in body["children"]}, oracle.children(key, scope))
            self._same(body["my_effective_verbs"], oracle.verbs(key, scope))
            parent = oracle.nodes[scope].parent
            readable = parent is not None and "reader" in oracle.holds(key, parent)
            self._same(body["parent"], parent if readable else None)
        some = self.dice.sample(list(oracle.claims), min(ONE_BY_ONE, len(oracle.claims)))
        for claim in {*some, *([self.felt.claim] if self.felt.claim else [])}:
            code, _ = asked(partial(reads.artifact, actor, reference=claim))
            unseen = "access.verb_ceiling" if actor.role == "operator" else "access.not_found"
            self._same(code, "" if oracle.readable(key, claim) else unseen)
        code, body = asked(lambda: my_work(actor, query=MyWorkQuery(limit=100)))
        self._same(code, "access.verb_ceiling" if actor.role == "operator" else "")
        if body:
            self._same([(item["artifact_id"], item["state"]) for item in body["items"]], oracle.my_work(key))
        code, body = asked(lambda: review_queue(actor, query=QueueQuery(limit=100)))
        self._same(code, "" if actor.role == "dreamer" else "access.verb_ceiling")
        if body:
            self._same({item["artifact_id"]: item["may_judge"] for item in body["items"]}, oracle.queue(key))
        # A claim is, or is not, in each of the five lists; some are read alone.
        self.decisions += 5 * len(oracle.claims) + len(some) + len(oracle.told)

    def _recall(self, key: str, scope: str, refusal: str) -> None:
        """As many as there are and no more, about what the act touched: whatever should be gone takes a place away."""
        steering, hits = self.oracle.recall(key, scope)
        query = self.felt.text or self.dice.choice(self.texts)
        command = RecallCommand(query=query, scope=scope, k=max(1, min(50, len(hits))))
        code, body = asked(lambda: recall(self.actors[key], command=command))
        self._same(code, refusal)
        if body:
            self._same((ids(body["steering"]), ids(body["hits"])), (steering, hits))

    def _same(self, found: Any, expected: Any) -> None:
        assert found == expected, f"the oracle says {expected!r}, the product {found!r}"


def ids(rows: list[dict[str, Any]]) -> set[str]:
    return {row["artifact_id"] for row in rows}
