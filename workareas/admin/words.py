"""How keys are described in the console, and which of them belong to a part of the tenant."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet

from oml.console.parts import Part
from oml.core.clock import now
from workareas.models import Grant, Key


def keys_granted_in(part: Part) -> QuerySet[Any]:
    """Ids of the keys that are granted, or denied, something in a part."""
    return Grant.objects.filter(part.under("workarea__path")).values("key_id")


def key_state(key: Key) -> str:
    """``live``, ``revoked`` or ``expired``."""
    if key.revoked_at is not None:
        return "revoked"
    if key.expires_at is not None and key.expires_at <= now():
        return "expired"
    return "live"
