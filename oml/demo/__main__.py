"""``python -m oml.demo``: play the story and say, by exit code too, whether every sentence held."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import anyio
import httpx2
from mcp import MCPError
from rich.console import Console

from oml.demo.evidence import EvidenceStory
from oml.demo.governance import Governance
from oml.demo.runs import RunStory
from oml.demo.server import ROOT, NoServer, running
from oml.demo.story import BrokenPromise, Story

out = Console(highlight=False, soft_wrap=True)


def main() -> int:
    """0 when every sentence of the story held, 1 otherwise."""
    home = (ROOT / (os.environ.get("OML_HOME") or ".oml")).absolute()
    steps = 0

    def say(sentence: str) -> None:
        nonlocal steps
        steps += 1
        out.print(f"[green]{steps:>2}.[/green] ", end="")
        out.print(sentence, markup=False)

    try:
        with running(home) as (document, started):
            where = "started for this story" if started else "already running"
            out.print(f"OML at {document['base_url']} ({where})\n", markup=False)
            story = Story(document, say)
            anyio.run(story.play)
            Governance(story).play()
            anyio.run(EvidenceStory(document, say).play)
            anyio.run(RunStory(document, say).play)
            say(verify_journal(home))
    except (BrokenPromise, NoServer, MCPError, httpx2.HTTPError) as broken:
        out.print("\n[red]The story breaks off:[/red] ", end="")
        out.print(str(broken), markup=False)
        return 1
    out.print("\nEvery sentence held.")
    return 0


def verify_journal(home: Path) -> str:
    """Recompute the hash chain with the command that an operator would use.

    Raises:
        BrokenPromise: the command found a fault; its words are in the message.
    """
    done = subprocess.run(
        [sys.executable, "manage.py", "verify_journal"],
        cwd=ROOT,
        env={**os.environ, "OML_HOME": str(home)},
        capture_output=True,
        text=True,
    )
    words = (done.stdout + done.stderr).strip()
    if done.returncode != 0:
        raise BrokenPromise(f"verify_journal failed:\n{words[-2000:]}")
    return f"verify_journal passes: {words.splitlines()[-1] if words else 'the chain is whole'}"


if __name__ == "__main__":
    sys.exit(main())
