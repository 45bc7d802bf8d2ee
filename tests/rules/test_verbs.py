"""The permission matrix, printed. Whoever changes a cell changes this page and says why."""

from __future__ import annotations

import pytest

from oml.core.actor import Role
from workareas.verbs import CEILING, Capability, Verb, may_hold, verbs_carried

MATRIX = """\
                  reader  writer  dreamer admin   operator
recall            reader  reader  reader  reader  -
read              reader  reader  reader  reader  -
graph_read        reader  reader  reader  reader  -
remember          -       writer  -       -       -
learn             -       writer  -       -       -
attach            -       writer  -       -       -
relate_propose    -       -       propose -       -
review_serve      -       -       review  -       -
review_verdict    -       -       review  -       -
relate_ratify     -       -       review  -       -
workarea_create   -       -       -       admin   -
reassign          -       -       -       admin   -
status_advance    -       -       -       admin   -
crew_update       -       -       -       admin   -
grant             -       -       -       admin   -
key_issue         -       -       -       admin   -
policy_set        -       -       -       admin   -
demote            -       -       -       admin   -
erase             -       -       -       admin   -
ban               -       -       -       admin   -
simulate          -       -       -       admin   -
evidence_export   -       -       -       admin   -
"""


def test_matrix__printed__is_the_golden_table() -> None:
    assert printed_matrix() == MATRIX


def printed_matrix() -> str:
    lines = [" " * 18 + "".join(f"{role:8}" for role in Role)]
    for verb in Verb:
        lines.append(f"{verb:18}" + "".join(f"{_cell(role, verb):8}" for role in Role))
    return "".join(line.rstrip() + "\n" for line in lines)


def _cell(role: Role, verb: Verb) -> str:
    if not may_hold(role, verb):
        return "-"
    return str(next(cap for cap in CEILING[role] if verb in verbs_carried(frozenset({cap}))))


def test_verbs__promote_and_sign__are_in_no_cell() -> None:
    names = {str(verb) for verb in Verb}
    assert not names & {"promote", "sign", "delete", "publish", "admin", "ratify"}


def test_ceiling__operator__holds_nothing_at_all() -> None:
    assert CEILING[Role.OPERATOR] == frozenset()
    assert not any(may_hold(Role.OPERATOR, verb) for verb in Verb)


def test_ceiling__admin__does_not_write_and_does_not_review() -> None:
    assert not CEILING[Role.ADMIN] & {Capability.WRITER, Capability.PROPOSE, Capability.REVIEW}


def test_verbs_carried__reader_and_writer__stand_in_the_order_of_the_seed() -> None:
    carried = verbs_carried(frozenset({Capability.WRITER, Capability.READER}))
    assert carried == ["recall", "read", "graph_read", "remember", "learn", "attach"]


def test_verbs_carried__everything__stands_in_the_order_of_the_shapes_page() -> None:
    assert verbs_carried(frozenset(Capability)) == list(Verb)


@pytest.mark.parametrize("capability", Capability)
def test_verbs__every_capability__carries_some_that_no_other_carries(capability: Capability) -> None:
    others = frozenset(Capability) - {capability}
    assert set(verbs_carried(frozenset({capability}))) - set(verbs_carried(others))
