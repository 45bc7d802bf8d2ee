"""Proofs over a tenant's journal for whoever keeps checkpoints: that an entry is in, that nothing was rewritten.

Proofs are given up to the newest checkpoint: a root that nobody signed proves nothing. They hold hashes alone, so
every key that may read at all may have them.
"""

from __future__ import annotations

import base64
from typing import Any

from oml.core.clock import rfc3339
from oml.core.errors import Validation
from oml.journal import tree
from oml.journal.checkpoint import latest, origin_of
from oml.journal.models import Checkpoint
from oml.journal.note import verifiers


def checkpoint_body(checkpoint: Checkpoint) -> dict[str, Any]:
    """A checkpoint as ``/v1`` answers it: the signed note, what it says, and the keys to open it with."""
    origin = checkpoint.note.partition("\n")[0]
    return {
        "note": checkpoint.note,
        "origin": origin,
        "size": checkpoint.size,
        "root": _text(bytes(checkpoint.root)),
        "keyid": checkpoint.keyid,
        "at": rfc3339(checkpoint.at),
        "verifier_keys": [verifier.encoded for verifier in verifiers(origin)],
    }


def inclusion(tenant_id: str, *, seq: int, size: int | None = None) -> dict[str, Any]:
    """The proof that entry ``seq`` is one of the first ``size``, the newest checkpoint's size when left out.

    Raises:
        Validation: ``request.validation``; no such entry, or no checkpoint covers that size.
    """
    size = _covered(tenant_id, size, "size")
    if not 1 <= seq <= size:
        raise Validation(f"seq is a sequence number from 1 to {size}", param="seq")
    return {
        "kind": "inclusion",
        "origin": origin_of(tenant_id),
        "seq": seq,
        "size": size,
        "leaf_hash": _text(tree.leaf_at(tenant_id, seq)),
        "root": _text(tree.root_at(tenant_id, size)),
        "proof": [_text(step) for step in tree.inclusion_proof(tenant_id, seq, size)],
    }


def consistency(tenant_id: str, *, old: int, new: int | None = None) -> dict[str, Any]:
    """The proof that the first ``new`` entries begin with the first ``old`` ones, unchanged.

    Raises:
        Validation: ``request.validation``; sizes out of order, or no checkpoint covers the larger one.
    """
    new = _covered(tenant_id, new, "to")
    if not 1 <= old <= new:
        raise Validation(f"from is a size from 1 to {new}", param="from")
    return {
        "kind": "consistency",
        "origin": origin_of(tenant_id),
        "from": old,
        "to": new,
        "from_root": _text(tree.root_at(tenant_id, old)),
        "to_root": _text(tree.root_at(tenant_id, new)),
        "proof": [_text(step) for step in tree.consistency_proof(tenant_id, old, new)],
    }


def _covered(tenant_id: str, size: int | None, param: str) -> int:
    newest = latest(tenant_id)
    signed = newest.size if newest else 0
    if size is None and signed:
        return signed
    if size is None or not 1 <= size <= signed:
        raise Validation(f"{param} is a size from 1 to {signed}, the newest checkpoint's", param=param)
    return size


def _text(digest: bytes) -> str:
    return base64.b64encode(digest).decode()
