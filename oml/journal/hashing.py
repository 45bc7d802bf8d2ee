"""The chain's arithmetic, pure (design: integrity).

leaf = SHA-256(0x00 ‖ canonical); chain = SHA-256("oml-chain-v1\\0" ‖ previous chain ‖ u64be(seq) ‖ leaf).
The leaf is RFC 6962's, so that a Merkle tree over the same bytes gives inclusion proofs later.
"""

from __future__ import annotations

import hashlib
import struct

GENESIS = bytes(32)
_DOMAIN = b"oml-chain-v1\0"


def leaf_hash(canonical: bytes) -> bytes:
    """RFC 6962 leaf hash of the canonical bytes; 32 bytes."""
    return hashlib.sha256(b"\0" + canonical).digest()


def chain_hash(previous: bytes, seq: int, leaf: bytes) -> bytes:
    """The chain value after entry ``seq``; 32 bytes."""
    return hashlib.sha256(_DOMAIN + previous + struct.pack(">Q", seq) + leaf).digest()
