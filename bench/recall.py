"""``make bench-recall``: how much of what was remembered is found again, through the product's own doors.

Every turn of LoCoMo is submitted, scanned, served and ratified by another principal, then all 1,536 questions are
asked through the product's own recall: once with thread and time, once without. No language model takes part.
``make bench-recall SET=folder`` does the same with any set given as docs.jsonl, queries.jsonl and qrels.jsonl.

Exit code 1: a floor was missed (R@10 .72 with thread and time, .66 without), or a needle was.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oml.settings")

import django  # noqa: E402

django.setup()

from django.core.management import call_command  # noqa: E402
from recall_cache import Away, Remembering  # noqa: E402
from recall_doors import Figures, Place  # noqa: E402
from recall_sets import Collection, folder_collections, locomo_collections, needles, undated  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: E402
from rich.table import Table  # noqa: E402

from memory.recall import search, selectors  # noqa: E402
from memory.recall.embedders import embedder, substitute  # noqa: E402
from oml.crypto.secrets import ensure_generated  # noqa: E402

FLOORS = {"with thread and time": 0.72, "without": 0.66}
#: The same rows and questions, measured or published by others, no language model (design: quality).
REFERENCES = (
    ("vector only, MiniLM int8 (mem0, LangGraph, Chroma)", "", ".361", ".446", ".277"),
    ("Postgres ts_rank_cd, OR query", "", ".435", ".523", ".365"),
    ("textbook hybrid, RRF k=60 over FTS and vector", "", ".472", ".561", ".387"),
    ("published: pgvector and bge-m3, dated rows", "", "", ".668", ".503"),
    ("published: text-embedding-3-small", "", ".599", ".694", ""),
)
ARMS = ("vector", "lexical", "hybrid")
Answers = list[tuple[list[str], dict[str, float]]]

console = Console(stderr=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data/locomo", help="folder with LoCoMo")
    parser.add_argument(
        "--set",
        type=Path,
        dest="folder",
        help="folder with docs.jsonl, queries.jsonl, qrels.jsonl (or Cranfield, or MADial)",
    )
    parser.add_argument("--quick", action="store_true", help="two conversations, to see that it runs")
    options = parser.parse_args()
    call_command("migrate", verbosity=0)
    ensure_generated()
    cache = Remembering(embedder("minilm"), ROOT / ".oml/bench/embeddings.npz")
    substitute("minilm", cache)
    logging.getLogger("memory.recall").setLevel(logging.ERROR)  # the lexical arm is asked without an embedder
    try:
        if options.folder is not None:
            return run_folder(options.folder)
        collections = locomo_collections(options.data)
        return run_locomo(collections[:2] if options.quick else collections)
    finally:
        cache.save()


def run_locomo(collections: list[Collection]) -> int:
    """Both ways of loading, three ways of asking, and the needles."""
    good = True
    table = figures_table("LoCoMo, turn level")
    for row in REFERENCES:
        table.add_row(row[0], "1536", *row[1:], "", style="dim")
    for mode, strip in (("with thread and time", False), ("without", True)):
        place = Place.build("undated" if strip else "dated")
        scopes, names = load(place, collections, strip)
        for arm in ("hybrid",) if strip else ARMS:
            with only(arm):
                answers = {one.name: ask(place, one, scopes[one.name], names, f"{arm}, {mode}") for one in collections}
            table.add_section()
            for label, chosen in parts(collections):
                figures = Figures.of([pair for name in chosen for pair in answers[name]])
                table.add_row(f"{arm}, {mode}: {label}", str(figures.questions), *figures.cells())
                if arm == "hybrid" and label == "all":
                    good &= figures.at10 >= FLOORS[mode]
        if not strip:
            found = needle_test(place)
    Console(width=120).print(table)
    for how, missed in found.items():
        print(f"Needles missed, {how}: {missed} of {len(needles())}")
    good &= not any(found.values())
    print("all floors held" if good else "A FLOOR WAS MISSED")
    return 0 if good else 1


def run_folder(folder: Path) -> int:
    """Every set of a folder, one workarea each."""
    collections = folder_collections(folder)
    place = Place.build("set")
    scopes, names = load(place, collections, strip=False)
    table = figures_table(f"{folder.name}, nothing of it tuned on")
    for one in collections:
        table.add_section()
        for arm in ARMS:
            with only(arm):
                figures = Figures.of(ask(place, one, scopes[one.name], names, arm))
            table.add_row(f"{one.name}, {len(one.memories)} memories: {arm}", str(figures.questions), *figures.cells())
    Console(width=120).print(table)
    return 0


def load(place: Place, collections: list[Collection], strip: bool) -> tuple[dict[str, str], dict[str, str]]:
    """One workarea a collection; returns scopes by collection and claim keys by artifact."""
    scopes: dict[str, str] = {}
    names: dict[str, str] = {}
    total = 2 * sum(len(one.memories) for one in collections)
    with progress("submit, scan, serve, ratify", total) as tick:
        for number, one in enumerate(collections):
            scopes[one.name] = place.workarea(f"set-{number}")
            rows = (undated(row) for row in one.memories) if strip else one.memories
            names |= {artifact: key for key, artifact in place.load(scopes[one.name], rows, tick).items()}
    place.settle()
    return scopes, names


def ask(place: Place, one: Collection, scope: str, names: dict[str, str], label: str) -> Answers:
    """All questions of a collection."""
    with progress(f"{label}: {one.name}", len(one.questions)) as tick:
        answers = []
        for query, relevant in one.questions:
            answers.append(([names[artifact] for artifact in place.ask(query, scope)], relevant))
            tick()
    return answers


def needle_test(place: Place) -> dict[str, int]:
    """Off-topic one-liners among all rows of the tenant: how many are not the first ten's, each way."""
    lost = {}
    nowhere = place.workarea("needles")
    texts = needles()
    with progress("needles", 2 * len(texts)) as tick:
        ids = place.load(
            nowhere, [{"claim_key": f"needle-{n}", "text": text} for n, (text, _) in enumerate(texts)], tick
        )
    place.settle()
    exact_rows = search.EXACT_ROWS
    for how, arm, rows in (
        ("hybrid", "hybrid", exact_rows),
        ("vector alone, exact", "vector", exact_rows),
        ("vector alone, HNSW forced", "vector", 0),
    ):
        search.EXACT_ROWS = rows
        with only(arm):
            lost[how] = sum(
                ids[f"needle-{number}"] not in place.ask(query, "universe") for number, (_, query) in enumerate(texts)
            )
        search.EXACT_ROWS = exact_rows
    return lost


