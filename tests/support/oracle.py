"""The product in two hundred lines: a tenant's tree, keys, claims and fences, and who may see what of them.

Written from the design pages alone and importing nothing of the product, so that the two can only agree by being
right. Every act answers ``""`` for done or the code it is refused with; every question answers what a read shows.
"""

from __future__ import annotations

from dataclasses import dataclass, field

VERBS = {
    "reader": ["recall", "read", "graph_read"],
    "writer": ["remember", "learn", "attach"],
    "propose": ["relate_propose"],
    "review": ["review_serve", "review_verdict", "relate_ratify"],
    "admin": ["workarea_create", "reassign", "status_advance", "crew_update", "grant", "key_issue", "policy_set"],
}
VERBS["admin"] += ["demote", "erase", "ban", "simulate", "evidence_export"]
CEILING = {"reader": {"reader"}, "writer": {"reader", "writer"}, "dreamer": {"reader", "propose", "review"}}
CEILING |= {"admin": {"reader", "admin"}, "operator": set()}
CARRIED_BY = {verb: capability for capability, verbs in VERBS.items() for verb in verbs}
LADDER = {"development": "committed", "committed": "validated"}


@dataclass
class Node:
    parent: str | None
    leaf: str
    status: str = "development"


@dataclass
class Key:
    role: str
    principal: str
    revoked: bool = False
    expired: bool = False


@dataclass
class Claim:
    node: str
    key: str
    kind: str
    sources: tuple[str, ...]
    simulation: str | None
    text: str = ""
    state: str = "held"
    ever_promoted: bool = False


