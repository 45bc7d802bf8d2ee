"""Composition only: which face answers which path."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth import views as auth_views
from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerSplitView

from oml.http import health
from oml.http.handler import unknown_route
from review.views.home import home

urlpatterns = [
    path("healthz", health.healthz),
    path("readyz", health.readyz),
    path("", include("oml.mcp.urls")),
    path("v1/", include("memory.api.urls")),
    path("", include("memory.api.record_urls")),
    path("v1/", include("memory.api.run_urls")),
    path("", include("memory.api.persistence_urls")),
    path("v1/", include("review.api.urls")),
    path("v1/", include("workareas.api.urls")),
    path("v1/schema", SpectacularJSONAPIView.as_view(), name="schema"),
    path("v1/docs", SpectacularSwaggerSplitView.as_view(url_name="schema"), name="docs"),
    re_path(r"^(?:v1|api)(/.*)?$", unknown_route),
    path("accounts/login/", auth_views.LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("accounts/logout/", auth_views.LogoutView.as_view(), name="logout"),
    path("agents/", include("memory.views.urls")),
    path("review/", include("review.views.urls")),
    path("admin/", admin.site.urls),
    path("", home, name="home"),
]

# A host name that is not ours is refused by a middleware, before any face.
handler400 = "oml.mcp.urls.bad_request"
handler500 = "oml.http.handler.server_error"
