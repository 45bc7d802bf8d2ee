"""The admin console: who gets in, one tenant's rows, nothing of a text, keys shown once."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.admin.utils import quote
from django.contrib.auth.models import Group
from django.contrib.messages import get_messages
from django.contrib.sessions.models import Session
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from memory import reads
from memory.claims.models import Artifact
from memory.graph.actions.propose import ProposeCommand, propose_edge
from memory.graph.labels import EdgeKind
from oml.console.readonly import ReadOnlyAdmin
from oml.console.site import ConsoleSite
from oml.core.actor import Role
from oml.jobs import heartbeat
from oml.journal.models import JournalEntry
from review.actions.edge_serve import serve_edge
from review.actions.edge_verdict import give_edge_verdict
from review.actions.verdict import VerdictCommand
from review.models import Verdict
from review.policy import ReasonCode, VerdictWord
from tests.support.journal import journalled
from tests.support.people import Human, human, said
from tests.support.world import World
from workareas.actions.bans import add_ban
from workareas.actions.keys import GrantSpec, add_grant, enrol_human, revoke_key
from workareas.actions.nodes import set_policy
from workareas.actions.simulations import create_simulation
from workareas.authentication import digest_of
from workareas.models import Grant, Key, Principal
from workareas.verbs import Capability
from workareas.words import Effect

WORDS = "Tin is delivered on Fridays at the north gate"
REASON = "A reason in confidence"
MODELS = sorted(admin.site._registry, key=lambda model: model._meta.label)
LISTS = [f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist" for model in MODELS]

JOURNAL = "/admin/journal/journalentry/"


@pytest.fixture
def ada(world: World) -> Human:
    """An administrator of the whole tree, on the staff."""
    return human(world, "admin", name="ada", staff=True)


def _something_of_everything(world: World) -> None:
    """Held, promoted, rejected, served, judged, read, waiting."""
    source = world.promoted(text=f"{WORDS}, promoted")
    world.learn(sources=[source], text=f"{WORDS}, derived")
    held = world.submit(text=f"{WORDS}, held \u200b")
    judged = world.submit(text=f"{WORDS}, judged")
    world.scan()
    world.judge(world.serve(judged), word="reject", reason_code="wrong", reason=REASON)  # type: ignore[arg-type]
    world.serve(held)
    reads.workarea(world.reader, reference="universe.a")
    set_policy(world.admin, workarea="universe.a", settings={"serve_ttl_s": 600})
    _an_edge_and_its_verdict(world, source, world.promoted(text=f"{WORDS}, far end"))
    add_ban(world.admin, kind="artifact", value=judged, reason=None)
    create_simulation(world.admin, name="drill", audience=[world.reader.key_id])
    world.submit(text=f"{WORDS}, unscanned")
    heartbeat.beat()


def _an_edge_and_its_verdict(world: World, source: str, target: str) -> None:
    command = ProposeCommand(EdgeKind.CLAIM, "supports", source, target, note=f"{WORDS}, noted")
    edge = propose_edge(world.key("proposer"), command=command)["edge_id"]
    serve = serve_edge(world.reviewer, edge=edge)
    given = VerdictCommand(
        serve.pk, serve.content_digest, VerdictWord.REJECT, reason_code=ReasonCode.WRONG, reason=REASON
    )
    give_edge_verdict(world.reviewer, command=given)


# --- who gets in


def test_admin__signed_out__leads_to_the_one_sign_in(client: Client, db: None) -> None:
    answer = client.get("/admin/", follow=True)
    assert answer.redirect_chain[-1][0].startswith("/accounts/login/?next=/admin/")


@pytest.mark.parametrize(
    ("kind", "on", "staff"),
    [("admin", "universe", False), ("admin", None, True), ("reviewer", "universe", True), ("reader", "universe", True)],
)
def test_admin__not_both_staff_and_administrator__stays_out(
    world: World, kind: str, on: str | None, staff: bool
) -> None:
    outsider = human(world, kind, name="otto", on=on, staff=staff)
    for path in ("/admin/", "/admin/workareas/key/", "/admin/workareas/key/issue/", "/admin/explain/"):
        page = outsider.client.get(path, follow=True)
        assert page.status_code == 403
        assert "administers nothing" in said(page)
    outsider.post("/admin/workareas/key/issue/", name="x", kind="agent", role="reader")
    assert not Principal.objects.filter(name="x").exists()


def test_admin__superuser_flag_without_a_key__opens_nothing(world: World, client: Client) -> None:
    person = Principal.objects.create_principal(
        tenant=world.nodes["a"].tenant,
        username="root",
        name="Root",
        kind="human",
        password="x" * 16,
        is_staff=True,
        is_superuser=True,
    )
    client.force_login(person)
    assert client.get("/admin/", follow=True).status_code == 403


def test_admin__denied_everywhere__stays_out(world: World, ada: Human) -> None:
    assert ada.get("/admin/").status_code == 200
    revoke_key(world.admin, key=ada.actor.key_id)
    assert ada.client.get("/admin/", follow=True).status_code == 403


def test_admin__an_administrator__sees_what_waits_at_first_sight(world: World, ada: Human) -> None:
    _something_of_everything(world)
    words = said(ada.get("/admin/"))
    for expected in ("Held 3", "Oldest waiting", "Worker's heartbeat 0 s ago", "Journal head", "Issue a key"):
        assert expected in words


# --- read-only, one tenant, no text


def test_admin__every_registered_model__is_read_only() -> None:
    assert isinstance(admin.site, ConsoleSite) or isinstance(admin.site._wrapped, ConsoleSite)  # type: ignore[attr-defined]
    assert MODELS and Group not in MODELS and LogEntry not in MODELS
    for page in admin.site._registry.values():
        assert isinstance(page, ReadOnlyAdmin)
        request = RequestFactory().get("/admin/")
        assert not page.has_add_permission(request)
        assert not page.has_change_permission(request)
        assert not page.has_delete_permission(request)
        with pytest.raises(PermissionDenied):
            page.save_model(request, None, None, False)
        with pytest.raises(PermissionDenied):
            page.delete_model(request, None)
        with pytest.raises(PermissionDenied):
            page.delete_queryset(request, page.model.objects.none())
        assert not page.get_actions(request)


def test_admin__another_tenants_rows__are_never_there(world: World, ada: Human) -> None:
    other = World.build("other")
    _something_of_everything(other)
    _something_of_everything(world)
    other.submit(text=WORDS)
    tenant = ada.actor.tenant_id
    foreign_rows = shown = 0
    for route in LISTS:
        page = ada.get(reverse(route))
        assert page.status_code == 200
        rows = page.context["cl"].queryset
        shown += rows.exists()
        for row in rows:
            assert tenant_of(row) in (tenant, None), route
        foreign = [row for row in rows.model._default_manager.all() if tenant_of(row) not in (tenant, None)]
        for row in foreign[:2]:
            foreign_rows += 1
            for page_of in ("_change", "_history"):
                answer = ada.client.get(reverse(route.replace("_changelist", page_of), args=[row.pk]))
                assert answer.status_code == 302
                assert answer.headers["Location"] in ("/admin/", f"{JOURNAL}?q={row.pk}")
            assert not ada.get(JOURNAL, q=row.pk).context["cl"].queryset.exists()
    assert foreign_rows > 20 and shown >= 22


def tenant_of(row: Any) -> str | None:
    """The tenant that a row belongs to, whatever it is; None for the deployment's own rows."""
    name = type(row).__name__
    if name == "WorkerHeartbeat":
        return None
    if name == "Tenant":
        return str(row.pk)
    if name == "OutboxTask":
        return str(Artifact.objects.get(pk=row.args["artifact_id"]).tenant_id)
    for end in ("artifact", "key", "workarea", "edge"):
        if not hasattr(row, "tenant_id") and hasattr(row, end):
            return str(getattr(row, end).tenant_id)
    return str(row.tenant_id)


