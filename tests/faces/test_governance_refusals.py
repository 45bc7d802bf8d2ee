"""Every administrative route, and everybody who may not: the refusal has its code and leaves no trace.

The order of design: access, "Which refusal": the role's ceiling, then what is visible, then what is granted. An id of
another tenant, an unknown one and a malformed one are answered with the same bytes.
"""

from __future__ import annotations

from typing import Any

import pytest

from oml.core.actor import Role
from tests.support.api import Api, refused
from tests.support.governed import ROUTES, Governed, Route, ask, call, named
from tests.support.journal import length
from tests.support.world import World
from workareas.verbs import Capability

pytestmark = pytest.mark.django_db

every_route = pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
about_something = pytest.mark.parametrize(
    "route", [route for route in ROUTES if route.subject is not None], ids=lambda route: route.name
)

UNKNOWN = ["unknown_01JB2XF2R7M9W4K6T8Y1QZ3VH5", "x", "'; --", "universe.nowhere", "art_\u00e9", "%", "_" * 300]


@pytest.fixture
def governed(world: World) -> Governed:
    return Governed(world)


@every_route
def test_admin_route__role_that_can_never_administer__is_above_its_ceiling(
    governed: Governed, api: Api, route: Route
) -> None:
    world = governed.world
    before = length(governed.tenant_id)
    for by in (world.reader, world.writer, world.reviewer):
        refused(ask(api, route, governed, by), "access.verb_ceiling", 403)
    assert length(governed.tenant_id) == before


@every_route
def test_admin_route__operator__is_above_its_ceiling_but_for_revoking_a_key(
    governed: Governed, api: Api, route: Route
) -> None:
    answer = ask(api, route, governed, governed.world.operator)
    if route.name == "key_revoke":
        assert answer.status_code == 200
    else:
        error = refused(answer, "access.verb_ceiling", 403)
        assert error["rule"] == "operator never writes, reads or reviews content (D9)"


@every_route
def test_admin_route__admin_key_without_any_grant__sees_nothing_to_administer(
    governed: Governed, api: Api, route: Route
) -> None:
    by = governed.world.bare_key(Role.ADMIN)
    before = length(governed.tenant_id)
    refused(ask(api, route, governed, by), "access.not_found", 404)
    assert length(governed.tenant_id) == before


@every_route
def test_admin_route__admin_key_that_may_only_read__is_forbidden(governed: Governed, api: Api, route: Route) -> None:
    by = governed.world.bare_key(Role.ADMIN)
    governed.world.grant(by, Capability.READER, on="universe")
    before = length(governed.tenant_id)
    answer = ask(api, route, governed, by)
    refused(answer, *(("access.not_found", 404) if route.hides else ("access.forbidden", 403)))
    assert length(governed.tenant_id) == before


@every_route
def test_admin_route__administer_denied_at_an_ancestor__is_forbidden_whatever_is_granted_nearer(
    governed: Governed, api: Api, route: Route
) -> None:
    by = governed.world.key("admin", on="universe")
    governed.world.grant(by, Capability.ADMIN, on="a")
    governed.world.deny(by, Capability.ADMIN, on="universe")
    answer = ask(api, route, governed, by)
    refused(answer, *(("access.not_found", 404) if route.hides else ("access.forbidden", 403)))


@pytest.mark.parametrize("route", [r for r in ROUTES if r.at_root], ids=lambda route: route.name)
def test_admin_route__administrator_of_a_subtree_at_what_belongs_to_the_whole_tenant__is_told_what_it_takes(
    governed: Governed, api: Api, route: Route
) -> None:
    by = governed.world.key("admin", on="a")
    before = length(governed.tenant_id)
    error = refused(ask(api, route, governed, by), "access.forbidden", 403)
    assert error["message"] == "this needs admin access on the root workarea"
    assert length(governed.tenant_id) == before


@about_something
def test_admin_route__another_tenants_thing__is_the_same_bytes_as_an_unknown_one(
    governed: Governed, api: Api, route: Route
) -> None:
    assert route.subject is not None
    stranger = World.build("stranger")
    secret = stranger.secret[stranger.admin]
    mine = route.subject(governed)
    request = route.request(governed)
    if route.name == "workarea_reassign":  # its second id is the stranger's own, so that only the first is foreign
        request = named(request, governed.world.nodes["b"].pk, stranger.nodes["b"].pk)
    if route.name == "key_issue":
        request = named(request, "New agent", "Their agent")
    before = length(governed.tenant_id), length(stranger.admin.tenant_id)
    foreign = call(api, request, secret)
    refused(foreign, "access.not_found", 404)
    for other in UNKNOWN:
        unknown = call(api, named(request, mine, other), secret)
        assert unknown.status_code == 404
        assert _body(unknown, other) == _body(foreign, mine)
    assert (length(governed.tenant_id), length(stranger.admin.tenant_id)) == before


def _body(response: Any, echoed: str) -> Any:
    """The body with what the caller sent taken out, and the headers that a caller could compare."""
    error = dict(response.json()["error"])
    error["message"] = error["message"].replace(echoed, "…")
    volatile = ("X-Request-Id", "Content-Length")
    headers = {name: value for name, value in response.headers.items() if name not in volatile}
    return error, headers


@every_route
def test_admin_route__without_a_valid_key__is_unauthenticated(governed: Governed, api: Api, route: Route) -> None:
    for secret in (None, "oml_k_00000000000000000000000000", "x"):
        answer = call(api, route.request(governed), secret)
        refused(answer, "auth.invalid_key", 401)
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")


@every_route
def test_admin_route__unknown_field__is_validation_and_a_tenant_is_ignored(
    governed: Governed, api: Api, route: Route
) -> None:
    method, path, body = route.request(governed)
    secret = governed.world.secret[governed.world.admin]
    if method == "POST":
        error = refused(call(api, (method, path, {**(body or {}), "surprise": 1}), secret), "request.validation", 400)
        assert error["param"] == "surprise"
        answer = call(api, (method, path, {**(body or {}), "tenant": "ten_other", "tenant_id": 7}), secret)
    else:
        joined = "&" if "?" in path else "?"
        refused(call(api, (method, f"{path}{joined}surprise=1", body), secret), "request.validation", 400)
        answer = call(api, (method, f"{path}{joined}tenant=ten_other", body), secret)
    assert answer.status_code in (200, 201), answer.json()


@every_route
def test_admin_route__wrong_method__says_which_are_right(governed: Governed, api: Api, route: Route) -> None:
    method, path, _ = route.request(governed)
    answer = api.client.put(
        f"/v1/{path}",
        "{}",
        content_type="application/json",
        headers={"Authorization": f"Bearer {governed.world.secret[governed.world.admin]}"},
    )
    refused(answer, "request.method", 405)
    assert method in answer.headers["Allow"]
