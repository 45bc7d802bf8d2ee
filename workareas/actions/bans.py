"""Ban and unban: an author, a text, or an artifact as a source."""

from __future__ import annotations

import re
from collections.abc import Callable

from oml.core.actor import Actor
from oml.core.errors import Validation
from oml.crypto.digest import keyed_digest
from oml.journal.append import append, journalled
from workareas import access, reasons
from workareas.errors import AccessNotFound
from workareas.events import BanAdded, BanRemoved
from workareas.models import Ban, Key, Principal
from workareas.verbs import Verb
from workareas.words import BanKind

_DIGEST = re.compile(r"[0-9a-f]{64}\Z")

#: Whether a tenant has what a ban names, by kind.
Existence = Callable[[str, str], bool]
_exists: dict[BanKind, Existence] = {
    BanKind.KEY: lambda tenant_id, key: Key.objects.filter(pk=key, tenant_id=tenant_id).exists(),
    BanKind.PRINCIPAL: lambda tenant_id, one: Principal.objects.filter(pk=one, tenant_id=tenant_id).exists(),
}


def on_ban_of(kind: BanKind) -> Callable[[Existence], Existence]:
    """Register how a room above finds what a ban of this kind names; artifacts live above workareas."""

    def register(exists: Existence) -> Existence:
        _exists[kind] = exists
        return exists

    return register


def add_ban(actor: Actor, *, kind: str, value: str, reason: str | None) -> Ban:
    """:func:`get_or_add_ban`, for who does not ask whether it was there already."""
    return get_or_add_ban(actor, kind=kind, value=value, reason=reason)[0]


@journalled
def get_or_add_ban(actor: Actor, *, kind: str, value: str, reason: str | None) -> tuple[Ban, bool]:
    """Ban something; the same ban again is the existing row.

    The permission epoch rises, so a submission or verdict that raced this ban is decided again.

    Returns:
        The ban, and whether it is new.

    Raises:
        AccessNotFound, AccessForbidden, VerbCeiling: see :func:`workareas.access.require_everywhere`.
        AccessNotFound: ``access.not_found``; a key, principal or artifact that this tenant does not have: a ban of
            nothing would only look like one.
        Validation: ``request.validation``; unknown kind, or a digest that is none.
    """
    decision = access.require_everywhere(actor, Verb.BAN)
    if kind not in list(BanKind):
        raise Validation(f"kind is one of {', '.join(BanKind)}", param="kind")
    if kind == BanKind.DIGEST:
        value = value.removeprefix("sha256:").lower()
        if not _DIGEST.match(value):
            raise Validation("a digest is the SHA-256 of a text, 64 hex digits", param="value")
    elif "\x00" in value or not _exists[BanKind(kind)](actor.tenant_id, value):
        raise AccessNotFound(f"no {kind} {value} for this key", param="value")
    existing = Ban.objects.filter(tenant_id=actor.tenant_id, kind=kind, value=value).first()
    if existing is not None:
        return existing, False
    ban = Ban.objects.create(tenant_id=actor.tenant_id, kind=kind, value=value, created_by_id=actor.key_id)
    words = reasons.keep(actor, subject_id=ban.pk, act="ban", text=reason)
    added = BanAdded(ban_id=ban.pk, kind=kind, value=_journal_form(kind, value), reason_commitment=words)
    append(actor, [added], epoch=decision.epoch, raise_epoch=True)
    return ban, True


@journalled
def remove_ban(actor: Actor, *, ban: str) -> None:
    """Lift a ban.

    Raises:
        AccessNotFound: ``access.not_found``; no such ban.
        AccessForbidden, VerbCeiling: see :func:`workareas.access.require_everywhere`.
    """
    decision = access.require_everywhere(actor, Verb.BAN)
    row = None if "\x00" in ban else Ban.objects.filter(pk=ban, tenant_id=actor.tenant_id).first()
    if row is None:
        raise AccessNotFound(f"no ban {ban} for this key")
    removed = BanRemoved(ban_id=row.pk, kind=row.kind, value=_journal_form(row.kind, row.value))
    row.delete()
    append(actor, [removed], epoch=decision.epoch, raise_epoch=True)


def _journal_form(kind: str, value: str) -> str:
    # A bare digest of a short text can be guessed back to the text; the journal is for ever (design: integrity).
    return keyed_digest("ban.value", value.encode()) if kind == BanKind.DIGEST else value
