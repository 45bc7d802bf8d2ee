"""Folder intake over a real tree: this repository's docs. Again, changed, killed and resumed."""

from __future__ import annotations

import json
import os
import shutil
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memory.records.actions.intake import IncomingFile, Step, intake_folder
from memory.records.models import Record, RecordEntry
from tests.support.journal import length
from tests.support.records import Records, code_of
from tests.support.world import World

pytestmark = pytest.mark.django_db

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture
def records(world: World) -> Records:
    return Records(world)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of this repository's pages for people, with a binary and a hidden file."""
    for name in ("adr", "concepts", "how-to"):
        shutil.copytree(DOCS / name, tmp_path / "docs" / name)
    (tmp_path / "docs" / "logo.bin").write_bytes(b"\xff\x00\xfe")
    (tmp_path / "docs" / ".hidden").write_text("not this")
    return tmp_path / "docs"


def files(tree: Path) -> list[IncomingFile]:
    return [
        IncomingFile(str(path.relative_to(tree)), path.read_bytes)
        for path in tree.rglob("*")
        if path.is_file() and path.name != ".hidden"
    ]


def take_in(records: Records, tree: Path) -> list[Step]:
    return list(intake_folder(records.by, folder="docs", files=files(tree)))


def found(records: Records, *properties: str) -> list[dict[str, Any]]:
    query = "limit=100&" + "&".join(f"properties={one}" for one in properties)
    rows, following = [], ""
    while True:
        page = records.call("GET", f"/v1/records/timeline?{query}{following}").json()
        rows += page["records"]
        if page["next_cursor"] is None:
            return rows
        following = f"&cursor={page['next_cursor']}"


def test_intake__of_a_real_tree__is_folder_file_and_part_records(records: Records, tree: Path) -> None:
    steps = take_in(records, tree)
    assert {step.outcome for step in steps} == {"created"}
    assert len(steps) == len(files(tree)) + 1
    (root,) = found(records, "intake:folder", "folder:docs")
    assert json.loads(root["content"])["files"] == sorted(file.path for file in files(tree))
    path = "how-to/wire-an-agent.md"
    (file,) = found(records, "intake:file", f"file:{path}")
    text = (tree / path).read_text()
    about = json.loads(file["content"])
    assert (about["path"], about["size"]) == (path, len(text.encode()))
    parts = [records.read(one["sr_id"]) for one in found(records, "intake:part", f"file:{path}")]
    assert len(parts) == about["parts"]
    parts.sort(key=lambda one: int(one["properties"][-1].partition(":")[2]))
    assert "".join(one["content"] for one in parts) == text
    assert parts[0]["connections"] == [{"label": "part_of", "to": file["sr_id"]}]
    assert records.read(file["sr_id"])["connections"] == [{"label": "part_of", "to": root["sr_id"]}]
    (binary,) = found(records, "file:logo.bin")
    assert (json.loads(binary["content"])["parts"], binary["source_type"]) == (0, "documentary")


def test_intake__again_without_a_change__writes_nothing(records: Records, tree: Path) -> None:
    take_in(records, tree)
    before = RecordEntry.objects.count(), length(records.by.tenant_id)
    assert {step.outcome for step in take_in(records, tree)} == {"unchanged"}
    assert (RecordEntry.objects.count(), length(records.by.tenant_id)) == before


def test_intake__of_a_changed_a_new_and_a_removed_file__is_an_update_a_record_and_a_tombstone(
    records: Records, tree: Path
) -> None:
    changed = "concepts/scanning.md"
    first = {step.path: step.sr_id for step in take_in(records, tree)}
    (tree / changed).write_text("Short now.")
    (tree / "new.md").write_text("New.")
    (tree / "logo.bin").unlink()
    outcomes = {step.path: (step.outcome, step.sr_id) for step in take_in(records, tree)}
    assert outcomes[changed] == ("updated", first[changed])
    assert outcomes["new.md"][0] == "created"
    assert outcomes["logo.bin"] == ("removed", first["logo.bin"])
    assert outcomes[""] == ("updated", first[""])
    assert sum(word == "unchanged" for word, _ in outcomes.values()) == len(outcomes) - 4
    (part,) = found(records, "intake:part", f"file:{changed}")
    assert (part["content"], part["version"]) == ("Short now.", 1)
    assert records.refused_read(first["logo.bin"]) == (410, "record.tombstoned")


