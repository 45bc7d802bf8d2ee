"""Runs every scanner over a text. The registry is :data:`SCANNERS`; adding a scanner is adding a line to it.

A scanner that raises is ``failed`` and the others still run; nothing it raised leaves this module, because
the message of an exception may quote the text. What must never happen here: ``clean`` for a scanner that
did not finish, or an exception to the caller.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence

from memory.scanning.policy import BLOCKING_RULES
from memory.scanning.report import Finding, Outcome, Scanner, ScannerReport, Span
from memory.scanning.secrets import SecretsScanner
from memory.scanning.unicode import UnicodeScanner

SCANNERS: tuple[Scanner, ...] = (UnicodeScanner(), SecretsScanner())

# Findings of one rule that one report lists singly. What comes after is one more finding over all the rest:
# a text of thirty thousand soft hyphens must fill neither the table nor the reviewer's screen.
FINDINGS_PER_RULE = 50

_WORST_FIRST = (Outcome.BLOCKED, Outcome.FAILED, Outcome.NOT_RUN, Outcome.FLAGGED, Outcome.CLEAN)

logger = logging.getLogger(__name__)


def scan_text(text: str, *, scanners: Sequence[Scanner] = SCANNERS) -> list[ScannerReport]:
    """Return one report per scanner, in the order of the registry. Never raises for any text.

    Args:
        text: exactly as sent; offsets in findings count its characters.
        scanners: the registry, unless a test or a bench wants others.
    """
    return [_run(scanner, text) for scanner in scanners]


def overall(reports: Iterable[ScannerReport], *, scanners: Sequence[Scanner] = SCANNERS) -> Outcome:
    """The worst outcome: blocked, failed, not_run, flagged, clean. A scanner without a report was not run."""
    by_name = {report.scanner: report.outcome for report in reports}
    outcomes = {by_name.get(scanner.name, Outcome.NOT_RUN) for scanner in scanners} | set(by_name.values())
    return next(outcome for outcome in _WORST_FIRST if outcome in outcomes)


def _run(scanner: Scanner, text: str) -> ScannerReport:
    try:
        spans = list(scanner.scan(text))
        findings = tuple(
            Finding(rule=span.rule, severity=scanner.rules[span.rule], start=span.start, end=span.end)
            for span in _folded(spans)
        )
    except Exception as error:  # whatever a scanner does wrong, the answer is "failed"
        logger.error("scanner %s failed with %s", scanner.name, type(error).__name__)
        return ScannerReport(scanner.name, scanner.version, Outcome.FAILED)
    return ScannerReport(scanner.name, scanner.version, _outcome(findings), findings)


def _outcome(findings: Sequence[Finding]) -> Outcome:
    if any(finding.rule in BLOCKING_RULES for finding in findings):
        return Outcome.BLOCKED
    return Outcome.FLAGGED if findings else Outcome.CLEAN


def _folded(spans: Iterable[Span]) -> list[Span]:
    """Sorted, without doubles, and at most ``FINDINGS_PER_RULE`` + 1 for each rule."""
    by_rule: dict[str, list[Span]] = defaultdict(list)
    for span in sorted(set(spans), key=lambda span: (span.start, span.end)):
        by_rule[span.rule].append(span)
    kept: list[Span] = []
    for rule, found in by_rule.items():
        kept.extend(found[:FINDINGS_PER_RULE])
        if rest := found[FINDINGS_PER_RULE:]:
            kept.append(Span(rule, rest[0].start, max(span.end for span in rest)))
    return sorted(kept, key=lambda span: (span.start, span.end, span.rule))