@dataclass
class Oracle:
    nodes: dict[str, Node] = field(default_factory=dict)
    keys: dict[str, Key] = field(default_factory=dict)
    grants: dict[str, tuple[str, str, str, bool]] = field(default_factory=dict)
    claims: dict[str, Claim] = field(default_factory=dict)
    fences: dict[str, set[str]] = field(default_factory=dict)  # audiences of the open ones
    bans: set[tuple[str, str]] = field(default_factory=set)
    told: list[tuple[str, str, str, str | None]] = field(default_factory=list)

    def line(self, node: str | None) -> list[str]:
        """A node and everything above it."""
        return [] if node is None else [node, *self.line(self.nodes[node].parent)]

    def holds(self, key: str, node: str) -> set[str]:
        who, above = self.keys[key], set(self.line(node))
        mine = [] if who.revoked else [grant for grant in self.grants.values() if grant[0] == key and grant[1] in above]
        allowed = {capability for _, _, capability, allow in mine if allow}
        return (allowed - {capability for _, _, capability, allow in mine if not allow}) & CEILING[who.role]

    def authenticates(self, key: str) -> bool:
        return not (self.keys[key].revoked or self.keys[key].expired)

    def standing(self, nodes: list[str]) -> tuple[object, ...]:
        """All that a decision about these nodes rests on."""
        places = {name: (self.nodes[name].parent, self.nodes[name].status) for name in nodes}
        revoked = {name for name, key in self.keys.items() if key.revoked}
        fences = {name: frozenset(audience) for name, audience in self.fences.items()}
        return places, dict(self.grants), revoked, fences, set(self.bans)

    def decide(self, key: str, verb: str, node: str | None) -> str:
        if CARRIED_BY[verb] not in CEILING[self.keys[key].role]:
            return "access.verb_ceiling"
        held = self.holds(key, node) if node in self.nodes else set()
        if not held:
            return "access.not_found"
        return "" if CARRIED_BY[verb] in held else "access.forbidden"

    def everywhere(self, key: str, verb: str, root: str) -> str:
        """An act on the whole tenant names no node: whoever holds anything is told what is missing."""
        refusal = self.decide(key, verb, root)
        if refusal == "access.not_found" and any(self.holds(key, node) for node in self.nodes):
            return "access.forbidden"
        return refusal

    def verbs(self, key: str, node: str) -> list[str]:
        held = self.holds(key, node)
        return [verb for capability, verbs in VERBS.items() if capability in held for verb in verbs]

    def fence(self, key: str) -> set[str | None]:
        return {None, *(name for name, audience in self.fences.items() if key in audience)}

    def readable(self, key: str, claim: str) -> bool:
        one = self.claims.get(claim)
        return (
            one is not None
            and one.state == "promoted"
            and one.simulation in self.fence(key)
            and "reader" in self.holds(key, one.node)
        )

    def in_scope(self, key: str, scope: str) -> set[str]:
        return {name for name, one in self.claims.items() if scope in self.line(one.node) and self.readable(key, name)}

    def recall(self, key: str, scope: str) -> tuple[set[str], set[str]]:
        """Steering of the scope's ancestors, the scope and its descendants; hits of the scope and below."""
        guides = {name for name, one in self.claims.items() if one.kind == "steering" and self.readable(key, name)}
        near = {name for name in guides if self.claims[name].node in self.line(scope)}
        return near | (self.in_scope(key, scope) & guides), self.in_scope(key, scope) - guides

    def edges(self, key: str, shown: set[str]) -> set[tuple[str, str]]:
        """Declared lineage that touches shown claims; an end that was never promoted is not even an id."""
        fence = self.fence(key)
        return {
            (name, source)
            for name, one in self.claims.items()
            for source in one.sources
            if {name, source} & shown
            and all(self.claims[end].ever_promoted and self.claims[end].simulation in fence for end in (name, source))
        }

    def tail(self, key: str, scope: str) -> list[tuple[str, str]]:
        fence = self.fence(key)
        return [
            (event, subject)
            for event, subject, node, simulation in self.told
            if simulation in fence and scope in self.line(node) and "reader" in self.holds(key, node)
        ]

    def my_work(self, key: str) -> list[tuple[str, str]]:
        own = [name for name, one in self.claims.items() if one.key == key and one.simulation in self.fence(key)]
        return [(name, self.claims[name].state) for name in own[::-1]]

    def children(self, key: str, node: str) -> set[str]:
        return {name for name, one in self.nodes.items() if one.parent == node and "reader" in self.holds(key, name)}

    def queue(self, key: str) -> dict[str, bool]:
        """Held items of the nodes that this key reviews, and whether it may judge each."""
        told = {name: self.serve(key, name) for name, one in self.claims.items() if one.state == "held"}
        return {name: answer == "" for name, answer in told.items() if answer != "access.not_found"}

    def create(self, key: str, parent: str, leaf: str) -> str:
        refusal = self.decide(key, "workarea_create", parent)
        if refusal or self.nodes[parent].status == "validated":
            return refusal or "workarea.frozen"
        return "request.validation" if self._taken(parent, leaf) else ""

    def move(self, key: str, node: str, parent: str) -> str:
        refusal = self.decide(key, "reassign", node) or self.decide(key, "reassign", parent)
        if refusal:
            return refusal
        if self.nodes[node].parent is None or node in self.line(parent) or self.nodes[node].parent == parent:
            return "request.validation"
        subtree = [name for name in self.nodes if node in self.line(name)]
        if any(self.nodes[name].status == "validated" for name in [*subtree, parent]):
            return "workarea.frozen"
        if self._taken(parent, self.nodes[node].leaf):
            return "request.validation"
        self.nodes[node].parent = parent
        self.told.append(("workarea.reassigned", node, node, None))
        return ""

    def advance(self, key: str, node: str) -> str:
        refusal = self.decide(key, "status_advance", node)
        if refusal or self.nodes[node].parent is None or self.nodes[node].status == "validated":
            return refusal or "request.validation"
        # What a closed simulation left behind is before nobody any more and holds nothing up.
        judged_by_somebody = {None, *self.fences}
        if any(
            one.node == node and one.state == "held" and one.simulation in judged_by_somebody
            for one in self.claims.values()
        ):
            return "workarea.unreviewed"
        self.nodes[node].status = LADDER[self.nodes[node].status]
        self.told.append(("workarea.status_changed", node, node, None))
        return ""

    def submit(
        self, key: str, node: str, sources: tuple[str, ...], simulation: str | None, learn: bool, text_banned: bool
    ) -> str:
        role, held = self.keys[key].role, self.holds(key, node)
        if "writer" not in CEILING[role]:
            return "access.verb_ceiling"
        if not held:
            return "access.not_found"
        if self.nodes[node].parent is None:
            return "workarea.universe_write"
        if "writer" not in held:
            return "access.forbidden"
        if self.nodes[node].status == "validated":
            return "workarea.frozen"
        if text_banned or self._banned(key, sources):
            return "admission.banned"
        if learn and not sources:
            return "submission.lineage_required"
        if not all(self.readable(key, source) for source in sources) or simulation not in self.fence(key):
            return "access.not_found"
        simulated = {self.claims[source].simulation for source in sources} - {None}
        if len(simulated) > 1 or (simulation is not None and simulated - {simulation}):
            return "simulation.conflict"
        return "simulation.required" if simulated and simulation is None else ""

    def serve(self, key: str, claim: str) -> str:
        if "review" not in CEILING[self.keys[key].role]:
            return "access.verb_ceiling"
        one = self.claims.get(claim)
        if one is None or "review" not in self.holds(key, one.node) or one.simulation not in self.fence(key):
            return "access.not_found"
        if one.state != "held":
            return "review.stale"
        if self._same_hand(key, one):
            return "review.author"
        sources = self._closure(claim)
        return "review.lineage_author" if any(self._same_hand(key, self.claims[name]) for name in sources) else ""

    def ratify(self, key: str, claim: str, *, text_banned: bool) -> str:
        """Serve and verdict in one."""
        refusal = self.serve(key, claim)
        if refusal:
            return refusal
        one = self.claims[claim]
        if text_banned or self._banned(one.key, self._closure(claim)):
            return "admission.banned"
        one.ever_promoted = True
        return self._becomes(claim, "promoted")

    def demote(self, key: str, claim: str) -> str:
        return self._end(key, claim, "demote") or self._becomes(claim, "demoted")

    def erase(self, key: str, claim: str) -> str:
        return self._end(key, claim, "erase") or self._becomes(claim, "erased")

    def _end(self, key: str, claim: str, verb: str) -> str:
        one = self.claims.get(claim)
        refusal = self.decide(key, verb, one.node if one else None)
        if refusal == "access.forbidden" and one is not None and one.state != "promoted":
            return "access.not_found"
        if refusal or one is None:
            return refusal
        usable = one.state == "promoted" if verb == "demote" else one.state != "erased"
        return "" if usable else "review.stale"

    def _becomes(self, claim: str, state: str) -> str:
        one = self.claims[claim]
        one.state = state
        if one.ever_promoted:
            self.told.append((f"lifecycle.{state.removesuffix('d')}", claim, one.node, one.simulation))
        return ""

    def _same_hand(self, key: str, one: Claim) -> bool:
        return key == one.key or self.keys[key].principal == self.keys[one.key].principal

    def _closure(self, claim: str) -> tuple[str, ...]:
        sources = self.claims[claim].sources
        return (*sources, *(deeper for source in sources for deeper in self._closure(source)))

    def _banned(self, key: str, sources: tuple[str, ...]) -> bool:
        named = {("key", key), ("principal", self.keys[key].principal), *(("artifact", one) for one in sources)}
        return bool(named & self.bans)

    def _taken(self, parent: str, leaf: str) -> bool:
        return any(one.parent == parent and one.leaf == leaf for one in self.nodes.values())
