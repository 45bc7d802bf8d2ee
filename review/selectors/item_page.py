"""What surrounds a serve on the page: its effect, how far the review is, what it was made under.

None of it carries text of the item beyond what :func:`served_item` answers to this reviewer (R3).
"""

from __future__ import annotations

from typing import Any

from memory.claims.models import Artifact, ScanReport
from memory.claims.states import State, Surface
from memory.scanning.chain import SCANNERS
from memory.scanning.report import Outcome
from oml.core.actor import Actor
from oml.core.clock import now, rfc3339_seconds
from review.agent_state import JOINS, agent_state
from review.hands import author_of, reviewer_of
from review.models import Serve, Verdict
from review.policy import REASON_TEXT, ReasonCode, VerdictWord
from review.selectors.served import served_item
from workareas import access
from workareas.errors import AccessNotFound, Frozen
from workareas.ladder import Status, is_frozen
from workareas.selectors.fences import inside_fence
from workareas.selectors.policies import effective_policy
from workareas.selectors.readers import readership
from workareas.verbs import Capability, Verb


def item_page(actor: Actor, *, serve_id: str) -> dict[str, Any]:
    """A served item with everything the decision rail says.

    Args:
        actor: the reviewer the serve was made for.
        serve_id: the id as sent.

    Returns:
        ``served`` (as :func:`served_item`, with every scanner of the chain, run or not), ``unopened``: how many of
        its parts were not sent yet, ``effect`` of a ratification, ``outside`` as :func:`item_outside`, ``author`` by
        name.

    Raises:
        As :func:`served_item`.
    """
    served = served_item(actor, serve_id=serve_id)
    item = _without_text(served["subject"]["artifact_id"])
    served["scans"] = _every_scanner(served["scans"])
    policy = effective_policy(item.workarea)
    ratified = Verdict.objects.filter(artifact=item, verdict=VerdictWord.RATIFY).count()
    readers = readership(item.workarea, simulation_id=item.simulation_id)
    own = reviewer_of(actor).same_as(author_of(item))
    return {
        "served": served,
        "unopened": sum(not part["served"] for part in served["parts"]),
        "author": item.author_principal.name,
        "effect": {
            "keys": readers.keys,
            "workareas": readers.workareas,
            "ratified": ratified,
            "required": policy.min_verdicts,
            "promotes": ratified + 1 >= policy.min_verdicts,
            "replaces": _replaced_version(item),
            "self_signed": own,
            "refusal": Frozen(item.workarea.path) if is_frozen(Status(item.workarea.status)) else None,
        },
        "reason_required": policy.reason_required,
        "outside": _outside(item),
    }


def item_outside(actor: Actor, *, artifact: str) -> dict[str, Any]:
    """An item without its text: while it is held for one of this reviewer's nodes, or once served to them (R3).

    Raises:
        VerbCeiling: ``access.verb_ceiling``.
        AccessNotFound: ``access.not_found``; unknown, foreign or none of this reviewer's, one body.
    """
    access.require_role(actor, Verb.REVIEW_SERVE)
    known = access.load(actor)
    item = (
        Artifact.objects.filter(pk=artifact, tenant_id=actor.tenant_id)
        .select_related("workarea__tenant", JOINS)
        .defer("text", "envelope")
        .first()
        if "\x00" not in artifact
        else None
    )
    if item is None or Capability.REVIEW not in known.effective(item.workarea.path):
        raise AccessNotFound.artifact(artifact)
    if not inside_fence(actor, item.simulation_id):
        raise AccessNotFound.artifact(artifact)
    waits = item.state == State.HELD and item.held_expires_at > now()
    if not waits and not Serve.objects.filter(artifact=item, reviewer_key_id=actor.key_id).exists():
        raise AccessNotFound.artifact(artifact)
    return _outside(item)


