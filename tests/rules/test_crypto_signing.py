"""Envelopes: what verifies is what was signed, and nothing near it does."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oml.core.canonical import canonical_json
from oml.crypto import secrets, signing
from oml.crypto.errors import EnvelopeInvalid
from oml.crypto.signing import PayloadType, keyid_of, pae, sign_envelope, verify_envelope

PAYLOAD = {"artifact": "art_01", "claim_key": "metals/copper", "derives_from": [], "version": 1}


@pytest.fixture(scope="module", autouse=True)
def deployment(tmp_path_factory):
    """One deployment's secrets for the whole module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OML_SECRETS_DIR", str(tmp_path_factory.mktemp("secrets") / "own"))
        secrets.forget()
        secrets.ensure_generated()
        yield
    secrets.forget()


def opened(text, keys=None, expected=PayloadType.SUBMISSION):
    return verify_envelope(text, signing.public_keys() if keys is None else keys, payload_type=expected)


def resigned(body, kind=PayloadType.SUBMISSION):
    """Arbitrary bytes signed with the deployment's own key: what a bug of ours could write."""
    signer = signing._signer(secrets.load(secrets.SecretName.ENVELOPE_SIGNING).current().seed)
    keyid = keyid_of(signer.public_key().public_bytes_raw())
    return signing._text(kind, body, keyid, signer.sign(pae(kind, body)))


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abé€\U0001f600", max_size=3), inner),
    max_leaves=8,
)


@given(payload=st.dictionaries(st.text("abé€\U0001f600", max_size=4), json_values, max_size=4))
def test_sign_then_verify__any_payload__gives_it_back(payload):
    assert opened(sign_envelope(PayloadType.SUBMISSION, payload).text) == payload


def test_sign_envelope__same_payload_twice__is_the_same_text():
    assert sign_envelope(PayloadType.VERDICT, PAYLOAD) == sign_envelope(PayloadType.VERDICT, PAYLOAD)


def test_sign_envelope__keyid__is_the_hash_of_the_listed_public_key():
    envelope = sign_envelope(PayloadType.SUBMISSION, PAYLOAD)
    (key,) = signing.public_keys()
    assert envelope.keyid == key["keyid"] == keyid_of(base64.b64decode(key["public_key"]))
    assert json.loads(envelope.text)["signatures"][0]["keyid"] == envelope.keyid


def test_sign_envelope__the_payload__is_kept_as_canonical_bytes():
    document = json.loads(sign_envelope(PayloadType.SUBMISSION, PAYLOAD).text)
    assert base64.b64decode(document["payload"]) == canonical_json(PAYLOAD)


@pytest.mark.parametrize("kind", ["application/json", "", "application/vnd.oml.submission.v2+json"])
def test_sign_envelope__another_payload_type__is_never_signed(kind):
    with pytest.raises(ValueError):
        sign_envelope(kind, PAYLOAD)


def test_sign_envelope__a_float__is_never_signed():
    with pytest.raises(ValueError):
        sign_envelope(PayloadType.SUBMISSION, {"share": 0.5})


def test_verify_envelope__a_verdict_offered_as_a_submission__is_refused():
    verdict = sign_envelope(PayloadType.VERDICT, PAYLOAD).text
    with pytest.raises(EnvelopeInvalid, match="type"):
        opened(verdict)
    relabelled = verdict.replace(".verdict.", ".submission.")
    with pytest.raises(EnvelopeInvalid):
        opened(relabelled)


@settings(max_examples=400)
@given(place=st.integers(0, 10_000), bit=st.integers(0, 6))
def test_verify_envelope__one_bit_of_one_byte_changed__never_verifies(place, bit):
    raw = bytearray(sign_envelope(PayloadType.SUBMISSION, PAYLOAD).text.encode())
    raw[place % len(raw)] ^= 1 << bit
    with pytest.raises(EnvelopeInvalid):
        opened(raw.decode("latin-1"))


@given(place=st.integers(0, 10_000), text=st.text(max_size=3), cut=st.integers(0, 3))
def test_verify_envelope__text_put_in_or_taken_out__never_verifies(place, text, cut):
    whole = sign_envelope(PayloadType.SUBMISSION, PAYLOAD).text
    place %= len(whole) + 1
    changed = whole[:place] + text + whole[place + cut :]
    if changed != whole:
        with pytest.raises(EnvelopeInvalid):
            opened(changed)


