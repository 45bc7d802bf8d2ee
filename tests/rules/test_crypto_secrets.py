"""Secret files: who may read them, which deployment may use them, and that nothing of them gets out."""

from __future__ import annotations

import base64
import json
import os
import stat
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from oml.core.errors import OmlError
from oml.crypto import __main__ as command
from oml.crypto import secrets
from oml.crypto.errors import SecretUnusable
from oml.crypto.secrets import Purpose, SecretName

ROOT = Path(__file__).parents[2]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty place for secrets, in a development deployment."""
    place = tmp_path / "secrets"
    monkeypatch.setenv("OML_SECRETS_DIR", str(place))
    monkeypatch.delenv("OML_ENV", raising=False)
    secrets.forget()
    yield place
    secrets.forget()


def lay(folder, name, document, mode=0o400):
    folder.mkdir(exist_ok=True)
    path = folder / f"{name.value}.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    path.chmod(mode)
    return path


def ring(*seeds, name=SecretName.DIGEST, purpose="production", not_after=None):
    return {
        "version": 1,
        "name": name.value,
        "generated_for": purpose,
        "keys": [
            {
                "id": f"key{place}",
                "created_at": f"2026-0{place + 1}-01T00:00:00Z",
                "not_after": not_after,
                "seed": base64.b64encode(seed).decode(),
            }
            for place, seed in enumerate(seeds)
        ],
    }


def test_ensure_generated__an_empty_folder__makes_every_secret_private(folder):
    assert secrets.ensure_generated() == list(SecretName)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for name in SecretName:
        assert stat.S_IMODE((folder / f"{name.value}.json").stat().st_mode) == 0o400
    secrets.check_all()


def test_ensure_generated__run_again__changes_nothing(folder):
    secrets.ensure_generated()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert secrets.ensure_generated() == []
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_ensure_generated__one_file_missing__makes_only_that_one(folder):
    secrets.ensure_generated()
    kept = secrets.load(SecretName.DIGEST).current().seed
    (folder / "cursor.json").unlink()
    assert secrets.ensure_generated() == [SecretName.CURSOR]
    assert secrets.load(SecretName.DIGEST).current().seed == kept


def test_ensure_generated__every_secret__differs_from_every_other(folder):
    secrets.ensure_generated()
    assert len({secrets.load(name).current().seed for name in SecretName}) == len(SecretName)


def test_ensure_generated__six_processes_at_once__all_end_with_the_same_secrets(folder):
    program = (
        "from oml.crypto import secrets\n"
        "input()\n"
        "secrets.ensure_generated()\n"
        "print([secrets.load(name).current().seed.hex() for name in secrets.SecretName])\n"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for _ in range(6)
    ]
    for process in running:
        process.stdin.write("go\n")
        process.stdin.flush()
    answers = {process.communicate(timeout=60)[0] for process in running}
    assert all(process.returncode == 0 for process in running)
    assert len(answers) == 1 and answers != {""}
    assert sorted(path.name for path in folder.iterdir()) == sorted(f"{name.value}.json" for name in SecretName)


def test_ensure_generated__in_production__is_refused(folder, monkeypatch):
    monkeypatch.setenv("OML_ENV", "production")
    with pytest.raises(SecretUnusable, match="never generates"):
        secrets.ensure_generated()
    assert not folder.exists()


def test_ensure_generated__a_file_stands_where_the_folder_should__says_so(folder):
    folder.write_text("in the way")
    with pytest.raises(SecretUnusable, match="cannot be written"):
        secrets.ensure_generated()


@pytest.mark.parametrize("mode", [0o440, 0o404, 0o444, 0o640, 0o620, 0o602])
def test_load__group_or_others_have_access__is_refused_with_the_remedy(folder, mode):
    path = lay(folder, SecretName.DIGEST, ring(b"d" * 32), mode)
    with pytest.raises(SecretUnusable) as refused:
        secrets.load(SecretName.DIGEST)
    assert str(path) in str(refused.value) and "chmod 0400" in str(refused.value)


def test_load__a_link_to_a_widely_readable_file__is_refused(folder, tmp_path):
    target = lay(tmp_path, SecretName.DIGEST, ring(b"d" * 32), 0o444)
    folder.mkdir()
    (folder / "digest.json").symlink_to(target)
    with pytest.raises(SecretUnusable, match="0444"):
        secrets.load(SecretName.DIGEST)


def test_load__no_such_file__names_the_file(folder):
    with pytest.raises(SecretUnusable, match=r"digest\.json cannot be read"):
        secrets.load(SecretName.DIGEST)


def test_load__a_folder_in_its_place__is_refused(folder):
    (folder / "digest.json").mkdir(parents=True)
    with pytest.raises(SecretUnusable):
        secrets.load(SecretName.DIGEST)


def test_load__generated_for_development__serves_development_and_not_production(folder, monkeypatch):
    secrets.ensure_generated()
    secrets.check_all()
    monkeypatch.setenv("OML_ENV", "production")
    with pytest.raises(SecretUnusable, match="generated for development"):
        secrets.load(SecretName.ENVELOPE_SIGNING)


def test_load__a_production_set__serves_production(folder, monkeypatch):
    monkeypatch.setenv("OML_ENV", "production")
    secrets.ensure_generated(purpose=Purpose.PRODUCTION)
    secrets.check_all()


def test_load__another_secret_under_this_name__is_refused(folder):
    lay(folder, SecretName.DIGEST, ring(b"d" * 32, name=SecretName.CURSOR))
    with pytest.raises(SecretUnusable, match="was it renamed"):
        secrets.load(SecretName.DIGEST)


CANARY = base64.b64encode(b"canary canary canary canary").decode()


def spoiled(**change):
    document = ring(b"d" * 32)
    document["keys"][0]["seed"] = CANARY
    document["keys"][0].update(change)
    return document


@pytest.mark.parametrize(
    "document",
    [
        "",
        CANARY,
        "[]",
        '{"seed": "' + CANARY,
        spoiled(),  # 27 bytes, not 32
        spoiled(seed=CANARY + "!"),
        spoiled(seed=None),
        spoiled(created_at=CANARY),
        spoiled(not_after=7),
        spoiled(id=""),
        {**ring(b"d" * 32), "keys": []},
        {**ring(b"d" * 32), "keys": [CANARY]},
        {**ring(b"d" * 32), "generated_for": CANARY},
        {**ring(b"d" * 32), "version": 2},
        {**ring(b"d" * 32), "keys": ring(b"d" * 32)["keys"] * 2},
    ],
)
def test_load__a_malformed_file__is_refused_without_a_word_of_its_content(folder, document):
    lay(folder, SecretName.DIGEST, document)
    with pytest.raises(SecretUnusable) as refused:
        secrets.load(SecretName.DIGEST)
    assert CANARY not in "".join(traceback.format_exception(refused.value))


def test_secret_unusable__on_the_wire__says_unavailable_and_no_path(folder):
    with pytest.raises(OmlError) as refused:
        secrets.load(SecretName.DIGEST)
    body = refused.value.as_dict()["error"]
    assert body["code"] == "internal.unavailable"
    assert str(folder) not in json.dumps(body)


def test_current__several_keys__is_the_newest(folder):
    lay(folder, SecretName.DIGEST, ring(b"a" * 32, b"c" * 32, b"b" * 32))
    assert secrets.load(SecretName.DIGEST).current().seed == b"b" * 32
    assert [key.seed[:1] for key in secrets.load(SecretName.DIGEST).keys] == [b"a", b"c", b"b"]


def test_current__every_key_past_its_window__is_refused(folder):
    lay(folder, SecretName.DIGEST, ring(b"a" * 32, not_after="2026-06-01T00:00:00Z"))
    with pytest.raises(SecretUnusable, match="rotate"):
        secrets.load(SecretName.DIGEST).current()


def test_repr__of_a_ring__shows_no_seed(folder):
    lay(folder, SecretName.DIGEST, ring(b"d" * 32))
    shown = repr(secrets.load(SecretName.DIGEST))
    assert "dddd" not in shown and "seed" not in shown and "key0" in shown


def test_secrets_dir__named_by_nobody__is_under_the_home():
    assert str(secrets.secrets_dir({})) == os.path.join(".oml", "secrets")
    assert str(secrets.secrets_dir({"OML_HOME": "/srv/oml"})) == "/srv/oml/secrets"
    assert str(secrets.secrets_dir({"OML_HOME": "/srv/oml", "OML_SECRETS_DIR": "/run/keys"})) == "/run/keys"


def test_generate_command__prints_names_and_no_secret(folder, capsys):
    assert command.main(["generate", "--production", str(folder)]) == 0
    printed = capsys.readouterr().out
    assert all(name.value in printed for name in SecretName)
    for name in SecretName:
        seed = secrets.load(name).current().seed
        assert seed.hex() not in printed and base64.b64encode(seed).decode() not in printed
    assert command.main(["generate", str(folder)]) == 0
    assert "complete" in capsys.readouterr().out


def test_generate_command__development_set_in_production__exits_1(folder, capsys, monkeypatch):
    monkeypatch.setenv("OML_ENV", "production")
    assert command.main(["generate", str(folder)]) == 1
    assert "never generates" in capsys.readouterr().err


def test_django_secret_key_and_cursor_key__are_long_and_apart(folder):
    secrets.ensure_generated()
    assert len(secrets.django_secret_key()) == 64
    assert len(secrets.cursor_key()) == 32
    assert secrets.django_secret_key() != secrets.cursor_key().hex()
