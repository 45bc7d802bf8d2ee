"""Scans fail closed: blocked rejects, failed and not run keep an item from every reviewer and are tried again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from memory.claims.actions import scan as scan_action
from memory.claims.models import Artifact, ScanReport
from memory.scanning import chain
from memory.scanning.report import Outcome, ScannerReport, Severity, Span
from oml.core.clock import now
from oml.core.errors import OmlError
from oml.jobs.models import OutboxTask
from review.models import Serve
from tests.support.journal import journalled, length
from tests.support.world import World

pytestmark = pytest.mark.django_db

TEXT = "Accra Metals quoted 412 USD/t."


@dataclass
class ScriptedScanner:
    """A scanner that does what the test says; ``broken`` raises, with the text in its message."""

    name: str = "scripted"
    version: str = "1"
    rules: Mapping[str, Severity] = field(default_factory=lambda: {"scripted.word": Severity.HIGH})
    broken: bool = False
    spans: tuple[Span, ...] = ()

    def scan(self, text: str) -> Iterable[Span]:
        if self.broken:
            raise RuntimeError(f"choked on {text}")
        return self.spans


@pytest.fixture
def scanner(monkeypatch: pytest.MonkeyPatch) -> ScriptedScanner:
    """The only scanner of the chain; clean until told otherwise."""
    scripted = ScriptedScanner()

    def scan_text(text: str) -> list[ScannerReport]:
        return chain.scan_text(text, scanners=(scripted,))

    monkeypatch.setattr(scan_action, "scan_text", scan_text)
    return scripted


def served(world: World, artifact: str) -> str:
    try:
        world.serve(artifact)
    except OmlError as error:
        return error.code
    return "served"


def make_everything_due() -> None:
    OutboxTask.objects.update(available_at=now() - timedelta(seconds=1))


def test_scan__before_it_ran__nothing_is_served_and_a_retry_is_worth_it(world: World) -> None:
    artifact = world.submit(text=TEXT)
    with pytest.raises(OmlError) as caught:
        world.serve(artifact)
    assert caught.value.code == "review.scan_pending"
    assert caught.value.as_dict()["error"]["retryable"] is True
    assert caught.value.headers() == {"Retry-After": "5"}


def test_scan__clean__is_served_and_journalled_with_every_scanner(world: World, scanner: ScriptedScanner) -> None:
    artifact = world.submit(text=TEXT)
    world.scan()
    assert served(world, artifact) == "served"
    (record,) = journalled("admission.scanned", once=True)
    assert record["payload"]["outcomes"] == ["scripted@1=clean"]
    assert record["channel"] == "system"


def test_scan__flagged__is_served_with_its_findings(world: World, scanner: ScriptedScanner) -> None:
    scanner.spans = (Span("scripted.word", 0, 5),)
    artifact = world.submit(text=TEXT)
    world.scan()
    assert world.row(artifact).scan_state == "flagged"
    assert served(world, artifact) == "served"
    assert ScanReport.objects.get().findings == [{"rule": "scripted.word", "severity": "high", "start": 0, "end": 5}]


def test_scan__blocked__rejects_with_cause_scan_and_nobody_ever_sees_it(
    world: World, scanner: ScriptedScanner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chain, "BLOCKING_RULES", frozenset({"scripted.word"}))
    scanner.spans = (Span("scripted.word", 0, 5),)
    artifact = world.submit(text=TEXT)
    world.scan()
    row = world.row(artifact)
    assert (row.state, row.cause, row.scan_state) == ("rejected", "scan", "blocked")
    assert served(world, artifact) == "review.stale"
    assert not Serve.objects.exists()
    (record,) = journalled("lifecycle.reject", once=True)
    assert record["payload"] == {"cause": "scan"}


def test_scan__a_real_key_of_this_product__is_blocked_by_the_real_chain(world: World) -> None:
    artifact = world.submit(text=f"Use {world.secret[world.reader]} to read the quotes.")
    world.scan()
    assert (world.row(artifact).state, world.row(artifact).cause) == ("rejected", "scan")


def test_scan__failed__stays_unservable_is_tried_again_and_then_served(
    world: World, scanner: ScriptedScanner, caplog: pytest.LogCaptureFixture
) -> None:
    scanner.broken = True
    artifact = world.submit(text=TEXT)
    world.scan()
    assert world.row(artifact).scan_state == "failed"
    assert served(world, artifact) == "review.scan_pending"
    assert OutboxTask.objects.get().available_at > now()
    assert "Accra" not in caplog.text
    scanner.broken = False
    make_everything_due()
    world.scan()
    assert world.row(artifact).scan_state == "clean"
    assert served(world, artifact) == "served"
    assert not OutboxTask.objects.exists()


def test_scan__one_scanner_clean_and_one_failed__is_failed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    both = (ScriptedScanner("good"), ScriptedScanner("bad", broken=True))
    monkeypatch.setattr(scan_action, "scan_text", lambda text: chain.scan_text(text, scanners=both))
    artifact = world.submit(text=TEXT)
    world.scan()
    assert world.row(artifact).scan_state == "failed"
    outcomes = dict(ScanReport.objects.values_list("scanner", "outcome"))
    assert outcomes == {"good": "clean", "bad": "failed"}


@pytest.mark.parametrize(
    ("outcomes", "state"),
    [
        ([], "failed"),
        ([Outcome.CLEAN, Outcome.NOT_RUN], "failed"),
        ([Outcome.FLAGGED, Outcome.FAILED], "failed"),
        ([Outcome.FAILED, Outcome.BLOCKED], "blocked"),
        ([Outcome.CLEAN, Outcome.FLAGGED], "flagged"),
        ([Outcome.CLEAN], "clean"),
    ],
)
def test_overall__any_mixture__is_as_bad_as_its_worst_and_silence_is_a_failure(
    outcomes: list[Outcome], state: str
) -> None:
    reports = [ScannerReport(f"s{n}", "1", outcome) for n, outcome in enumerate(outcomes)]
    assert scan_action.overall(reports) == state


def test_scan__same_task_again_and_again__is_done_once(world: World) -> None:
    artifact = world.submit(text=TEXT)
    world.scan()
    before = length(world.writer.tenant_id)
    for _ in range(3):
        scan_action.scan_artifacts([artifact, artifact])
    assert length(world.writer.tenant_id) == before
    journalled("admission.scanned", once=True)


def test_scan__late_task_for_what_has_ended__changes_nothing(world: World) -> None:
    artifact = world.submit(text=TEXT)
    Artifact.objects.filter(pk=artifact).update(held_expires_at=now())
    with pytest.raises(OmlError):
        world.serve(artifact)
    before = length(world.writer.tenant_id)
    world.scan()
    row = world.row(artifact)
    assert (row.state, row.cause, row.scan_state) == ("rejected", "expired", "pending")
    assert length(world.writer.tenant_id) == before
    assert not OutboxTask.objects.exists()


def test_scan__unknown_id__does_no_harm_and_the_task_ends(world: World) -> None:
    scan_action.scan_artifacts(["art_unknown"])


def test_scan__two_tenants_in_one_batch__each_is_journalled_in_its_own_chain(world: World) -> None:
    other = World.build("other", paths=("a",))
    world.submit(text=TEXT)
    other.submit(text=TEXT)
    world.scan()
    journalled("admission.scanned", tenant_id=world.writer.tenant_id, once=True)
    journalled("admission.scanned", tenant_id=other.writer.tenant_id, once=True)
