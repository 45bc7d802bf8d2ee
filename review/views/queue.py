"""The queue page."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from memory.claims.states import Kind, ScanState, Surface
from oml.core.actor import Actor
from review.forms import QueueFilters
from review.selectors.queue_page import queue_page
from review.selectors.turns import Turn
from review.views.page import reviewer_page
from review.wording import CHANNELS, KINDS, OUTCOMES


@require_safe
@reviewer_page
def queue(request: HttpRequest, actor: Actor) -> HttpResponse:
    """*Your turn* or *Waiting on others*, filtered, one page of it."""
    form = QueueFilters(request.GET)
    query = form.query()
    page = queue_page(actor, query=query)
    found = page["queue"]
    tabs = [
        (turn, title, found["counts"][turn], form.address(turn=turn))
        for turn, title in ((Turn.MINE, "Your turn"), (Turn.OTHERS, "Waiting on others"))
    ]
    cursor = found["next_cursor"]
    return render(
        request,
        "review/queue.html",
        {
            "queue": found,
            "turn": str(query.turn),
            "tabs": tabs,
            "choices": page["choices"],
            "reviews_anywhere": page["reviews_anywhere"],
            "chosen": form.chosen(),
            "kinds": [(str(kind), KINDS[kind]) for kind in Kind],
            "channels": [(str(channel), CHANNELS[channel]) for channel in Surface],
            "outcomes": [(str(scan), OUTCOMES[scan][0]) for scan in ScanState],
            "elsewhere": page["elsewhere"],
            "cleared": "?turn=" + str(query.turn),
            "first_page": form.address(turn=str(query.turn)) if query.cursor else "",
            "next_page": form.address(turn=str(query.turn), cursor=cursor) if cursor else "",
        },
    )
