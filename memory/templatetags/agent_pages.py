"""What the agents' templates print, and whether the navigation leads to them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django import template
from django.urls import reverse

from memory.runs.kept import Kept
from memory.runs.rules import Scope
from workareas import access

register = template.Library()

_PREVIEW = 400


@register.simple_tag
def inspects_agents(user: Any) -> bool:
    """Whether the navigation offers the agents' pages to somebody."""
    return bool(user.is_authenticated) and access.inspects_somewhere(user.pk)


@register.filter
def content_text(row: Kept) -> str:
    """A row's content for reading: a string as it is, any other value as JSON."""
    if isinstance(row.content, str):
        return row.content
    return json.dumps(row.content, ensure_ascii=False, indent=2)


@register.filter
def is_plain(row: Kept) -> bool:
    """Whether a content is a string, not JSON."""
    return isinstance(row.content, str)


@register.filter
def is_long(text: str) -> bool:
    """Whether a content is folded away behind its beginning."""
    return len(text) > _PREVIEW or text.count("\n") > 12


@register.filter
def beginning(text: str) -> str:
    """The start of a long content."""
    return " ".join(text[:160].split())


@register.filter
def row_name(row: Kept) -> str:
    """What a row is called: its key, or what it is."""
    return row.key or ("memo" if row.pinned else "note")


@register.simple_tag
def scope_words(row: Kept, me: str, names: Mapping[str, str]) -> str:
    """Who reads a row."""
    if row.scope is Scope.SHARED:
        return "Shared"
    if row.actor_id == me:
        return "Mine"
    return f"Private to {names.get(str(row.actor_id), row.actor_id)}"


@register.simple_tag
def delete_address(row: Kept, base: str) -> str:
    """Where the deletion of a row is asked about."""
    return f"{base}/{'memory' if row.key is None else 'pinned'}/{row.id}/delete"


@register.simple_tag
def agent_address(item: Mapping[str, Any]) -> str:
    """The memory tab of a row of the agents' list."""
    where = [f"@{item['agent__scope']}", item["agent__name"], item["space_id"]]
    return reverse("agent-memory", args=where)


@register.filter
def deletion_words(done: str) -> str:
    """What was deleted, as a sentence; nothing for what no deletion says."""
    if done == "one":
        return "Deleted."
    count, _, checkpoint = done.partition("-")
    if not (count.isascii() and count.isdigit()) or checkpoint not in ("and-checkpoint", "no-checkpoint"):
        return ""
    memories = f"{int(count)} memor{'y' if int(count) == 1 else 'ies'}"
    return f"Deleted: {memories}{' and the checkpoint' if checkpoint == 'and-checkpoint' else ''}."
