"""The demo tenant's sample work: the seed's procurement example, through the product's own doors."""

from __future__ import annotations

from dataclasses import dataclass

from memory.claims.actions.submit import submit_memory
from memory.claims.commands import SubmitCommand
from memory.claims.states import Kind, SubmitVerb
from oml.core.actor import Actor
from oml.jobs import outbox
from review.actions.serve import serve_item
from review.actions.verdict import VerdictCommand, give_verdict
from review.policy import ReasonCode, VerdictWord

METALS = "universe.procurement.metals-crew"
PROCUREMENT = "universe.procurement"


@dataclass(frozen=True, slots=True)
class Cast:
    """Who does what in the demo."""

    writer: Actor
    writer2: Actor
    reviewer: Actor
    reviewers_agent: Actor


def do_sample_work(cast: Cast) -> None:
    """Submit, scan, ratify and reject a little, and leave something in the queue."""
    quotes = _promoted(
        cast,
        [
            _memory(
                "supplier-quote-am-7741",
                "Supplier Accra Metals quoted 412 USD/t for Q1-2027 delivery, valid until 2026-11-15. "
                "Quote ref AM-7741.",
            ),
            _memory(
                "supplier-quote-am-7102",
                "Supplier Accra Metals quoted 405 USD/t for Q4-2026 delivery, valid until 2026-08-30. "
                "Quote ref AM-7102.",
            ),
            _memory(
                "supplier-quote-nb-2210",
                "Supplier Norbal quoted 431 USD/t for Q4-2026 delivery, valid until 2026-09-10. Quote ref NB-2210.",
            ),
            _memory(
                "undated-quotes",
                "Prefer quotes with an explicit validity date; treat undated quotes as expired.",
                workarea=PROCUREMENT,
                kind=Kind.STEERING,
            ),
            _memory(
                "delivery-window-tema",
                "The port of Tema takes aluminium deliveries on weekdays before 14:00; later trucks wait a day.",
            ),
        ],
    )
    _submit(
        cast.writer,
        SubmitCommand(
            workarea=METALS,
            claim_key="accra-metals-price-anchor",
            text="Accra Metals has undercut the next-best aluminium quote in three consecutive quarters; treat them "
            "as the price anchor for Q1-2027 negotiations.",
            verb=SubmitVerb.LEARN,
            kind=Kind.DERIVED_FACT,
            derives_from=tuple(quotes[:3]),
        ),
    )
    _submit(
        cast.writer2,
        _memory(
            "supplier-contact-norbal",
            "Norbal's account manager answers fastest by telephone, between 9 and 11 in the morning.",
        ),
    )
    # A pasted zero-width space: legal text that a reviewer should see was flagged.
    _submit(
        cast.writer2,
        _memory("freight-surcharge", "Freight to Kumasi carries a sur\u200bcharge of 18 USD/t since October 2026."),
    )
    _submit(
        cast.reviewers_agent,
        _memory("q1-volume-estimate", "The Q1-2027 aluminium need is estimated at 2,400 t, up from 2,150 t."),
    )
    rejected = _submit(cast.writer2, _memory("rumour-tariff", "Somebody said import tariffs will double next year."))
    outbox.drain_all()
    _judge(cast.reviewer, rejected, VerdictWord.REJECT, ReasonCode.NOT_SUPPORTED, "No source is named.")


def _memory(claim_key: str, text: str, *, workarea: str = METALS, kind: Kind = Kind.MEMORY) -> SubmitCommand:
    return SubmitCommand(workarea=workarea, claim_key=claim_key, text=text, kind=kind)


def _promoted(cast: Cast, commands: list[SubmitCommand]) -> list[str]:
    artifacts = [_submit(cast.writer, command) for command in commands]
    outbox.drain_all()
    for artifact in artifacts:
        _judge(cast.reviewer, artifact, VerdictWord.RATIFY)
    return artifacts


def _submit(actor: Actor, command: SubmitCommand) -> str:
    return str(submit_memory(actor, command=command)["artifact_id"])


def _judge(reviewer: Actor, artifact: str, word: VerdictWord, code: ReasonCode | None = None, reason: str = "") -> None:
    serve = serve_item(reviewer, artifact=artifact)
    give_verdict(
        reviewer,
        command=VerdictCommand(
            serve_id=serve.pk,
            content_digest=serve.content_digest,
            verdict=word,
            reason_code=code,
            reason=reason,
        ),
    )
