"""Pin and note: the only writes of agent state, made by a run and by nothing else (seed: agent-memory).

What is scoped to the actor is seen by that identity alone and needs no admission. What is shared changes the prompt of
every other run, so it goes through admission with no rule of its own (R1, R3): held until somebody who did not write it
ratifies it, at once and marked self-signed under relaxed review in development, refused in a validated space (D8).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from django.db import connection
from django.db.models import Max

from memory.claims.actions.end import reject
from memory.claims.actions.store import Draft, store
from memory.claims.actions.submit import permitted_write
from memory.claims.events import Remembered, Withdrawn
from memory.claims.models import Artifact
from memory.claims.states import Cause, Kind, State, SubmitVerb, Surface
from memory.runs import content, kept
from memory.runs.commands import NoteCommand, PinCommand
from memory.runs.errors import MemoryCap, RunOver
from memory.runs.events import Noted, Pinned, Written
from memory.runs.models import AgentMemory, Run, SharedWrite
from memory.runs.ratify import self_sign
from memory.runs.rules import CHECKPOINT, MAX_NOTES, Scope, Status
from memory.runs.tokens import RunActor
from oml.core.canonical import sha256_hex
from oml.core.clock import now
from oml.core.ids import new_id
from oml.crypto.digest import commitment, new_salt
from oml.journal.append import append, journalled
from oml.journal.registry import Event
from workareas import access, quota
from workareas.access import Access
from workareas.idempotency import fingerprint, run_once
from workareas.models import Key
from workareas.selectors.bans import refuse_banned
from workareas.verbs import Verb


@journalled
def pin(actor: RunActor, *, command: PinCommand) -> dict[str, Any]:
    """Upsert a named slot; last write wins per scope and key. ``checkpoint`` is also snapshotted onto the run.

    Args:
        actor: the run.
        command: key, content and scope.

    Returns:
        ``key``, ``scope``, ``state`` (``stored`` for private state, else that of the shared write) and ``message``.

    Raises:
        RunOver: ``access.forbidden``; the run or its actor is over.
        MemoryTooLarge: ``memory.too_large``.
        VerbCeiling, AccessNotFound, AccessForbidden: ``access.*``; a shared write needs writer access on the space.
        Frozen, UniverseWrite: ``workarea.*``; shared only.
        Banned: ``admission.banned``; shared only.
        QuotaExceeded: ``limit.quota``.
        IdempotencyMismatch, IdempotencyInFlight: ``request.*``.
    """
    text = content.as_text(command.content, param="content")

    def write(known: Access, run: Run) -> tuple[dict[str, Any], list[Event]]:
        if command.key == CHECKPOINT:
            run.checkpoint = text
            run.save(update_fields=["checkpoint"])
        if command.scope is Scope.SHARED:
            row = _shared_slot(run, command.key)
            answer, events = _share(known, run, row, command.content, f"slot:{command.key}", Surface.AGENT_SLOT)
            said = f'Pinned slot "{command.key}" {_outcome(answer["state"])}'
        else:
            row, events = _own_slot(run, command.key, text), []
            answer = {"state": "stored"}
            said = f'Pinned slot "{command.key}" updated'
        events.append(_written(Pinned, run, row, answer))
        return {"key": command.key, "scope": str(command.scope), **answer, "message": said}, events

    return _once(actor, "pin", command.idempotency_key, [command.key, text, str(command.scope)], write)


@journalled
def note(actor: RunActor, *, command: NoteCommand) -> dict[str, Any]:
    """Append a note to the archive; at 100 notes of the scope it is dropped, and the refusal says so.

    Returns:
        ``id``, ``scope``, ``state`` and ``message``.

    Raises:
        MemoryTooLarge: ``memory.too_large``; more than 2000 characters.
        MemoryCap: ``memory.cap``.
        Others as :func:`pin`.
    """
    content.check_note(command.content)
    text = content.as_text(command.content, param="content")

    def write(known: Access, run: Run) -> tuple[dict[str, Any], list[Event]]:
        if command.scope is Scope.SHARED:
            _check_room(kept.shared_notes(run.agent_id, run.space_id))
            row = _row(run, scope=Scope.SHARED, actor_id=None, pinned=False)
            row.save(force_insert=True)
            answer, events = _share(known, run, row, command.content, f"note:{new_id('n')}", Surface.AGENT_NOTE)
            said = f"Note {_outcome(answer['state'])}"
        else:
            _check_room(kept.own_notes(run.agent_id, run.space_id, run.actor_id))
            row, events = _row(run, scope=Scope.ACTOR, actor_id=run.actor_id, pinned=False), []
            _fill(row, text)
            row.save(force_insert=True)
            answer, said = {"state": "stored"}, "Note saved"
        events.append(_written(Noted, run, row, answer))
        return {"id": row.pk, "scope": str(command.scope), **answer, "message": said}, events

    return _once(actor, "note", command.idempotency_key, [text, str(command.scope)], write)


Write = Callable[[Access, Run], tuple[dict[str, Any], list[Event]]]


def _once(actor: RunActor, verb: str, idempotency_key: str | None, asked: list[str], write: Write) -> dict[str, Any]:
    """One write of a run: still running, its actor still there, its scope locked, its entry appended last.

    Args:
        asked: what makes the request this one, the scope at its end.
    """
    known = access.load(actor)
    run = running(actor)
    events: list[Event] = []

    def first_time() -> tuple[dict[str, Any], str]:
        quota.take(actor, quota.Quota.WRITE)
        _lock(run, asked[-1])
        answer, made = write(known, run)
        events.extend(made)
        # An erasure finds the retries of what it erases under the artifact, a removal those of private writes by run.
        return answer, answer.get("artifact_id", run.pk)

    # A run's names for its attempts are its own: another run of the same key may count its steps from one again.
    name = hashlib.sha256(f"{run.pk}/{idempotency_key}".encode()).hexdigest() if idempotency_key is not None else None
    answer, replay = run_once(
        actor,
        workarea_id=run.space_id,
        idempotency_key=name,
        request_fingerprint=fingerprint(verb, {"run": run.pk, "asked": asked}),
        run=first_time,
    )
    if not replay:
        append(actor, events, epoch=known.epoch)
    return {**answer, "idempotent_replay": True} if replay else answer


def running(actor: RunActor) -> Run:
    """The run, locked, as long as it may write.

    Raises:
        RunOver: ``access.forbidden``; it is finished, or its actor was removed: nothing private turns shared.
    """
    run = (
        Run.objects.select_for_update(of=("self",), no_key=True)
        .select_related("space__tenant", "agent")
        .get(pk=actor.run_id)
    )
    if run.status != Status.RUNNING:
        raise RunOver
    if not Key.objects.filter(pk=run.key_id, revoked_at=None, principal__is_active=True).exists():
        raise RunOver("the actor of this run is not there any more")
    return run


def _lock(run: Run, scope: str) -> None:
    """One writer at a time per agent, space and scope, so that counting to 100 and upserting a slot are exact."""
    owner = run.actor_id if scope == Scope.ACTOR else ""
    digest = hashlib.sha256("\0".join(["agent state", run.agent_id, run.space_id, owner]).encode()).digest()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [int.from_bytes(digest[:8], "big", signed=True)])


def _check_room(notes: int) -> None:
    """Whether the archive has room for one more."""
    if notes >= MAX_NOTES:
        raise MemoryCap


def _row(run: Run, *, scope: Scope, actor_id: str | None, pinned: bool, key: str | None = None) -> AgentMemory:
    return AgentMemory(
        tenant_id=run.tenant_id,
        agent_id=run.agent_id,
        space_id=run.space_id,
        scope=scope,
        actor_id=actor_id,
        key=key,
        pinned=pinned,
        run=run,
    )


def _fill(row: AgentMemory, text: str) -> None:
    row.content, row.salt = text, new_salt()


def _own_slot(run: Run, key: str, text: str) -> AgentMemory:
    found = kept.own_rows(run.agent_id, run.space_id, run.actor_id).filter(key=key).first()
    row = found or _row(run, scope=Scope.ACTOR, actor_id=run.actor_id, pinned=True, key=key)
    _fill(row, text)
    row.run, row.updated_at = run, now()
    row.save()
    return row


def _shared_slot(run: Run, key: str) -> AgentMemory:
    found = AgentMemory.objects.filter(
        agent_id=run.agent_id, space_id=run.space_id, scope=Scope.SHARED, key=key
    ).first()
    if found is None:
        found = _row(run, scope=Scope.SHARED, actor_id=None, pinned=True, key=key)
        found.save(force_insert=True)
    return found


def _share(
    known: Access, run: Run, row: AgentMemory, value: Any, name: str, surface: Surface
) -> tuple[dict[str, Any], list[Event]]:
    """Put a shared write through admission; the row shows it once it is promoted."""
    actor = known.actor
    node = permitted_write(known, Verb.REMEMBER, run.space, run.space_id)
    text, is_json = content.for_review(value)
    refuse_banned(
        actor.tenant_id,
        key_id=actor.key_id,
        principal_id=actor.principal_id,
        text_sha256=sha256_hex(text.encode()),
        sources=(),
    )
    events = _replace_own_held(actor.principal_id, row)
    claim_key = f"agent:{run.agent_id}:{name}"
    draft = Draft(
        node=node,
        claim_key=claim_key,
        kind=Kind.MEMORY,
        verb=SubmitVerb.REMEMBER,
        text=text,
        version=_next_version(node.pk, claim_key, surface),
        channel=surface,
    )
    artifact, submitted = store(actor, draft, Remembered)
    SharedWrite.objects.create(artifact=artifact, memory=row, run=run, is_json=is_json)
    events.append(submitted)
    events += self_sign(actor, artifact)
    answer: dict[str, Any] = {"state": str(artifact.state), "artifact_id": artifact.pk}
    if artifact.self_signed:
        answer["self_signed"] = True
    return answer, events


def _replace_own_held(principal_id: str, row: AgentMemory) -> list[Event]:
    """An author has one version of a slot before the reviewers: a newer one takes the older back."""
    older = Artifact.objects.select_for_update(of=("self",), no_key=True).filter(
        shared_write__memory=row, state=State.HELD, author_principal_id=principal_id
    )
    events: list[Event] = []
    for artifact in older.order_by("pk"):
        events += [Withdrawn(**artifact.about()), reject(artifact, cause=Cause.WITHDRAWN)]
    return events


def _next_version(node_id: str, claim_key: str, surface: Surface) -> int:
    tried = Artifact.objects.filter(workarea_id=node_id, claim_key=claim_key, channel=surface)
    highest: int | None = tried.aggregate(highest=Max("version"))["highest"]
    return (highest or 0) + 1


def _written(kind: type[Written], run: Run, row: AgentMemory, answer: dict[str, Any]) -> Written:
    return kind(
        workarea_id=run.space_id,
        run_id=run.pk,
        memory_id=row.pk,
        scope=row.scope,
        artifact_id=answer.get("artifact_id"),
        content_commitment=commitment(bytes(row.salt), (row.content or "").encode()) if row.salt else None,
    )


_OUTCOMES = {
    State.HELD: "held: other runs go on with what was ratified last until somebody who did not write it ratifies this",
    State.PROMOTED: "shared at once, marked self-signed",
    State.REJECTED: "refused by a scanner: nobody will see it",
}


def _outcome(state: str) -> str:
    return _OUTCOMES[State(state)]
