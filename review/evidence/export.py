"""Export evidence: an administrator takes a slice of history out, and the journal says so first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import IO

from oml.core.actor import Actor
from oml.core.errors import Validation
from oml.journal.append import append, journalled
from oml.journal.checkpoint import make_checkpoint
from oml.journal.selectors import head_seq
from review.evidence.bundle import Scope, Signed, write_bundle
from review.evidence.events import EvidenceExported
from workareas import access, quota
from workareas.models import Workarea
from workareas.selectors.fences import fence_of
from workareas.verbs import Capability, Verb


@dataclass(frozen=True, slots=True)
class Bundle:
    """A finished bundle; whoever asked for it closes the file.

    Attributes:
        file: positioned at its start.
        name: a file name that says tenant and range.
        sha256: hex digest of its bytes, journalled.
        entries: how many journal entries the slice has.
    """

    file: IO[bytes]
    name: str
    sha256: str
    from_seq: int
    to_seq: int

    @property
    def entries(self) -> int:
        return self.to_seq - self.from_seq + 1


def export_evidence(
    actor: Actor,
    *,
    scope: str | None = None,
    from_seq: int | None = None,
    to_seq: int | None = None,
    advance: Callable[[int], object] = lambda count: None,
) -> Bundle:
    """Write the signed bundle of a slice of the journal; a checkpoint is made with it.

    Args:
        actor: an admin of the scope.
        scope: workarea id or path; the whole tenant when left out. What lies outside of it, and rows of simulations
            whose audience the actor's key is not in, appear as hashes.
        from_seq: the first entry; 1 when left out.
        to_seq: the last entry; the newest when left out.
        advance: told how many more entries were written.

    Raises:
        AccessNotFound, AccessForbidden, VerbCeiling: see :func:`workareas.access.require`, and without a scope
            :func:`workareas.access.require_everywhere`.
        Validation: ``request.validation``; no such range.
        SizeExceeded: ``limit.size``; the range makes more than a bundle holds.
        JournalContradicted, SecretUnusable: ``internal.unavailable``; nothing can be signed.
    """
    node = access.require_node(_decision(actor, scope))
    quota.take(actor, quota.Quota.READ)
    first, last = _range(actor.tenant_id, from_seq, to_seq)
    made = make_checkpoint(actor.tenant_id, at_least=last or first)
    if made is None:
        raise Validation("the journal is empty", param="from_seq")
    last = last or made.size
    file = TemporaryFile()  # noqa: SIM115  (handed out open)
    try:
        digest = write_bundle(
            file,
            actor.tenant_id,
            scope=_visible(actor, node),
            from_seq=first,
            to_seq=last,
            checkpoint=Signed(made.size, bytes(made.root), made.note),
            advance=advance,
        )
        _record(actor, scope, node, first, last, made.size, digest)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return Bundle(file, f"oml-evidence-{actor.tenant_id}-{first}-{last}.zip", digest, first, last)


def _decision(actor: Actor, scope: str | None) -> access.Decision:
    if scope is None:
        return access.require_everywhere(actor, Verb.EVIDENCE_EXPORT)
    return access.require(actor, Verb.EVIDENCE_EXPORT, scope)


@journalled
def _record(
    actor: Actor, scope: str | None, node: Workarea, from_seq: int, to_seq: int, size: int, digest: str
) -> None:
    decision = _decision(actor, scope)
    exported = EvidenceExported(
        workarea_id=node.pk,
        scope=node.pk,
        from_seq=from_seq,
        to_seq=to_seq,
        checkpoint_size=size,
        bundle_sha256=digest,
    )
    append(actor, [exported], epoch=decision.epoch)


def _range(tenant_id: str, from_seq: int | None, to_seq: int | None) -> tuple[int, int | None]:
    head = head_seq(tenant_id)
    first = 1 if from_seq is None else from_seq
    if not 1 <= first <= head:
        raise Validation(f"from_seq is a sequence number from 1 to the journal's head {head}", param="from_seq")
    if to_seq is not None and not first <= to_seq <= head:
        raise Validation(f"to_seq is a sequence number from {first} to the journal's head {head}", param="to_seq")
    return first, to_seq


def _visible(actor: Actor, node: Workarea) -> Scope:
    """The nodes under the scope that this actor administers, and its fence: a deny further down stays dark."""
    known = access.load(actor)
    nodes = Workarea.objects.select_related("tenant").filter(
        access.Scope((node.path,), ()).predicate(),
        known.scope(Capability.ADMIN).predicate(),
        tenant_id=actor.tenant_id,
    )
    return Scope(node, tuple(nodes.order_by("path")), whole=node.is_root, fence=fence_of(actor))
