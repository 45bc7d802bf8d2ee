"""Routes of the review pages. Ids are slugs, so what no id can be never reaches a query."""

from __future__ import annotations

from django.urls import path

from review.views import item, queue

urlpatterns = [
    path("", queue.queue, name="queue"),
    path("items/<slug:artifact>", item.open_item, name="open-item"),
    path("serves/<slug:serve>", item.served, name="served"),
    path("serves/<slug:serve>/parts/<slug:part>", item.part, name="part"),
    path("serves/<slug:serve>/verdict", item.verdict, name="verdict"),
]