def test_admin__every_page__shows_no_text_no_reason_no_secret(world: World, ada: Human) -> None:
    _something_of_everything(world)
    key = Key.objects.exclude(secret_digest=None).first()
    assert key is not None
    withheld = [WORDS, REASON, "signatures", bytes(key.secret_digest or b"").hex(), "md5$", "pbkdf2"]
    withheld += [row.text_sha256 for row in Artifact.objects.all()]
    seen = 0
    with CaptureQueriesContext(connection) as queries:
        for route in LISTS:
            listed = ada.get(reverse(route))
            change = route.replace("_changelist", "_change")
            rows = list(listed.context["cl"].queryset)
            # One journal entry of each event says as much as all of them.
            rows = list({getattr(row, "event_type", row.pk): row for row in rows}.values())
            for page in (listed, *(ada.get(reverse(change, args=[row.pk])) for row in rows)):
                assert page.status_code == 200, page.request["PATH_INFO"]
                body = page.content.decode()
                for words in withheld:
                    assert words not in body, (words, page.request["PATH_INFO"])
                seen += 1
    assert seen > 60
    assert Verdict.objects.filter(reason=REASON).exists()
    # Withheld is not merely hidden: the column never leaves the database.
    assert not [query["sql"][:200] for query in queries if '"memory_artifact"."text"' in query["sql"]]


