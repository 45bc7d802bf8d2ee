"""Self-sign what an agent shares with its later runs, where relaxed review in development allows that (D8, D14).

The same ceremony as everywhere, in one step: a serve of what is there, a verdict bound to it, marked self-signed in
row, journal and envelope. What must never happen here: a self-signature where the policy wants another's hand; the
check is the ceremony's own.
"""

from __future__ import annotations

from memory.claims.actions.scan import scan
from memory.claims.models import Artifact
from memory.claims.states import ScanState
from memory.runs.ratify import on_self_sign
from oml.core.actor import Actor
from oml.journal.registry import Event
from review import ceremony
from review.actions.serve import new_serve
from review.models import Verdict
from review.policy import VerdictWord
from review.signed import signed_verdict
from workareas.selectors.policies import effective_policy


@on_self_sign
def self_sign(actor: Actor, artifact: Artifact) -> list[Event]:
    """Scan and ratify an actor's own held artifact where relaxed review applies; elsewhere nothing happens.

    It stays held where a scanner failed or policy asks for more verdicts, and is rejected where a scanner blocks it.

    Args:
        actor: its author.
        artifact: held, not scanned yet, new in this transaction.

    Returns:
        The events to append, in order.

    Raises:
        Stale, Banned, Frozen: as a verdict.
    """
    policy = effective_policy(artifact.workarea)
    if not policy.self_signed_allowed:
        return []
    scanned = scan(artifact)
    if artifact.scan_state not in (ScanState.CLEAN, ScanState.FLAGGED):
        return scanned
    serve, served = new_serve(actor, artifact, policy)
    _, closure = ceremony.consume_serve(serve, artifact, actor, policy, presented_digest=serve.content_digest)
    columns, judged = signed_verdict(
        actor, serve, artifact, word=VerdictWord.RATIFY, code=None, reason="", self_signed=True
    )
    verdict = Verdict.objects.create(**columns, artifact=artifact, self_signed=True)
    return [*scanned, served, judged, *ceremony.carry_out(verdict, artifact, policy, closure)]
