"""Who could do what, where, at an epoch: told from the journal's records alone (design: access). Pure.

``effective(key, node)`` after the records up to an epoch is the answer that the live authorizer gave while that epoch
lasted. What must never happen here: a look at a table, or another reading of the rule than ``workareas/rules.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from oml.core.actor import Role
from workareas.rules import Rule, capabilities, human_rule
from workareas.verbs import Capability

Record = Mapping[str, Any]


@dataclass(slots=True)
class _Key:
    principal_id: str
    role: Role
    interactive: bool
    revoked: bool = False


@dataclass(frozen=True, slots=True)
class _Grant:
    key_id: str
    workarea: str
    capability: Capability
    allow: bool


@dataclass(slots=True)
class Replay:
    """A tenant's tree, keys and rules as its journal tells them; feed it records in order.

    Attributes:
        seq: the last record that was applied.
        epoch: the permission epoch after it.
    """

    seq: int = 0
    epoch: int = 0
    _parents: dict[str, str | None] = field(default_factory=dict)
    _leaves: dict[str, str] = field(default_factory=dict)
    _keys: dict[str, _Key] = field(default_factory=dict)
    _grants: dict[str, _Grant] = field(default_factory=dict)
    _humans: set[tuple[str, str, str]] = field(default_factory=set)
    _members: set[tuple[str, str]] = field(default_factory=set)

    def apply(self, record: Record) -> None:
        """Take one record of the tenant into account, whatever it is about."""
        self.seq, self.epoch = record["seq"], record["permission_epoch"]
        subject, payload = record["subject"], record["payload"]
        match record["event_type"]:
            case "workarea.created":
                self._parents[subject["workarea"]] = payload["parent"]
                self._leaves[subject["workarea"]] = payload["leaf"]
            case "workarea.reassigned":
                self._parents[subject["workarea"]] = payload["new_parent"]
            case "key.issued":
                role, interactive = Role(payload["role"]), payload["interactive"]
                self._keys[subject["key_id"]] = _Key(payload["principal_id"], role, interactive)
            case "key.revoked":
                self._keys[subject["key_id"]].revoked = True
            case "grant.added":
                capability, allow = Capability(payload["capability"]), payload["effect"] == "allow"
                grant = _Grant(payload["key_id"], record["workarea"], capability, allow)
                self._grants[subject["grant_id"]] = grant
            case "grant.removed":
                self._grants.pop(subject["grant_id"], None)
            case "human_access.set" | "human_access.unset":
                self._human(record, held=record["event_type"] == "human_access.set")

    def _human(self, record: Record, *, held: bool) -> None:
        holder, permission = record["subject"]["holder"], record["payload"]["permission"]
        if permission.startswith("group:"):  # a human in a group, see workareas/actions/groups.py
            change = self._members.add if held else self._members.discard
            change((holder, permission))
        else:
            keep = self._humans.add if held else self._humans.discard
            keep((holder, record["workarea"], permission))

    def path_of(self, node: str) -> str | None:
        """A node's derived path; None for one that there was not."""
        if node not in self._parents:
            return None
        names, at = [self._leaves[node]], self._parents[node]
        while at is not None:
            names.append(self._leaves[at])
            at = self._parents[at]
        return ".".join(reversed(names))

    def find(self, reference: str) -> str | None:
        """A node by its id or by the path it had."""
        if reference in self._parents:
            return reference
        return next((node for node in self._parents if self.path_of(node) == reference), None)

    def role_of(self, key_id: str) -> Role | None:
        """A key's ceiling; None for one that was not issued yet."""
        key = self._keys.get(key_id)
        return key.role if key is not None else None

    def is_revoked(self, key_id: str) -> bool:
        """Whether the key had been revoked."""
        return self._keys[key_id].revoked

    def rules_of(self, key_id: str) -> list[Rule]:
        """The rules that bound a key; none once it was revoked, and no human permission for a key with a secret."""
        key = self._keys.get(key_id)
        if key is None or key.revoked:
            return []
        rules = [
            Rule(str(self.path_of(grant.workarea)), grant.capability, grant.allow, f"grant {grant_id}")
            for grant_id, grant in self._grants.items()
            if grant.key_id == key_id
        ]
        if key.interactive:
            groups = {group for human, group in self._members if human == key.principal_id}
            for holder, node, permission in sorted(self._humans):
                if holder != key.principal_id and holder not in groups:
                    continue
                source = "permission of a group" if holder in groups else "permission of the user"
                rule = human_rule(source, permission, str(self.path_of(node)))
                if rule is not None:
                    rules.append(rule)
        return rules

    def effective(self, key_id: str, node: str) -> frozenset[Capability]:
        """What a key could do at a node; nothing for a key or node that there was not."""
        role, path = self.role_of(key_id), self.path_of(node)
        if role is None or path is None:
            return frozenset()
        return capabilities(self.rules_of(key_id), role, path)


def replayed(records: Iterable[Record], *, epoch: int | None = None) -> Replay:
    """Apply a tenant's records in order, up to the last one of an epoch; all of them when it is None."""
    state = Replay()
    for record in records:
        if epoch is not None and record["permission_epoch"] > epoch:
            break
        state.apply(record)
    return state
