"""What a claim cites of source records: exact versions, disclosed by the claim and by nothing else.

Whoever may read a promoted claim may read the entries it cites, as they were when it was submitted, whatever their
owner wrote or removed since. When the claim is demoted or erased that ends. What must never happen here: another
version, a history, a property or a link of the record.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from memory.claims.commands import EvidenceRef
from memory.claims.errors import EvidenceNotFound
from memory.claims.models import Artifact, Evidence
from memory.claims.states import State
from memory.records import rules
from memory.records.actions.erase import on_erase
from memory.records.models import Record, RecordEntry
from memory.records.selectors.reading import erased_among
from oml.core.actor import Actor
from oml.core.errors import Validation
from workareas import access
from workareas.access import Access
from workareas.selectors.fences import fence_of
from workareas.verbs import Capability


def cited_by_submission(actor: Actor, known: Access, refs: Sequence[EvidenceRef]) -> tuple[RecordEntry, ...]:
    """The entries that a submission cites, each readable by the submitting key.

    Raises:
        EvidenceNotFound: ``access.not_found``, naming the position; unknown, unreadable, removed, erased, no such
            version.
        Validation: ``request.validation``; the same entry twice.
    """
    entries: list[RecordEntry] = []
    for position, ref in enumerate(refs):
        entry = _own(actor, ref) or (
            disclosed(actor, known, ref.sr_id, ref.version) if ref.version is not None else None
        )
        if entry is None or erased_among([entry.sr_id]):
            raise EvidenceNotFound(position)
        if entry.pk in {one.pk for one in entries}:
            raise Validation(f"evidence[{position}] repeats an earlier entry", param=f"evidence[{position}]")
        entries.append(entry)
    return tuple(entries)


def disclosed(actor: Actor, known: Access, sr_id: str, version: int) -> RecordEntry | None:
    """The entry of that version which a promoted claim readable by this key cites, if there is one."""
    if not rules.SR_ID.match(sr_id) or not 0 <= version < 2**31:
        return None
    readable = Artifact.objects.readable(actor.tenant_id, known.scope(Capability.READER), fence=fence_of(actor))
    cited = Evidence.objects.filter(
        artifact__in=readable.values("pk"), entry__sr_id=sr_id, entry__version=version
    ).select_related("entry")
    return rules.head_of(row.entry for row in cited)


def disclosed_to(actor: Actor, sr_id: str, version: int) -> RecordEntry | None:
    """As :func:`disclosed`, with the actor's access as it is now."""
    return disclosed(actor, access.load(actor), sr_id, version)


def keep(artifact: Artifact, entries: Sequence[RecordEntry]) -> None:
    """Store what a new artifact cites."""
    Evidence.objects.bulk_create(
        Evidence(artifact=artifact, entry=entry, position=position) for position, entry in enumerate(entries)
    )


def in_envelope(entries: Iterable[RecordEntry]) -> list[dict[str, Any]]:
    """The citations as they are signed: version and digest, so that nobody can put other content behind them."""
    return [{"sr_id": one.sr_id, "version": one.version, "sha256": one.content_sha256} for one in entries]


def shown(artifact_ids: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """What readers are told of artifacts' evidence, by artifact, erased records marked; nothing where none is cited."""
    rows = Evidence.objects.filter(artifact__in=list(artifact_ids)).order_by("artifact_id", "position")
    cited = list(rows.values_list("artifact_id", "entry__sr_id", "entry__version"))
    erased = erased_among({sr_id for _, sr_id, _ in cited})
    found: dict[str, list[dict[str, Any]]] = {}
    for artifact, sr_id, version in cited:
        mark = {"erased": True} if sr_id in erased else {}
        found.setdefault(artifact, []).append({"sr_id": sr_id, "version": version, **mark})
    return found


@on_erase
def citing(sr_id: str) -> int:
    """How many claims that still say something cite any version of a record."""
    cited = Evidence.objects.filter(entry__sr_id=sr_id).exclude(artifact__state=State.ERASED)
    return cited.values("artifact").distinct().count()


def _own(actor: Actor, ref: EvidenceRef) -> RecordEntry | None:
    record = None
    if rules.SR_ID.match(ref.sr_id):
        record = Record.objects.own(actor.tenant_id, actor.principal_id).filter(pk=ref.sr_id).first()
    if record is None:
        return None
    if ref.version is None:
        entry: RecordEntry | None = RecordEntry.objects.get(pk=record.head_id)
    elif 0 <= ref.version < 2**31:
        entry = rules.head_of(RecordEntry.objects.filter(sr_id=record.pk, version=ref.version))
    else:
        entry = None
    return entry if entry is not None and not entry.deleted else None
