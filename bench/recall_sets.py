"""Test sets of the recall bench, read from where they are; nothing of them enters the repository."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memory.importers import locomo

#: Conversations that ranking weights were fitted on; all figures for the others are of texts never tuned on.
TUNED = frozenset({"conv-26", "conv-41", "conv-43", "conv-47", "conv-49"})
#: Category 5 of LoCoMo has no answer in the text.
CATEGORIES = frozenset({1, 2, 3, 4})
_DIALOG = re.compile(r"D(\d+):0*(\d+)")


@dataclass
class Collection:
    """Memories of one workarea with questions about them; relevant memories by claim key."""

    name: str
    memories: list[dict[str, Any]]
    questions: list[tuple[str, frozenset[str]]] = field(default_factory=list)

    @property
    def tuned(self) -> bool:
        return self.name in TUNED


def locomo_collections(folder: Path) -> list[Collection]:
    """The ten conversations with questions of categories 1 to 4 and corrected evidence: 1,536 questions."""
    path = folder / "locomo10.json"
    corrections = {
        row["question_id"]: row["correct_evidence"]
        for row in json.loads((folder / "corrections.json").read_text(encoding="utf-8"))
    }
    rows = json.loads(path.read_text(encoding="utf-8"))
    found = []
    for number, (name, conversation) in enumerate(locomo.conversations(path)):
        memories = [locomo.submission(turn) for turn in locomo.turns(name, conversation)]
        keys = {memory["claim_key"] for memory in memories}
        collection = Collection(name, memories)
        for index, row in enumerate(rows[number]["qa"]):
            if row["category"] not in CATEGORIES:
                continue
            # A correction without evidence leaves the cited one.
            cited = corrections.get(f"locomo_{number}_qa{index}") or row["evidence"]
            relevant = frozenset(f"{name}/D{a}:{b}" for text in cited for a, b in _DIALOG.findall(text)) & keys
            if relevant:
                collection.questions.append((row["question"], relevant))
        found.append(collection)
    return found


def undated(memory: dict[str, Any]) -> dict[str, Any]:
    """A memory without its time and its thread."""
    return {name: value for name, value in memory.items() if name not in ("occurred_at", "thread")}


def folder_collection(folder: Path) -> Collection:
    """Any set in BEIR's shape: ``docs.jsonl``, ``queries.jsonl``, ``qrels.jsonl``.

    A document has ``_id`` (or ``id``), ``text``, and perhaps ``title``, ``thread``, ``occurred_at``; a judgement
    ``query-id``, ``corpus-id``, ``score``, and counts from a score of 1.
    """
    memories, keys = [], {}
    for number, row in enumerate(_lines(folder / "docs.jsonl"), 1):
        keys[_id(row)] = claim_key = f"doc-{number}"
        text = " ".join(part for part in (row.get("title"), row["text"]) if part)
        extra = {name: row[name] for name in ("thread", "occurred_at") if row.get(name)}
        if text.strip():
            memories.append({"claim_key": claim_key, "text": text, **extra})
    relevant: dict[str, set[str]] = {}
    for row in _lines(folder / "qrels.jsonl"):
        if float(row.get("score", 1)) > 0 and str(row["corpus-id"]) in keys:
            relevant.setdefault(str(row["query-id"]), set()).add(keys[str(row["corpus-id"])])
    questions = [
        (row["text"], frozenset(relevant[_id(row)]))
        for row in _lines(folder / "queries.jsonl")
        if relevant.get(_id(row))
    ]
    return Collection(folder.name, memories, questions)


def needles(count: int = 40) -> list[tuple[str, str]]:
    """``(text, query)`` of one-liners about nothing that the conversations are about."""
    goods = (
        "zinc oxide",
        "ferrosilicon",
        "borosilicate tube",
        "slag wool",
        "magnesite brick",
        "kaolin",
        "graphite",
        "talc",
    )
    names = ("Frobnitz", "Quxware", "Zorblatt", "Vexmoor", "Plindt")
    pairs = [(name, good) for name in names for good in goods][:count]
    return [
        (
            f"{name} quote for {good}: {400 + number} USD per tonne, reference {name[:2].upper()}-{7000 + number}.",
            f"{name} {good} quote",
        )
        for number, (name, good) in enumerate(pairs)
    ]


def _id(row: dict[str, Any]) -> str:
    return str(row["_id"] if "_id" in row else row["id"])


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)
