"""The item pages: open (a serve), read and judge, and what became of it.

A verdict leads back to the serve's own address, which then says what was decided: reloading repeats nothing.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from oml.core.actor import Actor
from oml.core.errors import OmlError, Validation
from review.actions.part import serve_part, whole
from review.actions.serve import serve_item
from review.actions.verdict import give_verdict
from review.errors import PartsUnserved, ServeConsumed, ServeExpired, Stale
from review.forms import LONGEST_REASON, REASONS, VerdictForm
from review.selectors.item_page import item_outside, item_page, serve_subject, verdict_given
from review.views.following import after_item
from review.views.page import refusal_page, reviewer_page
from review.wording import changes, item_title, seen_fields


@require_http_methods(["GET", "HEAD", "POST"])
@reviewer_page
def open_item(request: HttpRequest, actor: Actor, artifact: str) -> HttpResponse:
    """POST serves the item; GET only asks, because a serve is journalled and a link must not make one."""
    if request.method != "POST":
        outside = item_outside(actor, artifact=artifact)
        return render(request, "review/open.html", {**_subject(outside), "what": "item"})
    serve = serve_item(actor, artifact=artifact)
    words = VerdictForm(request.POST).words()
    if words["reason"] or words["reason_code"]:
        # "Open again" keeps what was typed; a redirect would have to store it somewhere.
        return _item(request, actor, serve.pk, words=words)
    return _see_other(serve.pk)


@require_safe
@reviewer_page
def served(request: HttpRequest, actor: Actor, serve: str) -> HttpResponse:
    """The item as served; after its verdict, what was decided; after its time, how to open it again."""
    try:
        return _item(request, actor, serve)
    except ServeConsumed:
        given = verdict_given(actor, serve_id=serve)
        if given is None:
            raise
        following = after_item(actor, given["artifact_id"])
        return render(request, "review/decided.html", {"given": given, "next": following})
    except (ServeExpired, Stale) as refusal:
        return _refused(request, actor, serve, refusal, VerdictForm({}))


@require_safe
@reviewer_page
def part(request: HttpRequest, actor: Actor, serve: str, part: str) -> HttpResponse:
    """One part of the item, to be read before the verdict; sending it is what counts."""
    shown = serve_part(actor, serve_id=serve, part=part)
    body = {**shown.body, "content": whole(shown.body["content"])}
    response = render(request, "review/part.html", {"part": part, "record": body, "serve": serve})
    if request.method == "GET":  # HEAD sends no bytes, so nothing was shown
        shown.mark()
    return response


@require_POST
@reviewer_page
def verdict(request: HttpRequest, actor: Actor, serve: str) -> HttpResponse:
    """Give the verdict; whatever refuses it, the typed words stay."""
    form = VerdictForm(request.POST)
    try:
        give_verdict(actor, command=form.command(serve))
    except (Validation, PartsUnserved) as refusal:  # neither consumes the serve: the page is still good
        try:
            return _item(request, actor, serve, words=form.words(), refusal=refusal)
        except OmlError as later:
            return _refused(request, actor, serve, later, form)
    except OmlError as refusal:
        return _refused(request, actor, serve, refusal, form)
    return _see_other(serve)


def _item(
    request: HttpRequest,
    actor: Actor,
    serve: str,
    *,
    words: dict[str, str] | None = None,
    refusal: OmlError | None = None,
) -> HttpResponse:
    page = item_page(actor, serve_id=serve)
    outside = page["outside"]
    context: dict[str, Any] = {
        **page,
        **_subject(outside),
        "seen": seen_fields(outside),
        "reasons": REASONS,
        "longest_reason": LONGEST_REASON,
        "words": words or {"reason_code": "", "reason": ""},
        "refusal": refusal,
        "next": after_item(actor, outside["artifact_id"]),
    }
    return render(request, "review/item.html", context, status=refusal.status if refusal else 200)


def _refused(request: HttpRequest, actor: Actor, serve: str, refusal: OmlError, form: VerdictForm) -> HttpResponse:
    """A verdict that did not count: why, what changed since the page was drawn, and the words once more."""
    outside = item_outside(actor, artifact=serve_subject(actor, serve_id=serve))
    return refusal_page(
        request,
        refusal,
        template="review/not_counted.html",
        **_subject(outside),
        changed=changes(form.seen(), outside),
        words=form.words(),
        reasons=REASONS,
        gave_verdict=bool(form.data),
        next=after_item(actor, outside["artifact_id"]),
    )


def _subject(outside: dict[str, Any]) -> dict[str, Any]:
    """How the pages around a serve name an item."""
    return {
        "title": item_title(outside),
        "state": outside["state"],
        "waits": outside["state"] == "held",
        "open_address": reverse("open-item", args=[outside["artifact_id"]]),
        "back_address": reverse("queue"),
    }


def _see_other(serve: str) -> HttpResponse:
    response = redirect(reverse("served", args=[serve]))
    response.status_code = 303  # a reload of the next page repeats nothing
    return response
