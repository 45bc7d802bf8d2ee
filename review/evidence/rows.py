"""The rows beside the journal that a bundle carries, JSON-ready, in a fixed order. No memory text is among them.

An erased artifact keeps its ids, digests and envelope here; its words, and the salts that gave commitments their
meaning, are gone, and what remains still verifies.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from memory.claims.models import Artifact
from memory.claims.states import State
from oml.core.clock import rfc3339
from oml.crypto.digest import commitment
from review.models import AnyServe, AnyVerdict, EdgeServe, EdgeVerdict, Serve, Verdict
from workareas.models import ReviewPolicy, StatedReason, Workarea
from workareas.policy import FIELDS
from workareas.selectors.policies import effective_policies

_BATCH = 1000
Row = dict[str, Any]


def artifact_rows(ids: Iterable[str]) -> Iterator[Row]:
    """What the artifacts are now, with the envelope they were submitted in."""
    for batch in _batches(ids):
        for artifact in Artifact.objects.filter(pk__in=batch).defer("text").order_by("pk"):
            yield {
                "artifact_id": artifact.pk,
                "workarea": artifact.workarea_id,
                "claim_key": artifact.claim_key,
                "version": artifact.version,
                "previous": artifact.previous_id,
                "kind": artifact.kind,
                "verb": artifact.verb,
                "simulation_id": artifact.simulation_id,
                "state": artifact.state,
                "cause": artifact.cause,
                "erased": artifact.state == State.ERASED,
                "self_signed": artifact.self_signed,
                "author": {"key": artifact.author_key_id, "principal": artifact.author_principal_id},
                "policy_version": artifact.policy_version,
                "scan_state": artifact.scan_state,
                "text_sha256": artifact.text_sha256,
                "submitted_at": rfc3339(artifact.submitted_at),
                "promoted_at": rfc3339(artifact.promoted_at) if artifact.promoted_at else None,
                "ended_at": rfc3339(artifact.ended_at) if artifact.ended_at else None,
                "envelope": artifact.envelope,
            }


def closure_rows(ids: Iterable[str]) -> Iterator[Row]:
    """The lineage closure of each promoted artifact as it stood at promotion, with who wrote what is in it."""
    for batch in _batches(ids):
        promoted = list(Artifact.objects.filter(pk__in=batch).order_by("pk").only("pk", "closure"))
        inside = {ancestor for artifact in promoted for ancestor in artifact.closure or ()}
        authors = {
            pk: {"key": key, "principal": principal}
            for pk, key, principal in Artifact.objects.filter(pk__in=inside).values_list(
                "pk", "author_key_id", "author_principal_id"
            )
        }
        for artifact in promoted:
            closure = [{"artifact_id": pk, "author": authors[pk]} for pk in artifact.closure or ()]
            yield {"artifact_id": artifact.pk, "closure": closure}


def serve_rows(ids: Iterable[str]) -> Iterator[Row]:
    """What was served to whom, bound to which content, and whether it was used."""
    for batch in _batches(ids):
        rows: list[AnyServe] = [*Serve.objects.filter(pk__in=batch), *EdgeServe.objects.filter(pk__in=batch)]
        for serve in sorted(rows, key=lambda row: row.pk):
            yield {
                "serve_id": serve.pk,
                "item_id": _item(serve),
                "reviewer": _reviewer(serve),
                "content_digest": serve.content_digest,
                "served_at": rfc3339(serve.created_at),
                "expires_at": rfc3339(serve.expires_at),
                "consumed_at": rfc3339(serve.consumed_at) if serve.consumed_at else None,
            }


def verdict_rows(ids: Iterable[str]) -> Iterator[Row]:
    """Verdicts with reviewer, reason and signed envelope."""
    for batch in _batches(ids):
        rows: list[AnyVerdict] = [*Verdict.objects.filter(pk__in=batch), *EdgeVerdict.objects.filter(pk__in=batch)]
        for verdict in sorted(rows, key=lambda row: row.pk):
            salt = verdict.reason_salt
            yield {
                "verdict_id": verdict.pk,
                "item_id": _item(verdict),
                "serve_id": getattr(verdict, "serve_id", None),
                "reviewer": _reviewer(verdict),
                "verdict": verdict.verdict,
                "reason_code": verdict.reason_code,
                "reason": verdict.reason if salt else None,
                "reason_salt": base64.b64encode(bytes(salt)).decode() if salt else None,
                "self_signed": getattr(verdict, "self_signed", False),
                "at": rfc3339(verdict.at),
                "envelope": verdict.envelope,
            }


def reason_rows(tenant_id: str, reasons: dict[str, str]) -> Iterator[Row]:
    """The words that administrators gave, each found by the commitment that its event carries."""
    for batch in _batches(sorted(set(reasons.values()))):
        for row in StatedReason.objects.filter(tenant_id=tenant_id, subject_id__in=batch).order_by("subject_id", "pk"):
            promised = commitment(bytes(row.salt), row.text.encode())
            if promised in reasons:
                yield {
                    "commitment": promised,
                    "subject": row.subject_id,
                    "act": row.act,
                    "key": row.key_id,
                    "reason": row.text,
                    "salt": base64.b64encode(bytes(row.salt)).decode(),
                    "at": rfc3339(row.at),
                }


def policy_rows(nodes: Iterable[Workarea]) -> Iterator[Row]:
    """The review policy of each node: what it sets itself, and what binds there, with its version."""
    ordered = sorted(nodes, key=lambda node: node.path)
    own = {row.workarea_id: row for row in ReviewPolicy.objects.filter(workarea__in=[node.pk for node in ordered])}
    effective = effective_policies(ordered) if ordered else {}
    for node in ordered:
        row = own.get(node.pk)
        yield {
            "workarea": node.pk,
            "path": node.path,
            "status": node.status,
            "sets": {name: getattr(row, name) for name in FIELDS} if row else None,
            "effective": effective[node.pk].as_dict(),
        }


def _batches(ids: Iterable[str]) -> Iterator[list[str]]:
    ordered = iter(sorted(ids))
    while batch := list(islice(ordered, _BATCH)):
        yield batch


def _item(row: AnyServe | AnyVerdict) -> str:
    return str(getattr(row, "artifact_id", None) or getattr(row, "edge_id", None))


def _reviewer(row: AnyServe | AnyVerdict) -> dict[str, str]:
    return {"key": row.reviewer_key_id, "principal": row.reviewer_principal_id}
