"""From a run token to whoever the run executes as (design: agent-state, Run surface).

A token is the run's whole credential: it names agent, space and actor, none of which the run can choose. What must
never happen here: a run that goes on when its actor is gone, or one whose writes fall to ``shared`` for want of one.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from memory.runs.errors import RunOver
from memory.runs.models import Run
from memory.runs.rules import Status
from oml.core.actor import Actor, Channel
from oml.core.errors import InvalidKey
from workareas.authentication import actor_of_key, authenticate_bearer, bearer_of, digest_of, new_secret

PREFIX = "oml_r_"


@dataclass(frozen=True, slots=True)
class RunActor(Actor):
    """The actor of a run: the (key, principal) that started it, bound to one agent in one space.

    Attributes:
        run_id: the run.
        tools: the opt-in tools of its manifest.
    """

    run_id: str = ""
    tools: frozenset[str] = frozenset()


def new_token() -> str:
    """A fresh run token."""
    return new_secret(PREFIX)


def authenticate_run_or_key(header: str | None, *, channel: Channel) -> Actor:
    """Resolve a header that carries a run token or an API key; see :func:`authenticate_run`."""
    if bearer_of(header).startswith(PREFIX):
        return authenticate_run(header, channel=channel)
    return authenticate_bearer(header, channel=channel)


def authenticate_run(header: str | None, *, channel: Channel) -> RunActor:
    """Resolve an ``Authorization`` header to a running run.

    Raises:
        InvalidKey: ``auth.invalid_key``; missing, malformed or unknown, one text for all.
        RunOver: ``access.forbidden``; the run is finished, or its actor is not there any more.
    """
    run = Run.objects.filter(token_digest=digest_of(bearer_of(header))).first()
    if run is None:
        raise InvalidKey
    if run.status != Status.RUNNING:
        raise RunOver
    try:
        actor = actor_of_key(run.key_id, channel=channel)
    except InvalidKey:
        raise RunOver("the key that started this run works no longer") from None
    known = {field.name: getattr(actor, field.name) for field in fields(Actor)}
    return RunActor(**known, run_id=run.pk, tools=frozenset(run.tools))
