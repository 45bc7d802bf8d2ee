"""Tenant quotas (D6, FR-8): token buckets in this process at limit / replicas, a documented approximation.

Limits are journalled attributes of the tenant (``quota.set``); null means none. A bucket holds one minute's
worth, so a burst is allowed and the average holds.
"""

from __future__ import annotations

import math
import threading
import time
from enum import StrEnum

from django.conf import settings

from oml.core.actor import Actor
from oml.core.errors import QuotaExceeded
from workareas.models import Tenant

_LIMITS_FOR_SECONDS = 5.0


class Quota(StrEnum):
    WRITE = "write"
    READ = "read"


class _Bucket:
    def __init__(self, per_minute: float) -> None:
        self.per_minute = per_minute
        self.tokens = max(per_minute, 1.0)
        self.at = time.monotonic()

    def take(self) -> float:
        """Take one token; returns 0 or the seconds until one is there."""
        if self.per_minute <= 0:  # a limit of none at all; there is nothing to wait for
            return 60.0
        moment = time.monotonic()
        self.tokens = min(max(self.per_minute, 1.0), self.tokens + (moment - self.at) * self.per_minute / 60)
        self.at = moment
        if self.tokens >= 1.0:
            self.tokens -= 1.0
            return 0.0
        return (1.0 - self.tokens) * 60 / self.per_minute


_lock = threading.Lock()
_buckets: dict[tuple[str, Quota], _Bucket] = {}
_limits: dict[str, tuple[float, dict[Quota, int | None]]] = {}


def take(actor: Actor, quota: Quota) -> None:
    """Count one call against the tenant's quota on this replica.

    Raises:
        QuotaExceeded: ``limit.quota``, retryable, with whole seconds to wait.
    """
    limit = _limit(actor.tenant_id, quota)
    if limit is None:
        return
    per_minute = limit / max(1, settings.OML_REPLICAS)
    with _lock:
        bucket = _buckets.get((actor.tenant_id, quota))
        if bucket is None or bucket.per_minute != per_minute:
            bucket = _buckets[(actor.tenant_id, quota)] = _Bucket(per_minute)
        wait = bucket.take()
    if wait:
        raise QuotaExceeded(f"{quota} quota exhausted for this key's tenant", retry_after_seconds=math.ceil(wait))


def forget() -> None:
    """Drop cached limits and buckets; used when a limit is changed in this process."""
    with _lock:
        _buckets.clear()
        _limits.clear()


def _limit(tenant_id: str, quota: Quota) -> int | None:
    moment = time.monotonic()
    known = _limits.get(tenant_id)
    if known is None or moment - known[0] > _LIMITS_FOR_SECONDS:
        row = Tenant.objects.filter(pk=tenant_id).values_list("writes_per_minute", "reads_per_minute").first()
        writes, reads = row if row is not None else (0, 0)
        known = _limits[tenant_id] = (moment, {Quota.WRITE: writes, Quota.READ: reads})
    return known[1][quota]
