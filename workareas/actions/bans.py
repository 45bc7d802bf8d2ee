"""Ban and unban: an author, a text, or an artifact as a source."""

from __future__ import annotations

from oml.core.actor import Actor
from oml.core.errors import Validation
from oml.crypto.digest import keyed_digest
from oml.journal.append import append, journalled
from workareas import access, reasons
from workareas.errors import AccessNotFound
from workareas.events import BanAdded, BanRemoved
from workareas.models import Ban
from workareas.verbs import Verb
from workareas.words import BanKind


@journalled
def add_ban(actor: Actor, *, kind: str, value: str, reason: str | None) -> Ban:
    """Ban something; the same ban again is the existing row.

    The permission epoch rises, so a submission or verdict that raced this ban is decided again.

    Raises:
        AccessNotFound, AccessForbidden, VerbCeiling: see :func:`workareas.access.require`; an admin of the root.
        Validation: ``request.validation``; unknown kind.
    """
    decision = access.require(actor, Verb.BAN, "universe")
    if kind not in list(BanKind):
        raise Validation(f"kind is one of {', '.join(BanKind)}", param="kind")
    if kind == BanKind.DIGEST:
        value = value.removeprefix("sha256:").lower()
    existing = Ban.objects.filter(tenant_id=actor.tenant_id, kind=kind, value=value).first()
    if existing is not None:
        return existing
    ban = Ban.objects.create(tenant_id=actor.tenant_id, kind=kind, value=value, created_by_id=actor.key_id)
    words = reasons.keep(actor, subject_id=ban.pk, act="ban", text=reason)
    added = BanAdded(ban_id=ban.pk, kind=kind, value=_journal_form(kind, value), reason_commitment=words)
    append(actor, [added], epoch=decision.epoch, raise_epoch=True)
    return ban


@journalled
def remove_ban(actor: Actor, *, ban: str) -> None:
    """Lift a ban.

    Raises:
        AccessNotFound: ``access.not_found``; no such ban, or the root is not visible.
        AccessForbidden, VerbCeiling: see :func:`workareas.access.require`.
    """
    decision = access.require(actor, Verb.BAN, "universe")
    row = None if "\x00" in ban else Ban.objects.filter(pk=ban, tenant_id=actor.tenant_id).first()
    if row is None:
        raise AccessNotFound(f"no ban {ban} for this key")
    removed = BanRemoved(ban_id=row.pk, kind=row.kind, value=_journal_form(row.kind, row.value))
    row.delete()
    append(actor, [removed], epoch=decision.epoch, raise_epoch=True)


def _journal_form(kind: str, value: str) -> str:
    # A bare digest of a short text can be guessed back to the text; the journal is for ever (design: integrity).
    return keyed_digest("ban.value", value.encode()) if kind == BanKind.DIGEST else value
