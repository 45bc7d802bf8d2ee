"""``manage.py explain_access``: the authorizer's own decision in words, now or at an earlier epoch (D7)."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

from django.core.management.base import BaseCommand

from oml.core.actor import Actor
from workareas.management.acting import acting, add_acting_arguments, refusals_printed
from workareas.rules import Rule
from workareas.selectors.explain import explain_access
from workareas.selectors.past_access import explain_past_access
from workareas.verbs import Verb


class Command(BaseCommand):
    help = (
        "Say whether a key may use a verb at a workarea, which grants and denies decide it, and which won. "
        "--at-epoch answers from the journal alone, as it was then."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("key")
        parser.add_argument("verb", choices=[str(verb) for verb in Verb])
        parser.add_argument("workarea", help="id or path; with --at-epoch the path it had then")
        parser.add_argument("--at-epoch", type=int, metavar="N", help="a permission epoch, 0 to the present one")
        add_acting_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        with refusals_printed():
            ask = _now if options["at_epoch"] is None else _then
            for line in ask(acting(options), options):
                self.stdout.write(line)


def _now(actor: Actor, options: dict[str, Any]) -> list[str]:
    told = explain_access(actor, key=options["key"], verb=Verb(options["verb"]), workarea=options["workarea"])
    decision = told.decision
    return _said(
        options,
        role=told.key.role,
        allowed=decision.allowed and not told.key_problem,
        code=decision.code,
        rule=told.key_problem or decision.rule,
        because=decision.because,
        blocked_by=decision.blocked_by,
        when=f"permission epoch {decision.epoch}",
    )


def _then(actor: Actor, options: dict[str, Any]) -> list[str]:
    told = explain_past_access(
        actor,
        key=options["key"],
        verb=Verb(options["verb"]),
        workarea=options["workarea"],
        epoch=options["at_epoch"],
    )
    return _said(
        options,
        role=told["role"] or "no role yet",
        allowed=told["allowed"] and not told["key_problem"],
        code=told["code"],
        rule=told["key_problem"] or told["rule"],
        because=told["because"],
        blocked_by=told["blocked_by"],
        when=f"permission epoch {told['permission_epoch']}, journal up to {told['seq']}",
    )


def _said(
    options: dict[str, Any],
    *,
    role: str,
    allowed: bool,
    code: str | None,
    rule: str | None,
    because: Iterable[Rule],
    blocked_by: Iterable[Rule],
    when: str,
) -> list[str]:
    asked = f"{options['key']} ({role}) {{}} {options['verb']} at {options['workarea']}"
    head = asked.format("may") if allowed else f"{asked.format('may not')}: {rule}" + (f" ({code})" if code else "")
    lines = [head]
    lines += [f"  denied by  {rule.source}, {rule.capability} from {rule.path} down" for rule in blocked_by]
    lines += [f"  allowed by {rule.source}, {rule.capability} from {rule.path} down" for rule in because]
    return [*lines, f"  at {when}"]