def test_verify_envelope__white_space_added__is_refused():
    with pytest.raises(EnvelopeInvalid, match="changed"):
        opened(sign_envelope(PayloadType.SUBMISSION, PAYLOAD).text + "\n")


def test_verify_envelope__spare_bits_of_base64_set__is_refused():
    document = json.loads(sign_envelope(PayloadType.SUBMISSION, PAYLOAD).text)
    signature = document["signatures"][0]["sig"]
    assert signature.endswith("==")
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    twin = signature[:-3] + alphabet[alphabet.index(signature[-3]) ^ 1] + "=="
    assert base64.b64decode(twin) == base64.b64decode(signature)
    document["signatures"][0]["sig"] = twin
    with pytest.raises(EnvelopeInvalid, match="changed"):
        opened(canonical_json(document).decode())


def other_deployments_key(tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OML_SECRETS_DIR", str(tmp_path / "other"))
        secrets.ensure_generated()
        keys = signing.public_keys()
        envelope = sign_envelope(PayloadType.SUBMISSION, PAYLOAD)
    secrets.forget()
    return keys, envelope


def test_verify_envelope__signed_by_another_deployment__is_refused(tmp_path):
    _, foreign = other_deployments_key(tmp_path)
    with pytest.raises(EnvelopeInvalid, match="none of the trusted keys"):
        opened(foreign.text)


def test_verify_envelope__keyid_names_another_trusted_key__is_refused(tmp_path):
    others, foreign = other_deployments_key(tmp_path)
    own = signing.public_keys()
    swapped = foreign.text.replace(others[0]["keyid"], own[0]["keyid"])
    with pytest.raises(EnvelopeInvalid, match="changed"):
        opened(swapped, own + others)
    assert opened(foreign.text, own + others) == PAYLOAD


def test_verify_envelope__no_trusted_key__is_refused():
    with pytest.raises(EnvelopeInvalid):
        opened(sign_envelope(PayloadType.SUBMISSION, PAYLOAD).text, keys=[])


@pytest.mark.parametrize("count", [0, 2])
def test_verify_envelope__not_exactly_one_signature__is_refused(count):
    document = json.loads(sign_envelope(PayloadType.SUBMISSION, PAYLOAD).text)
    document["signatures"] = document["signatures"] * count
    with pytest.raises(EnvelopeInvalid, match="one signature"):
        opened(canonical_json(document).decode())


@pytest.mark.parametrize("text", ["", "null", "[]", "{", '"payload"', "[" * 100_000, '{"payload":7}'])
def test_verify_envelope__not_an_envelope__is_refused(text):
    with pytest.raises(EnvelopeInvalid):
        opened(text)


@pytest.mark.parametrize(
    "body",
    [b"", b"[]", b"{", b'{"a":1,"a":2}', b'{"a": 1}', b'{"a":1.0}', b'{"b":1,"a":2}', b"\xff", b"[" * 9999],
)
def test_verify_envelope__a_well_signed_payload_that_is_not_canonical__is_refused(body):
    with pytest.raises(EnvelopeInvalid):
        opened(resigned(body))


def test_verify_envelope__after_a_rotation__old_and_new_envelopes_verify(tmp_path, monkeypatch):
    monkeypatch.setenv("OML_SECRETS_DIR", str(tmp_path / "rotating"))
    secrets.ensure_generated()
    before = sign_envelope(PayloadType.SUBMISSION, PAYLOAD)
    path = tmp_path / "rotating" / "envelope-signing.json"
    document = json.loads(path.read_text())
    document["keys"][0]["not_after"] = "2026-01-01T00:00:00Z"
    new = {"id": "new", "created_at": "2200-01-01T00:00:00Z", "not_after": None}
    document["keys"].append({**new, "seed": base64.b64encode(b"n" * 32).decode()})
    path.unlink()
    path.write_text(json.dumps(document))
    path.chmod(0o400)
    secrets.forget()
    after = sign_envelope(PayloadType.SUBMISSION, PAYLOAD)
    assert after.keyid != before.keyid
    assert [key["keyid"] for key in signing.public_keys()] == [before.keyid, after.keyid]
    assert opened(before.text) == opened(after.text) == PAYLOAD
    monkeypatch.undo()
    secrets.forget()
