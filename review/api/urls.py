"""Routes of the human gate under ``/v1``."""

from __future__ import annotations

from django.urls import path

from review.api import views

urlpatterns = [
    path("review/queue", views.Queue.as_view()),
    path("review/serves", views.Serves.as_view()),
    path("review/verdicts", views.Verdicts.as_view()),
]
