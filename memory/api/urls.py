"""Routes of memory under ``/v1``."""

from __future__ import annotations

from django.urls import path

from memory.api import views

urlpatterns = [
    path("memories", views.Memories.as_view()),
    path("memories/<str:artifact>", views.Memory.as_view()),
    path("recall", views.Recall.as_view()),
    path("my-work", views.MyWork.as_view()),
    path("workareas/<str:workarea>", views.WorkareaInfo.as_view()),
    path("events", views.Events.as_view()),
]
