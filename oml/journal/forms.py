"""Forms of canonical records, so that a verifier need not parse each one: pure, and learned from records it has proved.

A record that was parsed, found canonical (RFC 8785) and compared with its columns leaves its form behind: the same
keys in the same order, and any plain value wherever it had one. A later text that matches a form from end to end has
one reading and one spelling, so it is canonical too, and its values can be compared as they stand. A plain value is
null, a boolean, an integer of up to fifteen digits, or text of printable ASCII without quote and backslash: of each
of these there is exactly one spelling. Whatever has another value or another form is parsed as before.

What must never happen here: a form made from a record that was not proved, or a value class with two spellings.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

_TEXT = r"[ !#-\[\]-~]*"
_VALUE = rf'(?:"{_TEXT}"|0|-?[1-9][0-9]{{0,14}}|null|true|false)'
_TEXT_OR_NULL = rf'(?:"({_TEXT})"|null)'
#: What of a record is said again by a column, and so is captured; the rest has to be plain and no more.
_TOP = {
    "at": rf'"({_TEXT})"',
    "event_type": rf'"({_TEXT})"',
    "far_workarea": _TEXT_OR_NULL,
    "seq": r"([1-9][0-9]{0,14})",
    "simulation": _TEXT_OR_NULL,
    "tenant": rf'"({_TEXT})"',
    "workarea": _TEXT_OR_NULL,
}
_MOST_FORMS = 8


class Said(NamedTuple):
    """What a record says, in the order in which its text says it; the payload as text."""

    principal: str | None
    at: str
    event_type: str
    far_workarea: str | None
    payload: str
    seq: str
    simulation: str | None
    subject: str | None
    tenant: str
    workarea: str | None


class Forms:
    """The forms known of each event type, the one that fitted last first."""

    def __init__(self) -> None:
        self._known: dict[str, list[re.Pattern[str]]] = {}

    def said(self, event_type: str, text: str) -> Said | None:
        """What a text of a known form says; None where it has to be parsed."""
        forms = self._known.get(event_type)
        if forms is None:
            return None
        for place, form in enumerate(forms):
            found = form.fullmatch(text)
            if found is not None:
                if place:
                    forms.insert(0, forms.pop(place))
                return Said._make(found.groups())
        return None

    def learn(self, event_type: str, record: dict[str, Any], text: str, subject_field: str | None) -> None:
        """Keep the form of a record that was proved canonical; nothing, where it has none that is plain.

        Args:
            event_type: of the record.
            record: as parsed.
            text: what was parsed.
            subject_field: which value of its subject the column carries.
        """
        form = _form(record, subject_field)
        if form is None:
            return
        pattern = re.compile(form)
        if pattern.fullmatch(text) is not None:
            forms = self._known.setdefault(event_type, [])
            forms.insert(0, pattern)
            del forms[_MOST_FORMS:]


def _form(record: dict[str, Any], subject_field: str | None) -> str | None:
    nested = {
        "actor": _flat(record.get("actor"), "principal"),
        "subject": _flat(record.get("subject"), subject_field),
        "payload": _plain(record.get("payload")),
    }
    if None in nested.values() or not _TOP.keys() <= record.keys():
        return None
    nested["payload"] = f"({nested['payload']})"
    parts = {key: _TOP.get(key) or nested.get(key) or _plain(value) for key, value in record.items()}
    return _object(parts)


def _flat(value: Any, captured: str | None) -> str | None:
    """An object of plain values, of which one is captured."""
    if (
        not isinstance(value, dict)
        or captured not in value
        or any(isinstance(one, dict | list) for one in value.values())
    ):
        return None
    return _object({key: _TEXT_OR_NULL if key == captured else _VALUE for key in value})


def _plain(value: Any) -> str | None:
    """The form of a value, whatever it holds; None where it has none that is plain."""
    if isinstance(value, dict):
        return _object({key: _plain(inner) for key, inner in value.items()})
    if isinstance(value, list):
        return None if any(isinstance(one, dict | list) for one in value) else rf"\[(?:{_VALUE}(?:,{_VALUE})*)?\]"
    return _VALUE


def _object(parts: dict[str, str | None]) -> str | None:
    if None in parts.values() or not all(map(_is_plain_text, parts)):
        return None
    return r"\{" + ",".join(f'"{re.escape(key)}":{parts[key]}' for key in sorted(parts)) + r"\}"


def _is_plain_text(text: str) -> bool:
    return re.fullmatch(_TEXT, text) is not None