@contextmanager
def only(arm: str) -> Iterator[None]:
    """Recall with one arm: words while the embedder is away, or vectors while no word is a term."""
    terms, model = selectors.query_terms, embedder("minilm")
    if arm == "lexical":
        substitute("minilm", Away())
    if arm == "vector":
        selectors.query_terms = lambda text: []
    try:
        yield
    finally:
        selectors.query_terms = terms
        substitute("minilm", model)


def parts(collections: list[Collection]) -> list[tuple[str, list[str]]]:
    """All, those that weights were fitted on, those that they were not."""
    return [
        ("all", [one.name for one in collections]),
        ("tuned on", [one.name for one in collections if one.tuned]),
        ("never tuned on", [one.name for one in collections if not one.tuned]),
    ]


def figures_table(title: str) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column("ranking")
    for name in ("questions", "R@1", "R@5", "R@10", "MRR", "nDCG"):
        table.add_column(name, justify="right")
    return table


@contextmanager
def progress(label: str, total: int) -> Iterator:
    """A bar; yields what moves it."""
    columns = (TextColumn(f"{label:<44}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(label, total=total)
        yield lambda: bar.advance(task)


if __name__ == "__main__":
    started = time.monotonic()
    code = main()
    print(f"{time.monotonic() - started:.0f} s")
    sys.exit(code)
