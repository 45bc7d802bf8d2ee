"""The agents' pages: which there are, one agent, its memory, and the page that asks before anything is deleted.

They show what the seed's routes list and delete through the same actions; there is no form that writes memory.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from memory.runs.actions.persistence import delete_row, delete_state, row_number
from memory.runs.inspecting import Asked, Kind, Place
from memory.runs.selectors.agent_pages import ALL, MINE, SHARED, agent_page, inspected_agents, memory_tab, one_row
from memory.views.page import inspector_page
from oml.core.actor import Actor
from oml.core.errors import Validation

_SHOWN = ((ALL, "All"), (SHARED, "Shared"), (MINE, "Mine"))


@require_safe
@inspector_page
def agents(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Every agent that ran in a space where its state may be inspected."""
    page = inspected_agents(actor, page=_page(request))
    return render(request, "agents/agents.html", {"page": page, **_around(page, request.path, {})})


@require_safe
@inspector_page
def about(request: HttpRequest, actor: Actor, scope: str, name: str, space: str) -> HttpResponse:
    """One agent in a space, as it is registered."""
    found = agent_page(actor, agent=f"{scope}/{name}", space=space)
    return render(request, "agents/about.html", {**found, **_addresses(scope, name, space)})


@require_safe
@inspector_page
def memory(request: HttpRequest, actor: Actor, scope: str, name: str, space: str) -> HttpResponse:
    """The memory tab."""
    show = request.GET.get("show") or ALL
    tab = memory_tab(actor, agent=f"{scope}/{name}", space=space, show=show, page=_page(request))
    chosen = {"show": show} if show != ALL else {}
    addresses = _addresses(scope, name, space)
    context: dict[str, Any] = {
        **tab,
        **addresses,
        "agent": tab["opened"].agent,
        "space": tab["opened"].space,
        "may_delete": tab["opened"].may_delete,
        "me": actor.principal_id,
        "show": show,
        "shown": _SHOWN,
        "of_actor": dict(tab["actors"]).get(show, ""),
        "deleted": request.GET.get("deleted", ""),
        **_around(tab["page"], addresses["memory_address"], chosen),
    }
    return render(request, "agents/memory.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@inspector_page
def delete(request: HttpRequest, actor: Actor, scope: str, name: str, space: str, kind: str, row: str) -> HttpResponse:
    """Ask, and on POST delete one slot or one memory."""
    agent, addresses = f"{scope}/{name}", _addresses(scope, name, space)
    if request.method == "POST":
        delete_row(actor, place=_place(actor, agent, space), kind=Kind(kind), row=row)
        return _see_other(addresses["memory_address"], "one")
    found = one_row(actor, agent=agent, space=space, row=row_number(row))
    context = {**addresses, "row": found, "me": actor.principal_id, "agent": agent}
    return render(request, "agents/delete.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@inspector_page
def delete_all(request: HttpRequest, actor: Actor, scope: str, name: str, space: str) -> HttpResponse:
    """Ask, and on POST delete the memories and the checkpoint of one scope."""
    agent, addresses = f"{scope}/{name}", _addresses(scope, name, space)
    whose = (request.POST if request.method == "POST" else request.GET).get("whose", "")
    if whose == SHARED:
        asked, show = Asked(actor_type="shared"), SHARED
    else:
        owner = actor.principal_id if whose == MINE else whose
        asked, show = Asked(actor_type="actor", actor_id=owner or None), whose
    if request.method == "POST":
        gone = delete_state(actor, place=_place(actor, agent, space), asked=asked)
        done = f"{gone['memories_deleted']}-{'and' if gone['checkpoint_deleted'] else 'no'}-checkpoint"
        return _see_other(addresses["memory_address"], done)
    tab = memory_tab(actor, agent=agent, space=space, show=show)
    owners = {SHARED: "what is shared", MINE: "what is yours"}
    known = {**owners, **{principal: f"what is private to {said}" for principal, said in tab["actors"]}}
    if whose not in known or not tab["opened"].may_delete:
        raise Validation("whose memory shall be deleted?", param="whose")
    context = {**addresses, "whose": whose, "words": known[whose], "agent": agent}
    return render(request, "agents/delete_all.html", context)


def _place(actor: Actor, agent: str, space: str) -> Place:
    return Place(org=actor.tenant_id, space=space, agent=agent)


def _addresses(scope: str, name: str, space: str) -> dict[str, str]:
    where = [scope, name, space]
    return {
        "memory_address": reverse("agent-memory", args=where),
        "about_address": reverse("agent", args=where),
        "delete_all_address": reverse("agent-delete-all", args=where),
    }


def _page(request: HttpRequest) -> int:
    asked = request.GET.get("page", "1")
    if not (asked.isascii() and asked.isdigit() and len(asked) < 7):
        raise Validation("page is a whole number from 1", param="page")
    return int(asked)


def _around(page: Any, address: str, chosen: dict[str, str]) -> dict[str, str]:
    """Where the pages before and after are."""
    return {
        "page_before": f"{address}?{urlencode({**chosen, 'page': page.number - 1})}" if page.number > 1 else "",
        "page_after": f"{address}?{urlencode({**chosen, 'page': page.number + 1})}" if page.number < page.last else "",
    }


def _see_other(address: str, deleted: str) -> HttpResponse:
    response = redirect(f"{address}?{urlencode({'deleted': deleted})}")
    response.status_code = 303  # a reload of the next page repeats nothing
    return response
