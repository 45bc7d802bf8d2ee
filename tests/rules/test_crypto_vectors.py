"""Published vectors and one made by another implementation: our bytes are everybody's bytes."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime

import pytest

from oml.core.canonical import canonical_json
from oml.crypto import secrets, signing
from oml.crypto.signing import PayloadType, pae

# RFC 8032, section 7.1, TEST 1.
RFC8032_SEED = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
RFC8032_PUBLIC = bytes.fromhex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a")

# Signed with that seed by OpenSSL over the pre-authentication encoding written out by hand.
OPENSSL_ENVELOPE = (
    '{"payload":"eyJjbGFpbV9rZXkiOiJtZXRhbHMvY29wcGVyIiwidGV4dCI6IuKCrCA5LDAwMCJ9",'
    '"payloadType":"application/vnd.oml.submission.v1+json",'
    '"signatures":[{"keyid":"21fe31dfa154a261626bf854046fd227",'
    '"sig":"EkoNWhrUK8P2Abv2kUsuRIscXU6nXy4n97gMr19sfzX21U+R3We9m+nQ7ycdDf0bzkGa/4FIRJrG+GQRqhPCAw=="}]}'
)
OPENSSL_PAYLOAD = {"claim_key": "metals/copper", "text": "€ 9,000"}


@pytest.fixture
def rfc8032_deployment(tmp_path, monkeypatch):
    """A deployment whose envelope key is the RFC's."""
    path = tmp_path / "envelope-signing.json"
    key = {
        "id": "rfc8032",
        "created_at": "2026-10-27T14:11:08Z",
        "not_after": None,
        "seed": base64.b64encode(RFC8032_SEED).decode(),
    }
    document = {"version": 1, "name": "envelope-signing", "generated_for": "production", "keys": [key]}
    path.write_text(json.dumps(document))
    path.chmod(0o400)
    monkeypatch.setenv("OML_SECRETS_DIR", str(tmp_path))
    secrets.forget()
    yield
    secrets.forget()


def test_pae__the_example_of_the_dsse_specification__is_byte_equal():
    encoded = pae("http://example.com/HelloWorld", b"hello world")
    assert encoded == b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"


def test_pae__text_outside_ascii__counts_bytes_not_characters():
    assert pae("é", "€".encode()) == b"DSSEv1 2 \xc3\xa9 3 \xe2\x82\xac"


def test_pae__an_empty_body__keeps_its_place():
    assert pae("t", b"") == b"DSSEv1 1 t 0 "


def test_public_keys__the_seed_of_rfc_8032__gives_the_public_key_of_rfc_8032(rfc8032_deployment):
    (key,) = signing.public_keys()
    assert base64.b64decode(key["public_key"]) == RFC8032_PUBLIC
    assert key["keyid"] == "21fe31dfa154a261626bf854046fd227"
    assert key["algorithm"] == "ed25519"


def test_sign_envelope__the_same_key_and_payload_as_openssl__writes_the_same_envelope(rfc8032_deployment):
    assert signing.sign_envelope(PayloadType.SUBMISSION, OPENSSL_PAYLOAD).text == OPENSSL_ENVELOPE


def test_verify_envelope__signed_by_openssl__gives_the_payload(rfc8032_deployment):
    payload = signing.verify_envelope(OPENSSL_ENVELOPE, signing.public_keys(), payload_type=PayloadType.SUBMISSION)
    assert payload == OPENSSL_PAYLOAD


def test_canonical_json__the_sorting_example_of_rfc_8785__orders_by_utf16_units():
    unordered = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\u0080": 6, "\u00f6": 7}
    expected = '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\U0001f600":5,"\ufb33":3}'
    assert canonical_json(unordered) == expected.encode()


def test_canonical_json__the_string_example_of_rfc_8785__escapes_only_what_must_be():
    text = '€$\u000f\nA\'B"\\\\"/'
    assert canonical_json({"string": text}) == '{"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'.encode()


@pytest.mark.parametrize("value", [1.5, float("nan"), 2**53, "\ud800", {"a": [0.1]}])
def test_canonical_json__what_has_no_single_form__is_refused(value):
    with pytest.raises(ValueError):
        canonical_json({"value": value})


def test_a_key_of_the_ring__past_its_window__no_longer_signs():
    key = secrets.SecretKey("k", datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC), bytes(32))
    assert key.usable_at(datetime(2026, 5, 31, tzinfo=UTC))
    assert not key.usable_at(datetime(2026, 6, 1, tzinfo=UTC))
