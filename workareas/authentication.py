"""From a credential to an actor (D6): the key resolves to tenant, principal and role on the server.

Secrets carry 130 random bits, so a plain SHA-256 is enough and a slow hash would only be a lever for denial of
service. One text for every failure; a lookup by digest leaks no timing about secrets.
"""

from __future__ import annotations

import hashlib
import secrets as random_secrets
from datetime import timedelta

from django.db.models import Q

from oml.core.actor import Actor, Channel, Role
from oml.core.clock import now
from oml.core.errors import InvalidKey
from workareas.models import Key, Principal

PREFIX = "oml_k_"
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LENGTH = 26
_LAST_USED_STEP = timedelta(minutes=1)


def new_secret(prefix: str = PREFIX) -> str:
    """A fresh secret: what kind it is, such as ``oml_k_``, and 26 Crockford base-32 characters (130 bits)."""
    return prefix + "".join(random_secrets.choice(_ALPHABET) for _ in range(_LENGTH))


def renew_secret(key: Key) -> str:
    """Give ``key`` a fresh secret, not saved yet, and return it this once: the row keeps digest and last four."""
    secret = new_secret()
    key.secret_digest, key.last_four = digest_of(secret), secret[-4:]
    return secret


def digest_of(secret: str) -> bytes:
    """What is stored of a secret; 32 bytes."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def authenticate_bearer(header: str | None, *, channel: Channel) -> Actor:
    """Resolve an ``Authorization`` header.

    Args:
        header: the header's value, or None when it was not sent.
        channel: the face that asks.

    Raises:
        InvalidKey: ``auth.invalid_key``; missing, malformed, unknown, revoked or expired, one text for all.
    """
    return _actor_of(_live_key(digest_of(bearer_of(header))), channel)


def bearer_of(header: str | None) -> str:
    """The secret that an ``Authorization`` header carries.

    Raises:
        InvalidKey: ``auth.invalid_key``; missing, or no bearer token.
    """
    if not header:
        raise InvalidKey(presented=False)
    scheme, _, secret = header.partition(" ")
    if scheme.lower() != "bearer" or not secret.strip():
        raise InvalidKey
    return secret.strip()


def actor_of_key(key_id: str, *, channel: Channel) -> Actor:
    """The actor of a live key named by id, for commands run on the server itself.

    Raises:
        InvalidKey: ``auth.invalid_key``; unknown, revoked or expired.
    """
    return _actor_of(_usable(Key.objects.select_related("principal").filter(pk=key_id).first()), channel)


def actor_of_secret(secret: str, *, channel: Channel) -> Actor:
    """The actor of a key secret typed by a person into a command.

    Raises:
        InvalidKey: ``auth.invalid_key``.
    """
    return authenticate_bearer(f"Bearer {secret}", channel=channel)


def actor_of_human(principal: Principal, *, channel: Channel = Channel.CONSOLE) -> Actor:
    """The actor of a signed-in human: their interactive key.

    Raises:
        InvalidKey: ``auth.invalid_key``; the human owns no usable interactive key.
    """
    key = Key.objects.select_related("principal").filter(principal=principal, interactive=True).first()
    return _actor_of(_usable(key), channel)


def _live_key(digest: bytes) -> Key:
    current = Q(secret_digest=digest)
    overlapping = Q(previous_digest=digest, previous_expires_at__gt=now())
    return _usable(Key.objects.select_related("principal").filter(current | overlapping).first())


def _usable(key: Key | None) -> Key:
    if key is None or key.revoked_at is not None or not key.principal.is_active:
        raise InvalidKey
    if key.expires_at is not None and key.expires_at <= now():
        raise InvalidKey
    return key


def _actor_of(key: Key, channel: Channel) -> Actor:
    moment = now()
    if key.last_used_at is None or moment - key.last_used_at > _LAST_USED_STEP:
        # A hint for people, a minute coarse: a write per request would make every read a hot row.
        Key.objects.filter(pk=key.pk).update(last_used_at=moment)
    return Actor(
        tenant_id=key.tenant_id,
        principal_id=key.principal_id,
        key_id=key.pk,
        role=Role(key.role),
        channel=channel,
        interactive=key.interactive,
    )
