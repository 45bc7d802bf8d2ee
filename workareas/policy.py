"""The review policy of a workarea: what a tenant may set, what a node inherits. Pure.

A policy is a set of optional values; a node's effective policy takes each value from the nearest ancestor that
sets it, except that relaxed review can only be tightened on the way down: it needs every setter to allow it, the
tenant's flag on, and the node in development (shapes, "Which refusal, settled").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from workareas.ladder import Status


@dataclass(frozen=True, slots=True)
class Policy:
    """Effective review policy of one node.

    Attributes:
        held_expiry_s: seconds after which an unreviewed submission is rejected with cause ``expired``.
        min_verdicts: how many distinct principals must ratify.
        self_signed_allowed: whether the author's principal may ratify its own submission.
        serve_ttl_s: seconds a serve stays valid.
        lineage_exclusion: whether authors of declared sources are excluded from the review (R2).
        reason_required: whether a rejection needs words, not only a code.
        version: rises with each change on the chain of nodes; frozen into each submission.
    """

    held_expiry_s: int = 7 * 24 * 3600
    min_verdicts: int = 1
    self_signed_allowed: bool = False
    serve_ttl_s: int = 15 * 60
    lineage_exclusion: bool = True
    reason_required: bool = False
    version: int = 0

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


FIELDS = tuple(name for name in Policy.__dataclass_fields__ if name != "version")


def effective(chain: Sequence[Mapping[str, Any]], *, tenant_relaxed: bool, status: Status, version: int) -> Policy:
    """Fold the settings of the nodes from the root down to this one.

    Args:
        chain: per node that sets a policy, root first: field name → value, absent or None where not set.
        tenant_relaxed: the tenant's flag for relaxed review in development.
        status: the node's status.
        version: sum of the versions on the chain.
    """
    values: dict[str, Any] = {}
    relaxed_votes: list[bool] = []
    for settings in chain:
        for name in FIELDS:
            value = settings.get(name)
            if value is None:
                continue
            if name == "self_signed_allowed":
                relaxed_votes.append(bool(value))
            else:
                values[name] = value
    relaxed = tenant_relaxed and status is Status.DEVELOPMENT and all(relaxed_votes)
    return Policy(**values, self_signed_allowed=relaxed, version=version)
