"""A bundle in the hands of somebody without the keys: whatever he changes, the verifier refuses and says where."""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from oml.crypto import notes
from oml.crypto.signing import pae
from tests.support import verifier
from tests.support.bundles import (
    Exported,
    Members,
    entry_lines,
    exported,
    joined,
    manifest_of,
    packed,
    rechained,
    with_digests,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def bundle(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Exported]:
    with django_db_blocker.unblock(), exported(tmp_path_factory.mktemp("bundle")) as made:
        yield made


def places(findings: list[str]) -> list[tuple[int, int]]:
    """The sequence numbers that findings name, as ranges."""
    named = [re.match(r"seq (\d+)(?: to (\d+))?: ", finding) for finding in findings]
    return [(int(one[1]), int(one[2] or one[1])) for one in named if one]


def test_verify__untouched__finds_nothing(bundle: Exported) -> None:
    assert bundle.findings(bundle.data) == []


def test_verify__one_bit_of_the_containers_own_structure_flipped__is_always_seen(bundle: Exported) -> None:
    """Headers, names, dates, attributes, directory: what other readers of zip files look away from."""
    from oml_verify.container import Container

    contents = {offset for start, size in _members_at(bundle.data) for offset in range(start, start + size)}
    path = bundle.folder / "flipped.zip"
    passed = []
    for offset in sorted(set(range(len(bundle.data))) - contents):
        path.write_bytes(_flipped(bundle.data, offset))
        try:
            if not Container(path).problems:
                passed.append(offset)
        except ValueError:
            continue
    assert passed == []


@pytest.mark.slow
def test_verify__one_bit_of_a_member_flipped__never_passes(bundle: Exported) -> None:
    passed = [
        offset
        for start, size in _members_at(bundle.data)
        for offset in {*range(start, start + size, 61), start + size - 1}
        if not bundle.findings(_flipped(bundle.data, offset))
    ]
    assert passed == []


MEMBERS = [
    "README.txt",
    "artifacts.ndjson",
    "chain.txt",
    "checkpoint.note",
    "checkpoints.notes",
    "closures.ndjson",
    "entries.ndjson",
    "keys.json",
    "manifest.dsse.json",
    "policies.ndjson",
    "proof.json",
    "reads.json",
    "reasons.ndjson",
    "reciprocity.json",
    "serves.ndjson",
    "verdicts.ndjson",
]


@pytest.mark.parametrize("name", MEMBERS)
def test_verify__a_member_changed_dropped_or_doubled__never_passes(bundle: Exported, name: str) -> None:
    members = bundle.members()
    assert members[name], "an empty member would prove nothing"
    for data in (members[name][:-1], members[name] + b"\n", b"", b"{}\n"):
        assert bundle.findings(packed({**members, name: data})), data
    without = {other: data for other, data in members.items() if other != name}
    assert bundle.findings(packed(without))
    assert bundle.findings(packed({**members, f"x-{name}": members[name]}))
    if name != "manifest.dsse.json":
        assert bundle.findings(packed(with_digests({**members, name: members[name] + b"\n"})))


def flip(rows: list[bytes], k: int) -> list[bytes]:
    row = bytearray(rows[k - 1])
    row[row.index(b'"channel":"') + 12] ^= 1
    return [*rows[: k - 1], bytes(row), *rows[k:]]


def drop(rows: list[bytes], k: int) -> list[bytes]:
    return rows[: k - 1] + rows[k:]


def swap(rows: list[bytes], k: int) -> list[bytes]:
    return [*rows[: k - 1], rows[k], rows[k - 1], *rows[k + 1 :]]


def duplicate(rows: list[bytes], k: int) -> list[bytes]:
    return [*rows[: k - 1], rows[k - 2], *rows[k - 1 :]]


def truncate(rows: list[bytes], k: int) -> list[bytes]:
    return rows[: k - 1]


def redact(rows: list[bytes], k: int) -> list[bytes]:
    """Hide an entry behind a hash, but the hash of something else."""
    return [*rows[: k - 1], b'{"leaf_hash":"%s","redacted":%d}' % (b"ab" * 32, k), *rows[k:]]


def number_again(rows: list[bytes]) -> list[bytes]:
    """Make each entry say the number of its place, as a forger would."""
    return [re.sub(rb'"seq":\d+', b'"seq":%d' % seq, row, count=1) for seq, row in enumerate(rows, start=1)]


K = 38  # between the first two checkpoints
CLASSES: list[Callable[[list[bytes], int], list[bytes]]] = [flip, drop, swap, duplicate, truncate, redact]


@pytest.mark.parametrize("change", CLASSES, ids=[change.__name__ for change in CLASSES])
def test_verify__an_entry_changed_and_nothing_else__names_exactly_that_entry(
    bundle: Exported, change: Callable[[list[bytes], int], list[bytes]]
) -> None:
    members = bundle.members()
    changed = {**members, "entries.ndjson": joined(change(entry_lines(members), K))}
    for forged in (changed, with_digests(changed)):
        findings = bundle.findings(packed(forged))
        assert places(findings)[0][0] == K, findings


@pytest.mark.parametrize("change", CLASSES, ids=[change.__name__ for change in CLASSES])
def test_verify__entry_and_chain_changed_alike__names_that_entry(
    bundle: Exported, change: Callable[[list[bytes], int], list[bytes]]
) -> None:
    members = bundle.members()
    chain = entry_lines(members, "chain.txt")
    if change in (drop, swap, duplicate, truncate):
        chain = change(chain, K)
    changed = {**members, "entries.ndjson": joined(change(entry_lines(members), K)), "chain.txt": joined(chain)}
    findings = bundle.findings(packed(with_digests(changed)))
    assert places(findings)[0][0] == K, findings


@pytest.mark.parametrize("change", [flip, redact, drop, duplicate, swap], ids=lambda change: change.__name__)
def test_verify__chained_anew_without_a_key__names_the_entry(
    bundle: Exported, change: Callable[[list[bytes], int], list[bytes]]
) -> None:
    """The whole chain fits again. With the manifest left alone its marks name the very entry; with a manifest to fit,
    which nobody can sign, the checkpoints still name the stretch between two of them."""
    members = bundle.members()
    last = manifest_of(members)["to_seq"]
    rows = change(entry_lines(members), K)
    rows = number_again((rows + rows[-1:])[:last])
    forged = rechained({**members, "entries.ndjson": joined(rows)})
    findings = bundle.findings(packed(forged))
    assert (K, K) in places(findings), findings
    end = forged["chain.txt"].split()[-1].decode()
    findings = bundle.findings(packed(with_digests(forged, chain_after=end)))
    first, second = [int(note.split("\n")[1]) for note in bundle.checkpoints[:2]]
    assert (first + 1, second) in places(findings), findings
    assert first < K <= second
    assert "manifest.dsse.json: signed by none of the trusted keys" in findings


def test_verify__another_tenants_entry_in_its_place__names_it(bundle: Exported) -> None:
    members = bundle.members()
    rows = entry_lines(members)
    foreign = re.sub(rb'"seq":\d+', b'"seq":%d' % K, bundle.foreign, count=1)
    changed = rechained({**members, "entries.ndjson": joined([*rows[: K - 1], foreign, *rows[K:]])})
    findings = bundle.findings(packed(with_digests(changed)))
    assert f"seq {K}: the entry is another tenant's" in findings


def test_verify__a_line_after_the_last__is_named_by_the_number_it_would_have(bundle: Exported) -> None:
    members = bundle.members()
    last = manifest_of(members)["to_seq"]
    extra = re.sub(rb'"seq":\d+', b'"seq":%d' % (last + 1), entry_lines(members)[-1], count=1)
    changed = {**members, "entries.ndjson": members["entries.ndjson"] + extra + b"\n"}
    assert (last + 1, last + 1) in places(bundle.findings(packed(with_digests(changed))))


def test_verify__an_older_checkpoint_put_in__names_the_entries_it_does_not_cover(bundle: Exported) -> None:
    members = bundle.members()
    last = manifest_of(members)["to_seq"]
    for older in bundle.checkpoints[:-1]:
        size = int(older.split("\n")[1])
        for forge in (lambda changed: changed, with_digests):
            findings = bundle.findings(packed(forge({**members, "checkpoint.note": older.encode()})))
            assert (size + 1, last) in places(findings), findings


def test_verify__a_newer_checkpoint_was_kept__names_the_entries_that_are_gone(bundle: Exported) -> None:
    from oml_verify.notes import Checkpoint

    own = bundle.checkpoints[-1].split("\n")
    newer = Checkpoint(own[0], int(own[1]) + 7, bytes(32))
    findings = bundle.findings(bundle.data, kept=[newer])
    assert (int(own[1]) + 1, int(own[1]) + 7) in places(findings)


def test_verify__a_checkpoint_of_the_same_size_over_something_else_was_kept__says_so(bundle: Exported) -> None:
    from oml_verify.notes import Checkpoint

    for note in bundle.checkpoints:
        origin, size, *_ = note.split("\n")
        findings = bundle.findings(bundle.data, kept=[Checkpoint(origin, int(size), bytes(32))])
        assert places(findings)[0][1] == int(size), findings


def test_verify__the_checkpoints_that_were_kept__agree(bundle: Exported) -> None:
    from oml_verify.keys import read_keys
    from oml_verify.notes import open_checkpoint

    trusted = read_keys(bundle.keys)
    kept = [open_checkpoint(note, trusted.verifiers) for note in bundle.checkpoints]
    assert len(kept) == 3
    assert bundle.findings(bundle.data, kept=kept) == []


def test_verify__signed_anew_with_a_key_of_his_own__is_trusted_by_nobody(bundle: Exported) -> None:
    """He signs manifest and checkpoint himself and puts his keys into the bundle, where nobody looks for trust."""
    members = bundle.members()
    rows = number_again(flip(entry_lines(members), K))
    forged = rechained({**members, "entries.ndjson": joined(rows)})
    own = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    origin, size, root = members["checkpoint.note"].decode().split("\n")[:3]
    forged["checkpoint.note"] = notes.sign_with(bytes(range(32)), origin, f"{origin}\n{size}\n{root}\n").text.encode()
    forged = with_digests(forged, chain_after=forged["chain.txt"].split()[-1].decode())
    payload = json.loads(forged["manifest.dsse.json"])["payload"]
    signature = own.sign(pae("application/vnd.oml.evidence.v1+json", base64.b64decode(payload)))
    envelope = json.loads(forged["manifest.dsse.json"])
    envelope["signatures"] = [{"keyid": "00" * 16, "sig": base64.b64encode(signature).decode()}]
    forged["manifest.dsse.json"] = json.dumps(envelope, sort_keys=True, separators=(",", ":")).encode()
    findings = bundle.findings(packed(forged))
    assert "manifest.dsse.json: signed by none of the trusted keys" in findings
    assert "checkpoint.note: it is signed by none of the trusted keys" in findings


@pytest.mark.parametrize(
    "member, old, new",
    [
        ("verdicts.ndjson", b'"verdict":"reject"', b'"verdict":"ratify"'),
        ("verdicts.ndjson", b'"reason":"It is wrong."', b'"reason":"It is fine."'),
        ("verdicts.ndjson", b'"self_signed":false', b'"self_signed":true'),
        ("artifacts.ndjson", b'"kind":"derived_fact"', b'"kind":"steering"'),
        ("serves.ndjson", b'"content_digest":"', b'"content_digest":"00'),
        ("closures.ndjson", b'"closure":[{', b'"closure":[],"x":[{'),
    ],
)
def test_verify__a_row_changed__names_the_entry_it_belongs_to(
    bundle: Exported, member: str, old: bytes, new: bytes
) -> None:
    members = bundle.members()
    assert old in members[member]
    changed = {**members, member: members[member].replace(old, new, 1)}
    findings = bundle.findings(packed(with_digests(changed)))
    assert places(findings), findings
    first, _ = places(findings)[0]
    record = json.loads(entry_lines(members)[first - 1])
    assert record["event_type"].split(".")[0] in {"review", "submission", "lifecycle"}


@pytest.mark.parametrize("member", ["artifacts.ndjson", "serves.ndjson", "verdicts.ndjson", "closures.ndjson"])
def test_verify__a_row_left_out__names_the_entry_that_needs_it(bundle: Exported, member: str) -> None:
    members = bundle.members()
    changed: Members = {**members, member: joined(entry_lines(members, member)[1:])}
    findings = bundle.findings(packed(with_digests(changed)))
    assert any("is missing from the bundle" in one for one in findings) and places(findings), findings


@pytest.mark.parametrize("junk", [b"", b"PK", b"not a zip at all", b"PK\x03\x04" + bytes(26), bytes(5000)])
def test_verify__not_a_bundle__is_refused_and_nothing_breaks(bundle: Exported, junk: bytes) -> None:
    assert bundle.findings(junk)


@pytest.mark.parametrize(
    "manifest",
    [
        {"from_seq": 0},
        {"from_seq": 2**60, "to_seq": 2**61},
        {"to_seq": "9"},
        {"marks": {"step": 0, "chain": ""}},
        {"checkpoint": None},
        {"files": []},
        {"tenant": 7},
        {"chain_before": "zz"},
    ],
)
def test_verify__a_manifest_of_nonsense__is_refused_and_nothing_breaks(
    bundle: Exported, manifest: dict[str, Any]
) -> None:
    members = bundle.members()
    forged = with_digests(members, **manifest)
    if "files" in manifest:
        payload = manifest_of(forged) | manifest
        envelope = json.loads(forged["manifest.dsse.json"])
        envelope["payload"] = base64.b64encode(json.dumps(payload).encode()).decode()
        forged["manifest.dsse.json"] = json.dumps(envelope).encode()
    assert bundle.findings(packed(forged))


def test_command__a_changed_bundle__exits_1_and_names_the_entry(bundle: Exported) -> None:
    good, bad = bundle.folder / "good.zip", bundle.folder / "bad.zip"
    good.write_bytes(bundle.data)
    members = bundle.members()
    bad.write_bytes(packed({**members, "entries.ndjson": joined(flip(entry_lines(members), K))}))
    code, printed = verifier.run("bundle", good, "--keys", bundle.keys)
    assert code == 0 and printed.endswith("VERIFIED\n") and "NOT VERIFIED" not in printed
    code, printed = verifier.run("bundle", bad, "--keys", bundle.keys)
    assert code == 1 and f"FAIL  seq {K}: the text is not what was hashed" in printed
    assert printed.endswith("NOT VERIFIED\n")


def _flipped(data: bytes, offset: int) -> bytes:
    changed = bytearray(data)
    changed[offset] ^= 1 << (offset % 8)
    return bytes(changed)


def _members_at(data: bytes) -> list[tuple[int, int]]:
    """Where each member's contents lie in the file."""
    found, at = [], 0
    while data[at : at + 4] == b"PK\x03\x04":
        size, name, extra = struct.unpack("<IHH", data[at + 22 : at + 30])
        found.append((at + 30 + name + extra, size))
        at += 30 + name + extra + size
    return found
