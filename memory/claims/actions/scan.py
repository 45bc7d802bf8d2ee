"""Scan what was submitted and prepare its index row, so that a promotion is searchable at once.

``blocked`` rejects; ``failed`` keeps the item unservable and tries again later: fail closed. The text is embedded
in the same step.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import timedelta

from memory.claims.actions.end import reject, system_actor
from memory.claims.events import Scanned
from memory.claims.models import Artifact, ScanReport
from memory.claims.states import Cause, ScanState, State, Surface
from memory.recall import index
from memory.scanning.chain import scan_text
from memory.scanning.report import Outcome, ScannerReport
from oml.core.clock import now
from oml.jobs.outbox import enqueue
from oml.journal.append import append, journalled
from oml.journal.registry import Event

SCAN_TASK = "memory.scan"
_AGAIN = timedelta(seconds=30)


@journalled
def scan_artifacts(artifact_ids: Sequence[str]) -> None:
    """Run the chain over held artifacts, store the reports and build their index rows.

    Args:
        artifact_ids: of any tenants; those no longer held or already scanned are skipped, so that a task
            delivered twice does its work once.
    """
    artifacts = list(
        Artifact.objects.select_for_update(of=("self",), no_key=True)
        .filter(pk__in=artifact_ids, state=State.HELD, scan_state__in=[ScanState.PENDING, ScanState.FAILED])
        .select_related("workarea")
        .order_by("pk")
    )
    events: dict[str, list[Event]] = {}
    survivors: list[Artifact] = []
    for artifact in artifacts:
        events.setdefault(artifact.tenant_id, []).extend(scan(artifact))
        if artifact.state == State.HELD and artifact.channel == Surface.CLAIM:
            survivors.append(artifact)
        if artifact.scan_state == ScanState.FAILED:
            enqueue(SCAN_TASK, delay=_AGAIN, artifact_id=artifact.pk)
    index.prepare(survivors)
    for tenant_id in sorted(events):  # one order of head locks, so two workers cannot wait for each other
        append(system_actor(tenant_id), events[tenant_id], epoch=None)


def scan(artifact: Artifact) -> list[Event]:
    """Run the chain over one held artifact that the caller has locked, and end it when a scanner blocks it.

    Returns:
        The events for the caller to append, in order.
    """
    reports = scan_text(artifact.text or "")
    _store(artifact, reports)
    events: list[Event] = [_scanned(artifact, reports)]
    if artifact.scan_state == ScanState.BLOCKED:
        events.append(reject(artifact, cause=Cause.SCAN))
    return events


def overall(reports: Sequence[ScannerReport]) -> ScanState:
    """Fold the chain's outcomes: blocked beats failed beats flagged beats clean; not_run is a failure."""
    outcomes = {report.outcome for report in reports}
    if Outcome.BLOCKED in outcomes:
        return ScanState.BLOCKED
    if not reports or outcomes & {Outcome.FAILED, Outcome.NOT_RUN}:
        return ScanState.FAILED
    return ScanState.FLAGGED if Outcome.FLAGGED in outcomes else ScanState.CLEAN


def _store(artifact: Artifact, reports: Sequence[ScannerReport]) -> None:
    artifact.scan_state = overall(reports)
    artifact.save(update_fields=["scan_state"])
    ScanReport.objects.bulk_create(
        [
            ScanReport(
                artifact=artifact,
                scanner=report.scanner,
                scanner_version=report.version,
                outcome=report.outcome,
                findings=[dataclasses.asdict(finding) for finding in report.findings],
                at=now(),
            )
            for report in reports
        ],
        update_conflicts=True,
        unique_fields=["artifact", "scanner"],
        update_fields=["scanner_version", "outcome", "findings", "at"],
    )


def _scanned(artifact: Artifact, reports: Sequence[ScannerReport]) -> Scanned:
    return Scanned(
        **artifact.about(),
        outcomes=tuple(f"{report.scanner}@{report.version}={report.outcome}" for report in reports),
    )