def test_intake__killed_and_run_again__ends_as_if_it_had_not_been(records: Records, tree: Path) -> None:
    done = list(islice(intake_folder(records.by, folder="docs", files=files(tree)), 5))
    rest = take_in(records, tree)
    assert [step.outcome for step in rest[:5]] == ["unchanged"] * 5
    assert {step.outcome for step in rest[5:]} == {"created"}
    assert [step.sr_id for step in rest[:5]] == [step.sr_id for step in done]
    assert {step.outcome for step in take_in(records, tree)} == {"unchanged"}


def test_intake_folder__as_a_command__says_what_it_did(
    records: Records, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for expected in (f"{len(files(tree)) + 1} created, 0 updated", f"0 created, 0 updated, {len(files(tree)) + 1} un"):
        call_command("intake_folder", tree, key=records.by.key_id)
        printed = capsys.readouterr()
        assert expected in printed.out
        assert "taking in" in printed.err
    assert not Record.objects.filter(properties__value=".hidden").exists()
    with pytest.raises(CommandError):
        call_command("intake_folder", tree / "nowhere", key=records.by.key_id)


def test_intake__over_http__is_the_same_intake(records: Records) -> None:
    body = {"folder": "notes", "files": [{"path": "b.md", "content": "b"}, {"path": "a.md", "content": "a" * 20_000}]}
    first = records.call("POST", "/v1/records/intake", body).json()
    assert [(one["path"], one["outcome"]) for one in first["files"]] == [("a.md", "created"), ("b.md", "created")]
    assert len(found(records, "intake:part", "file:a.md")) == 3
    again = records.call("POST", "/v1/records/intake", body).json()
    assert [one["outcome"] for one in again["files"]] == ["unchanged"] * 2
    assert again["folder"] == first["folder"]
    twice = records.call("POST", "/v1/records/intake", {**body, "files": body["files"] * 2})
    assert code_of(twice) == "request.validation"
    reader = records.call("POST", "/v1/records/intake", body, by=records.world.reader)
    assert code_of(reader) == "access.verb_ceiling"


def test_intake__of_an_empty_file__has_its_record_and_no_part(records: Records) -> None:
    body = {"folder": "notes", "files": [{"path": "a/__init__.py", "content": ""}, {"path": "b", "content": "b"}]}
    made = records.call("POST", "/v1/records/intake", body).json()["files"]
    assert [one["outcome"] for one in made] == ["created", "created"]
    assert json.loads(records.read(made[0]["sr_id"])["content"])["parts"] == 0
    again = records.call("POST", "/v1/records/intake", body).json()["files"]
    assert [one["outcome"] for one in again] == ["unchanged", "unchanged"]


@pytest.mark.parametrize(
    ("paths", "param"),
    [
        (["a", " b"], "files[1].path"),
        (["b", "a", "b"], "files[2].path"),
        (["a", "b" * 1001], "files[1].path"),
    ],
)
def test_intake__of_a_path_that_no_property_holds__is_named_and_writes_nothing(
    records: Records, paths: list[str], param: str
) -> None:
    files = [{"path": path, "content": "x"} for path in paths]
    answer = records.call("POST", "/v1/records/intake", {"folder": "notes", "files": files})
    assert (code_of(answer), answer.json()["error"]["param"]) == ("request.validation", param)
    assert not Record.objects.exists()


def test_intake_folder__with_a_name_that_is_no_text__takes_it_and_the_rest(
    records: Records, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "plain.md").write_text("plain")
    with open(os.fsencode(tmp_path) + b"/caf\xe9.md", "w") as file:
        file.write("text of it")
    for expected in ("3 created", "0 created, 0 updated, 3 unchanged"):
        call_command("intake_folder", tmp_path, key=records.by.key_id, name="odd")
        assert expected in capsys.readouterr().out
    (part,) = found(records, "intake:part", "file:caf\\xe9.md")
    assert part["content"] == "text of it"
