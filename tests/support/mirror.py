"""A tenant and its oracle side by side: every act done to both, every question put to both."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from datetime import timedelta
from functools import partial

from memory.claims.actions.lifecycle import demote_memory, erase_memory
from memory.claims.actions.submit import submit_memory
from memory.claims.commands import SubmitCommand
from memory.claims.states import Kind, SubmitVerb
from oml.core.actor import Actor
from oml.core.clock import now
from tests.support.oracle import CEILING, VERBS, Claim, Key, Node, Oracle
from tests.support.questions import Felt, Questions, asked
from tests.support.world import World
from workareas import access
from workareas.actions.bans import add_ban, remove_ban
from workareas.actions.keys import GrantSpec, add_grant, remove_grant, revoke_key
from workareas.actions.nodes import advance_status, create_workarea
from workareas.actions.reassign import reassign
from workareas.actions.simulations import change_audience, close_simulation, create_simulation
from workareas.models import Grant, Workarea
from workareas.models import Key as KeyRow
from workareas.verbs import Capability
from workareas.words import Effect

LEAVES = ("a", "ab", "a-b", "b", "team")
TEXTS = [f"Accra Metals quote number {number}, valid until Friday." for number in range(8)]


Act = Callable[[], tuple[str, str]]


class Mirror(Questions):
    """``mirror.act()`` does one random thing to both; ``mirror.compare()`` asks both and counts the decisions."""

    texts = TEXTS

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
        self.felt = Felt(self.root())
        self.planned: Act | None = None
        # What chance alone might leave out of a day comes at least once.
        seldom: list[Act] = [
            self.revoke,
            self.revoke,
            self.expire,
            self.ban,
            self.ban,
            self.close,
            self.change_audience,
        ]
        seldom += [self.demote, self.erase, self.grant, self.move, self.advance]
        self.due = self.dice.sample(seldom, len(seldom))
        for _ in range(12):  # a day begins with something to ask about
            for one in (self.submit, self.ratify):
                self._same(*one()[::-1])

    # --- acts ---------------------------------------------------------------------------------------

    def act(self) -> None:
        """One random act; both must take it alike."""
        weights: dict[Act, float] = {
            self.submit: 9,
            self.ratify: 9,
            self.grant: 6,
            self.remove: 4,
            self.create: 2,
            self.move: 3,
            self.advance: 1,
            self.demote: 1,
            self.erase: 1,
            self.ban: 1,
            self.lift: 2,
            self.simulate: 1,
            self.change_audience: 1,
            self.close: 0.2,
            self.revoke: 0.1,
            self.expire: 0.2,
        }
        (one,) = self.dice.choices(list(weights), list(weights.values()))
        if self.planned is not None:
            one, self.planned = self.planned, None
        elif self.due and self.dice.random() < 0.2:
            one = self.due.pop()
        nodes, self.epoch = list(self.oracle.nodes), access.load(self.world.admin).epoch
        before = self.oracle.standing(nodes)
        expected, found = one()
        self.changed = self.oracle.standing(nodes) != before
        name = getattr(one, "__name__", "planned")
        assert found == expected, f"{name}: the oracle says {expected!r}, the product {found!r}"
        self.decisions += 1

    def submit(self, sources: tuple[str, ...] | None = None) -> tuple[str, str]:
        by, node, text = self.mostly(self.world.writer), self.node(), self.dice.choice(TEXTS)
        promoted = [name for name, one in self.oracle.claims.items() if one.state == "promoted"]
        if sources is None:
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
        self.felt = Felt(node, text=text)
        if not found:
            self.world.scan()
            self.oracle.claims[body["artifact_id"]] = Claim(node, by.key_id, kind, sources, simulation, text)
            self._feel(body["artifact_id"])
        return expected, found

    def ratify(self, claim: str | None = None) -> tuple[str, str]:
        by, claim = self.mostly(self.world.reviewer), claim or self.claim("held")
        banned = claim in self.oracle.claims and self._text_banned(claim)
        self._feel(claim)
        expected = self.oracle.ratify(by.key_id, claim, text_banned=banned)
        return expected, asked(lambda: self.world.ratify(claim, by=by))[0]

    def grant(self) -> tuple[str, str]:
        """Mostly a deny takes away something that is held, and where something lies; else nobody would feel it."""
        by, node, key = self.dice.choice(self.admins), self.inhabited(), self.dice.choice(list(self.actors))
        allow, held = self.dice.random() < 0.5, sorted(self.oracle.holds(key, node))
        capability = self.dice.choice(list(VERBS) if allow or not held else held)
        expected = self.oracle.decide(by.key_id, "grant", node)
        if not expected and allow and capability not in CEILING[self.oracle.keys[key].role]:
            expected = "request.validation"
        spec = GrantSpec(node, Capability(capability), Effect.ALLOW if allow else Effect.DENY)
        if key == self.world.admin.key_id:  # somebody must be left to act
            spec = GrantSpec(node, Capability.READER, Effect.ALLOW)
            expected = self.oracle.decide(by.key_id, "grant", node)
        found, grant = asked(lambda: add_grant(by, key=key, spec=spec))
        self.felt = self._somewhere_above(node, key=key)
        if grant is not None:
            self._granted(grant)
        return expected, found

    def remove(self) -> tuple[str, str]:
        by = self.dice.choice(self.admins)
        mine = [name for name, grant in self.oracle.grants.items() if grant[0] != self.world.admin.key_id]
        denies = [name for name in mine if not self.oracle.grants[name][3]]
        grant = self.dice.choice((denies if self.dice.random() < 0.7 else mine) or mine or ["gr_none"])
        node = self.oracle.grants[grant][1] if mine else None
        expected = "" if node and "admin" in self.oracle.holds(by.key_id, node) else "access.not_found"
        found, _ = asked(lambda: remove_grant(by, grant=grant))
        if mine:
            self.felt = self._somewhere_above(self.oracle.grants[grant][1], key=self.oracle.grants[grant][0])
        if not found:
            del self.oracle.grants[grant]
        return expected, found

    def revoke(self) -> tuple[str, str]:
        by = self.dice.choice(self.admins)
        others = [name for name in self.actors if name != self.world.admin.key_id]
        holding = [name for name in others if any(self.oracle.holds(name, node) for node in self.oracle.nodes)]
        key = self.dice.choice(holding if holding and self.dice.random() < 0.8 else others)
        expected = self.oracle.everywhere(by.key_id, "key_issue", self.root())
        found, _ = asked(lambda: revoke_key(by, key=key))
        self.felt = Felt(self.felt.node, key=key)
        if not found:
            self.oracle.keys[key].revoked = True
        return expected, found

    def expire(self) -> tuple[str, str]:
        """Time passes; nobody acts."""
        key = self.dice.choice([name for name in self.actors if name != self.world.admin.key_id])
        KeyRow.objects.filter(pk=key).update(expires_at=now() - timedelta(seconds=1))
        self.oracle.keys[key].expired = True
        self.felt = Felt(self.felt.node, key=key)
        return "", ""

    def create(self) -> tuple[str, str]:
        by, parent, leaf = self.dice.choice(self.admins), self.node(), self.dice.choice(LEAVES)
        expected = self.oracle.create(by.key_id, parent, leaf)
        found, node = asked(lambda: create_workarea(by, parent=parent, leaf=leaf))
        if node is not None:
            self._know(node)
        return expected, found

    def move(self) -> tuple[str, str]:
        by, node, parent = self.dice.choice(self.admins), self.inhabited(), self.node()
        self.felt = Felt(node if self.dice.random() < 0.7 else parent)
        return self.oracle.move(by.key_id, node, parent), asked(lambda: reassign(by, workarea=node, parent=parent))[0]

    def advance(self) -> tuple[str, str]:
        by, node = self.dice.choice(self.admins), self.node()
        following = {"development": "committed"}.get(self.oracle.nodes[node].status, "validated")
        self.felt = Felt(node)
        expected = self.oracle.advance(by.key_id, node)
        return expected, asked(lambda: advance_status(by, workarea=node, status=following))[0]

    def demote(self) -> tuple[str, str]:
        by, claim = self.anybody(admin=True), self.claim("promoted")
        self._feel(claim)
        expected = self.oracle.demote(by.key_id, claim)
        return expected, asked(lambda: demote_memory(by, artifact=claim, reason="old"))[0]

    def erase(self) -> tuple[str, str]:
        by, claim = self.anybody(admin=True), self.claim()
        self._feel(claim)
        expected = self.oracle.erase(by.key_id, claim)
        return expected, asked(lambda: erase_memory(by, artifact=claim, reason="asked"))[0]

    def ban(self) -> tuple[str, str]:
        """Something that a held claim rests on; then whether it, or another like it, still comes through is asked."""
        by, claim = self.dice.choice(self.admins), self.claim("held")
        one = self.oracle.claims.get(claim)
        if one is None:
            return "", ""
        key = self.actors[one.key]
        values = {"key": key.key_id, "principal": key.principal_id, "digest": digest(one.text)}
        values["artifact"] = self.dice.choice([*one.sources, claim])
        kind = self.dice.choice(["artifact", *values])
        self.planned = partial(self.ratify, claim)
        if kind == "artifact" and one.sources and self.dice.random() < 0.5:
            self.planned = partial(self.submit, one.sources)
        expected = self.oracle.everywhere(by.key_id, "ban", self.root())
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
        expected = self.oracle.everywhere(by.key_id, "simulate", self.root())
        found, made = asked(lambda: create_simulation(by, name="drill", audience=audience))
        if made is not None:
            self.oracle.fences[made.pk] = set(audience)
        return expected, found

    def change_audience(self) -> tuple[str, str]:
        simulation = self.dice.choice([*self.oracle.fences, "sim_none"])
        add, remove = self.dice.sample(list(self.actors), 1), self.dice.sample(list(self.actors), 1)
        self._feel_fence(simulation, key=self.dice.choice([*add, *remove]))
        found, _ = asked(lambda: change_audience(self.world.admin, simulation=simulation, add=add, remove=remove))
        if not found:
            self.oracle.fences[simulation] = (self.oracle.fences[simulation] | set(add)) - set(remove)
        return ("" if simulation in self.oracle.fences else "access.not_found"), found

    def close(self) -> tuple[str, str]:
        simulation = self.dice.choice([*self.oracle.fences, "sim_none"])
        expected = "" if simulation in self.oracle.fences else "access.not_found"
        self._feel_fence(simulation)
        found, _ = asked(lambda: close_simulation(self.world.admin, simulation=simulation))
        self.oracle.fences.pop(simulation, None)
        return expected, found

    # --- parts --------------------------------------------------------------------------------------

    def _feel(self, claim: str) -> None:
        """At its node or anywhere above: what is gone takes a place away only where others are left."""
        if claim in self.oracle.claims:
            one = self.oracle.claims[claim]
            self.felt = self._somewhere_above(one.node, claim=claim, text=one.text)

    def _somewhere_above(self, node: str, **felt: str) -> Felt:
        return Felt(self.dice.choice(self.oracle.line(node)), **felt)

    def _feel_fence(self, simulation: str, *, key: str | None = None) -> None:
        inside = [name for name, one in self.oracle.claims.items() if one.simulation == simulation]
        if inside:
            self._feel(self.dice.choice(inside))
        self.felt.key = key

    def root(self) -> str:
        return self.world.nodes["universe"].pk

    def node(self) -> str:
        return self.dice.choice(list(self.oracle.nodes))

    def inhabited(self) -> str:
        """A node with something promoted in it or below it, mostly: elsewhere there is little to tell apart."""
        full = [one.node for one in self.oracle.claims.values() if one.state == "promoted"]
        if full and self.dice.random() < 0.7:
            return self.dice.choice(self.oracle.line(self.dice.choice(full)))
        return self.node()

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
