"""R2 and who issued a key: a second identity that somebody made for themselves is still their hand."""

from __future__ import annotations

import pytest

from oml.core.actor import Actor, Channel, Role
from oml.core.errors import OmlError
from review.selectors.item_page import item_page
from review.selectors.queue import QueueQuery, review_queue
from review.selectors.turns import Turn
from tests.support.api import Api, refused
from tests.support.edges import Edges
from tests.support.people import human
from tests.support.world import World
from workareas.actions.keys import GrantSpec, NewPrincipal, issue_key
from workareas.actions.nodes import allow_relaxed_review, create_workarea
from workareas.authentication import actor_of_key
from workareas.models import Key
from workareas.verbs import Capability

pytestmark = pytest.mark.django_db


class Sponsor:
    """A principal with an admin key that issues others, and a writing and a reviewing key of its own."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.admin = world.key("admin")
        self.writer = world.key("writer", principal=self.admin.principal_id)
        self.reviewer = world.key("reviewer", principal=self.admin.principal_id)

    def issues(self, kind: str) -> Actor:
        role, capabilities = {
            "writer": (Role.WRITER, [Capability.READER, Capability.WRITER]),
            "reviewer": (Role.DREAMER, [Capability.READER, Capability.REVIEW]),
            "proposer": (Role.DREAMER, [Capability.READER, Capability.PROPOSE]),
        }[kind]
        grants = [GrantSpec("universe", capability) for capability in capabilities]
        issued = issue_key(self.admin, principal=NewPrincipal(f"{kind} made"), role=role, grants=grants)
        actor = actor_of_key(issued.key.pk, channel=Channel.HTTP)
        self.world.secret[actor] = issued.secret
        return actor


@pytest.fixture
def sponsor(world: World) -> Sponsor:
    return Sponsor(world)


def refusal(world: World, artifact: str, by: Actor) -> str:
    with pytest.raises(OmlError) as caught:
        world.serve(artifact, by=by)
    return caught.value.code


def test_issue__every_key__remembers_whose_act_it_was(world: World, sponsor: Sponsor) -> None:
    made = Key.objects.get(pk=sponsor.issues("writer").key_id)
    assert made.sponsor_id == sponsor.admin.principal_id
    rosa = human(world, name="rosa")
    assert Key.objects.get(pk=rosa.actor.key_id).sponsor_id == world.admin.principal_id
    assert Key.objects.get(pk=world.admin.key_id).sponsor_id is None


def test_serve__reviewing_key_that_the_author_issued__is_review_author(world: World, sponsor: Sponsor) -> None:
    claim = world.submit(sponsor.writer)
    world.scan()
    assert refusal(world, claim, sponsor.issues("reviewer")) == "review.author"
    assert world.ratify(claim)["state"] == "promoted"


def test_serve__claim_of_a_key_that_the_reviewer_issued__is_review_author(world: World, sponsor: Sponsor) -> None:
    claim = world.submit(sponsor.issues("writer"))
    world.scan()
    assert refusal(world, claim, sponsor.reviewer) == "review.author"


def test_serve__two_keys_that_a_third_issued__may_review_each_other(world: World, sponsor: Sponsor) -> None:
    claim = world.submit(sponsor.issues("writer"))
    world.scan()
    assert world.ratify(claim, by=sponsor.issues("reviewer"))["state"] == "promoted"


def test_serve__source_of_a_key_that_the_reviewer_issued__is_review_lineage_author(
    world: World, sponsor: Sponsor
) -> None:
    source = world.promoted(sponsor.issues("writer"))
    derived = world.learn(world.writer, sources=[source])
    world.scan()
    assert refusal(world, derived, sponsor.reviewer) == "review.lineage_author"


def test_verdict__key_turns_out_to_be_the_authors_after_the_serve__is_review_author(
    world: World, sponsor: Sponsor
) -> None:
    claim = world.submit(sponsor.writer)
    world.scan()
    serve = world.serve(claim)
    Key.objects.filter(pk=world.reviewer.key_id).update(sponsor=sponsor.admin.principal_id)
    with pytest.raises(OmlError) as caught:
        world.judge(serve)
    assert caught.value.code == "review.author"
    assert world.row(claim).state == "held"


def test_queue__and_ceremony__agree_on_every_sponsored_hand(world: World, sponsor: Sponsor) -> None:
    made_writer, made_reviewer = sponsor.issues("writer"), sponsor.issues("reviewer")
    sources = [world.promoted(by) for by in (sponsor.writer, made_writer, world.writer2)]
    claims = [world.submit(by) for by in (sponsor.writer, made_writer, world.writer2)]
    claims += [world.learn(world.writer, sources=[source]) for source in sources]
    world.scan()
    for by in (sponsor.reviewer, made_reviewer, world.reviewer):
        queue = {item["artifact_id"]: item for item in review_queue(by, query=QueueQuery())["items"]}
        mine = {item["artifact_id"] for item in review_queue(by, query=QueueQuery(turn=Turn.MINE))["items"]}
        for claim in claims:
            try:
                world.serve(claim, by=by)
                told = None
            except OmlError as error:
                told = error.code
            blocked = queue[claim]["blocked_by"]
            assert (blocked["code"] if blocked else None) == told
            assert (claim in mine) is (told is None)


def test_relaxed_review__by_a_hand_that_the_author_issued__is_marked_self_signed(
    world: World, sponsor: Sponsor
) -> None:
    allow_relaxed_review(world.admin, allowed=True)
    world.nodes["play"] = create_workarea(world.admin, parent="universe", leaf="play")
    claim = world.submit(sponsor.writer, on="play")
    world.scan()
    by = sponsor.issues("reviewer")
    serve = world.serve(claim, by=by)
    assert item_page(by, serve_id=serve.pk)["effect"]["self_signed"] is True
    assert world.judge(serve, by=by)["self_signed"] is True


def test_edge__ratifier_that_the_proposer_issued__is_review_author(world: World, sponsor: Sponsor, api: Api) -> None:
    edges = Edges(world, api)
    own = world.key("proposer", principal=sponsor.admin.principal_id)
    edge = edges.proposed("universe.a", "universe.b", kind="workarea", label="continues", by=own)
    by = sponsor.issues("reviewer")
    refused(edges.serve(edge, by=by), "review.author", 403)
    (item,) = api.get("review/edges", key=world.secret[by]).json()["items"]
    assert (item["may_judge"], item["blocked_by"]["code"]) == (False, "review.author")
    made = edges.proposed("universe.b", "universe.a", kind="workarea", label="mirrors", by=sponsor.issues("proposer"))
    refused(edges.serve(made, by=sponsor.reviewer), "review.author", 403)