@pytest.mark.parametrize(
    ("route", "lookup"),
    [
        ("memory_artifact", "text__startswith"),
        ("memory_artifact", "text__contains"),
        ("memory_artifact", "text"),
        ("memory_artifact", "text_sha256"),
        ("memory_artifact", "envelope__contains"),
        ("memory_artifact", "author_principal__password__startswith"),
        ("memory_artifact", "scan_state__startswith"),
        ("review_verdict", "reason__contains"),
        ("review_verdict", "artifact__text__contains"),
        ("review_serve", "content_digest"),
        ("workareas_key", "secret_digest"),
        ("workareas_principal", "password__startswith"),
        ("journal_journalentry", "canonical__contains"),
        ("memory_edge", "note__contains"),
        ("memory_servingrow", "label"),
        ("memory_servingrow", "artifact__text__contains"),
    ],
)
def test_admin__a_filter_over_what_is_withheld__is_refused(ada: Human, route: str, lookup: str) -> None:
    """A filter answers questions about a column letter by letter, shown or not (R3)."""
    assert ada.get(reverse(f"admin:{route}_changelist"), **{lookup: "T"}).status_code == 400


def test_admin__a_search__finds_by_claim_key_and_never_by_text(world: World, ada: Human) -> None:
    held = world.submit(text=WORDS, claim_key="tin-days")
    path = reverse("admin:memory_artifact_changelist")
    assert held in ada.get(path, q="tin-days").content.decode()
    assert held not in ada.get(path, q="Fridays").content.decode()
    assert held in ada.get(path, q=held).content.decode()


def test_admin__offered_filters__work(world: World, ada: Human) -> None:
    world.submit(claim_key="held-one")
    world.promoted(claim_key="promoted-one")
    path = reverse("admin:memory_artifact_changelist")
    page = ada.get(path, state__exact="promoted")
    assert page.status_code == 200
    assert "promoted-one" in said(page) and "held-one" not in said(page)
    journal = ada.get(reverse("admin:journal_journalentry_changelist"), event="lifecycle.promote")
    assert journal.context["cl"].queryset.count() == 1


def test_admin__history__is_the_journal(world: World, ada: Human) -> None:
    artifact = world.promoted()
    page = ada.client.get(reverse("admin:memory_artifact_history", args=[artifact]), follow=True)
    assert page.status_code == 200
    words = said(page)
    for event in ("submission.remember", "admission.scanned", "review.served", "review.verdict", "lifecycle.promote"):
        assert event in words
    # The link on the row's own page says the id as Django quotes it.
    linked = ada.client.get(f"/admin/memory/artifact/{quote(artifact)}/history/", follow=True)
    assert "lifecycle.promote" in said(linked)


def test_admin__what_django_would_write__has_no_page(ada: Human) -> None:
    for path in ("/admin/password_change/", "/admin/auth/group/", "/admin/admin/logentry/"):
        assert ada.get(path).status_code == 404
    for model in MODELS:
        path = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        assert ada.get(path + "add/").status_code in (302, 403)
        answer = ada.post(path, action="delete_selected", _selected_action="1")
        assert answer.status_code in (200, 302, 403)


def test_admin__ten_times_the_rows__asks_the_database_as_often(world: World, ada: Human) -> None:
    def asked() -> dict[str, int]:
        counts = {}
        for route in LISTS:
            with CaptureQueriesContext(connection) as queries:
                assert ada.get(reverse(route)).status_code == 200
            counts[route] = len(queries)
        return counts

    _something_of_everything(world)
    asked()
    few = asked()
    for _ in range(3):
        _something_of_everything(world)
    assert asked() == few
    assert max(few.values()) <= 14


def test_admin__the_start_page__asks_a_constant_number(world: World, ada: Human) -> None:
    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert ada.get("/admin/").status_code == 200
        return len(queries)

    _something_of_everything(world)
    asked()
    few = asked()
    for _ in range(3):
        _something_of_everything(world)
    assert asked() == few
    assert few <= 20


