"""Agents of a tenant."""

from __future__ import annotations

from typing import Any

from memory.runs.errors import AgentNotFound
from memory.runs.models import Agent
from memory.runs.rules import split_reference
from oml.core.actor import Actor
from oml.core.clock import rfc3339_seconds
from workareas import access

MAX_LIMIT = 200


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


def list_agents(actor: Actor) -> list[Agent]:
    """The tenant's agents by name, the first 200.

    Raises:
        OperatorCeiling: ``access.verb_ceiling``.
    """
    access.require_content_role(actor, "operator keys know no agents")
    return list(Agent.objects.filter(tenant_id=actor.tenant_id).order_by("scope", "name")[:MAX_LIMIT])


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
