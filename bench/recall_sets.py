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
    """Memories of one workarea with questions about them; grades of relevant memories by claim key."""

    name: str
    memories: list[dict[str, Any]]
    questions: list[tuple[str, dict[str, float]]] = field(default_factory=list)

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
            named = (f"{name}/D{a}:{b}" for text in cited for a, b in _DIALOG.findall(text))
            relevant = {key: 1.0 for key in named if key in keys}
            if relevant:
                collection.questions.append((row["question"], relevant))
        found.append(collection)
    return found


def undated(memory: dict[str, Any]) -> dict[str, Any]:
    """A memory without its time and its thread."""
    return {name: value for name, value in memory.items() if name not in ("occurred_at", "thread")}


def folder_collections(folder: Path) -> list[Collection]:
    """What a folder holds: Cranfield or MADial as they are published, or any set in BEIR's shape.

    BEIR's shape is ``docs.jsonl``, ``queries.jsonl`` and ``qrels.jsonl``: a document has ``_id`` (or ``id``), ``text``
    and perhaps ``title``, ``thread``, ``occurred_at``; a judgement ``query-id``, ``corpus-id`` and ``score``, and
    counts from above 0.
    """
    if (folder / "cran.all.1400.xml").exists():
        return [_cranfield(folder)]
    if (folder / "data/ch").exists():
        return [_madial(folder / "data/en", "en"), _madial(folder / "data/ch", "zh")]
    documents = [
        {
            "id": _id(row),
            "text": " ".join(part for part in (row.get("title"), row["text"]) if part),
            **{name: row[name] for name in ("thread", "occurred_at") if row.get(name)},
        }
        for row in _lines(folder / "docs.jsonl")
    ]
    grades: dict[str, dict[str, float]] = {}
    for row in _lines(folder / "qrels.jsonl"):
        grades.setdefault(str(row["query-id"]), {})[str(row["corpus-id"])] = float(row.get("score", 1))
    queries = [(row["text"], grades.get(_id(row), {})) for row in _lines(folder / "queries.jsonl")]
    return [_collection(folder.name, documents, queries)]


def _collection(name: str, documents: list[dict[str, Any]], queries: list[tuple[str, dict[str, float]]]) -> Collection:
    """Documents under claim keys of our own; judgements of what is not there, or not relevant, are left out."""
    keys = {row["id"]: f"doc-{number}" for number, row in enumerate(documents, 1) if row["text"].strip()}
    memories = [
        {"claim_key": keys[row["id"]], **{field: value for field, value in row.items() if field != "id"}}
        for row in documents
        if row["id"] in keys
    ]
    questions = []
    for text, grades in queries:
        relevant = {keys[one]: grade for one, grade in grades.items() if one in keys and grade > 0}
        if relevant:
            questions.append((text, relevant))
    return Collection(name, memories, questions)


def _cranfield(folder: Path) -> Collection:
    """1,400 abstracts; queries are numbered by their order, as the judgements are."""
    text = (folder / "cran.all.1400.xml").read_text(encoding="utf-8")
    documents = [
        {"id": number, "text": " ".join(body.split())}
        for number, body in re.findall(r"<docno>(\d+)</docno>.*?<text>(.*?)</text>", text, re.DOTALL)
    ]
    grades: dict[int, dict[str, float]] = {}
    for line in (folder / "cranqrel.trec.txt").read_text(encoding="utf-8").splitlines():
        if len(cells := line.split()) == 4:
            grades.setdefault(int(cells[0]), {})[cells[2]] = float(cells[3])
    titles = re.findall(r"<title>(.*?)</title>", (folder / "cran.qry.xml").read_text(encoding="utf-8"), re.DOTALL)
    queries = [(" ".join(title.split()), grades.get(number, {})) for number, title in enumerate(titles, 1)]
    return _collection("Cranfield", documents, queries)


def _madial(folder: Path, language: str) -> Collection:
    """Memories with their day; a query is the dialogue before the turn that needs the memory, its last four turns."""
    documents = [
        {"id": number, "text": memory["event"], "occurred_at": f"{memory['time']}T00:00:00Z"}
        for row in _lines(folder / f"MADial-Bench-{language}-memory.json")
        for number, memory in row.items()
    ]
    queries = []
    for row in _lines(folder / f"MADial-Bench-{language}-dialogue.json"):
        said = [re.sub(r'^<\w+>: ?"?(.*?)"?\s*$', r"\1", turn, flags=re.DOTALL) for turn in row["dialogue"]]
        turn = row["test-turn"][0]
        queries.append((" ".join(said[max(1, turn - 4) : turn]), {str(one): 1.0 for one in row["relevant-id"]}))
    return _collection(f"MADial {language}", documents, queries)


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
