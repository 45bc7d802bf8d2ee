"""What the review templates print: times in words, marked text, outcomes. Nothing here reads a database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django import template
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from oml.core.clock import now, parse_rfc3339, rfc3339
from review import annotate, wording

register = template.Library()

_WORST_FIRST = ("critical", "high", "medium", "low")


@register.inclusion_tag("partials/moment.html")
def age(moment: str | datetime) -> dict[str, str]:
    """How long ago, in words; the exact time on hover and focus."""
    at = _moment(moment)
    return {"words": wording.ago(at, now()), "exact": wording.exact(at), "machine": rfc3339(at)}


@register.inclusion_tag("partials/moment.html")
def time_left(moment: str | datetime) -> dict[str, str]:
    """How much time is left, in words; the exact end on hover and focus."""
    at = _moment(moment)
    return {"words": wording.left(at, now()), "exact": wording.exact(at), "machine": rfc3339(at)}


@register.filter
def exact_time(moment: str) -> str:
    """A time as people write it, UTC."""
    return wording.exact(_moment(moment))


@register.filter
def seconds_left(moment: str) -> int:
    """Whole seconds until a moment, never below 0: the page counts from here, not by the visitor's clock."""
    return max(0, int((_moment(moment) - now()).total_seconds()))


@register.inclusion_tag("partials/outcome.html")
def outcome(word: str) -> dict[str, str]:
    """A scan outcome: shape, word and colour."""
    return {"outcome": word, "word": wording.OUTCOMES[word][0], "meaning": wording.OUTCOMES[word][1]}


@register.inclusion_tag("partials/state.html")
def claim_state(word: str) -> dict[str, str]:
    """The state of a claim or an edge: shape, word and colour."""
    return {"state": word, "word": wording.STATES[word]}


@register.inclusion_tag("partials/outcome.html")
def part_seen(served: bool) -> dict[str, str]:
    """Whether a part was sent to this reviewer: shape, word and colour."""
    if served:
        return {"outcome": "seen", "word": "Opened", "meaning": "sent to you under this view"}
    return {"outcome": "unseen-part", "word": "Not opened", "meaning": "not sent to you yet"}


@register.filter
def kind_words(kind: str) -> str:
    """``derived fact`` for ``derived_fact``."""
    return wording.KINDS.get(kind, kind)


@register.filter
def item_title(item: Mapping[str, Any]) -> str:
    """A claim key, or ``Slot tone of @acme/triage``."""
    return wording.item_title(item)


@register.filter
def item_kind(item: Mapping[str, Any]) -> str:
    """``derived fact``, or ``shared agent state``."""
    return wording.item_kind(item)


@register.filter
def audience(item: Mapping[str, Any]) -> str:
    """Who meets a promoted write of an agent; empty for a claim."""
    return wording.audience(item)


@register.filter
def link_words(label: str) -> str:
    """``is derived from`` for ``derived_from``."""
    return wording.link_words(label)


@register.filter
def end_name(end: Mapping[str, Any]) -> str:
    """What an edge's end is called."""
    return wording.end_name(end)


@register.filter
def why_edge_here(item: Mapping[str, Any]) -> str:
    """Why an edge's row is where it is."""
    return wording.why_edge_here(item)


@register.filter
def why_here(item: Mapping[str, Any]) -> str:
    """Why a queue row is where it is."""
    return wording.why_here(item)


@register.simple_tag
def findings_by_rule(text: str, findings: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Findings gathered by rule, worst first, each place with its number, line and characters."""
    groups: dict[str, dict[str, Any]] = {}
    for number, finding in enumerate(findings, 1):
        group = groups.setdefault(
            str(finding["rule"]),
            {
                "rule": finding["rule"],
                "severity": finding["severity"],
                "words": wording.rule_in_words(str(finding["rule"])),
                "places": [],
            },
        )
        first, last = int(finding["start"]) + 1, int(finding["end"])
        group["places"].append(
            {
                "number": number,
                "line": annotate.line_of(text, first - 1),
                "characters": f"character {first}" if last <= first else f"characters {first} to {last}",
            }
        )
    return sorted(groups.values(), key=lambda group: _WORST_FIRST.index(str(group["severity"])))


@register.simple_tag
def marked_text(text: str, findings: Sequence[Mapping[str, Any]]) -> SafeString:
    """The text as sent, with its findings marked and what cannot be seen named.

    Labels and numbers are drawn by the style sheet, so the element's text content is the text as sent.
    """
    made = [_piece(piece, findings) for piece in annotate.pieces(text, findings)]
    return mark_safe("".join(made))  # noqa: S308  every piece below is escaped


def _piece(piece: annotate.Piece, findings: Sequence[Mapping[str, Any]]) -> str:
    # An HTML parser turns a bare carriage return into a line feed; a reference keeps it.
    inner: str = escape(piece.text).replace("\r", "&#13;")
    if piece.label:
        inner = format_html(
            '<span class="unseen" data-label="{}" title="{}">{}</span>',
            piece.label,
            piece.name,
            mark_safe(inner),  # noqa: S308  escaped above
        )
    if not piece.findings:
        return inner
    severities = {str(findings[number - 1]["severity"]) for number in piece.findings}
    worst = next((word for word in _WORST_FIRST if word in severities), "low")
    anchors = "".join(format_html('<span id="finding-{}"></span>', number) for number in piece.opens)
    return format_html(
        '{}<mark class="finding {}" data-numbers="{}">{}</mark>',
        mark_safe(anchors),  # noqa: S308  numbers only
        worst,
        " ".join(str(number) for number in piece.opens),
        mark_safe(inner),  # noqa: S308  escaped above
    )


def _moment(moment: str | datetime) -> datetime:
    return parse_rfc3339(moment) if isinstance(moment, str) else moment
