"""The verifier's command line, as its user has it: files from ``/v1``, keys of their own, an exit code."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from oml.crypto import notes, secrets
from oml.crypto.secrets import SecretName
from oml.journal.checkpoint import make_checkpoint
from oml.journal.models import JournalEntry
from review.evidence.export import export_evidence
from tests.support import verifier
from tests.support.api import Api
from tests.support.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _outside(tmp_path: Path, settings: Any) -> None:
    settings.OML_CHECKPOINT_DIR = tmp_path / "kept"


@pytest.fixture
def files(world: World, api: Api, tmp_path: Path) -> dict[str, Path]:
    """What somebody collects over time: keys, an old checkpoint, a new one, the proof between them, an entry."""
    key = world.secret[world.reader]
    tenant = world.admin.tenant_id
    made: dict[str, Path] = {}

    def save(name: str, data: bytes) -> None:
        made[name] = tmp_path / name
        made[name].write_bytes(data)

    save("keys", api.get("deployment-keys", key=key).content)
    make_checkpoint(tenant)
    old = api.get("journal/checkpoint", key=key).json()
    save("old", old["note"].encode())
    world.promoted()
    make_checkpoint(tenant)
    new = api.get("journal/checkpoint", key=key).json()
    save("new", new["note"].encode())
    save("vkeys", "\n".join(new["verifier_keys"]).encode())
    save("proof", api.get("journal/proof", key=key, **{"from": old["size"], "to": new["size"]}).content)
    save("inclusion", api.get("journal/proof", key=key, seq=7).content)
    save("entry", JournalEntry.objects.get(tenant_id=tenant, seq=7).canonical.encode() + b"\n")
    save("other", JournalEntry.objects.get(tenant_id=tenant, seq=8).canonical.encode())
    return made


def verify(*arguments: object) -> tuple[int, str]:
    code, printed = verifier.run(*arguments)
    assert "Traceback" not in printed, printed
    return code, printed


def test_checkpoint__grown_and_proved__verifies(files: dict[str, Path]) -> None:
    for keys in ("keys", "vkeys"):
        code, printed = verify(
            "checkpoint", files["new"], "--kept", files["old"], "--proof", files["proof"], "--keys", files[keys]
        )
        assert code == 0 and "unchanged" in printed


def test_checkpoint__the_same__verifies_without_a_proof(files: dict[str, Path]) -> None:
    assert verify("checkpoint", files["old"], "--kept", files["old"], "--keys", files["keys"])[0] == 0


def test_checkpoint__grown_without_a_proof__is_not_verified_and_says_what_to_fetch(files: dict[str, Path]) -> None:
    code, printed = verify("checkpoint", files["new"], "--kept", files["old"], "--keys", files["keys"])
    size = files["old"].read_text().split("\n")[1]
    assert code == 1 and f"GET /v1/journal/proof?from={size}" in printed


def test_checkpoint__smaller_than_the_kept_one__names_what_is_gone(files: dict[str, Path]) -> None:
    code, printed = verify("checkpoint", files["old"], "--kept", files["new"], "--keys", files["keys"])
    old, new = (int(files[name].read_text().split("\n")[1]) for name in ("old", "new"))
    assert code == 1 and f"FAIL  seq {old + 1} to {new}: the journal went back" in printed


def test_checkpoint__signed_over_another_history__is_refused_by_the_proof(files: dict[str, Path]) -> None:
    origin, size, _ = files["new"].read_text().split("\n")[:3]
    seed = secrets.load(SecretName.CHECKPOINT_SIGNING).current().seed
    files["new"].write_text(notes.sign_with(seed, origin, f"{origin}\n{size}\n{'A' * 43}=\n").text)
    code, printed = verify(
        "checkpoint", files["new"], "--kept", files["old"], "--proof", files["proof"], "--keys", files["keys"]
    )
    assert code == 1 and "the journal was rewritten" in printed
    code, printed = verify("checkpoint", files["new"], "--kept", files["new"], "--keys", files["keys"])
    assert code == 0


def test_checkpoint__of_two_journals__is_refused(files: dict[str, Path], api: Api, tmp_path: Path) -> None:
    other = World.build("besra")
    make_checkpoint(other.admin.tenant_id)
    note = api.get("journal/checkpoint", key=other.secret[other.reader]).json()["note"]
    (tmp_path / "besra").write_text(note)
    code, printed = verify("checkpoint", tmp_path / "besra", "--kept", files["old"], "--keys", files["keys"])
    assert code == 1 and "two journals" in printed


def test_checkpoint__keys_of_somebody_else__trust_nothing(files: dict[str, Path], tmp_path: Path) -> None:
    stranger = notes.Verifier(files["old"].read_text().split("\n")[0], bytes(32))
    (tmp_path / "strangers").write_text(stranger.encoded)
    code, printed = verify("checkpoint", files["old"], "--kept", files["old"], "--keys", tmp_path / "strangers")
    assert code == 1 and "signed by none of the trusted keys" in printed


def test_checkpoint__the_servers_own_log_of_notes__is_read_as_its_newest(
    files: dict[str, Path], world: World, settings: Any
) -> None:
    log = Path(settings.OML_CHECKPOINT_DIR) / f"{world.admin.tenant_id}.log"
    assert verify("checkpoint", log, "--kept", files["new"], "--keys", files["keys"])[0] == 0


def test_inclusion__of_an_entry__verifies_and_of_another_does_not(files: dict[str, Path]) -> None:
    def included(name: str, note: str = "new") -> tuple[int, str]:
        named = {"--entry": files[name], "--checkpoint": files[note], "--keys": files["keys"]}
        return verify("inclusion", files["inclusion"], *(word for pair in named.items() for word in pair))

    assert included("entry")[0] == 0
    code, printed = included("other")
    assert code == 1 and "FAIL  seq 7: the entry is not in the journal at this place" in printed
    code, printed = included("entry", "old")
    assert code == 1 and "the proof is for size" in printed


@pytest.mark.parametrize(
    "change", [{"seq": 8}, {"seq": 0}, {"seq": True}, {"proof": []}, {"proof": "x"}, {"kind": "x"}]
)
def test_inclusion__a_changed_proof__is_refused(files: dict[str, Path], change: dict[str, Any]) -> None:
    files["inclusion"].write_text(json.dumps(json.loads(files["inclusion"].read_text()) | change))
    named = {"--entry": files["entry"], "--checkpoint": files["new"], "--keys": files["keys"]}
    assert verify("inclusion", files["inclusion"], *(word for pair in named.items() for word in pair))[0] == 1


def test_bundle__with_a_kept_checkpoint_older_than_its_slice__needs_and_takes_a_proof(
    files: dict[str, Path], world: World, api: Api, tmp_path: Path
) -> None:
    size = int(files["old"].read_text().split("\n")[1])
    with export_evidence(world.admin, from_seq=size + 3).file as file:
        (tmp_path / "bundle").write_bytes(file.read())
    arguments = ["bundle", tmp_path / "bundle", "--keys", files["keys"], "--kept", files["old"]]
    code, printed = verify(*arguments)
    assert code == 1 and "only a proof says" in printed
    (tmp_path / "fresh").write_bytes(api.get("journal/proof", key=world.secret[world.reader], **{"from": size}).content)
    assert verify(*arguments, "--proof", tmp_path / "fresh")[0] == 0


def test_bundle__after_the_keys_were_rotated__verifies_with_the_list_of_both(
    files: dict[str, Path], world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Old signatures under the old keys, the manifest and the checkpoint under the new ones."""
    before = tmp_path / "before"
    before.write_bytes(files["keys"].read_bytes())
    rotate(tmp_path / "rotated", monkeypatch)
    try:
        world.submit()
        with export_evidence(world.admin).file as file:
            (tmp_path / "bundle").write_bytes(file.read())
        both = verifier.write_keys(tmp_path / "both.json")
        assert verify("bundle", tmp_path / "bundle", "--keys", both)[0] == 0
        code, printed = verify("bundle", tmp_path / "bundle", "--keys", before)
        assert code == 1 and "manifest.dsse.json: signed by none of the trusted keys" in printed
    finally:
        secrets.forget()


