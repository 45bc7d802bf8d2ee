"""Routes of the review pages. Ids are slugs, so what no id can be never reaches a query."""

from __future__ import annotations

from django.urls import path

from review.views import edges, item, queue

urlpatterns = [
    path("", queue.queue, name="queue"),
    path("items/<slug:artifact>", item.open_item, name="open-item"),
    path("serves/<slug:serve>", item.served, name="served"),
    path("serves/<slug:serve>/parts/<slug:part>", item.part, name="part"),
    path("serves/<slug:serve>/verdict", item.verdict, name="verdict"),
    path("edges/", edges.edges, name="edges"),
    path("edges/<slug:edge>", edges.open_edge, name="open-edge"),
    path("edge-serves/<slug:serve>", edges.served, name="served-edge"),
    path("edge-serves/<slug:serve>/verdict", edges.verdict, name="edge-verdict"),
]
