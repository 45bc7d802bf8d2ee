"""What an agent shares with its later runs, in the review pages: what it is for is said in words, by no claim key."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest

from memory.claims.states import State
from memory.runs.models import Run
from memory.runs.rules import Scope
from review.selectors.queue import QueueQuery, review_queue
from tests.support.api import Api
from tests.support.people import Human, human, said
from tests.support.runs import AGENT, AgentRun, begin, register
from tests.support.world import World

TONE = "Answer in the customer's language"
SEES = f"every actor of agent {AGENT} in universe.a will see this in its prompt, as"
FINDS = f"every actor of agent {AGENT} in universe.a will find this when it searches its notes"


@pytest.fixture
def rita(world: World) -> Human:
    return human(world, name="rita")


@pytest.fixture
def run(world: World) -> AgentRun:
    register(world)
    return begin(world)


def _shares(world: World, run: AgentRun, key: str | None = "tone", content: Any = TONE) -> str:
    answer = run.note(content, scope=Scope.SHARED) if key is None else run.pin(key, content, scope=Scope.SHARED)
    world.scan()
    return str(answer["artifact_id"])


def _ratify(reviewer: Human, artifact: str) -> Any:
    page = reviewer.opens(artifact)
    body = page.content.decode()
    path = re.search(r"/review/serves/srv_\w+/verdict", body)
    assert path
    fields = dict(re.findall(r'name="((?:seen_\w+)|content_digest)" value="([^"]*)"', body))
    given = reviewer.post(path[0], verdict="ratify", **{name: unescape(value) for name, value in fields.items()})
    return reviewer.get(given.headers["Location"])


def test_queue__a_shared_slot__says_for_whom_it_is_and_not_what(world: World, rita: Human, run: AgentRun) -> None:
    _shares(world, run)
    words = said(rita.get("/review/"))
    assert f"Slot tone of {AGENT} shared agent state" in words
    assert f"Once ratified, {SEES} pinned slot tone" in words
    assert "agent:agt_" not in words and TONE not in words
    assert f"Open Slot tone of {AGENT}" in words


def test_queue__for_whom__is_a_filter(world: World, rita: Human, run: AgentRun) -> None:
    _shares(world, run)
    _shares(world, run, key=None)
    world.submit(claim_key="tin-days")
    world.scan()
    assert "Slot tone" in said(rita.get("/review/", channel="agent_slot"))
    assert "tin-days" not in said(rita.get("/review/", channel="agent_slot"))
    assert "Note of" in said(rita.get("/review/", channel="agent_note"))
    claims = said(rita.get("/review/", channel="claim"))
    assert "tin-days" in claims and "Slot tone" not in claims
    assert rita.get("/review/", channel="everybody").status_code == 400


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("tone", f"From then on {SEES} pinned slot tone."),
        ("checkpoint", f"From then on {SEES} its checkpoint."),
        (None, f"From then on {FINDS}."),
    ],
)
def test_item__what_an_agent_shares__says_who_will_meet_it_and_where(
    world: World, rita: Human, run: AgentRun, key: str | None, expected: str
) -> None:
    words = said(rita.opens(_shares(world, run, key)))
    assert expected in words
    assert TONE in words
    assert "it is in no recall and no graph" in words
    assert f"run {run.id}" in words and f"{AGENT} in this space" in words
    assert "becomes readable to" not in words


def test_item__a_second_value_of_a_slot__says_which_version_it_replaces(
    world: World, rita: Human, run: AgentRun
) -> None:
    first = _shares(world, run)
    done = said(_ratify(rita, first))
    assert f"It is promoted: {SEES} pinned slot tone" in done
    words = said(rita.opens(_shares(world, run, content="Answer in English")))
    assert "and takes the place of version 1" in words
    assert TONE not in words


def test_item__a_value_that_is_no_string__is_shown_as_the_run_sent_it(world: World, rita: Human, run: AgentRun) -> None:
    words = said(rita.opens(_shares(world, run, content={"tone": ["kind", "<b>short</b>"], "days": 3})))
    for part in ('"tone"', '"kind"', '"<b>short</b>"', '"days"', "3"):
        assert part in words


def test_item__the_run_that_wrote_it_is_deleted__says_so(world: World, rita: Human, run: AgentRun) -> None:
    artifact = _shares(world, run)
    Run.objects.filter(pk=run.id).delete()
    assert "a run that is deleted" in said(rita.opens(artifact))


def test_ratified__is_in_the_prompt_of_the_next_run_of_somebody_else(world: World, rita: Human, run: AgentRun) -> None:
    artifact = _shares(world, run)
    assert TONE not in begin(world, world.writer2).context
    _ratify(rita, artifact)
    assert world.row(artifact).state == State.PROMOTED
    assert TONE in begin(world, world.writer2).context


def test_review_queue__over_http__names_channel_and_agent(world: World, run: AgentRun, api: Api) -> None:
    artifact = _shares(world, run)
    key = world.secret[world.reviewer]
    (item,) = api.get("review/queue", key=key, channel="agent_slot").json()["items"]
    about = {"agent": AGENT, "key": "tone", "run_id": run.id}
    assert (item["channel"], item["agent_state"]) == ("agent_slot", about)
    subject = api.post("review/serves", {"artifact_id": artifact}, key=key).json()["subject"]
    assert (subject["channel"], subject["agent_state"]) == ("agent_slot", about)
    assert review_queue(world.reviewer, query=QueueQuery(channel="claim"))["items"] == []
