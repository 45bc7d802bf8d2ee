"""Demote and erase in the console: an administrator's two acts on one artifact, whose text is not shown for it (R3)."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpRequest

from memory.claims.actions.lifecycle import demote_memory, erase_memory
from memory.claims.models import Artifact
from memory.claims.states import State
from oml.console.actions import ConsoleAction, Done
from oml.console.foresight import Foresight
from workareas.admin.gate import actor_of

_LONGEST_REASON = 4000


class DemoteForm(forms.Form):
    """Why it leaves recall."""

    reason = forms.CharField(
        max_length=_LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="In your words; kept beside the journal, which holds only a commitment to them.",
    )


class EraseForm(forms.Form):
    """Why it is destroyed."""

    reason = forms.CharField(
        max_length=_LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="The words are kept nowhere, since they may repeat what is erased; the journal holds a commitment.",
    )


def _demote(request: HttpRequest, row: Artifact, data: dict[str, Any]) -> Done:
    demote_memory(actor_of(request), artifact=row.pk, reason=data["reason"])
    return Done(f"Demoted: {row.claim_key}, version {row.version}.")


def _foresee(request: HttpRequest, row: Artifact, data: dict[str, Any]) -> Foresight:
    receipt = erase_memory(actor_of(request), artifact=row.pk, reason=data["reason"], preview=True)
    return Foresight(
        f"What {row.claim_key}, version {row.version}, says is destroyed for good.",
        facts=tuple((name.replace("_", " "), str(count)) for name, count in receipt["destroyed"].items() if count),
    )


def _erase(request: HttpRequest, row: Artifact, data: dict[str, Any]) -> Done:
    receipt = erase_memory(actor_of(request), artifact=row.pk, reason=data["reason"])
    gone = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in receipt["destroyed"].items() if count)
    return Done(f"Erased: {row.claim_key}, version {row.version}. Destroyed: {gone or 'nothing was left'}.")


DEMOTE = ConsoleAction(
    name="demote",
    label="Demote",
    consequence="It leaves recall at once, and whoever reads the graph sees it absent. What derives from it stays, and "
    "is marked for its reviewers.",
    form=DemoteForm,
    perform=_demote,
    available=lambda artifact: artifact.state == State.PROMOTED,
)
ERASE = ConsoleAction(
    name="erase",
    label="Erase",
    consequence="It cannot be taken back. Its id, digests and journal stay and still verify; the words are nowhere.",
    form=EraseForm,
    perform=_erase,
    foresee=_foresee,
    available=lambda artifact: artifact.state != State.ERASED,
)
