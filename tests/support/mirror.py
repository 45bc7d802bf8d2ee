"""A tenant and its oracle side by side: every act done to both, every question put to both."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from typing import Any

from memory import reads
from memory.claims.actions.lifecycle import demote_memory, erase_memory
from memory.claims.actions.submit import submit_memory
from memory.claims.commands import MyWorkQuery, SubmitCommand
from memory.claims.selectors.own_work import my_work
from memory.claims.states import Kind, SubmitVerb
from memory.graph.selectors.graph import GraphQuery
from memory.recall.commands import RecallCommand
from memory.recall.selectors import recall
from oml.core.actor import Actor
from oml.core.errors import OmlError
from review.selectors.queue import QueueQuery, review_queue
from tests.support.oracle import CEILING, VERBS, Claim, Key, Node, Oracle
from tests.support.world import World
from workareas import access
from workareas.actions.bans import add_ban, remove_ban
from workareas.actions.keys import GrantSpec, add_grant, remove_grant, revoke_key
from workareas.actions.nodes import advance_status, create_workarea
from workareas.actions.reassign import reassign
from workareas.actions.simulations import change_audience, close_simulation, create_simulation
from workareas.models import Grant, Workarea
from workareas.verbs import Capability, Verb
from workareas.words import Effect

LEAVES = ("a", "ab", "a-b", "b", "team")
TEXTS = [f"Accra Metals quote number {number}, valid until Friday." for number in range(8)]
ALL_VERBS = [verb for verbs in VERBS.values() for verb in verbs]


def asked(call: Callable[[], Any]) -> tuple[str, Any]:
    """What a call was refused with and what it answered."""
    try:
        return "", call()
    except OmlError as error:
        return error.code, None


class Mirror:
    """``mirror.act()`` does one random thing to both; ``mirror.compare()`` asks both and counts the decisions."""

    def __init__(self, slug: str, seed: int) -> None:
        self.dice = random.Random(seed)
        self.world = world = World.build(slug, paths=("a", "a.team", "ab", "b"), committed=False)
        actors = [world.admin, world.operator, world.reader, world.writer, world.writer2, world.reviewer]
        actors += [world.key("admin", on="a"), world.key("reader", on="a"), world.key("writer", on="ab")]
        actors += [world.key("reviewer", on="b"), world.key("reviewer", principal=world.writer.principal_id)]
        self.actors: dict[str, Actor] = {actor.key_id: actor for actor in actors}
        self.admins = [world.admin, world.admin, world.admin, actors[6]]
        self.oracle = Oracle()
        for node in Workarea.objects.filter(tenant_id=world.admin.tenant_id).order_by("pk"):
            self._know(node)
        for actor in actors:
            self.oracle.keys[actor.key_id] = Key(str(actor.role), actor.principal_id)
        for grant in Grant.objects.filter(key__in=self.actors):
            self._granted(grant)
        self.bans: dict[str, tuple[str, str]] = {}
        inside = [world.writer, world.reviewer, world.reader, actors[7]]
        simulation = create_simulation(world.admin, name="drill", audience=[actor.key_id for actor in inside])
        self.oracle.fences[simulation.pk] = {actor.key_id for actor in inside}
        self.focus = self.root()
        self.decisions = 0
        for _ in range(12):  # a day begins with something to ask about
            for one in (self.submit, self.ratify):
                self._same(*one()[::-1])

    # --- acts ---------------------------------------------------------------------------------------

    def act(self) -> None:
        """One random act; both must take it alike."""
        weights = {
            self.submit: 9,
            self.ratify: 9,
            self.grant: 3,
            self.remove: 2,
            self.create: 2,
            self.move: 3,
            self.advance: 1,
            self.demote: 1,
            self.erase: 1,
            self.ban: 0.7,
            self.lift: 2,
            self.simulate: 1,
            self.change_audience: 1,
            self.close: 0.3,
            self.revoke: 0.1,
        }
        (one,) = self.dice.choices(list(weights), list(weights.values()))
        expected, found = one()
        assert found == expected, f"{one.__name__}: the oracle says {expected!r}, the product {found!r}"
        self.decisions += 1

    def submit(self) -> tuple[str, str]:
        by, node, text = self.mostly(self.world.writer), self.node(), self.dice.choice(TEXTS)
        promoted = [name for name, one in self.oracle.claims.items() if one.state == "promoted"]
        sources = tuple(self.dice.sample(promoted, min(len(promoted), self.dice.choice([0, 0, 1, 2]))))
        simulations = {self.oracle.claims[source].simulation for source in sources} - {None}
        simulation = self.dice.choice([None, None, *self.oracle.fences, *simulations, *simulations])
        learn, kind = self.dice.random() < 0.3, self.dice.choice(["memory", "memory", "steering"])
        kind = "derived_fact" if learn else kind
        banned = ("digest", digest(text)) in self.oracle.bans
        expected = self.oracle.submit(by.key_id, node, sources, simulation, learn, banned)
        command = SubmitCommand(
            workarea=node,
            claim_key=f"c-{len(self.oracle.claims)}-{self.decisions}",
            text=text,
            verb=SubmitVerb.LEARN if learn else SubmitVerb.REMEMBER,
            kind=Kind(kind),
            derives_from=sources,
            simulation_id=simulation,
        )
        found, body = asked(lambda: submit_memory(by, command=command))
        if not found:
            self.world.scan()
            self.oracle.claims[body["artifact_id"]] = Claim(node, by.key_id, kind, sources, simulation)
        return expected, found

    def ratify(self) -> tuple[str, str]:
        by, claim = self.mostly(self.world.reviewer), self.claim("held")
        banned = claim in self.oracle.claims and self._text_banned(claim)
        self._look_at(claim)
        expected = self.oracle.ratify(by.key_id, claim, text_banned=banned)
        return expected, asked(lambda: self.world.ratify(claim, by=by))[0]

    def grant(self) -> tuple[str, str]:
        by, node, key = self.dice.choice(self.admins), self.node(), self.dice.choice(list(self.actors))
        capability, allow = self.dice.choice(list(VERBS)), self.dice.random() < 0.7
        expected = self.oracle.decide(by.key_id, "grant", node)
        if not expected and allow and capability not in CEILING[self.oracle.keys[key].role]:
            expected = "request.validation"
        spec = GrantSpec(node, Capability(capability), Effect.ALLOW if allow else Effect.DENY)
        if key == self.world.admin.key_id:  # somebody must be left to act
            spec = GrantSpec(node, Capability.READER, Effect.ALLOW)
            expected = self.oracle.decide(by.key_id, "grant", node)
        found, grant = asked(lambda: add_grant(by, key=key, spec=spec))
        if grant is not None:
            self._granted(grant)
        return expected, found

    def remove(self) -> tuple[str, str]:
        by = self.dice.choice(self.admins)
        mine = [name for name, grant in self.oracle.grants.items() if grant[0] != self.world.admin.key_id]
        grant = self.dice.choice(mine or ["gr_none"])
        node = self.oracle.grants[grant][1] if mine else None
        expected = "" if node and "admin" in self.oracle.holds(by.key_id, node) else "access.not_found"
        found, _ = asked(lambda: remove_grant(by, grant=grant))
        if not found:
            del self.oracle.grants[grant]
        return expected, found

    def revoke(self) -> tuple[str, str]:
        by = self.dice.choice(self.admins)
        key = self.dice.choice([name for name in self.actors if name != self.world.admin.key_id])
        expected = self.oracle.decide(by.key_id, "key_issue", self.root())
        found, _ = asked(lambda: revoke_key(by, key=key))
        if not found:
            self.oracle.keys[key].revoked = True
        return expected, found

    def create(self) -> tuple[str, str]:
        by, parent, leaf = self.dice.choice(self.admins), self.node(), self.dice.choice(LEAVES)
        expected = self.oracle.create(by.key_id, parent, leaf)
        found, node = asked(lambda: create_workarea(by, parent=parent, leaf=leaf))
        if node is not None:
            self._know(node)
        return expected, found

    def move(self) -> tuple[str, str]:
        by, node, parent = self.dice.choice(self.admins), self.node(), self.node()
        full = [one.node for one in self.oracle.claims.values() if one.state == "promoted"]
        if full and self.dice.random() < 0.7:  # a move is only worth asking about where something moves along
            node = self.dice.choice(self.oracle.line(self.dice.choice(full)))
        self.focus = parent
        return self.oracle.move(by.key_id, node, parent), asked(lambda: reassign(by, workarea=node, parent=parent))[0]

    def advance(self) -> tuple[str, str]:
        by, node = self.dice.choice(self.admins), self.node()
        following = {"development": "committed"}.get(self.oracle.nodes[node].status, "validated")
        expected = self.oracle.advance(by.key_id, node)
        return expected, asked(lambda: advance_status(by, workarea=node, status=following))[0]

    def demote(self) -> tuple[str, str]:
        by, claim = self.anybody(admin=True), self.claim("promoted")
        self._look_at(claim)
        expected = self.oracle.demote(by.key_id, claim)
        return expected, asked(lambda: demote_memory(by, artifact=claim, reason="old"))[0]

    def erase(self) -> tuple[str, str]:
        by, claim = self.anybody(admin=True), self.claim()
        self._look_at(claim)
        expected = self.oracle.erase(by.key_id, claim)
        return expected, asked(lambda: erase_memory(by, artifact=claim, reason="asked"))[0]

    def ban(self) -> tuple[str, str]:
        by, key = self.dice.choice(self.admins), self.dice.choice(list(self.actors.values()))
        values = {"key": key.key_id, "principal": key.principal_id, "digest": digest(self.dice.choice(TEXTS))}
        if self.oracle.claims:
            values["artifact"] = self.dice.choice(list(self.oracle.claims))
        kind = self.dice.choice(list(values))
        expected = self.oracle.decide(by.key_id, "ban", self.root())
        found, ban = asked(lambda: add_ban(by, kind=kind, value=values[kind], reason=None))
        if ban is not None:
            self.bans[ban.pk] = (kind, values[kind])
            self.oracle.bans.add((kind, values[kind]))
        return expected, found

    def lift(self) -> tuple[str, str]:
        ban = self.dice.choice([*self.bans, "ban_none"])
        found, _ = asked(lambda: remove_ban(self.world.admin, ban=ban))
        expected = "" if ban in self.bans else "access.not_found"
        if not found:
            self.oracle.bans.discard(self.bans.pop(ban))
        return expected, found

    def simulate(self) -> tuple[str, str]:
        by, audience = self.dice.choice(self.admins), self.dice.sample(list(self.actors), 5)
        expected = self.oracle.decide(by.key_id, "simulate", self.root())
        found, made = asked(lambda: create_simulation(by, name="drill", audience=audience))
        if made is not None:
            self.oracle.fences[made.pk] = set(audience)
        return expected, found

    def change_audience(self) -> tuple[str, str]:
        simulation = self.dice.choice([*self.oracle.fences, "sim_none"])
        add, remove = self.dice.sample(list(self.actors), 1), self.dice.sample(list(self.actors), 1)
        found, _ = asked(lambda: change_audience(self.world.admin, simulation=simulation, add=add, remove=remove))
        if not found:
            self.oracle.fences[simulation] = (self.oracle.fences[simulation] | set(add)) - set(remove)
        return ("" if simulation in self.oracle.fences else "access.not_found"), found

    def close(self) -> tuple[str, str]:
        simulation = self.dice.choice([*self.oracle.fences, "sim_none"])
        expected = "" if simulation in self.oracle.fences else "access.not_found"
        found, _ = asked(lambda: close_simulation(self.world.admin, simulation=simulation))
        self.oracle.fences.pop(simulation, None)
        return expected, found

    # --- questions ----------------------------------------------------------------------------------

    def compare(self, *, keys: int = 2) -> None:
        """Every verb at every node for some keys; every read endpoint for one of them anywhere, and for one who may
        read it at the place that the last act touched."""
        some = self.dice.sample(list(self.actors), keys)
        for key in some:
            self._authorizer(key)
        self._reads(some[0], self.node())
        readers = [key for key in self.actors if "reader" in self.oracle.holds(key, self.focus)]
        if readers:
            self._reads(self.dice.choice(readers), self.focus)

    def _authorizer(self, key: str) -> None:
        known = access.load(self.actors[key])
        nodes = {node.pk: node for node in Workarea.objects.filter(tenant_id=self.world.admin.tenant_id)}
        assert nodes.keys() == self.oracle.nodes.keys()
        for name, node in nodes.items():
            for verb in ALL_VERBS:
                decision = known.decide(Verb(verb), node, name)
                assert decision.code == self.oracle.decide(key, verb, name), (key, verb, name)
        self.decisions += len(nodes) * len(ALL_VERBS)

    def _reads(self, key: str, scope: str) -> None:
        actor, oracle = self.actors[key], self.oracle
        refusal = oracle.decide(key, "read", scope)
        command = RecallCommand(query="Accra Metals quote valid until Friday", scope=scope, k=50)
        code, body = asked(lambda: recall(actor, command=command))
        self._same(code, refusal)
        if body:
            self._same(tuple(_ids(body[part]) for part in ("steering", "hits")), oracle.recall(key, scope))
        code, body = asked(lambda: reads.scoped_graph(actor, query=GraphQuery(scope=scope, limit=500)))
        self._same(code, refusal)
        if body:
            shown = _ids(body["claims"])
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
        for claim in oracle.claims:
            code, _ = asked(lambda claim=claim: reads.artifact(actor, reference=claim))
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
        self.decisions += 6 * len(oracle.claims) + len(oracle.told)

    def _same(self, found: Any, expected: Any) -> None:
        assert found == expected, f"the oracle says {expected!r}, the product {found!r}"

    # --- parts --------------------------------------------------------------------------------------

    def _look_at(self, claim: str) -> None:
        if claim in self.oracle.claims:
            self.focus = self.oracle.claims[claim].node

    def root(self) -> str:
        return self.world.nodes["universe"].pk

    def node(self) -> str:
        return self.dice.choice(list(self.oracle.nodes))

    def claim(self, state: str | None = None) -> str:
        mine = [name for name, one in self.oracle.claims.items() if one.state == state and self.dice.random() < 0.9]
        return self.dice.choice(mine or [*self.oracle.claims, "art_none"])

    def mostly(self, actor: Actor) -> Actor:
        """This key, so that enough comes about to ask about; now and then any other."""
        return actor if self.dice.random() < 0.85 else self.anybody()

    def anybody(self, *, admin: bool = False) -> Actor:
        return self.dice.choice(self.admins if admin and self.dice.random() < 0.8 else list(self.actors.values()))

    def _know(self, node: Workarea) -> None:
        self.oracle.nodes[node.pk] = Node(node.parent_id, node.leaf)
        self.oracle.told.append(("workarea.created", node.pk, node.pk, None))

    def _granted(self, grant: Grant) -> None:
        fields = (grant.key_id, grant.workarea_id, str(grant.capability), grant.effect == Effect.ALLOW)
        self.oracle.grants[grant.pk] = fields

    def _text_banned(self, claim: str) -> bool:
        return ("digest", str(self.world.row(claim).text_sha256)) in self.oracle.bans


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _ids(rows: list[dict[str, Any]]) -> set[str]:
    return {row["artifact_id"] for row in rows}