# --- keys


def _issue(ada: Human, **fields: Any) -> Any:
    fields = {"name": "Metals writer", "kind": "agent", "role": "writer"} | fields
    return ada.client.post("/admin/workareas/key/issue/", fields)


def test_issue_key__get__says_the_consequence_and_issues_nothing(ada: Human) -> None:
    before = Key.objects.count()
    page = ada.get("/admin/workareas/key/issue/")
    assert "Its secret is shown once" in said(page)
    assert 'value="universe.a"' in page.content.decode()
    assert Key.objects.count() == before


def test_issue_key__post__shows_the_secret_once_and_nowhere_else(
    world: World, ada: Human, caplog: pytest.LogCaptureFixture
) -> None:
    page = _issue(ada, workarea="universe.a", capabilities=["reader", "writer"])
    assert page.status_code == 200
    assert "no-store" in page.headers["Cache-Control"]
    found = re.findall(r"oml_k_[0-9A-Z]{26}", page.content.decode())
    assert len(found) == 1
    key = Key.objects.get(secret_digest=digest_of(found[0]))
    assert key.principal.name == "Metals writer" and key.role == "writer"
    granted = Grant.objects.filter(key=key).values_list("workarea__path", "capability", "effect")
    assert set(granted) == {("universe.a", "reader", "allow"), ("universe.a", "writer", "allow")}
    assert journalled("key.issued")[-1]["actor"]["key"] == ada.actor.key_id
    # Nowhere else: not in a message, a session, a log, the journal, a later page.
    assert not list(get_messages(page.wsgi_request))
    assert not any(found[0] in str(session.get_decoded()) for session in Session.objects.all())
    assert found[0] not in caplog.text and found[0] not in str(page.cookies)
    assert not any(found[0] in row.canonical for row in JournalEntry.objects.all())
    for path in ("/admin/workareas/key/", f"/admin/workareas/key/{key.pk}/change/", "/admin/"):
        assert found[0] not in ada.get(path).content.decode()
    # And it works.
    answer = Client().get("/v1/review/queue", headers={"Authorization": f"Bearer {found[0]}"})
    assert answer.json()["error"]["code"] == "access.verb_ceiling"


def test_issue_key__for_an_existing_principal__adds_a_key_of_theirs(world: World, ada: Human) -> None:
    page = _issue(ada, name="", principal=world.writer.principal_id)
    assert page.status_code == 200
    assert Key.objects.filter(principal_id=world.writer.principal_id).count() == 2


@pytest.mark.parametrize(
    ("fields", "status", "expected"),
    [
        ({"name": ""}, 400, "request.validation"),
        ({"principal": "pri_unknown"}, 400, "request.validation"),
        ({"name": "", "principal": "pri_unknown"}, 404, "access.not_found"),
        ({"workarea": "universe.nowhere", "capabilities": ["reader"]}, 404, "access.not_found"),
        ({"capabilities": ["reader"]}, 400, "request.validation"),
        ({"workarea": "universe.a", "capabilities": ["review"]}, 400, "a role is a ceiling"),
        ({"expires_at": "2020-01-01T00:00"}, 400, "lies in the past"),
        ({"role": "operator"}, 400, "Select a valid choice"),
        ({"role": ""}, 400, "This field is required"),
        ({"name": "a\x00b"}, 400, "Null characters are not allowed"),
        ({"workarea": "a\x00b", "capabilities": ["reader"]}, 400, "Null characters are not allowed"),
    ],
)
def test_issue_key__refused__says_code_and_rule_and_keeps_what_was_typed(
    ada: Human, fields: dict[str, Any], status: int, expected: str
) -> None:
    before = Key.objects.count(), Principal.objects.count()
    page = _issue(ada, **fields)
    assert page.status_code == status
    assert expected in said(page)
    assert "oml_k_" not in page.content.decode()
    assert (Key.objects.count(), Principal.objects.count()) == before


def test_issue_key__outside_what_one_administers__is_not_found(world: World) -> None:
    part = human(world, "admin", name="part", on="a", staff=True)
    page = _issue(part, workarea="universe.b", capabilities=["reader"])
    assert page.status_code == 404
    assert "access.not_found" in said(page)


