"""Routes of who and where under ``/v1``."""

from __future__ import annotations

from django.urls import URLPattern

from oml.http.operations import Operation
from oml.http.routes import route
from workareas.api import journal
from workareas.api import operations as do
from workareas.api.authentication import BearerAuthentication


def _route(where: str, **methods: Operation) -> URLPattern:
    return route(where, BearerAuthentication, **methods)


urlpatterns = [
    _route("workareas", post=do.create_workarea),
    _route("workareas/<str:workarea>/status", post=do.advance_status),
    _route("workareas/<str:workarea>/reassign", post=do.move_workarea),
    _route("workareas/<str:workarea>/crew", post=do.update_crew),
    _route("workareas/<str:workarea>/policy", post=do.set_policy),
    _route("workareas/<str:workarea>/space-roles/<str:principal>", put=do.set_role, delete=do.unset_role),
    _route("principals/<str:principal>/remove", post=do.take_out_principal),
    _route("keys", post=do.issue_key, get=do.list_keys),
    _route("keys/<str:key>/rotate", post=do.rotate_key),
    _route("keys/<str:key>/revoke", post=do.revoke_key),
    _route("grants", post=do.add_grant),
    _route("grants/<str:grant>", delete=do.remove_grant),
    _route("access/explain", get=do.explain),
    _route("bans", post=do.add_ban, get=do.list_bans),
    _route("bans/<str:ban>", delete=do.remove_ban),
    _route("simulations", post=do.create_simulation),
    _route("simulations/<str:simulation>/audience", post=do.change_audience),
    _route("simulations/<str:simulation>/close", post=do.close_simulation),
    _route("deployment-keys", get=do.deployment_keys),
    *journal.urlpatterns,
]