def rotate(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of the secrets in which both signing rings have a newer key."""
    source = secrets.secrets_dir()
    folder.mkdir(mode=0o700)
    for name in SecretName:
        document = json.loads((source / f"{name.value}.json").read_text())
        if name in (SecretName.ENVELOPE_SIGNING, SecretName.CHECKPOINT_SIGNING):
            fresh = dict(document["keys"][0], id="fresh", created_at="2099-01-01T00:00:00Z", seed="B" * 43 + "=")
            document["keys"].append(fresh)
        path = folder / f"{name.value}.json"
        path.write_text(json.dumps(document))
        path.chmod(0o400)
    monkeypatch.setenv("OML_SECRETS_DIR", str(folder))
    secrets.forget()


@pytest.mark.parametrize("keys", ["", "{}", "[]", "not keys", '{"items":[{"public_key":"x"}]}', "name+00000000+AAAA"])
def test_keys__that_are_none__exit_2(files: dict[str, Path], tmp_path: Path, keys: str) -> None:
    (tmp_path / "bad").write_text(keys)
    code, printed = verify("checkpoint", files["new"], "--kept", files["old"], "--keys", tmp_path / "bad")
    assert code == 2 and printed.startswith("oml-verify: ")


def test_files__that_are_not_there__exit_2(files: dict[str, Path], tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    assert verify("bundle", missing, "--keys", files["keys"])[0] == 2
    assert verify("checkpoint", missing, "--kept", files["old"], "--keys", files["keys"])[0] == 2
    assert verify("checkpoint", files["new"], "--kept", files["old"], "--keys", missing)[0] == 2
    assert verify("bundle", files["new"])[0] == 2, "without trusted keys there is no verification"


def test_verifier__imports__nothing_of_the_server_and_cryptography_alone() -> None:
    own = verifier.HOME / "oml_verify"
    found = set()
    for path in own.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                found.add((node.module or "").split(".")[0])
            elif isinstance(node, ast.Import):
                found |= {name.name.split(".")[0] for name in node.names}
    assert found - set(sys.stdlib_module_names) == {"oml_verify", "cryptography"}
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, oml_verify.cli; print(*sys.modules)"],
        cwd="/",
        env={"PYTHONPATH": str(verifier.HOME)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert not {name.split(".")[0] for name in loaded} & {"oml", "django", "workareas", "memory", "review", "rfc8785"}
