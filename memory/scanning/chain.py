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

logger = logging.getLogger(__name__)


def scan_text(text: str, *, scanners: Sequence[Scanner] = SCANNERS) -> list[ScannerReport]:
    """Return one report per scanner, in the order of the registry. Never raises for any text.

    Args:
        text: exactly as sent; offsets in findings count its characters.
        scanners: the registry, unless a test or a bench wants others.
    """
    return [_run(scanner, text) for scanner in scanners]


def _run(scanner: Scanner, text: str) -> ScannerReport:
    try:
        findings = tuple(
            Finding(rule=span.rule, severity=scanner.rules[span.rule], start=span.start, end=span.end)
            for span in _folded(scanner.scan(text))
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
    """In order, without doubles, and at most ``FINDINGS_PER_RULE`` + 1 for each rule."""
    single: dict[str, set[Span]] = defaultdict(set)
    rest: dict[str, Span] = {}
    for span in spans:
        listed = single[span.rule]
        if len(listed) < FINDINGS_PER_RULE:
            listed.add(span)
        elif span not in listed:
            so_far = rest.get(span.rule, span)
            rest[span.rule] = Span(span.rule, min(so_far.start, span.start), max(so_far.end, span.end))
    kept = [span for listed in single.values() for span in listed] + list(rest.values())
    return sorted(kept, key=lambda span: (span.start, span.end, span.rule))
