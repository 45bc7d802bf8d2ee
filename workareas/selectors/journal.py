"""What a key may know of its tenant's journal as a whole: signed sizes and hashes, no entry (design: integrity).

Open to whoever reads anywhere, and to operators, who verify chains (D9). What must never happen here: a word of what
an entry says.
"""

from __future__ import annotations

from typing import Any

from oml.core.actor import Actor
from oml.core.errors import Validation
from oml.crypto.published import published_keys
from oml.journal import proofs
from oml.journal.checkpoint import latest
from workareas import access, quota
from workareas.errors import AccessNotFound


def newest_checkpoint(actor: Actor) -> dict[str, Any]:
    """The tenant's newest signed checkpoint; worth keeping elsewhere.

    Raises:
        AccessForbidden: ``access.forbidden``; a key that reads nowhere.
        AccessNotFound: ``access.not_found``; none was made yet.
    """
    access.require_verifier(actor)
    quota.take(actor, quota.Quota.READ)
    checkpoint = latest(actor.tenant_id)
    if checkpoint is None:
        raise AccessNotFound("no checkpoint for this key; the first is made within a minute of the first event")
    return proofs.checkpoint_body(checkpoint)


def deployment_keys(actor: Actor) -> list[dict[str, Any]]:
    """The public keys that envelopes, verdicts, bundles and checkpoints are verified with.

    Raises:
        AccessForbidden: ``access.forbidden``; a key that reads nowhere.
    """
    access.require_verifier(actor)
    return published_keys()


def journal_proof(
    actor: Actor, *, seq: int | None = None, size: int | None = None, old: int | None = None, new: int | None = None
) -> dict[str, Any]:
    """An inclusion proof of ``seq`` in ``size``, or a consistency proof from size ``old`` to size ``new``.

    Raises:
        AccessForbidden: ``access.forbidden``; a key that reads nowhere.
        Validation: ``request.validation``; neither or both were asked for, or beyond the newest checkpoint.
    """
    access.require_verifier(actor)
    quota.take(actor, quota.Quota.READ)
    if seq is not None and old is None and new is None:
        return proofs.inclusion(actor.tenant_id, seq=seq, size=size)
    if old is not None and seq is None and size is None:
        return proofs.consistency(actor.tenant_id, old=old, new=new)
    raise Validation("ask for seq and size, or for from and to")
