"""Routes of who and where under ``/v1``."""

from __future__ import annotations

from django.urls import path

from workareas.api import views

urlpatterns = [path("deployment-keys", views.DeploymentKeys.as_view())]
