"""Every public key of this deployment with what it is for: what a verifier is given to trust."""

from __future__ import annotations

import base64

from oml.crypto.notes import checkpoint_public_keys
from oml.crypto.signing import ALGORITHM, keyid_of, public_keys


def published_keys() -> list[dict[str, str]]:
    """``[{"keyid", "algorithm", "public_key", "purpose"}]``; purpose ``envelope`` or ``checkpoint``, oldest first.

    Past keys stay listed: what they signed must go on verifying.

    Raises:
        SecretUnusable: a key file cannot be used.
    """
    envelope = [{**row, "purpose": "envelope"} for row in public_keys()]
    checkpoint = [
        {
            "keyid": keyid_of(raw),
            "algorithm": ALGORITHM,
            "public_key": base64.b64encode(raw).decode(),
            "purpose": "checkpoint",
        }
        for raw in checkpoint_public_keys()
    ]
    return envelope + checkpoint
