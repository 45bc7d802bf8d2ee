"""Files become held submissions; the index can be made again from what is stored."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memory.claims.models import Artifact
from memory.recall import index
from memory.recall.commands import RecallCommand
from memory.recall.models import Passage, ServingRow
from memory.recall.selectors import recall
from tests.support.world import World


def run(
    path: Path, world: World, *, reader: str = "jsonl", key: str | None = None, workarea: str = "universe.a"
) -> str:
    out = StringIO()
    call_command(
        "import_memories",
        path,
        "--format",
        reader,
        "--workarea",
        workarea,
        "--key",
        key or world.writer.key_id,
        stdout=out,
    )
    return out.getvalue()


def jsonl(folder: Path, *rows: Any) -> Path:
    path = folder / "memories.jsonl"
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return path


def conversation(folder: Path) -> Path:
    turn = {"speaker": "Ann", "dia_id": "D1:1", "text": "I bought a violin."}
    seen = {"speaker": "Bob", "dia_id": "D1:2", "text": "Look!", "blip_caption": "a red house"}
    sessions = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": [turn, seen]}
    path = folder / "talk.json"
    path.write_text(json.dumps([{"sample_id": "talk-1", "conversation": sessions}]))
    return path


def test_import_memories__jsonl__submits_every_line_as_held(world: World, tmp_path: Path) -> None:
    path = jsonl(
        tmp_path,
        {"claim_key": "one", "text": "First."},
        "",
        {"claim_key": "two", "text": "Second.", "kind": "steering"},
    )
    assert "2 submitted and held for review" in run(path, world)
    rows = Artifact.objects.order_by("claim_key").values_list("claim_key", "kind", "state", "author_key")
    assert list(rows) == [
        ("one", "memory", "held", world.writer.key_id),
        ("two", "steering", "held", world.writer.key_id),
    ]


def test_import_memories__run_again__submits_only_what_is_missing(world: World, tmp_path: Path) -> None:
    run(jsonl(tmp_path, {"claim_key": "one", "text": "First."}), world)
    path = jsonl(tmp_path, {"claim_key": "one", "text": "First."}, {"claim_key": "two", "text": "Second."})
    assert "1 submitted and held for review, 1 known from before" in run(path, world)
    assert Artifact.objects.count() == 2


def test_import_memories__a_bad_row__is_named_and_the_others_are_taken(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = jsonl(tmp_path, {"claim_key": "one", "text": "First."}, {"claim_key": "!", "text": "secret words", "x": 1})
    with pytest.raises(CommandError, match="not everything"):
        run(path, world)
    errors = capsys.readouterr().err
    assert "line 2: request.validation" in errors
    assert "secret words" not in errors
    assert Artifact.objects.get().claim_key == "one"


@pytest.mark.parametrize(
    ("content", "reader"), [("not json", "jsonl"), ("[1]", "jsonl"), ("{}", "locomo"), ("nonsense", "locomo")]
)
def test_import_memories__another_format__is_refused_before_anything_is_sent(
    world: World, tmp_path: Path, content: str, reader: str
) -> None:
    with pytest.raises(CommandError, match=r"line 1|LoCoMo"):
        run(jsonl(tmp_path, content), world, reader=reader)
    assert not Artifact.objects.exists()


def test_import_memories__a_conversation__keeps_speaker_thread_and_time(world: World, tmp_path: Path) -> None:
    run(conversation(tmp_path), world, reader="locomo", key=world.secret[world.writer])
    first, second = Artifact.objects.order_by("claim_key")
    assert (first.claim_key, first.text, first.thread) == ("talk-1/D1:1", "Ann: I bought a violin.", "talk-1/session-1")
    assert second.text == "Bob: Look! [photo: a red house]"
    assert first.occurred_at is not None and first.occurred_at.isoformat() == "2023-05-08T13:56:00+00:00"


def test_import_memories__an_unknown_key__is_refused(world: World, tmp_path: Path) -> None:
    path = jsonl(tmp_path, {"claim_key": "one", "text": "First."})
    for key in ("key_unknown", "oml_k_" + "0" * 26):
        with pytest.raises(CommandError, match=r"auth\.invalid_key"):
            run(path, world, key=key)
    with pytest.raises(CommandError, match="no-such-file"):
        run(tmp_path / "no-such-file", world)


def test_rebuild_serving__an_index_that_was_lost__is_as_it_was(world: World) -> None:
    promoted = world.promoted(text="Accra undercut all. It was cheap.")
    held = world.submit(text="Held.")
    world.scan()
    before = list(ServingRow.objects.order_by("pk").values())
    passages = Passage.objects.count()
    ended = world.promoted(text="Gone.")
    for artifact in (promoted, held):
        index.erase(artifact)
    Artifact.objects.filter(pk=ended).update(state="demoted")
    out = StringIO()
    call_command("rebuild_serving", stdout=out)
    assert out.getvalue() == "2 rows built.\n"
    assert list(ServingRow.objects.order_by("pk").values()) == before
    assert Passage.objects.count() == passages
    hits = recall(world.reader, command=RecallCommand(query="Accra", scope="universe"))["hits"]
    assert [hit["artifact_id"] for hit in hits] == [promoted]
