"""Agents of a tenant."""

from __future__ import annotations

from typing import Any

from memory.runs.errors import AgentNotFound
from memory.runs.models import Agent
from memory.runs.rules import split_reference
from oml.core.actor import Actor
from oml.core.clock import rfc3339_seconds
from oml.core.paging import Pages, check_range
from oml.crypto.secrets import cursor_key
from workareas import access

MAX_LIMIT = 100


def find_agent(actor: Actor, reference: str) -> Agent:
    """An agent of the actor's tenant.

    Args:
        reference: ``@scope/name``, with or without the ``@``.

    Raises:
        AgentNotFound: ``access.not_found``; unknown, malformed or foreign.
    """
    parts = split_reference(reference)
    found = parts and Agent.objects.filter(tenant_id=actor.tenant_id, scope=parts[0], name=parts[1]).first()
    if not found:
        raise AgentNotFound(reference)
    return found


def agent_info(actor: Actor, *, reference: str) -> dict[str, Any]:
    """One agent with its manifest.

    Raises:
        OperatorCeiling: ``access.verb_ceiling``.
        AgentNotFound: ``access.not_found``.
    """
    access.require_content_role(actor, "operator keys know no agents")
    return shown(find_agent(actor, reference))


def list_agents(actor: Actor, *, limit: int = 20, cursor: str | None = None) -> dict[str, Any]:
    """The tenant's agents, newest first.

    Raises:
        OperatorCeiling: ``access.verb_ceiling``.
        Validation, CeilingExceeded: ``request.validation``, ``limit.ceiling``; limit or cursor.
    """
    access.require_content_role(actor, "operator keys know no agents")
    check_range("limit", limit, most=MAX_LIMIT)
    rows = Agent.objects.filter(tenant_id=actor.tenant_id).order_by("-pk")
    pages: Pages[Agent] = Pages(cursor_key(), actor.key_id, {"view": "agents"}, lambda agent: [agent.pk])
    if (behind := pages.behind(cursor)) is not None:
        rows = rows.filter(pk__lt=behind[0])
    page, following = pages.cut(rows[: limit + 1], limit)
    return {"items": [shown(agent) for agent in page], "next_cursor": following}


def shown(agent: Agent) -> dict[str, Any]:
    """An agent as faces print it."""
    return {
        "agent_id": agent.pk,
        "agent": agent.reference,
        "scope": f"@{agent.scope}",
        "name": agent.name,
        "manifest": agent.manifest,
        "created_at": rfc3339_seconds(agent.created_at),
        "updated_at": rfc3339_seconds(agent.updated_at),
    }
