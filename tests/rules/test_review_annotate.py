"""The text on the review page: cut into pieces, never altered."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from review.annotate import line_of, pieces
from review.templatetags.review_pages import findings_by_rule, marked_text

_texts = st.text(
    alphabet=st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from("\u200b\u202e\r\n👩\u200d💻<&"))
)


@st.composite
def _texts_with_findings(draw: st.DrawFn) -> tuple[str, list[dict[str, object]]]:
    text = draw(_texts)
    place = st.integers(min_value=0, max_value=len(text) + 3)
    spans = draw(st.lists(st.tuples(place, place), max_size=6))
    return text, [{"start": a, "end": b, "severity": "low", "rule": "unicode.zero_width"} for a, b in spans]


@given(_texts_with_findings())
def test_pieces__any_text_and_findings__join_to_the_text(made: tuple[str, list[dict[str, object]]]) -> None:
    text, findings = made
    cut = pieces(text, findings)
    assert "".join(piece.text for piece in cut) == text
    assert all(piece.text for piece in cut)


@given(_texts_with_findings())
def test_pieces__each_finding__covers_its_span_and_opens_once(made: tuple[str, list[dict[str, object]]]) -> None:
    text, findings = made
    for number, finding in enumerate(findings, 1):
        start, end = min(int(str(finding["start"])), len(text)), min(int(str(finding["end"])), len(text))
        covered = "".join(piece.text for piece in pieces(text, findings) if number in piece.findings)
        opened = sum(number in piece.opens for piece in pieces(text, findings))
        assert covered == (text[start:end] if start < end else "")
        assert opened == (1 if start < end else 0)


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("pay\u200bment", ["ZWSP"]),
        ("a\u200b\u200b\u200bb", ["ZWSP ×3"]),
        ("a\u200b\u2060b", ["ZWSP", "WJ"]),
        ("lone\rreturn", ["CR"]),
        ("windows\r\nline", []),
        ("\u2066isolated\u2069", ["LRI", "PDI"]),
        ("a\x07b", ["U+0007"]),
        ("a\ue000b", ["U+E000"]),
        ("👩\u200d💻 at home", []),
        ("नमस्\u200dते", []),
        ("\u200b\u200c" * 20, ["40 unseen"]),
        ("plain text, é, 漢字, שלום", []),
    ],
)
def test_pieces__what_cannot_be_seen__is_named_and_what_belongs_is_not(text: str, labels: list[str]) -> None:
    assert [piece.label for piece in pieces(text, []) if piece.label] == labels


def test_marked_text__markup_in_the_text__stays_text() -> None:
    marked = marked_text('<script>"&\r', [{"start": 0, "end": 8, "severity": "high", "rule": "x.y"}])
    assert "<script>" not in marked
    assert "&lt;script&gt;&quot;&amp;" in marked.replace("</mark>", "")
    assert "&#13;" in marked


def test_line_of__an_offset__counts_line_feeds_before_it() -> None:
    assert [line_of("a\nb\nc", offset) for offset in (0, 1, 2, 4)] == [1, 1, 2, 3]


def test_findings_by_rule__many__are_gathered_worst_first() -> None:
    findings = [
        {"rule": "unicode.soft_hyphen", "severity": "low", "start": 0, "end": 1},
        {"rule": "unicode.homoglyph", "severity": "high", "start": 2, "end": 5},
        {"rule": "unicode.soft_hyphen", "severity": "low", "start": 7, "end": 8},
    ]
    groups = findings_by_rule("0123456\n8", findings)
    assert [group["rule"] for group in groups] == ["unicode.homoglyph", "unicode.soft_hyphen"]
    assert [place["number"] for place in groups[1]["places"]] == [1, 3]
    assert groups[0]["places"][0]["characters"] == "characters 3 to 5"
    assert groups[1]["places"][0]["characters"] == "character 1"
