"""What a key may know of its tenant's journal as a whole: signed sizes and hashes, no entry (design: integrity)."""

from __future__ import annotations

from typing import Any

from oml.core.actor import Actor
from oml.core.errors import Validation
from oml.journal import proofs
from oml.journal.checkpoint import latest
from workareas import access, quota
from workareas.errors import AccessNotFound
from workareas.verbs import Verb


def newest_checkpoint(actor: Actor) -> dict[str, Any]:
    """The tenant's newest signed checkpoint; worth keeping elsewhere.

    Raises:
        VerbCeiling: ``access.verb_ceiling``; the role can never read.
        AccessNotFound: ``access.not_found``; none was made yet.
    """
    access.require_role(actor, Verb.READ)
    quota.take(actor, quota.Quota.READ)
    checkpoint = latest(actor.tenant_id)
    if checkpoint is None:
        raise AccessNotFound("no checkpoint for this key; the first is made within a minute of the first event")
    return proofs.checkpoint_body(checkpoint)


def journal_proof(
    actor: Actor, *, seq: int | None = None, size: int | None = None, old: int | None = None, new: int | None = None
) -> dict[str, Any]:
    """An inclusion proof of ``seq`` in ``size``, or a consistency proof from size ``old`` to size ``new``.

    Raises:
        VerbCeiling: ``access.verb_ceiling``; the role can never read.
        Validation: ``request.validation``; neither or both were asked for, or beyond the newest checkpoint.
    """
    access.require_role(actor, Verb.READ)
    quota.take(actor, quota.Quota.READ)
    if seq is not None and old is None and new is None:
        return proofs.inclusion(actor.tenant_id, seq=seq, size=size)
    if old is not None and seq is None and size is None:
        return proofs.consistency(actor.tenant_id, old=old, new=new)
    raise Validation("ask for seq and size, or for from and to")
