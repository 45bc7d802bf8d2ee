"""Whose hand wrote a row, as R2 counts it: :meth:`review.policy.Identity.same_as` over rows and in SQL.

What must never happen here: a hand that the ceremony recognises and the queue does not, or the other way round.
"""

from __future__ import annotations

from typing import Any

from django.db.models import Q

from memory.claims.lineage import Ancestor
from memory.claims.models import Artifact
from memory.graph.models import Edge
from oml.core.actor import Actor
from review.policy import Identity
from workareas.models import Key

#: Over ``memory_artifact a``: whether this reviewer's hand wrote the row; takes :func:`wrote_params`.
WROTE_SQL = """(
    a.author_key_id = %s OR a.author_principal_id = ANY(%s)
    OR a.author_key_id IN (SELECT k.id FROM workareas_key k WHERE k.sponsor_id = %s)
)"""


def reviewer_of(actor: Actor) -> Identity:
    """The reviewer as R2 compares them."""
    sponsor = Key.objects.filter(pk=actor.key_id).values_list("sponsor_id", flat=True).first()
    return Identity(actor.key_id, actor.principal_id, sponsor)


def author_of(artifact: Artifact) -> Identity:
    """Who wrote an artifact; with ``author_key`` loaded this asks nothing."""
    return Identity(artifact.author_key_id, artifact.author_principal_id, artifact.author_key.sponsor_id)


def ancestor_of(ancestor: Ancestor) -> Identity:
    """Who wrote something that an artifact rests on."""
    return Identity(ancestor.author_key_id, ancestor.author_principal_id, ancestor.author_sponsor_id)


def proposer_of(edge: Edge) -> Identity:
    """Who proposed an edge; with ``proposer_key`` loaded this asks nothing."""
    return Identity(edge.proposer_key_id, edge.proposer_principal_id, edge.proposer_key.sponsor_id)


def wrote(reviewer: Identity) -> Q:
    """Artifacts that this reviewer's hand wrote."""
    return (
        Q(author_key_id=reviewer.key_id)
        | Q(author_principal_id__in=_principals(reviewer))
        | Q(author_key_id__in=Key.objects.filter(sponsor_id=reviewer.principal_id).values("pk"))
    )


def proposed(reviewer: Identity) -> Q:
    """Edges that this reviewer's hand proposed."""
    return (
        Q(proposer_key_id=reviewer.key_id)
        | Q(proposer_principal_id__in=_principals(reviewer))
        | Q(proposer_key_id__in=Key.objects.filter(sponsor_id=reviewer.principal_id).values("pk"))
    )


def wrote_params(reviewer: Identity) -> list[Any]:
    """What :data:`WROTE_SQL` takes, in order."""
    return [reviewer.key_id, _principals(reviewer), reviewer.principal_id]


def _principals(reviewer: Identity) -> list[str]:
    return [one for one in (reviewer.principal_id, reviewer.sponsor_id) if one is not None]
