"""The chain: one report per scanner whatever happens, and findings that can be trusted as places."""

from __future__ import annotations

import dataclasses
import logging
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.scanning.chain import FINDINGS_PER_RULE, SCANNERS, scan_text
from memory.scanning.policy import BLOCKING_RULES
from memory.scanning.report import Finding, Outcome, ScannerReport, Severity, Span

CONCEPT_PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "scanning.md"


class Fixed:
    """A scanner that says what it is told to."""

    name = "fixed"
    version = "3"
    rules = {"fixed.a": Severity.LOW, "fixed.b": Severity.HIGH, "unicode.bidi_override": Severity.CRITICAL}

    def __init__(self, *spans):
        self.spans = spans

    def scan(self, text):
        yield from self.spans


class Broken(Fixed):
    name = "broken"

    def scan(self, text):
        yield Span("fixed.a", 0, 1)
        raise ValueError(text)


def only(scanner, text="text"):
    (report,) = scan_text(text, scanners=[scanner])
    return report


def test_scan_text__nothing_found__is_clean_with_the_scanners_version():
    assert only(Fixed()) == ScannerReport("fixed", "3", Outcome.CLEAN, ())


def test_scan_text__a_finding_of_an_ordinary_rule__is_flagged():
    report = only(Fixed(Span("fixed.b", 1, 2)))
    assert report.outcome is Outcome.FLAGGED
    assert report.findings == (Finding("fixed.b", Severity.HIGH, 1, 2),)


def test_scan_text__one_finding_of_a_blocking_rule_among_others__is_blocked():
    spans = Span("fixed.a", 0, 1), Span("unicode.bidi_override", 2, 3)
    assert only(Fixed(*spans)).outcome is Outcome.BLOCKED


def test_scan_text__a_scanner_that_raises__is_failed_and_the_others_run(caplog):
    with caplog.at_level(logging.DEBUG):
        broken, fixed = scan_text("my hunter2 text", scanners=[Broken(), Fixed()])
    assert broken == ScannerReport("broken", "3", Outcome.FAILED, ())
    assert fixed.outcome is Outcome.CLEAN
    assert "broken" in caplog.text and "hunter2" not in caplog.text


def test_scan_text__a_rule_that_the_scanner_did_not_declare__is_failed():
    assert only(Fixed(Span("fixed.undeclared", 0, 1))).outcome is Outcome.FAILED


def test_scan_text__findings__are_in_order_and_without_doubles():
    spans = Span("fixed.b", 5, 6), Span("fixed.a", 1, 9), Span("fixed.a", 1, 2), Span("fixed.b", 5, 6)
    assert [(f.rule, f.start, f.end) for f in only(Fixed(*spans)).findings] == [
        ("fixed.a", 1, 2),
        ("fixed.a", 1, 9),
        ("fixed.b", 5, 6),
    ]


def test_scan_text__more_findings_of_a_rule_than_are_listed__the_last_one_covers_the_rest():
    spans = [Span("fixed.a", place, place + 1) for place in range(0, 1000, 2)]
    findings = only(Fixed(Span("fixed.b", 3, 4), *spans)).findings
    of_a = [finding for finding in findings if finding.rule == "fixed.a"]
    assert len(of_a) == FINDINGS_PER_RULE + 1
    assert (of_a[-1].start, of_a[-1].end) == (FINDINGS_PER_RULE * 2, 999)
    assert [finding.rule for finding in findings].count("fixed.b") == 1


def test_scanners__names_and_rules__are_unique_and_belong_together():
    assert len({scanner.name for scanner in SCANNERS}) == len(SCANNERS)
    for scanner in SCANNERS:
        assert scanner.version and all(rule.startswith(f"{scanner.name}.") for rule in scanner.rules)


def test_policy__every_blocking_rule__is_a_rule_of_a_scanner():
    assert {rule for scanner in SCANNERS for rule in scanner.rules}.issuperset(BLOCKING_RULES)


def test_finding__has_no_place_for_an_excerpt():
    assert [field.name for field in dataclasses.fields(Finding)] == ["rule", "severity", "start", "end"]


@pytest.mark.parametrize("scanner", SCANNERS, ids=lambda scanner: scanner.name)
def test_concept_page__every_rule_with_its_consequence__is_listed(scanner):
    rows = {line.split("`")[1]: line for line in CONCEPT_PAGE.read_text().splitlines() if line.startswith("| `")}
    for rule, severity in scanner.rules.items():
        assert rule in rows, f"{rule} is missing in {CONCEPT_PAGE.name}"
        consequence = "blocks" if rule in BLOCKING_RULES else "flags"
        assert f"| {consequence} | {severity} |" in rows[rule]


# What scanners look for, so that random texts are not merely random.
spices = st.sampled_from(
    [
        *("\u200b", "\u200d", "\ufe0f", "\U000e0061", "\U0001f3f4", "\U000e007f", "\u202e", "\u2066", "\xad", "\u200f"),
        *(
            "😀",
            "א",
            "а",
            "α",
            "ａ",
            "𝐚",
            "ı",
            "漢",
            "\x1b",
            "\ud800",
            "İ",
            "\n",
            " ",
            ".",
            "://",
            "a:b@c",
            "eyJ",
            "AKIA",
        ),
        *("-----BEGIN PRIVATE KEY-----", "-----END ", "token=", "password is ", "pwd=", "host=", "sk-", "ghp_"),
        "A1b2C3d4" * 5,
    ]
)
texts = st.lists(spices | st.text(max_size=8), max_size=30).map("".join)


@settings(max_examples=400)
@given(text=texts)
def test_scan_text__any_text__gets_findings_inside_it_in_order_and_never_fails(text):
    reports = scan_text(text)
    assert [report.scanner for report in reports] == [scanner.name for scanner in SCANNERS]
    for report in reports:
        assert report.outcome in (Outcome.CLEAN, Outcome.FLAGGED, Outcome.BLOCKED)
        assert (report.outcome is Outcome.CLEAN) == (report.findings == ())
        assert all(0 <= finding.start < finding.end <= len(text) for finding in report.findings)
        places = [(finding.start, finding.end, finding.rule) for finding in report.findings]
        assert places == sorted(set(places))


@given(text=texts)
def test_scan_text__the_same_text_again__gets_the_same_answer(text):
    assert scan_text(text) == scan_text(text)


@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_scan_text__a_text_written_and_read_back_as_utf8__gets_the_same_answer(text):
    assert scan_text(text) == scan_text(text.encode().decode())
