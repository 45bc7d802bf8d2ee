"""Signed notes, byte for byte as C2SP and Go's sumdb write them; checkpoints inside them."""

from __future__ import annotations

import base64
from collections.abc import Iterator

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from oml.crypto import notes, secrets
from oml.crypto.notes import NoteInvalid, Verifier, open_note, sign_with, split_note
from oml.journal import note

# Published with Go's golang.org/x/mod/sumdb/note: seed, text, signed note, verifier key.
SEED = base64.b64decode("AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz")[1:]
TEXT = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
NOTE = (
    TEXT
    + "\n— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)
VERIFIER_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
PUBLIC = Ed25519PrivateKey.from_private_bytes(SEED).public_key().public_bytes_raw()
PETER = Verifier("PeterNeumann", PUBLIC)


@pytest.fixture(scope="module", autouse=True)
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OML_SECRETS_DIR", str(tmp_path_factory.mktemp("secrets") / "own"))
        secrets.forget()
        secrets.ensure_generated()
        yield
    secrets.forget()


def test_sign_with__published_seed_and_text__is_the_published_note() -> None:
    signed = sign_with(SEED, "PeterNeumann", TEXT)
    assert signed.text == NOTE
    assert signed.keyid == "c74f20a3"
    assert PETER.encoded == VERIFIER_KEY


def test_open_note__published_note__gives_its_text() -> None:
    assert open_note(NOTE, [PETER]) == TEXT


def test_open_note__further_signatures_of_strangers__are_ignored() -> None:
    stranger = sign_with(bytes(32), "stranger.example", TEXT).text.rpartition("\n\n")[2]
    assert open_note(NOTE + stranger, [PETER]) == TEXT
    with pytest.raises(NoteInvalid, match="none of the trusted"):
        open_note(TEXT + "\n" + stranger, [PETER])


def test_open_note__another_key_under_the_same_name__is_not_trusted() -> None:
    with pytest.raises(NoteInvalid, match="none of the trusted"):
        open_note(sign_with(bytes(32), "PeterNeumann", TEXT).text, [PETER])


def test_open_note__key_name_and_id_of_a_trusted_key_over_another_text__does_not_verify() -> None:
    with pytest.raises(NoteInvalid, match="does not verify"):
        open_note(NOTE.replace("problem is", "problem was"), [PETER])


@given(at=st.integers(0, len(NOTE) - 1), with_=st.characters(exclude_categories=["Cs"]))
def test_open_note__one_character_changed__never_opens(at: int, with_: str) -> None:
    changed = NOTE[:at] + with_ + NOTE[at + 1 :]
    if changed != NOTE:
        with pytest.raises(NoteInvalid):
            open_note(changed, [PETER])


@pytest.mark.parametrize("broken", ["", "\n", TEXT, TEXT + "\n", NOTE[:-1], NOTE + "\n", NOTE.replace("\n—", "\r\n—")])
def test_split_note__malformed__is_refused(broken: str) -> None:
    with pytest.raises(NoteInvalid):
        split_note(broken)


@pytest.mark.parametrize("name, text", [("", "a\n"), ("a b", "a\n"), ("a+b", "a\n"), ("a", "a"), ("a", "a\tb\n")])
def test_sign_with__what_a_note_cannot_carry__is_refused(name: str, text: str) -> None:
    with pytest.raises(ValueError):
        sign_with(SEED, name, text)


def test_checkpoint__signed_and_verified__says_origin_size_and_root() -> None:
    signed = note.sign("oml.example/ten_1", 42, bytes(range(32)))
    assert signed.text.startswith(
        "oml.example/ten_1\n42\nAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n\n— oml.example/ten_1 "
    )
    found = note.verified(signed.text)
    assert (found.origin, found.size, found.root) == ("oml.example/ten_1", 42, bytes(range(32)))


def test_checkpoint__signed_by_another_deployment__is_refused() -> None:
    foreign = sign_with(bytes(32), "oml/ten_1", note.sign("oml/ten_1", 1, bytes(32)).text.rpartition("\n\n")[0] + "\n")
    with pytest.raises(NoteInvalid):
        note.verified(foreign.text)


@pytest.mark.parametrize(
    "body", ["oml/t\n042\n{root}\n", "oml/t\n-1\n{root}\n", "oml/t\n1\nAAAA\n", "oml/t\n1\n{root}\nmore\n"]
)
def test_parse__not_the_three_lines_of_a_checkpoint__is_refused(body: str) -> None:
    text = body.format(root=base64.b64encode(bytes(32)).decode())
    with pytest.raises(NoteInvalid):
        note.parse(notes.sign_note("oml/t", text).text)
