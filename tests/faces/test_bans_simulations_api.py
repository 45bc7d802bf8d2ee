"""Bans and simulations over ``/v1``: what admission refuses, and a fence that every read path keeps."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from memory.claims.models import Artifact
from oml.core.actor import Actor
from tests.support.api import Api, refused
from tests.support.edges import Edges
from tests.support.journal import journalled, length
from tests.support.world import World
from workareas.models import Ban, StatedReason

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(world: World) -> str:
    return world.secret[world.admin]


# --- bans ----------------------------------------------------------------------------------------


def ban(api: Api, admin: str, kind: str, value: str, **more: Any) -> Any:
    return api.post("bans", {"kind": kind, "value": value, **more}, key=admin)


def remember(world: World, api: Api, by: Actor, **fields: Any) -> Any:
    body = {"workarea": "universe.a", "claim_key": f"k-{Artifact.objects.count()}", "text": "A fact.", **fields}
    return api.post("memories", body, key=world.secret[by])


def test_ban__of_each_kind__refuses_the_submission_and_lifting_it_lets_it_in(
    world: World, api: Api, admin: str
) -> None:
    source = world.promoted(world.writer2)
    digest = hashlib.sha256(b"A fact.").hexdigest()
    for kind, value, named in (
        ("key", world.writer.key_id, "this key"),
        ("principal", world.writer.principal_id, "this key's principal"),
        ("digest", digest, "this text"),
        ("digest", f"sha256:{digest.upper()}", "this text"),
        ("artifact", source, "a declared source"),
    ):
        answer = ban(api, admin, kind, value, reason="poisoned")
        assert answer.status_code == 201, answer.json()
        body = answer.json()
        assert set(body) == {"ban_id", "kind", "value"}
        assert body["ban_id"].startswith("ban_")
        before = Artifact.objects.count()
        error = refused(remember(world, api, world.writer, derives_from=[source]), "admission.banned", 403)
        assert error["message"] == f"{named} is banned in this tenant"
        assert Artifact.objects.count() == before
        lifted = api.delete(f"bans/{body['ban_id']}", key=admin)
        assert lifted.json() == {"ban_id": body["ban_id"], "removed": True}
        assert remember(world, api, world.writer, derives_from=[source]).status_code == 201


def test_ban__again__is_the_ban_that_is_there_and_nothing_created(world: World, api: Api, admin: str) -> None:
    first = ban(api, admin, "key", world.writer.key_id)
    again = ban(api, admin, "key", world.writer.key_id, reason="said twice")
    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json()
    journalled("ban.added", once=True)


def test_ban__of_one_key__leaves_the_principals_other_keys(world: World, api: Api, admin: str) -> None:
    other = world.key("writer", principal=world.writer.principal_id)
    ban(api, admin, "key", world.writer.key_id)
    refused(remember(world, api, world.writer), "admission.banned", 403)
    assert remember(world, api, other).status_code == 201
    ban(api, admin, "principal", world.writer.principal_id)
    refused(remember(world, api, other), "admission.banned", 403)
    assert remember(world, api, world.writer2).status_code == 201


def test_ban__between_submission_and_verdict__refuses_the_ratification_and_not_the_rejection(
    world: World, api: Api, admin: str
) -> None:
    source = world.promoted(world.writer2)
    deep = world.learn(world.writer2, sources=[source])
    world.scan()
    world.ratify(deep)
    for kind, value in (
        ("key", world.writer.key_id),
        ("principal", world.writer.principal_id),
        ("artifact", source),
        ("digest", hashlib.sha256(b"About to be banned.").hexdigest()),
    ):
        claim = world.learn(sources=[deep], text="About to be banned.")
        world.scan()
        serve = world.serve(claim)
        made = ban(api, admin, kind, value).json()
        verdict = {"serve_id": serve.pk, "content_digest": serve.content_digest, "verdict": "ratify"}
        refused(api.post("review/verdicts", verdict, key=world.secret[world.reviewer]), "admission.banned", 403)
        assert world.row(claim).state == "held"
        verdict |= {"verdict": "reject", "reason_code": "unsafe"}
        answer = api.post("review/verdicts", verdict, key=world.secret[world.reviewer])
        assert answer.json()["state"] == "rejected"
        api.delete(f"bans/{made['ban_id']}", key=admin)


def test_ban__retry_of_what_was_accepted_before_it__is_still_a_replay(world: World, api: Api, admin: str) -> None:
    body = {"claim_key": "quote", "idempotency_key": "run-6"}
    first = remember(world, api, world.writer, **body)
    ban(api, admin, "principal", world.writer.principal_id)
    again = remember(world, api, world.writer, **body)
    assert (again.status_code, again.json()) == (200, {**first.json(), "idempotent_replay": True})


def test_ban__journalled__with_no_words_and_no_digest_that_could_be_guessed_back(
    world: World, api: Api, admin: str
) -> None:
    digest = hashlib.sha256(b"yes").hexdigest()
    made = ban(api, admin, "digest", digest, reason="said by nobody").json()
    api.delete(f"bans/{made['ban_id']}", key=admin)
    records = journalled("ban.added", once=True) + journalled("ban.removed", once=True)
    for record in records:
        assert digest not in str(record)
        assert "nobody" not in str(record)
        assert record["subject"] == {"ban_id": made["ban_id"]}
    assert records[0]["payload"]["value"] == records[1]["payload"]["value"]
    assert StatedReason.objects.get(subject_id=made["ban_id"]).text == "said by nobody"


def test_ban__the_same_again__is_the_one_that_is_there(world: World, api: Api, admin: str) -> None:
    first = ban(api, admin, "key", world.writer.key_id).json()
    before = length(world.admin.tenant_id)
    assert ban(api, admin, "key", world.writer.key_id).json() == first
    assert length(world.admin.tenant_id) == before
    assert Ban.objects.count() == 1


def test_ban_list__newest_first__has_kind_value_and_time(world: World, api: Api, admin: str) -> None:
    first = ban(api, admin, "key", world.writer.key_id).json()["ban_id"]
    second = ban(api, admin, "principal", world.writer2.principal_id).json()["ban_id"]
    body = api.get("bans", key=admin).json()
    assert set(body) == {"items", "next_cursor"}
    assert [item["ban_id"] for item in body["items"]] == [second, first]
    assert set(body["items"][0]) == {"ban_id", "kind", "value", "created_at"}
    stranger = World.build("stranger")
    assert api.get("bans", key=stranger.secret[stranger.admin]).json()["items"] == []


@pytest.mark.parametrize(
    ("kind", "value"),
    [("ip", "1.2.3.4"), ("digest", "x"), ("digest", "a" * 63), ("digest", "g" * 64), ("key", ""), ("key", "x" * 129)],
)
def test_ban__kind_or_digest_that_can_match_nothing__is_validation(
    world: World, api: Api, admin: str, kind: str, value: str
) -> None:
    refused(ban(api, admin, kind, value), "request.validation", 400)


def test_ban__of_something_unknown_or_foreign__is_not_found_rather_than_a_ban_of_nothing(
    world: World, api: Api, admin: str
) -> None:
    stranger = World.build("stranger")
    foreign = {
        "key": stranger.writer.key_id,
        "principal": stranger.writer.principal_id,
        "artifact": stranger.promoted(),
    }
    for kind, value in foreign.items():
        for one in (value, f"{kind}_unknown"):
            error = refused(ban(api, admin, kind, one), "access.not_found", 404)
            assert error["message"] == f"no {kind} {one} for this key"
    assert Ban.objects.count() == 0


# --- simulations ---------------------------------------------------------------------------------


class Fenced:
    """A simulation whose audience is a writer and a reviewer, with a held and a promoted row inside it."""

    def __init__(self, world: World, api: Api) -> None:
        self.world, self.api = world, api
        self.inside = world.key("reader")
        audience = [world.writer.key_id, world.reviewer.key_id, self.inside.key_id]
        answer = api.post("simulations", {"name": "price shock", "audience": audience}, key=world.secret[world.admin])
        assert answer.status_code == 201, answer.json()
        self.created = answer.json()
        self.id = self.created["simulation_id"]
        self.audience = sorted(audience)
        self.promoted = world.promoted(simulation_id=self.id, text="Accra Metals asks 999 USD/t.")
        self.held = world.submit(simulation_id=self.id, text="Accra Metals asks 1001 USD/t.")
        world.scan()

    def change(self, **body: Any) -> Any:
        return self.api.post(f"simulations/{self.id}/audience", body, key=self.world.secret[self.world.admin])

    def close(self) -> Any:
        return self.api.post(f"simulations/{self.id}/close", {}, key=self.world.secret[self.world.admin])

    def seen_by(self, actor: Actor) -> dict[str, bool]:
        """Per read path, whether this key is told of the simulated rows at all."""
        secret, rows = self.world.secret[actor], (self.promoted, self.held)
        answers = {
            "recall": self.api.post("recall", {"query": "Accra Metals", "scope": "universe"}, key=secret),
            "artifact": self.api.get(f"memories/{self.promoted}", key=secret),
            "graph": self.api.post("graph", {"scope": "universe"}, key=secret),
            "root": self.api.post("graph", {"scope": "universe", "roots": [self.promoted]}, key=secret),
            "tail": self.api.get("events", key=secret, scope="universe", after_seq=0, limit=500),
            "my_work": self.api.get("my-work", key=secret),
            "queue": self.api.get("review/queue", key=secret),
            "serve": self.api.post("review/serves", {"artifact_id": self.held}, key=secret),
            "workarea": self.api.get("workareas/universe.a", key=secret),
        }
        told = {}
        for path, answer in answers.items():
            body = answer.json()
            if answer.status_code >= 400:
                # What was asked for is echoed in a refusal, and is not an answer.
                assert body["error"]["code"] in ("access.not_found", "access.verb_ceiling"), (path, body)
                continue
            told[path] = any(row in answer.content.decode() for row in rows)
        return {path: seen for path, seen in told.items() if seen}


@pytest.fixture
def fenced(world: World, api: Api) -> Fenced:
    return Fenced(world, api)


def test_simulation__created__answers_its_audience_and_is_journalled_without_its_name(
    world: World, fenced: Fenced
) -> None:
    assert fenced.created == {
        "simulation_id": fenced.id,
        "name": "price shock",
        "audience": fenced.audience,
        "closed_at": None,
    }
    assert fenced.id.startswith("sim_")
    (record,) = journalled("simulation.created", once=True)
    assert record["payload"] == {"audience": fenced.audience}
    assert "price shock" not in str(record)


def test_fence__inside_the_audience__rows_are_served_on_every_path_of_the_role(world: World, fenced: Fenced) -> None:
    reads = {"recall", "artifact", "graph", "root", "tail"}
    assert set(fenced.seen_by(fenced.inside)) == reads
    assert set(fenced.seen_by(world.writer)) == reads | {"my_work"}
    assert set(fenced.seen_by(world.reviewer)) == reads | {"queue", "serve"}


def test_fence__outside_the_audience__rows_exist_on_no_path(world: World, fenced: Fenced) -> None:
    for actor in (world.reader, world.writer2, world.reviewer2, world.key("admin"), world.operator):
        assert fenced.seen_by(actor) == {}


def test_fence__left_the_audience__author_reviewer_and_reader_lose_it_at_once(world: World, fenced: Fenced) -> None:
    serve = world.serve(fenced.held)
    actors = (world.writer, world.reviewer, fenced.inside)
    answer = fenced.change(remove=[actor.key_id for actor in actors])
    assert answer.status_code == 200
    assert answer.json()["audience"] == []
    for actor in actors:
        assert fenced.seen_by(actor) == {}
    verdict = {"serve_id": serve.pk, "content_digest": serve.content_digest, "verdict": "ratify"}
    answer = fenced.api.post("review/verdicts", verdict, key=world.secret[world.reviewer])
    refused(answer, "access.not_found", 404)
    for act, body in (("versions", {"text": "x"}), ("withdraw", {})):
        target = fenced.promoted if act == "versions" else fenced.held
        answer = fenced.api.post(f"memories/{target}/{act}", body, key=world.secret[world.writer])
        refused(answer, "access.not_found", 404)
    assert fenced.change(add=[world.writer.key_id]).json()["audience"] == [world.writer.key_id]
    assert "my_work" in fenced.seen_by(world.writer)


def test_fence__closed__opens_for_nobody_any_more(world: World, fenced: Fenced) -> None:
    closed = fenced.close()
    assert closed.status_code == 200
    assert closed.json()["closed_at"] is not None
    for actor in (world.writer, world.reviewer, fenced.inside):
        assert fenced.seen_by(actor) == {}
    refused(fenced.close(), "request.validation", 400)
    refused(fenced.change(add=[world.reader.key_id]), "request.validation", 400)
    answer = remember(world, fenced.api, world.writer, simulation_id=fenced.id)
    refused(answer, "access.not_found", 404)
    journalled("simulation.closed", once=True)


def test_submission__into_a_simulation__needs_the_audience_and_says_no_more_than_unknown(
    world: World, fenced: Fenced, api: Api
) -> None:
    foreign = Fenced(World.build("stranger"), api).id
    for simulation in (fenced.id, foreign, "sim_unknown", "x"):
        error = refused(
            remember(world, api, world.writer2, simulation_id=simulation, claim_key="s"), "access.not_found", 404
        )
        assert error["message"] == f"no simulation {simulation} for this key"
        assert error["param"] == "simulation_id"


def test_lineage__on_a_simulated_source__forces_its_simulation(world: World, fenced: Fenced, api: Api) -> None:
    error = refused(remember(world, api, world.writer, derives_from=[fenced.promoted]), "simulation.required", 422)
    assert fenced.id in error["message"]
    assert (
        remember(world, api, world.writer, derives_from=[fenced.promoted], simulation_id=fenced.id).status_code == 201
    )
    refused(remember(world, api, world.writer2, derives_from=[fenced.promoted]), "access.not_found", 404)


def test_lineage__across_two_simulations__is_a_conflict(world: World, fenced: Fenced, api: Api) -> None:
    second = Fenced(world, api)
    for fields in (
        {"derives_from": [fenced.promoted, second.promoted]},
        {"derives_from": [fenced.promoted, second.promoted], "simulation_id": fenced.id},
        {"derives_from": [fenced.promoted], "simulation_id": second.id},
    ):
        refused(remember(world, api, world.writer, **fields), "simulation.conflict", 422)


def test_lineage__of_a_simulated_row__may_rest_on_real_ones(world: World, fenced: Fenced, api: Api) -> None:
    real = world.promoted()
    assert remember(world, api, world.writer, derives_from=[real], simulation_id=fenced.id).status_code == 201


def test_claim_key__inside_a_simulation__is_apart_from_the_real_one(world: World, fenced: Fenced, api: Api) -> None:
    assert remember(world, api, world.writer, claim_key="same").status_code == 201
    assert remember(world, api, world.writer, claim_key="same", simulation_id=fenced.id).status_code == 201
    refused(
        remember(world, api, world.writer, claim_key="same", simulation_id=fenced.id),
        "submission.claim_key_conflict",
        409,
    )


def test_simulated_steering__reaches_the_audience_alone(world: World, fenced: Fenced, api: Api) -> None:
    steering = world.promoted(simulation_id=fenced.id, kind="steering", text="Assume a price shock.")

    def steered(actor: Actor) -> bool:
        body = api.post("recall", {"query": "price", "scope": "universe.a"}, key=world.secret[actor]).json()
        return steering in [one["artifact_id"] for one in body["steering"]]

    assert steered(fenced.inside)
    assert not steered(world.reader)


def test_edge_of_simulated_claims__is_proposed_and_served_inside_alone(world: World, fenced: Fenced, api: Api) -> None:
    edges = Edges(world, api)
    real = world.promoted()
    refused(edges.propose(real, fenced.promoted), "access.not_found", 404)
    fenced.change(add=[edges.proposer.key_id])
    edge = edges.proposed(real, fenced.promoted)
    assert edge in api.get("review/edges", key=world.secret[world.reviewer]).content.decode()
    assert edge not in api.get("review/edges", key=world.secret[world.reviewer2]).content.decode()
    refused(edges.serve(edge, by=world.reviewer2), "access.not_found", 404)
    assert edges.serve(edge).status_code == 201


@pytest.mark.parametrize("body", [{}, {"name": "x"}, {"name": " ", "audience": []}, {"name": "x", "audience": "k"}])
def test_simulation__shape_is_wrong__is_validation(world: World, api: Api, admin: str, body: dict[str, Any]) -> None:
    refused(api.post("simulations", body, key=admin), "request.validation", 400)


def test_audience__key_of_another_tenant__is_named_by_position(world: World, fenced: Fenced) -> None:
    stranger = World.build("stranger")
    for unknown in (stranger.reader.key_id, "key_unknown"):
        error = refused(fenced.change(add=[world.reader.key_id, unknown]), "access.not_found", 404)
        assert (error["message"], error["param"]) == ("add[1] names no key of this tenant", "add[1]")
    assert world.reader.key_id not in fenced.change().json()["audience"]


def test_bans__many__are_listed_in_pages(world: World, api: Api, admin: str) -> None:
    for number in range(3):
        api.post("bans", {"kind": "digest", "value": f"{number:064x}", "reason": "wrong"}, key=admin)
    page = api.get("bans", key=admin, limit=2).json()
    rest = api.get("bans", key=admin, limit=2, cursor=page["next_cursor"]).json()
    assert {ban["value"] for ban in page["items"] + rest["items"]} == {f"{number:064x}" for number in range(3)}
    assert (len(page["items"]), rest["next_cursor"]) == (2, None)
    refused(api.get("bans", key=admin, limit=101), "limit.ceiling", 400)
