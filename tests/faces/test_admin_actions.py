"""The console's writes: each shows what it would do, asks, calls one action and says a refusal in words."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.claims.models import Artifact
from oml.core.errors import OmlError
from tests.support.journal import journalled, length
from tests.support.people import Human, hidden, human, said
from tests.support.world import World
from workareas.actions.bans import add_ban
from workareas.actions.keys import revoke_key
from workareas.actions.nodes import advance_status
from workareas.actions.simulations import create_simulation
from workareas.authentication import digest_of
from workareas.errors import AccessNotFound
from workareas.models import Ban, Grant, Key, ReviewPolicy, Simulation, StatedReason, Tenant, Workarea
from workareas.selectors.foresight import grant_foreseen, removal_foreseen
from workareas.verbs import Capability

BAN, SIMULATION = "/admin/workareas/ban/", "/admin/workareas/simulation/"


@pytest.fixture
def ada(world: World) -> Human:
    """An administrator of the whole tree, on the staff."""
    return human(world, "admin", name="ada", staff=True)


def _post(ada: Human, path: str, **fields: Any) -> Any:
    return ada.client.post(path, fields, follow=True)


def _confirm(ada: Human, path: str, **fields: Any) -> Any:
    """Look first, then confirm exactly what was shown."""
    look = ada.client.post(path, fields)
    assert look.status_code == 200, said(look)
    assert "Nothing has been changed yet" in said(look)
    return _post(ada, path, **fields, seen=hidden(look, "seen"))


def _page(node: Workarea) -> str:
    return f"/admin/workareas/workarea/{node.pk}/"


def _table(page: Any) -> list[list[str]]:
    """The cells of the page's first table."""
    body = re.search(r"<tbody>(.*?)</tbody>", page.content.decode(), re.DOTALL)
    rows = re.findall(r"<tr>(.*?)</tr>", body[1], re.DOTALL) if body else []
    return [[re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<td>(.*?)</td>", row, re.DOTALL)] for row in rows]


# --- bans


def test_ban__of_a_key__refuses_what_it_submits_and_keeps_the_reason_out_of_the_journal(
    world: World, ada: Human
) -> None:
    assert "at submission and again at the verdict" in said(ada.get(f"{BAN}ban/"))
    done = _post(ada, f"{BAN}ban/", kind="key", value=world.writer.key_id, reason="It writes rumours.")
    assert f"admission refuses key {world.writer.key_id}" in said(done)
    with pytest.raises(OmlError, match="this key is banned"):
        world.submit()
    (added,) = journalled("ban.added", once=True)
    assert added["actor"]["key"] == ada.actor.key_id and added["channel"] == "console"
    assert "rumours" not in str(added)
    assert StatedReason.objects.get().text == "It writes rumours."


def test_ban__of_a_text__takes_its_digest(world: World, ada: Human) -> None:
    digest = hashlib.sha256(b"A fact worth keeping.").hexdigest()
    _post(ada, f"{BAN}ban/", kind="digest", value=f"sha256:{digest}")
    with pytest.raises(OmlError, match="this text is banned"):
        world.submit()


@pytest.mark.parametrize(
    ("fields", "status", "expected"),
    [
        ({"kind": "key", "value": "key_unknown"}, 404, "access.not_found"),
        ({"kind": "digest", "value": "short"}, 400, "a digest is the SHA-256 of a text"),
        ({"kind": "person", "value": "x"}, 400, "Select a valid choice"),
        ({"kind": "key", "value": ""}, 400, "This field is required"),
        ({"kind": "artifact", "value": "a\x00b"}, 400, "Null characters are not allowed"),
    ],
)
def test_ban__refused__is_said_in_words_and_keeps_what_was_typed(
    ada: Human, fields: dict[str, str], status: int, expected: str
) -> None:
    page = _post(ada, f"{BAN}ban/", **fields, reason="These words stay.")
    assert page.status_code == status
    assert expected in said(page)
    assert "These words stay." in page.content.decode()
    assert not Ban.objects.exists()


def test_ban__lifted__lets_it_in_again(world: World, ada: Human) -> None:
    ban = add_ban(world.admin, kind="key", value=world.writer.key_id, reason=None)
    assert "its author sends it again" in said(ada.get(f"{BAN}{ban.pk}/lift/"))
    done = _post(ada, f"{BAN}{ban.pk}/lift/")
    assert f"{ban.pk} is lifted" in said(done)
    assert done.redirect_chain[-1][0] == BAN
    world.submit()
    assert journalled("ban.removed", once=True)


# --- simulations


def test_simulation__opened_changed_and_closed__fences_in_whom_it_names(world: World, ada: Human) -> None:
    first, second = world.reader.key_id, world.reviewer.key_id
    done = _post(ada, f"{SIMULATION}open/", name="drill", audience=f"{first},\n {second}\n{first}")
    assert "is open; keys in its audience: 2." in said(done)
    simulation = Simulation.objects.get()
    assert set(simulation.audience.values_list("pk", flat=True)) == {first, second}
    page = f"{SIMULATION}{simulation.pk}/"
    changed = _post(ada, f"{page}audience/", add=world.writer.key_id, remove=first)
    assert "Keys let in: 1; shown out: 1." in said(changed)
    assert set(simulation.audience.values_list("pk", flat=True)) == {world.writer.key_id, second}
    assert "cannot be opened again" in said(ada.get(f"{page}close/"))
    closed = _post(ada, f"{page}close/")
    assert f"{simulation.pk} is closed" in said(closed)
    assert "Close this simulation" not in said(closed)
    again = _post(ada, f"{page}audience/", add=first)
    assert again.status_code == 400 and "is closed" in said(again)
    assert [row["event_type"] for row in journalled("simulation.closed", once=True)] == ["simulation.closed"]


@pytest.mark.parametrize(
    ("fields", "status", "expected"),
    [
        ({"name": "drill", "audience": "key_unknown"}, 404, "audience[0] names no key of this tenant"),
        ({"name": "   "}, 400, "This field is required"),
        ({"name": "x" * 201}, 400, "at most 200 characters"),
    ],
)
def test_simulation__refused__is_said_in_words(ada: Human, fields: dict[str, str], status: int, expected: str) -> None:
    page = _post(ada, f"{SIMULATION}open/", **fields)
    assert page.status_code == status
    assert expected in said(page)
    assert not Simulation.objects.exists()


# --- reassign


def test_move__first__shows_whose_access_changes_and_changes_nothing(world: World, ada: Human) -> None:
    there = world.key("reader", on="b")
    before = length(world.admin.tenant_id)
    look = ada.client.post(f"{_page(world.nodes['a.team'])}reassign/", {"parent": "universe.b"})
    assert look.status_code == 200
    assert "universe.a.team becomes universe.b.team." in said(look)
    assert [row[1:] for row in _table(look)] == [["reader", "nothing", "universe.a.team", there.key_id]]
    assert length(world.admin.tenant_id) == before
    world.nodes["a.team"].refresh_from_db()
    assert world.nodes["a.team"].path == "universe.a.team"


def test_move__confirmed__moves_the_subtree_with_its_reason(world: World, ada: Human) -> None:
    done = _confirm(ada, f"{_page(world.nodes['a'])}reassign/", parent="universe.b", reason="It belongs there.")
    assert "Moved: universe.a is universe.b.a now; workareas moved: 2." in said(done)
    world.nodes["a.team"].refresh_from_db()
    assert world.nodes["a.team"].path == "universe.b.a.team"
    (moved,) = journalled("workarea.reassigned", once=True)
    assert moved["payload"]["reason_commitment"] and "belongs" not in str(moved)


def test_move__the_effect_changed_meanwhile__is_shown_again_instead_of_done(world: World, ada: Human) -> None:
    path, fields = f"{_page(world.nodes['a.team'])}reassign/", {"parent": "universe.b"}
    look = ada.client.post(path, fields)
    late = world.key("reader", on="b")
    again = ada.client.post(path, {**fields, "seen": hidden(look, "seen")})
    assert again.status_code == 200
    assert "Not done: the effect is another than the one you were shown." in said(again)
    assert late.key_id in said(again)
    assert Workarea.objects.get(pk=world.nodes["a.team"].pk).path == "universe.a.team"
    done = _post(ada, path, **fields, seen=hidden(again, "seen"))
    assert "universe.a.team is universe.b.team now" in said(done)


def test_move__asked_to_change_it__leads_back_to_the_form_as_it_was_filled_in(world: World, ada: Human) -> None:
    path, fields = f"{_page(world.nodes['a'])}reassign/", {"parent": "universe.b", "reason": "It belongs there."}
    look = ada.client.post(path, fields)
    back = ada.client.post(path, {**fields, "seen": hidden(look, "seen"), "again": "1"})
    assert back.status_code == 200
    assert 'value="universe.b"' in back.content.decode() and "It belongs there." in back.content.decode()
    assert "Show what would change" in back.content.decode()
    assert Workarea.objects.get(pk=world.nodes["a"].pk).path == "universe.a"


@pytest.mark.parametrize(
    ("parent", "status", "expected"),
    [
        ("universe.a.team", 400, "cannot move into its own subtree"),
        ("universe", 400, "the workarea is there already"),
        ("universe.nowhere", 404, "access.not_found"),
        ("", 400, "This field is required"),
    ],
)
def test_move__refused__is_said_at_the_look_already(
    world: World, ada: Human, parent: str, status: int, expected: str
) -> None:
    page = _post(ada, f"{_page(world.nodes['a'])}reassign/", parent=parent)
    assert page.status_code == status
    assert expected in said(page)


def test_move__of_a_validated_node__says_that_it_is_frozen(world: World, ada: Human) -> None:
    advance_status(world.admin, workarea="universe.b", status="validated")
    page = _post(ada, f"{_page(world.nodes['b'])}reassign/", parent="universe.a")
    assert page.status_code == 409
    assert "workarea.frozen" in said(page)


def test_move__of_the_root__is_not_offered(world: World, ada: Human) -> None:
    assert "Move this workarea" not in said(ada.get(f"{_page(world.nodes['universe'])}change/"))
    assert "Move this workarea" in said(ada.get(f"{_page(world.nodes['a'])}change/"))


# --- grants


def test_grant__on_a_keys_page__shows_what_it_gains_and_gives_it(world: World, ada: Human) -> None:
    path = f"/admin/workareas/key/{world.bare_key(world.reader.role).key_id}/grant/"
    fields = {"workarea": "universe.a", "capability": "reader", "effect": "allow", "reason": "It asks."}
    look = ada.client.post(path, fields)
    assert _table(look) == [["universe.a", "reader", "nothing"], ["universe.a.team", "reader", "nothing"]]
    done = _confirm(ada, path, **fields)
    assert "allow reader on universe.a" in said(done)
    assert journalled("grant.added")[-1]["actor"]["key"] == ada.actor.key_id


def test_grant__below_a_deny__says_that_nothing_changes(world: World, ada: Human) -> None:
    world.deny(world.reader, Capability.READER, on="a")
    path = f"{_page(world.nodes['a.team'])}grant/"
    look = ada.client.post(path, {"key": world.reader.key_id, "capability": "reader", "effect": "allow"})
    assert "changes nowhere: another rule says the same already, or a deny wins" in said(look)


def test_grant__a_deny_on_a_workareas_page__shows_what_is_lost(world: World, ada: Human) -> None:
    path = f"{_page(world.nodes['a'])}grant/"
    fields = {"key": world.writer.key_id, "capability": "writer", "effect": "deny"}
    look = ada.client.post(path, fields)
    assert _table(look) == [["universe.a", "nothing", "writer"], ["universe.a.team", "nothing", "writer"]]
    _confirm(ada, path, **fields)
    with pytest.raises(OmlError, match="holds no writer access"):
        world.submit()


@pytest.mark.parametrize(
    ("fields", "status", "expected"),
    [
        ({"capability": "review"}, 400, "a role is a ceiling"),
        ({"workarea": "universe.nowhere"}, 404, "access.not_found"),
        ({"capability": "everything"}, 400, "Select a valid choice"),
        ({"effect": ""}, 400, "This field is required"),
    ],
)
def test_grant__refused__is_said_at_the_look_already(
    world: World, ada: Human, fields: dict[str, str], status: int, expected: str
) -> None:
    asked = {"workarea": "universe.a", "capability": "reader", "effect": "allow"} | fields
    page = _post(ada, f"/admin/workareas/key/{world.writer.key_id}/grant/", **asked)
    assert page.status_code == status
    assert expected in said(page)


def test_grant__taken_back__shows_what_is_lost_before(world: World, ada: Human) -> None:
    grant = Grant.objects.get(key_id=world.reader.key_id)
    path = f"/admin/workareas/grant/{grant.pk}/take-back/"
    look = ada.get(path)
    assert "Allow reader on universe is taken back." in said(look)
    assert [row[2] for row in _table(look)] == ["reader"] * 5
    assert Grant.objects.filter(pk=grant.pk).exists()
    done = _post(ada, path, seen=hidden(look, "seen"))
    assert f"{grant.pk} is taken back." in said(done)
    assert not Grant.objects.filter(pk=grant.pk).exists()
    assert journalled("grant.removed", once=True)


def test_grant__taken_back_unseen__is_shown_first(world: World, ada: Human) -> None:
    grant = Grant.objects.get(key_id=world.reader.key_id)
    look = _post(ada, f"/admin/workareas/grant/{grant.pk}/take-back/")
    assert "Nothing has been changed yet" in said(look)
    assert Grant.objects.filter(pk=grant.pk).exists()


def test_grant__by_an_administrator_of_elsewhere__is_not_found(world: World) -> None:
    part = human(world, "admin", name="part", on="b", staff=True)
    grant = Grant.objects.get(key_id=world.reader.key_id)
    assert part.get(f"/admin/workareas/grant/{grant.pk}/take-back/").status_code == 404
    with pytest.raises(AccessNotFound):  # the look itself decides, whichever page asks for it
        removal_foreseen(part.actor, grant=grant.pk)
    with pytest.raises(AccessNotFound):
        grant_foreseen(part.actor, key=world.reader.key_id, workarea="universe.a", capability=Capability.READER)
    page = _post(part, f"{_page(world.nodes['a'])}grant/", key=world.reader.key_id, capability="reader", effect="deny")
    assert page.status_code == 404
    assert Grant.objects.filter(pk=grant.pk).exists()


def test_workarea__its_page__lists_what_is_inherited_denies_first(world: World, ada: Human) -> None:
    world.deny(world.writer, Capability.WRITER, on="a")
    words = said(ada.get(f"{_page(world.nodes['a.team'])}change/"))
    inherited = words.split("Grants inherited from above")[1]
    assert inherited.index("deny writer universe.a") < inherited.index("allow reader universe")
    assert "None: nothing is set above it." in said(ada.get(f"{_page(world.nodes['universe'])}change/"))


def test_workarea__its_page__says_who_can_do_what_after_every_deny(world: World, ada: Human) -> None:
    world.deny(world.writer, Capability.WRITER, on="a")
    sam = human(world, name="sam", on=None)
    _post(ada, f"{_page(world.nodes['a'])}people/", holder="person", name="sam", permission="review")
    words = said(ada.get(f"{_page(world.nodes['a.team'])}change/")).split("Who can do what here")[1]
    assert f"review Sam universe.a {sam.actor.key_id}" in words
    assert f"universe {world.writer2.key_id}" in words
    assert not re.search(rf"writer [^ ]+ [^ ]+ universe {world.writer.key_id}", words)


def test_key__its_page__says_what_it_can_reach_after_every_deny(world: World, ada: Human) -> None:
    world.deny(world.reader, Capability.READER, on="a")
    words = said(ada.get(f"/admin/workareas/key/{world.reader.key_id}/change/")).split("What this key can reach")[1]
    assert "universe reader universe.a nothing: denied" in words
    revoke_key(world.admin, key=world.reader.key_id)
    gone = said(ada.get(f"/admin/workareas/key/{world.reader.key_id}/change/")).split("What this key can reach")[1]
    assert "Nothing." in gone


def test_pages__of_a_key_and_a_workarea__ask_as_often_whatever_is_granted(world: World, ada: Human) -> None:
    def asked() -> list[int]:
        counts = []
        for path in (f"{_page(world.nodes['a.team'])}change/", f"/admin/workareas/key/{world.reader.key_id}/change/"):
            with CaptureQueriesContext(connection) as queries:
                assert ada.get(path).status_code == 200
            counts.append(len(queries))
        return counts

    world.grant(world.reader, Capability.READER, on="a")
    asked()
    few = asked()
    for node in ("a.team", "ab", "b"):
        world.grant(world.reader, Capability.READER, on=node)
        world.key("reviewer", on="a")
    assert asked() == few
    assert max(few) <= 32


# --- keys and quotas


def test_rotate__a_key__shows_the_new_secret_once_and_keeps_the_grants(world: World, ada: Human) -> None:
    path = f"/admin/workareas/key/{world.reader.key_id}/rotate/"
    assert "Used in the last 24 hours" in said(ada.get(path))
    page = ada.client.post(path, {"overlap_hours": "2"})
    assert "no-store" in page.headers["Cache-Control"]
    (secret,) = re.findall(r"oml_k_[0-9A-Z]{26}", page.content.decode())
    key = Key.objects.get(pk=world.reader.key_id)
    assert bytes(key.secret_digest or b"") == bytes(digest_of(secret))
    assert key.previous_expires_at is not None and "works until" in said(page)
    assert Grant.objects.filter(key=key).count() == 1
    assert secret not in ada.get(f"/admin/workareas/key/{key.pk}/change/").content.decode()


@pytest.mark.parametrize("hours", ["-1", "721", "soon"])
def test_rotate__an_overlap_out_of_range__is_refused(world: World, ada: Human, hours: str) -> None:
    before = Key.objects.get(pk=world.reader.key_id).secret_digest
    page = ada.client.post(f"/admin/workareas/key/{world.reader.key_id}/rotate/", {"overlap_hours": hours})
    assert page.status_code == 400
    assert bytes(Key.objects.get(pk=world.reader.key_id).secret_digest or b"") == bytes(before or b"")


def test_revoke__a_key__says_when_it_was_used_and_keeps_the_reason(world: World, ada: Human) -> None:
    path = f"/admin/workareas/key/{world.reader.key_id}/revoke/"
    Key.objects.filter(pk=world.reader.key_id).update(last_used_at=None)
    assert "Last used never Used in the last 24 hours no Grants it holds 1" in said(ada.get(path))
    _post(ada, path, reason="It leaked.")
    assert StatedReason.objects.get().text == "It leaked."
    assert journalled("key.revoked", once=True)[0]["payload"]["reason_commitment"]


def test_quota__set__fills_in_what_holds_and_empty_means_none(world: World, ada: Human) -> None:
    path = f"/admin/workareas/tenant/{world.admin.tenant_id}/quota/"
    _post(ada, path, writes_per_minute="600", reads_per_minute="")
    assert 'value="600"' in ada.get(path).content.decode()
    tenant = Tenant.objects.get(pk=world.admin.tenant_id)
    assert (tenant.writes_per_minute, tenant.reads_per_minute) == (600, None)
    assert journalled("quota.set", once=True)
    refused = _post(ada, path, writes_per_minute="-1", reads_per_minute="")
    assert refused.status_code == 400
    assert "writes_per_minute is a whole number from 0" in said(refused)
    assert Tenant.objects.get(pk=world.admin.tenant_id).writes_per_minute == 600


# --- people, the tree, artifacts


def test_people__given_a_permission_here__may_do_it_and_it_can_be_taken_back(world: World, ada: Human) -> None:
    sam = human(world, name="sam", on=None)
    path = f"{_page(world.nodes['a'])}people/"
    done = _post(ada, path, holder="person", name="sam", permission="review")
    assert "Now sam has review on universe.a." in said(done)
    world.submit(claim_key="tin-days")
    world.scan()
    assert "tin-days" in said(sam.get("/review/"))
    back = _post(ada, path, holder="person", name="sam", permission="review", take_back="on")
    assert "Now sam no longer has review on universe.a." in said(back)
    assert "tin-days" not in said(sam.get("/review/"))
    unknown = _post(ada, path, holder="person", name="nobody", permission="review")
    assert unknown.status_code == 404 and "no human nobody" in said(unknown)


def test_people__a_group__gets_the_queue_of_a_subtree(world: World, ada: Human) -> None:
    sam = human(world, name="sam", on=None)
    joined = _post(ada, f"/admin/workareas/principal/{sam.actor.principal_id}/group/", group="metals")
    assert "Now Sam is in the group metals." in said(joined)
    done = _post(ada, f"{_page(world.nodes['a'])}people/", holder="group", name="metals", permission="review")
    assert "Now the group metals has review on universe.a." in said(done)
    world.submit(claim_key="tin-days")
    world.scan()
    assert "tin-days" in said(sam.get("/review/"))
    _post(ada, f"/admin/workareas/principal/{sam.actor.principal_id}/group/", group="metals", take_out="on")
    assert "tin-days" not in said(sam.get("/review/"))
    agent = ada.get(f"/admin/workareas/principal/{world.writer.principal_id}/change/")
    assert "Take into a group" not in said(agent)


def test_tree__a_child_a_crew_and_a_step__each_by_its_page(world: World, ada: Human) -> None:
    done = _post(ada, f"{_page(world.nodes['a'])}child/", leaf="new-team")
    assert "Created: universe.a.new-team, in development." in said(done)
    node = Workarea.objects.get(path="universe.a.new-team")
    taken = _post(ada, f"{_page(world.nodes['a'])}child/", leaf="new-team")
    assert taken.status_code == 400 and "a sibling is called new-team already" in said(taken)
    _post(ada, f"{_page(node)}crew/", name="Metals crew")
    node.refresh_from_db()
    assert node.crew_name == "Metals crew"
    assert 'value="Metals crew"' in ada.get(f"{_page(node)}crew/").content.decode()
    assert "Now development After this committed" in said(ada.get(f"{_page(node)}step/"))
    assert "is committed now" in said(_post(ada, f"{_page(node)}step/", reason="Its first quarter."))
    world.submit(on="b")
    refused = _post(ada, f"{_page(world.nodes['b'])}step/")
    assert refused.status_code == 409 and "workarea.unreviewed" in said(refused)
    assert "Take the next step" not in said(ada.get(f"{_page(world.nodes['universe'])}change/"))


def test_policy__set__shows_what_holds_and_leaves_the_rest_inherited(world: World, ada: Human) -> None:
    path = f"{_page(world.nodes['a'])}policy/"
    assert "Now: Ratifications needed 1" in said(ada.get(path))
    _post(ada, path, min_verdicts="2", reason_required="yes")
    own = ReviewPolicy.objects.get(workarea=world.nodes["a"])
    assert (own.min_verdicts, own.reason_required, own.lineage_exclusion, own.serve_ttl_s) == (2, True, None, None)
    page = ada.get(path)
    assert "Now: Ratifications needed 2" in said(page) and 'value="yes" selected' in page.content.decode()
    refused = _post(ada, path, min_verdicts="99")
    assert refused.status_code == 400 and "min_verdicts is a whole number from 1 to 10" in said(refused)


def test_demote__a_claim__takes_it_out_of_recall_with_a_reason(world: World, ada: Human) -> None:
    artifact = world.promoted(claim_key="tin-days")
    path = f"/admin/memory/artifact/{artifact}/"
    assert "Demote" in said(ada.get(f"{path}change/"))
    assert _post(ada, f"{path}demote/", reason="").status_code == 400
    done = _post(ada, f"{path}demote/", reason="It is Thursdays.")
    assert "Demoted: tin-days, version 1." in said(done)
    assert world.row(artifact).state == "demoted"
    again = _post(ada, f"{path}demote/", reason="It is Thursdays.")
    assert again.status_code == 409 and "only a promoted claim can be demoted" in said(again)


def test_erase__a_claim__shows_what_goes_before_and_shows_no_text_ever(world: World, ada: Human) -> None:
    artifact = world.promoted(text="Nobody shall read this again.", claim_key="tin-days")
    path = f"/admin/memory/artifact/{artifact}/erase/"
    look = ada.client.post(path, {"reason": "A person asked."})
    assert "text characters 29" in said(look) and "search rows 1" in said(look)
    assert world.row(artifact).text == "Nobody shall read this again."
    done = _post(ada, path, reason="A person asked.", seen=hidden(look, "seen"))
    assert "Erased: tin-days, version 1. Destroyed: text characters 29" in said(done)
    assert world.row(artifact).text is None
    for page in (look, done):
        assert "Nobody shall read" not in page.content.decode()
    assert not StatedReason.objects.exists()
    assert "Erase" not in [label for _, label in done.context["console_actions"]]


def test_remove__an_actor__revokes_its_keys_and_asks_for_a_reason(world: World, ada: Human) -> None:
    path = f"/admin/workareas/principal/{world.writer.principal_id}/remove/"
    assert _post(ada, path, reason="").status_code == 400
    done = _post(ada, path, reason="It left.")
    assert "Keys revoked: 1." in said(done)
    assert Key.objects.get(pk=world.writer.key_id).revoked_at is not None
    own = _post(ada, f"/admin/workareas/principal/{ada.actor.principal_id}/remove/", reason="Goodbye.")
    assert own.status_code == 400 and "Not done" in said(own)


# --- all of them


def test_actions__of_another_tenants_rows__have_no_page(world: World, ada: Human) -> None:
    other = World.build("other")
    ban = add_ban(other.admin, kind="key", value=other.writer.key_id, reason=None)
    simulation = create_simulation(other.admin, name="drill", audience=[])
    grant = Grant.objects.get(key_id=other.reader.key_id)
    for path in (
        f"{BAN}{ban.pk}/lift/",
        f"{SIMULATION}{simulation.pk}/close/",
        f"{SIMULATION}{simulation.pk}/audience/",
        f"{_page(other.nodes['a'])}reassign/",
        f"{_page(other.nodes['a'])}grant/",
        f"/admin/workareas/grant/{grant.pk}/take-back/",
        f"/admin/workareas/key/{other.reader.key_id}/grant/",
        f"/admin/workareas/key/{other.reader.key_id}/rotate/",
        f"/admin/workareas/tenant/{other.admin.tenant_id}/quota/",
    ):
        for answer in (ada.get(path), ada.client.post(path)):
            assert answer.status_code == 404, path


def test_actions__somebody_who_administers_a_part__learns_that_it_takes_the_root(world: World) -> None:
    part = human(world, "admin", name="part", on="b", staff=True)
    for path, fields in (
        (f"{BAN}ban/", {"kind": "key", "value": world.writer.key_id}),
        (f"{SIMULATION}open/", {"name": "drill"}),
    ):
        page = _post(part, path, **fields)
        assert page.status_code in (403, 404), path
        assert "Not done" in said(page) and "access." in said(page)
    assert not Ban.objects.exists() and not Simulation.objects.exists()


def test_actions__of_a_row_that_is_reached_from_its_list__are_offered_and_work(world: World, ada: Human) -> None:
    """Django's lists quote the ids in their links; a page reached like that is the same page."""
    ban = add_ban(world.admin, kind="key", value=world.writer2.key_id, reason=None)
    grant = Grant.objects.get(key_id=world.reader.key_id)
    for listed, label in (
        (BAN, "Lift this ban"),
        ("/admin/workareas/grant/", "Take this grant back"),
        ("/admin/workareas/key/", "Revoke this key"),
        ("/admin/workareas/workarea/", "Move this workarea"),
    ):
        links = re.findall(rf'href="({listed}[^"]+/change/)[^"]*"', ada.get(listed).content.decode())
        pages = [ada.get(link) for link in dict.fromkeys(links)]
        offered = [address for page in pages for address, name in page.context["console_actions"] if name == label]
        assert offered, listed
        assert ada.get(offered[0]).status_code == 200, offered[0]
    assert Ban.objects.filter(pk=ban.pk).exists() and Grant.objects.filter(pk=grant.pk).exists()


def test_actions__every_page__is_no_get_that_writes_and_no_inline_script(world: World, ada: Human) -> None:
    ban = add_ban(world.admin, kind="key", value=world.writer2.key_id, reason=None)
    simulation = create_simulation(world.admin, name="drill", audience=[])
    grant = Grant.objects.get(key_id=world.reader.key_id)
    before = length(world.admin.tenant_id)
    for path in (
        f"{BAN}ban/",
        f"{BAN}{ban.pk}/lift/",
        f"{SIMULATION}open/",
        f"{SIMULATION}{simulation.pk}/close/",
        f"{_page(world.nodes['a'])}reassign/",
        f"{_page(world.nodes['a'])}grant/",
        f"/admin/workareas/grant/{grant.pk}/take-back/",
        f"/admin/workareas/key/{world.reader.key_id}/revoke/",
        f"/admin/workareas/tenant/{world.admin.tenant_id}/quota/",
    ):
        page = ada.get(path)
        assert page.status_code == 200, path
        assert "no-store" in page.headers["Cache-Control"]
        assert not re.search(r"<script(?![^>]*\bsrc=)|\sstyle=|<style", page.content.decode()), path
    assert length(world.admin.tenant_id) == before
    assert not LogEntry.objects.exists()


def test_move__a_subtree_of_many_claims__looks_with_as_many_queries_as_of_few(world: World, ada: Human) -> None:
    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert ada.client.post(f"{_page(world.nodes['a'])}reassign/", {"parent": "universe.b"}).status_code == 200
        return len(queries)

    world.submit()
    world.key("reader", on="b")
    asked()
    few = asked()
    for number in range(5):
        world.key("reader", on="b")
        world.submit(on="a.team" if number % 2 else "a")
    assert Artifact.objects.count() == 6
    assert asked() == few
