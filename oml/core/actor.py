"""Who acts: always an argument, never a thread-local (architecture, principle 6)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Role(StrEnum):
    """Roles are ceilings; what a key may do comes from its grants (design: access)."""

    READER = "reader"
    WRITER = "writer"
    DREAMER = "dreamer"
    ADMIN = "admin"
    OPERATOR = "operator"


class Channel(StrEnum):
    """The face through which an act came; journalled with it."""

    HTTP = "http"
    MCP = "mcp"
    CONSOLE = "console"
    CLI = "cli"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Actor:
    """A (key, principal) pair resolved on the server from a credential (D6).

    Attributes:
        tenant_id: ``ten_`` id that the key belongs to; no request field ever names one.
        principal_id: ``pri_`` id of the identity behind the key.
        key_id: ``key_`` id; every act has one, a signed-in human's is their interactive key.
        role: ceiling of that key.
        channel: the face the act came through.
        interactive: whether the key is a human's secretless key, so that human permissions apply.
        client: what the calling client reported of itself with this call; a hint, never a credential.
    """

    tenant_id: str
    principal_id: str
    key_id: str
    role: Role
    channel: Channel
    interactive: bool = False
    client: str | None = field(default=None, compare=False)
