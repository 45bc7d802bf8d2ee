"""The edge pages: what waits, open one (a serve), read both ends and judge, and what became of it.

As with items, a verdict leads back to the serve's own address, which then says what was decided.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from memory.graph.labels import EdgeKind
from oml.core.actor import Actor
from oml.core.errors import OmlError, Validation
from review.actions.edge_serve import serve_edge
from review.actions.edge_verdict import give_edge_verdict
from review.errors import ServeConsumed, ServeExpired, Stale
from review.forms import LONGEST_REASON, REASONS, EdgeFilters, VerdictForm
from review.selectors.edge_page import edge_outside, edge_page, edge_verdict_given, serve_edge_id
from review.selectors.queue_page import edge_queue_page
from review.selectors.turns import Turn
from review.views.following import after_edge
from review.views.page import refusal_page, reviewer_page
from review.wording import changes, edge_title, seen_fields

_KINDS = ((EdgeKind.CLAIM, "between claims"), (EdgeKind.WORKAREA, "between workareas"))


@require_safe
@reviewer_page
def edges(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Edges of *your turn* or *waiting on others*, filtered, one page of them."""
    form = EdgeFilters(request.GET)
    query = form.query()
    page = edge_queue_page(actor, query=query)
    found = page["queue"]
    tabs = [
        (turn, title, found["counts"][turn], form.address(turn=turn))
        for turn, title in ((Turn.MINE, "Your turn"), (Turn.OTHERS, "Waiting on others"))
    ]
    cursor = found["next_cursor"]
    context: dict[str, Any] = {
        "queue": found,
        "turn": str(query.turn),
        "tabs": tabs,
        "choices": page["choices"],
        "reviews_anywhere": page["reviews_anywhere"],
        "chosen": form.chosen(),
        "kinds": [(str(kind), words) for kind, words in _KINDS],
        "elsewhere": page["elsewhere"],
        "cleared": f"?turn={query.turn}",
        "first_page": form.address(turn=str(query.turn)) if query.cursor else "",
        "next_page": form.address(turn=str(query.turn), cursor=cursor) if cursor else "",
    }
    return render(request, "review/edges.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@reviewer_page
def open_edge(request: HttpRequest, actor: Actor, edge: str) -> HttpResponse:
    """POST serves the edge; GET only asks, because a serve is journalled and a link must not make one."""
    if request.method != "POST":
        outside = edge_outside(actor, edge=edge)
        return render(request, "review/open.html", {**_subject(outside), "what": "edge"})
    serve = serve_edge(actor, edge=edge)
    words = VerdictForm(request.POST).words()
    if words["reason"] or words["reason_code"]:
        # "Open again" keeps what was typed; a redirect would have to store it somewhere.
        return _edge(request, actor, serve.pk, words=words)
    return _see_other(serve.pk)


@require_safe
@reviewer_page
def served(request: HttpRequest, actor: Actor, serve: str) -> HttpResponse:
    """The edge as served; after its verdict, what was decided; after its time, how to open it again."""
    try:
        return _edge(request, actor, serve)
    except ServeConsumed:
        given = edge_verdict_given(actor, serve_id=serve)
        if given is None:
            raise
        context = {"given": given, **_subject(given), "next": after_edge(actor, given["edge_id"])}
        return render(request, "review/edge_decided.html", context)
    except (ServeExpired, Stale) as refusal:
        return _refused(request, actor, serve, refusal, VerdictForm({}))


@require_POST
@reviewer_page
def verdict(request: HttpRequest, actor: Actor, serve: str) -> HttpResponse:
    """Give the verdict; whatever refuses it, the typed words stay."""
    form = VerdictForm(request.POST)
    try:
        give_edge_verdict(actor, command=form.command(serve))
    except Validation as refusal:
        try:
            return _edge(request, actor, serve, words=form.words(), refusal=refusal)
        except OmlError as later:
            return _refused(request, actor, serve, later, form)
    except OmlError as refusal:
        return _refused(request, actor, serve, refusal, form)
    return _see_other(serve)


def _edge(
    request: HttpRequest,
    actor: Actor,
    serve: str,
    *,
    words: dict[str, str] | None = None,
    refusal: OmlError | None = None,
) -> HttpResponse:
    page = edge_page(actor, serve_id=serve)
    outside = page["outside"]
    context: dict[str, Any] = {
        **page,
        **_subject(outside),
        "seen": seen_fields(outside),
        "reasons": REASONS,
        "longest_reason": LONGEST_REASON,
        "words": words or {"reason_code": "", "reason": ""},
        "refusal": refusal,
        "next": after_edge(actor, outside["edge_id"]),
    }
    return render(request, "review/edge.html", context, status=refusal.status if refusal else 200)


def _refused(request: HttpRequest, actor: Actor, serve: str, refusal: OmlError, form: VerdictForm) -> HttpResponse:
    """A verdict that did not count: why, what changed since the page was drawn, and the words once more."""
    outside = edge_outside(actor, edge=serve_edge_id(actor, serve_id=serve))
    return refusal_page(
        request,
        refusal,
        template="review/not_counted.html",
        **_subject(outside),
        changed=changes(form.seen(), outside),
        words=form.words(),
        reasons=REASONS,
        gave_verdict=bool(form.data),
        next=after_edge(actor, outside["edge_id"]),
    )


def _subject(outside: dict[str, Any]) -> dict[str, Any]:
    """How the pages around a serve name an edge."""
    return {
        "title": edge_title(outside),
        "state": outside["state"],
        "waits": outside["state"] == "pending",
        "open_address": reverse("open-edge", args=[outside["edge_id"]]),
        "back_address": reverse("edges"),
    }


def _see_other(serve: str) -> HttpResponse:
    response = redirect(reverse("served-edge", args=[serve]))
    response.status_code = 303  # a reload of the next page repeats nothing
    return response
