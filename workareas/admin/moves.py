"""Move a workarea in the console: whose access would change is shown before it is confirmed."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpRequest

from oml.console.actions import ConsoleAction, Done
from oml.console.foresight import Foresight
from workareas.actions.reassign import reassign
from workareas.admin.fields import reason_field
from workareas.admin.gate import actor_of
from workareas.models import Workarea
from workareas.selectors.suggestions import administered_paths, names_of_keys


class MoveForm(forms.Form):
    """Where to."""

    parent = forms.CharField(max_length=4096, label="New parent", help_text="Path or id; it becomes a child of it.")
    reason = reason_field()


def _foresee(request: HttpRequest, row: Workarea, data: dict[str, Any]) -> Foresight:
    actor = actor_of(request)
    move = reassign(actor, workarea=row.pk, parent=data["parent"], dry_run=True)
    names = names_of_keys(actor, {change.key_id for change in move.changes})
    return Foresight(
        f"{move.old_path} becomes {move.new_path}.",
        facts=(
            ("Workareas that move", str(move.nodes)),
            ("Keys whose access changes", "more than are listed" if move.truncated else str(len(names))),
        ),
        columns=("Principal", "Gains", "Loses", "Workarea (now)", "Key"),
        rows=tuple(
            (
                names.get(change.key_id, ""),
                ", ".join(change.gained) or "nothing",
                ", ".join(change.lost) or "nothing",
                change.path,
                change.key_id,
            )
            for change in move.changes
        ),
        none="Nobody’s access changes.",
        more="More changes than are listed here; the list stops at 500." if move.truncated else "",
    )


def _move(request: HttpRequest, row: Workarea, data: dict[str, Any]) -> Done:
    move = reassign(actor_of(request), workarea=row.pk, parent=data["parent"], reason=data["reason"] or None)
    return Done(f"Moved: {move.old_path} is {move.new_path} now; workareas moved: {move.nodes}.")


MOVE = ConsoleAction(
    name="reassign",
    label="Move this workarea",
    consequence="Grants set on what moves stay with it; what it inherits comes from the new parent. Everything in it "
    "is found under the new path at once, and calls that were decided before are decided again.",
    form=MoveForm,
    perform=_move,
    foresee=_foresee,
    available=lambda node: not node.is_root,
    suggestions=lambda request: {"parent": [(path, "") for path in administered_paths(actor_of(request))]},
)
