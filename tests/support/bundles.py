"""A real evidence bundle to take apart: made once a module in a transaction that is never committed."""

from __future__ import annotations

import base64
import hashlib
import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from django.db import transaction
from django.test import override_settings

from memory.claims.actions.lifecycle import demote_memory
from memory.recall import readlog
from memory.recall.sealing import seal_read_logs
from oml.journal.checkpoint import between, make_checkpoint
from oml.journal.hashing import chain_hash, leaf_hash
from oml.journal.selectors import lines
from review.evidence import container
from review.evidence.export import export_evidence
from tests.support import verifier
from tests.support.world import World

Members = dict[str, bytes]


@dataclass(frozen=True)
class Exported:
    """A bundle and what surrounds it.

    Attributes:
        data: the bundle's bytes.
        keys: the file of trusted keys.
        folder: for files of the test.
        checkpoints: signed notes made before, smallest first; the last one is the bundle's own.
        foreign: a canonical entry of another tenant.
    """

    data: bytes
    keys: Path
    folder: Path
    checkpoints: list[str]
    foreign: bytes

    def members(self) -> Members:
        with zipfile.ZipFile(BytesIO(self.data)) as opened:
            return {name: opened.read(name) for name in opened.namelist()}

    def findings(self, data: bytes, **options: Any) -> list[str]:
        """What the verifier finds in changed bytes."""
        from oml_verify.bundle import verify_bundle
        from oml_verify.keys import read_keys

        path = self.folder / "changed.zip"
        path.write_bytes(data)
        return [str(one) for one in verify_bundle(path, read_keys(self.keys), **options).findings]


@contextmanager
def exported(folder: Path) -> Iterator[Exported]:
    """Make a bundle with a bit of everything, and take the tenant back afterwards."""
    outer = transaction.atomic()
    outer._from_testcase = True  # type: ignore[attr-defined]  # what Django's own TestCase does
    with override_settings(OML_CHECKPOINT_DIR=folder / "kept"):
        outer.__enter__()
        try:
            yield _export(folder)
        finally:
            transaction.set_rollback(True)
            outer.__exit__(None, None, None)


def _export(folder: Path) -> Exported:
    world = World.build("acme")
    tenant = world.admin.tenant_id
    source = world.promoted()
    make_checkpoint(tenant)
    derived = world.learn(sources=[source])
    world.scan()
    world.ratify(derived, by=world.reviewer2)
    world.reject(_scanned(world))
    readlog.record(world.reader, surface="recall", workarea_id=world.nodes["a"].pk, query="x", returned=[source])
    seal_read_logs()
    make_checkpoint(tenant)
    gone = world.promoted(on="b")
    demote_memory(world.admin, artifact=gone, reason="It is out of date.")
    with export_evidence(world.admin).file as file:
        data = file.read()
    other = World.build("besra").admin.tenant_id
    return Exported(
        data,
        verifier.write_keys(folder / "keys.json"),
        folder,
        [row.note for row in between(tenant, 1, 10_000)],
        next(lines(other, 20, 20)).canonical.encode(),
    )


def _scanned(world: World) -> str:
    artifact = world.submit(text="Not true.")
    world.scan()
    return artifact


def packed(members: Members) -> bytes:
    """A container of changed members, as canonical as the real one."""
    target = BytesIO()
    container.write(target, {name: BytesIO(data) for name, data in members.items()})
    return target.getvalue()


def manifest_of(members: Members) -> dict[str, Any]:
    payload = json.loads(members["manifest.dsse.json"])["payload"]
    return dict(json.loads(base64.b64decode(payload)))


def with_digests(members: Members, **changes: Any) -> Members:
    """Make the manifest name the changed members; its signature cannot be made to fit, there is no key."""
    manifest = manifest_of(members) | changes
    manifest["files"] = {
        name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in members.items()
        if name != "manifest.dsse.json"
    }
    envelope = json.loads(members["manifest.dsse.json"])
    envelope["payload"] = base64.b64encode(_json(manifest)).decode()
    return {**members, "manifest.dsse.json": _json(envelope)}


def rechained(members: Members, first: int = 1) -> Members:
    """``chain.txt`` computed anew over the entries as they are: anybody can, no key is in it."""
    chain, rows = bytes(32), []
    for seq, line in enumerate(entry_lines(members), start=first):
        record = json.loads(line)
        leaf = bytes.fromhex(record["leaf_hash"]) if "redacted" in record else leaf_hash(line)
        chain = chain_hash(chain, seq, leaf)
        rows.append(b"%d %s %s" % (seq, leaf.hex().encode(), chain.hex().encode()))
    return {**members, "chain.txt": joined(rows)}


def entry_lines(members: Members, name: str = "entries.ndjson") -> list[bytes]:
    return members[name].splitlines()


def joined(rows: list[bytes]) -> bytes:
    return b"".join(row + b"\n" for row in rows)


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
