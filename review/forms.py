"""The shapes of the review pages' forms. They read what a browser sent; they decide nothing."""

from __future__ import annotations

from typing import Any, ClassVar
from urllib.parse import urlencode

from django import forms

from oml.core.errors import Validation
from review.actions.verdict import VerdictCommand
from review.policy import REASON_TEXT, ReasonCode, VerdictWord
from review.selectors.edge_queue import EdgeQuery
from review.selectors.queue import QueueQuery
from review.selectors.turns import Turn

LONGEST_REASON = 4000


class _Filters(forms.Form):
    """Filters as a plain GET form that can be bookmarked."""

    turn = forms.CharField(required=False, max_length=16)
    workarea = forms.CharField(required=False, max_length=4096)
    kind = forms.CharField(required=False, max_length=64)
    cursor = forms.CharField(required=False, max_length=4096)

    FILTERS: ClassVar[tuple[str, ...]] = ("workarea", "kind")

    def given(self) -> dict[str, Any]:
        """What was filled in; the turn is the visitor's own unless they ask for the other.

        Raises:
            Validation: ``request.validation``; too long, or a character that no filter holds.
        """
        _require_valid(self)
        return {"turn": Turn.MINE} | {name: value for name, value in self.cleaned_data.items() if value}

    def chosen(self) -> dict[str, str]:
        """The filters that are set, without turn and page."""
        return {name: value for name in self.FILTERS if (value := self.cleaned_data.get(name))}

    def address(self, **changed: str) -> str:
        """A query string that keeps the filters; page and turn only as given here."""
        return "?" + urlencode({**self.chosen(), **changed})


class QueueFilters(_Filters):
    """The filters of what was submitted."""

    scan = forms.CharField(required=False, max_length=64)
    author_key = forms.CharField(required=False, max_length=64)
    claim_key = forms.CharField(required=False, max_length=128)
    channel = forms.CharField(required=False, max_length=64)

    FILTERS = ("workarea", "kind", "scan", "channel", "author_key", "claim_key")

    def query(self) -> QueueQuery:
        """What the selector is asked; raises as :meth:`given`."""
        return QueueQuery(**self.given())


class EdgeFilters(_Filters):
    """The filters of what was proposed to be linked."""

    def query(self) -> EdgeQuery:
        """What the selector is asked; raises as :meth:`given`."""
        return EdgeQuery(**self.given())


class VerdictForm(forms.Form):
    """One verdict, bound to exactly what was served (D14), and what the page showed when it was drawn."""

    content_digest = forms.CharField(max_length=128)
    verdict = forms.CharField(max_length=16)
    reason_code = forms.CharField(required=False, max_length=32)
    reason = forms.CharField(required=False, max_length=LONGEST_REASON, strip=False)

    def command(self, serve_id: str) -> VerdictCommand:
        """What the action is asked.

        Raises:
            Validation: ``request.validation``; naming the field at fault.
        """
        _require_valid(self)
        data = self.cleaned_data
        return VerdictCommand(
            serve_id=serve_id,
            content_digest=data["content_digest"],
            verdict=_one_of(VerdictWord, data["verdict"], "verdict"),
            reason_code=_one_of(ReasonCode, data["reason_code"], "reason_code") if data["reason_code"] else None,
            # Browsers send line ends as CR LF; a reason has plain ones.
            reason=data["reason"].replace("\r\n", "\n"),
        )

    def words(self) -> dict[str, str]:
        """What the reviewer typed, to be shown again whatever became of it."""
        return {name: self.data.get(name, "")[: LONGEST_REASON * 2] for name in ("reason_code", "reason")}

    def seen(self) -> dict[str, str]:
        """What the page had shown: only ever compared and printed, so it needs no trust."""
        return {name.removeprefix("seen_"): str(self.data[name]) for name in self.data if name.startswith("seen_")}


REASONS = [(str(code), words) for code, words in REASON_TEXT.items()]


def _one_of(words: Any, value: str, name: str) -> Any:
    if value not in list(words):
        raise Validation(f"{name} is one of {', '.join(words)}", param=name)
    return words(value)


def _require_valid(form: forms.Form) -> None:
    """Turn a form's first complaint into the typed error, which names the field and quotes nothing."""
    if form.is_valid():
        return
    name, problems = next(iter(form.errors.get_json_data().items()))
    reason = {
        "required": "is missing",
        "max_length": "is too long",
        "null_characters_not_allowed": "holds a NUL character",
    }.get(problems[0]["code"], "cannot be read")
    raise Validation(f"{name} {reason}", param=name)
