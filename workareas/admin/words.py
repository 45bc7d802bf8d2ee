"""How keys are described in the console."""

from __future__ import annotations

from oml.core.clock import now
from workareas.models import Key


def key_state(key: Key) -> str:
    """``live``, ``revoked`` or ``expired``."""
    if key.revoked_at is not None:
        return "revoked"
    if key.expires_at is not None and key.expires_at <= now():
        return "expired"
    return "live"
