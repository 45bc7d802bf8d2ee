"""Words kept beside the journal: an act's reason in a row, its commitment in the event (design: integrity)."""

from __future__ import annotations

from collections.abc import Iterable

from oml.core.actor import Actor
from oml.crypto.digest import commitment, new_salt
from workareas.models import StatedReason


def keep(actor: Actor, *, subject_id: str, act: str, text: str | None) -> str | None:
    """Store a reason and return the commitment its event carries; None for no words at all."""
    if not text:
        return None
    salt = new_salt()
    StatedReason.objects.create(
        tenant_id=actor.tenant_id, subject_id=subject_id, act=act, text=text, salt=salt, key_id=actor.key_id
    )
    return commitment(salt, text.encode())


def destroy(subject_ids: Iterable[str]) -> int:
    """Erase the words about subjects, and with their salts the commitments' meaning; returns how many went."""
    return StatedReason.objects.filter(subject_id__in=list(subject_ids)).delete()[0]


def count(subject_ids: Iterable[str]) -> int:
    """How many words :func:`destroy` would erase."""
    return StatedReason.objects.filter(subject_id__in=list(subject_ids)).count()


def forgotten(text: str | None) -> str | None:
    """A commitment to words that nobody keeps: it says that a reason was given, and can never be opened."""
    return commitment(new_salt(), text.encode()) if text else None
