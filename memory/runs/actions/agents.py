"""Register an agent, or give it another manifest."""

from __future__ import annotations

from typing import Any

from memory.runs.content import as_text
from memory.runs.events import AgentChanged, AgentRegistered
from memory.runs.models import Agent
from memory.runs.rules import AGENT_PART, MAX_MANIFEST_BYTES
from memory.runs.selectors.agents import shown
from oml.core.actor import Actor
from oml.core.canonical import sha256_hex
from oml.core.clock import now
from oml.core.errors import Validation
from oml.journal.append import append, journalled
from workareas import access
from workareas.verbs import Verb


@journalled
def register_agent(actor: Actor, *, scope: str, name: str, manifest: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Register ``@scope/name``, or replace its manifest; the same request again changes nothing.

    Runs that are under way keep the tools they started with.

    Args:
        actor: an admin of the root: an agent belongs to the whole tenant.
        scope: with or without its ``@``.
        manifest: a JSON object; ``runtime_tools`` names which of ``note`` and ``pin`` its runs get. Whatever else it
            says belongs to whoever runs the agent and is kept.

    Returns:
        The agent, and whether it is new.

    Raises:
        AccessNotFound, AccessForbidden, VerbCeiling: ``access.*``.
        Validation: ``request.validation``; a name or a manifest outside its grammar.
        MemoryTooLarge: ``memory.too_large``; a manifest above 64 KiB.
    """
    decision = access.require_everywhere(actor, Verb.POLICY_SET)
    scope = scope.removeprefix("@")
    for param, part in (("scope", scope), ("name", name)):
        if not AGENT_PART.match(part):
            raise Validation(f"{param} is 1 to 63 of a-z 0-9 . _ - and starts with a letter or digit", param=param)
    text = _checked(manifest)
    found = Agent.objects.select_for_update(no_key=True).filter(tenant_id=actor.tenant_id, scope=scope, name=name)
    agent = found.first()
    if agent is not None and agent.manifest == manifest:
        return shown(agent), False
    new = agent is None
    agent = agent or Agent(tenant_id=actor.tenant_id, scope=scope, name=name)
    agent.manifest, agent.updated_at = manifest, now()
    agent.save()
    kind = AgentRegistered if new else AgentChanged
    append(actor, [kind(agent_id=agent.pk, manifest_digest=sha256_hex(text.encode()))], epoch=decision.epoch)
    return shown(agent), new


def _checked(manifest: dict[str, Any]) -> str:
    text = as_text(manifest, param="manifest", most=MAX_MANIFEST_BYTES)
    tools = manifest.get("runtime_tools", [])
    if not isinstance(tools, list) or not all(isinstance(tool, str) for tool in tools):
        raise Validation("manifest.runtime_tools is a list of tool names", param="manifest.runtime_tools")
    return text
