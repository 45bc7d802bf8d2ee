"""The permission matrix as data (design: access; seed: one line per tool, "Role class"). Pure.

Roles are ceilings, grants carry capabilities, capabilities carry verbs. Promote is in no cell: it is an effect of
ratification (R1). Admin does not imply reader.
"""

from __future__ import annotations

from enum import StrEnum

from oml.core.actor import Role


class Capability(StrEnum):
    READER = "reader"
    WRITER = "writer"
    PROPOSE = "propose"
    REVIEW = "review"
    ADMIN = "admin"


class Verb(StrEnum):
    RECALL = "recall"
    READ = "read"
    GRAPH_READ = "graph_read"
    REMEMBER = "remember"
    LEARN = "learn"
    ATTACH = "attach"
    RELATE_PROPOSE = "relate_propose"
    REVIEW_SERVE = "review_serve"
    REVIEW_VERDICT = "review_verdict"
    RELATE_RATIFY = "relate_ratify"
    WORKAREA_CREATE = "workarea_create"
    REASSIGN = "reassign"
    STATUS_ADVANCE = "status_advance"
    CREW_UPDATE = "crew_update"
    GRANT = "grant"
    KEY_ISSUE = "key_issue"
    POLICY_SET = "policy_set"
    DEMOTE = "demote"
    ERASE = "erase"
    BAN = "ban"
    SIMULATE = "simulate"
    EVIDENCE_EXPORT = "evidence_export"


class OperatorVerb(StrEnum):
    """What an operator may do: never content (D9)."""

    TENANT_PROVISION = "tenant_provision"
    FIRST_ADMIN_KEY = "first_admin_key"
    KEY_REVOKE = "key_revoke"
    DEPLOYMENT_KEYS = "deployment_keys"
    BACKUP = "backup"
    CHAIN_VERIFY = "chain_verify"


VERBS_OF: dict[Capability, tuple[Verb, ...]] = {
    Capability.READER: (Verb.RECALL, Verb.READ, Verb.GRAPH_READ),
    Capability.WRITER: (Verb.REMEMBER, Verb.LEARN, Verb.ATTACH),
    Capability.PROPOSE: (Verb.RELATE_PROPOSE,),
    Capability.REVIEW: (Verb.REVIEW_SERVE, Verb.REVIEW_VERDICT, Verb.RELATE_RATIFY),
    Capability.ADMIN: (
        Verb.WORKAREA_CREATE,
        Verb.REASSIGN,
        Verb.STATUS_ADVANCE,
        Verb.CREW_UPDATE,
        Verb.GRANT,
        Verb.KEY_ISSUE,
        Verb.POLICY_SET,
        Verb.DEMOTE,
        Verb.ERASE,
        Verb.BAN,
        Verb.SIMULATE,
        Verb.EVIDENCE_EXPORT,
    ),
}

CEILING: dict[Role, frozenset[Capability]] = {
    Role.READER: frozenset({Capability.READER}),
    Role.WRITER: frozenset({Capability.READER, Capability.WRITER}),
    Role.DREAMER: frozenset({Capability.READER, Capability.PROPOSE, Capability.REVIEW}),
    Role.ADMIN: frozenset({Capability.READER, Capability.ADMIN}),
    Role.OPERATOR: frozenset(),
}

CAPABILITY_OF: dict[Verb, Capability] = {verb: cap for cap, verbs in VERBS_OF.items() for verb in verbs}


def may_hold(role: Role, verb: Verb) -> bool:
    """Whether a key of this role could ever be granted this verb."""
    return CAPABILITY_OF[verb] in CEILING[role]


def verbs_carried(capabilities: frozenset[Capability]) -> list[Verb]:
    """The verbs of these capabilities in the seed's order."""
    return [verb for cap in Capability if cap in capabilities for verb in VERBS_OF[cap]]