def verdict_given(actor: Actor, *, serve_id: str) -> dict[str, Any] | None:
    """What became of a serve that had its verdict; None when it had none.

    Raises:
        VerbCeiling: ``access.verb_ceiling``.
        AccessNotFound: ``access.not_found``; not this key's serve.
    """
    access.require_role(actor, Verb.REVIEW_VERDICT)
    serve = (
        Serve.objects.select_related("artifact__workarea__tenant", f"artifact__{JOINS}", "verdict")
        .defer("artifact__text", "artifact__envelope", "verdict__envelope")
        .filter(pk=serve_id, tenant_id=actor.tenant_id, reviewer_key_id=actor.key_id)
        .first()
        if "\x00" not in serve_id
        else None
    )
    if serve is None or not inside_fence(actor, serve.artifact.simulation_id):
        raise AccessNotFound(f"no serve {serve_id} for this key")
    verdict: Verdict | None = getattr(serve, "verdict", None)
    if verdict is None:
        return None
    item = serve.artifact
    policy = effective_policy(item.workarea)
    code = ReasonCode(verdict.reason_code) if verdict.reason_code else None
    return {
        "serve_id": serve.pk,
        "verdict_id": verdict.pk,
        "verdict": str(verdict.verdict),
        "reason": REASON_TEXT[code] if code else None,
        "at": rfc3339_seconds(verdict.at),
        "self_signed": verdict.self_signed,
        "artifact_id": item.pk,
        "claim_key": item.claim_key,
        "agent_state": agent_state(item),
        "version": item.version,
        "state": item.state,
        "workarea_path": item.workarea.path,
        "ratified": Verdict.objects.filter(artifact=item, verdict=VerdictWord.RATIFY).count(),
        "required": policy.min_verdicts,
    }


def serve_subject(actor: Actor, *, serve_id: str) -> str:
    """The artifact id of one of this key's serves, whatever became of it.

    Raises:
        AccessNotFound: ``access.not_found``; not this key's serve.
    """
    mine = Serve.objects.filter(pk=serve_id, tenant_id=actor.tenant_id, reviewer_key_id=actor.key_id)
    found = mine.values_list("artifact_id", flat=True).first() if "\x00" not in serve_id else None
    if found is None:
        raise AccessNotFound(f"no serve {serve_id} for this key")
    return found


def _replaced_version(item: Artifact) -> int | None:
    """The version served until now. Numbers between two may have been rejected, so it is not always one less.

    A claim names the one before it; of a slot that agents share it is whichever was ratified last.
    """
    if item.channel != Surface.CLAIM:
        before = Artifact.objects.filter(
            workarea_id=item.workarea_id, claim_key=item.claim_key, channel=item.channel, state=State.PROMOTED
        )
    elif item.previous_id is not None:
        before = Artifact.objects.filter(pk=item.previous_id)
    else:
        return None
    return before.values_list("version", flat=True).first()


def _without_text(artifact_id: str) -> Artifact:
    rows = Artifact.objects.select_related("workarea__tenant", "author_principal", "author_key", JOINS)
    return rows.defer("text", "envelope").get(pk=artifact_id)


def _outside(item: Artifact) -> dict[str, Any]:
    reports = ScanReport.objects.filter(artifact=item).order_by("scanner")
    return {
        "artifact_id": item.pk,
        "claim_key": item.claim_key,
        "version": item.version,
        "kind": item.kind,
        "channel": item.channel,
        "agent_state": agent_state(item),
        "state": item.state,
        "cause": item.cause,
        "simulation_id": item.simulation_id,
        "workarea_path": item.workarea.path,
        "workarea_status": item.workarea.status,
        "scans": ", ".join(
            f"{report.scanner} {report.scanner_version}: {report.outcome}, {len(report.findings)} findings"
            for report in reports
        ),
        "policy_version": effective_policy(item.workarea).version,
    }


def _every_scanner(reports: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A scanner of the chain that left no report reads ``not_run``: never the same as clean."""
    seen = {report["scanner"] for report in reports}
    missing = [
        {"scanner": scanner.name, "version": scanner.version, "outcome": str(Outcome.NOT_RUN)}
        for scanner in SCANNERS
        if scanner.name not in seen
    ]
    return reports + missing