def test_revoke_key__confirmed__refuses_the_next_call(world: World, ada: Human) -> None:
    path = f"/admin/workareas/key/{world.reader.key_id}/revoke/"
    assert "cannot be taken back" in said(ada.get(path))
    assert Key.objects.get(pk=world.reader.key_id).revoked_at is None
    done = ada.client.post(path, follow=True)
    assert "is revoked. Its next call is refused." in said(done)
    assert Key.objects.get(pk=world.reader.key_id).revoked_at is not None
    assert journalled("key.revoked", once=True)
    assert "Revoke this key" not in said(done)


def test_revoke_key__of_another_tenant__is_not_there(world: World, ada: Human) -> None:
    other = World.build("other")
    assert ada.client.post(f"/admin/workareas/key/{other.reader.key_id}/revoke/").status_code == 404
    assert Key.objects.get(pk=other.reader.key_id).revoked_at is None


def test_admin__everything_done__leaves_djangos_own_log_empty(world: World, ada: Human) -> None:
    _issue(ada)
    ada.client.post(f"/admin/workareas/key/{world.reader.key_id}/revoke/")
    assert not LogEntry.objects.exists()


# --- access explained


def _explain(ada: Human, **query: str) -> Any:
    return ada.get("/admin/explain/", **query)


def test_explain__allowed__names_the_grant(world: World, ada: Human) -> None:
    words = said(_explain(ada, key=world.reader.key_id, verb="recall", workarea="universe.a.team"))
    grant = Grant.objects.get(key_id=world.reader.key_id)
    assert "Yes: recall at universe.a.team" in words
    assert f"allow reader on universe: grant {grant.pk}" in words


def test_explain__denied_above__names_the_deny_that_wins(world: World, ada: Human) -> None:
    world.deny(world.reader, Capability.READER, on="a")
    world.grant(world.reader, Capability.READER, on="a.team")
    words = said(_explain(ada, key=world.reader.key_id, verb="recall", workarea="universe.a.team"))
    assert "No: recall at universe.a.team" in words
    assert "access.not_found" in words


def test_explain__above_the_ceiling__says_so(world: World, ada: Human) -> None:
    words = said(_explain(ada, key=world.writer.key_id, verb="review_verdict", workarea="universe.a"))
    assert "access.verb_ceiling" in words and "writer keys can never hold the verb review_verdict" in words


def test_explain__a_revoked_key__is_refused_before_any_grant(world: World, ada: Human) -> None:
    revoke_key(world.admin, key=world.reader.key_id)
    words = said(_explain(ada, key=world.reader.key_id, verb="recall", workarea="universe.a"))
    assert "the key is revoked" in words and "Yes" not in words


def test_explain__asking__uses_no_key(world: World, ada: Human) -> None:
    Key.objects.filter(pk=world.reader.key_id).update(last_used_at=None)
    _explain(ada, key=world.reader.key_id, verb="recall", workarea="universe.a")
    assert Key.objects.get(pk=world.reader.key_id).last_used_at is None


@pytest.mark.parametrize(("key", "workarea"), [("key_unknown", "universe.a"), (None, "universe.nowhere")])
def test_explain__unknown_or_foreign__is_a_typed_page(world: World, ada: Human, key: str | None, workarea: str) -> None:
    page = _explain(ada, key=key or world.reader.key_id, verb="recall", workarea=workarea)
    assert page.status_code == 404
    assert "access.not_found" in said(page)


def test_explain__a_key_of_another_tenant__is_unknown(world: World, ada: Human) -> None:
    other = World.build("other")
    page = _explain(ada, key=other.reader.key_id, verb="recall", workarea="universe.a")
    assert page.status_code == 404


def test_explain__someone_who_administers_elsewhere__learns_nothing(world: World) -> None:
    part = human(world, "admin", name="part", on="b", staff=True)
    page = _explain(part, key=world.reader.key_id, verb="recall", workarea="universe.a")
    assert page.status_code == 404


def test_admin__a_human_enrolled_as_staff__needs_the_grant_first(world: World, client: Client) -> None:
    key = enrol_human(
        world.admin, username="neu", name="Neu", password="a password of her own", role=Role.ADMIN, staff=True
    )
    assert client.login(username="neu", password="a password of her own")
    assert client.get("/admin/", follow=True).status_code == 403
    add_grant(world.admin, key=key.pk, spec=GrantSpec("universe.a", Capability.ADMIN, Effect.ALLOW))
    assert client.get("/admin/", follow=True).status_code == 200
