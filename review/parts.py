"""The parts of an item that a reviewer must have been sent before a verdict counts (D14): its evidence."""

from __future__ import annotations

from typing import Any

from memory.claims.models import Artifact
from memory.records.models import RecordEntry
from review.models import Serve, ServedPart

PREFIX = "evidence-"


def entries_of(artifact: Artifact) -> list[RecordEntry]:
    """The cited entries in declared order."""
    return [row.entry for row in artifact.evidence.select_related("entry").order_by("position")]


def part_name(position: int) -> str:
    return f"{PREFIX}{position}"


def parts_of(serve: Serve) -> list[dict[str, Any]]:
    """The parts of a served item (design: shapes, Review)."""
    entries = entries_of(serve.artifact)
    sent = _sent(serve) if entries else set()
    return [
        {
            "part": part_name(position),
            "kind": "evidence",
            "sr_id": entry.sr_id,
            "version": entry.version,
            "sha256": entry.content_sha256,
            "media_type": "application/json",
            "size_bytes": entry.size,
            "url": f"/v1/review/serves/{serve.pk}/parts/{part_name(position)}",
            "served": part_name(position) in sent,
        }
        for position, entry in enumerate(entries)
    ]


def entry_of(serve: Serve, part: str) -> RecordEntry | None:
    """The cited entry behind a part's name; None when there is none."""
    entries = entries_of(serve.artifact)
    return next((entry for position, entry in enumerate(entries) if part_name(position) == part), None)


def unserved(serve: Serve, artifact: Artifact) -> list[str]:
    """Names of the parts that were not sent yet."""
    parts = artifact.evidence.count()
    sent = _sent(serve) if parts else set()
    return [name for position in range(parts) if (name := part_name(position)) not in sent]


def mark_served(serve: Serve, part: str) -> None:
    """Note that a part was sent; the first time counts."""
    ServedPart.objects.get_or_create(serve=serve, part=part)


def _sent(serve: Serve) -> set[str]:
    return set(serve.served_parts.values_list("part", flat=True))
