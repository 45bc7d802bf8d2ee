"""Keyed digests and commitments: equal where they should be, apart everywhere else."""

from __future__ import annotations

import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oml.crypto import secrets
from oml.crypto.digest import commitment, keyed_digest, new_salt

names = st.from_regex(r"[a-z][a-z0-9_.-]{0,20}", fullmatch=True)


@pytest.fixture(scope="module", autouse=True)
def deployment(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OML_SECRETS_DIR", str(tmp_path_factory.mktemp("secrets") / "own"))
        secrets.forget()
        secrets.ensure_generated()
        yield
    secrets.forget()


def test_keyed_digest__same_purpose_and_bytes__is_the_same():
    assert keyed_digest("readlog.query", b"copper") == keyed_digest("readlog.query", b"copper")


@given(one=st.tuples(names, st.binary(max_size=8)), other=st.tuples(names, st.binary(max_size=8)))
def test_keyed_digest__another_purpose_or_other_bytes__differs(one, other):
    if one != other:
        assert keyed_digest(*one) != keyed_digest(*other)


def test_keyed_digest__a_guessed_text__is_not_found_by_plain_hashing():
    assert keyed_digest("readlog.query", b"copper") not in {
        hashlib.sha256(b"copper").hexdigest(),
        hashlib.sha256(b"readlog.query\0copper").hexdigest(),
    }


def test_keyed_digest__another_deployment__differs(tmp_path, monkeypatch):
    here = keyed_digest("readlog.query", b"copper")
    monkeypatch.setenv("OML_SECRETS_DIR", str(tmp_path / "other"))
    secrets.ensure_generated()
    assert keyed_digest("readlog.query", b"copper") != here


@pytest.mark.parametrize("purpose", ["", "Read", "a b", "a\0b", "1a", "é", "a" * 64])
def test_keyed_digest__a_purpose_that_is_no_name__is_refused(purpose):
    with pytest.raises(ValueError):
        keyed_digest(purpose, b"")


def test_commitment__the_sixth_case_of_rfc_4231__is_plain_hmac_sha256():
    salt, data = b"\xaa" * 131, b"Test Using Larger Than Block-Size Key - Hash Key First"
    assert commitment(salt, data) == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    assert commitment(salt, data) == hmac.new(salt, data, "sha256").hexdigest()


def test_commitment__another_salt__differs():
    assert commitment(new_salt(), b"yes") != commitment(new_salt(), b"yes")


def test_commitment__a_short_salt__is_refused():
    with pytest.raises(ValueError):
        commitment(b"short", b"yes")
