"""Keyed digests: what stands in journals and logs for content that must not be guessable from its digest.

A bare SHA-256 of a short text is found by trying; these need a key. Two kinds (design: integrity, Journal):
:func:`keyed_digest` under the deployment's digest key, for equal-or-not over time (read log, lookup of API
keys); :func:`commitment` under a salt of its own that is kept beside the content and destroyed with it, so
that after an erasure nobody can show or test what the content was, the deployment included.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets as entropy

from oml.crypto.secrets import SecretName, load

_PURPOSE = re.compile(r"[a-z][a-z0-9_.-]{0,62}")
SALT_BYTES = 32


def keyed_digest(purpose: str, data: bytes) -> str:
    """Hex HMAC-SHA256 of ``data`` under the digest key, apart for every purpose.

    Args:
        purpose: a constant of the caller such as ``readlog.query``; equal data under two purposes differ.
        data: the bytes.

    Raises:
        ValueError: ``purpose`` is not a lower-case dotted name.
        SecretUnusable: the digest key cannot be used.
    """
    if not _PURPOSE.fullmatch(purpose):
        raise ValueError("purpose is a lower-case dotted name")
    # The purpose has no NUL, so the first NUL ends it and no two (purpose, data) pairs share a message.
    message = purpose.encode() + b"\0" + data
    return hmac.digest(load(SecretName.DIGEST).current().seed, message, "sha256").hex()


def new_salt() -> bytes:
    """A fresh salt for one :func:`commitment`."""
    return entropy.token_bytes(SALT_BYTES)


def commitment(salt: bytes, data: bytes) -> str:
    """Hex HMAC-SHA256 of ``data`` under ``salt``: provable while the salt exists, meaningless after.

    Raises:
        ValueError: the salt is shorter than 32 bytes.
    """
    if len(salt) < SALT_BYTES:
        raise ValueError("a commitment's salt has at least 32 bytes")
    return hmac.new(salt, data, hashlib.sha256).hexdigest()
