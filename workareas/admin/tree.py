"""The life of a workarea in the console: a child, the next step of the ladder, its crew, its review policy (D8)."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpRequest

from oml.console.actions import ConsoleAction, Done
from workareas.actions.nodes import Crew, advance_status, create_workarea, set_policy, update_crew
from workareas.admin.fields import reason_field
from workareas.admin.gate import actor_of
from workareas.ladder import Status
from workareas.models import ReviewPolicy, Workarea
from workareas.selectors.policies import effective_policy

_NEXT = {Status.DEVELOPMENT: Status.COMMITTED, Status.COMMITTED: Status.VALIDATED}
_YES_NO = [("", "inherited"), ("yes", "yes"), ("no", "no")]
_NUMBERS = ("held_expiry_s", "min_verdicts", "serve_ttl_s")
_FLAGS = ("self_signed_allowed", "lineage_exclusion", "reason_required")


class ChildForm(forms.Form):
    """The new node's last name."""

    leaf = forms.CharField(max_length=64, label="Name", help_text="a to z, 0 to 9 and inner hyphens.")


class StepForm(forms.Form):
    """Why; the step itself is the next one."""

    reason = reason_field()


class CrewForm(forms.Form):
    """Who works there, as recorded."""

    name = forms.CharField(max_length=200)
    charter_uri = forms.CharField(max_length=2000, required=False, help_text="Recorded; it is never fetched.")
    external_manager = forms.CharField(max_length=200, required=False)


class PolicyForm(forms.Form):
    """What this node says itself; what is empty comes from above."""

    held_expiry_s = forms.IntegerField(
        required=False, label="Held for at most (seconds)", help_text="Empty: inherited."
    )
    min_verdicts = forms.IntegerField(required=False, label="Ratifications needed", help_text="Empty: inherited.")
    serve_ttl_s = forms.IntegerField(
        required=False, label="A view is good for (seconds)", help_text="Empty: inherited."
    )
    self_signed_allowed = forms.ChoiceField(required=False, choices=_YES_NO, label="Self-signed review in development")
    lineage_exclusion = forms.ChoiceField(required=False, choices=_YES_NO, label="Authors of sources may not judge")
    reason_required = forms.ChoiceField(required=False, choices=_YES_NO, label="A rejection needs words")


def _child(request: HttpRequest, row: Workarea, data: dict[str, Any]) -> Done:
    made = create_workarea(actor_of(request), parent=row.pk, leaf=data["leaf"])
    return Done(f"Created: {made.path}, in development.")


def _step(request: HttpRequest, row: Workarea, data: dict[str, Any]) -> Done:
    reached = advance_status(
        actor_of(request), workarea=row.pk, status=_NEXT[Status(row.status)], reason=data["reason"] or None
    )
    return Done(f"Workarea {reached.path} is {reached.status} now.")


def _crew(request: HttpRequest, row: Workarea, data: dict[str, Any]) -> Done:
    crew = Crew(data["name"], data["charter_uri"] or None, data["external_manager"] or None)
    update_crew(actor_of(request), workarea=row.pk, crew=crew)
    return Done(f"Crew of {row.path}: {data['name']}.")


def _policy(request: HttpRequest, row: Workarea, data: dict[str, Any]) -> Done:
    settings = {name: data[name] for name in _NUMBERS} | {name: _FLAG_OF[data[name]] for name in _FLAGS}
    changed = set_policy(actor_of(request), workarea=row.pk, settings=settings)
    return Done(f"Review policy of {row.path}: version {changed.version}.")


_FLAG_OF = {"": None, "yes": True, "no": False}
_WORD_OF = {value: word for word, value in _FLAG_OF.items()}


def _own_policy(request: HttpRequest, row: Workarea) -> dict[str, Any]:
    own = ReviewPolicy.objects.filter(workarea=row).first()
    if own is None:
        return {}
    return {name: getattr(own, name) for name in _NUMBERS} | {name: _WORD_OF[getattr(own, name)] for name in _FLAGS}


def _effective(request: HttpRequest, row: Workarea) -> tuple[tuple[str, str], ...]:
    now = effective_policy(row).as_dict()
    labels = {name: str(field.label) for name, field in PolicyForm.base_fields.items()}
    said = {name: _WORD_OF[now[name]] if name in _FLAGS else str(now[name]) for name in labels}
    return tuple((f"Now: {label}", said[name]) for name, label in labels.items())


CHILD = ConsoleAction(
    name="child",
    label="Create a workarea in it",
    consequence="The new workarea starts in development; whoever has access here has it there.",
    form=ChildForm,
    perform=_child,
)
STEP = ConsoleAction(
    name="step",
    label="Take the next step of the ladder",
    consequence="development, committed, validated: one way, one step. Committed: everything is reviewed by somebody "
    "who did not write it. Validated: frozen, nothing is submitted, ratified or created in it any more. A step is "
    "refused while something in it is unreviewed.",
    form=StepForm,
    perform=_step,
    facts=lambda request, node: (("Now", node.status), ("After this", _NEXT[Status(node.status)])),
    available=lambda node: not node.is_root and Status(node.status) in _NEXT,
)
CREW = ConsoleAction(
    name="crew",
    label="Record its crew",
    consequence="It is recorded and journalled by digest, and gives nobody access.",
    form=CrewForm,
    perform=_crew,
    initial=lambda request, node: {
        "name": node.crew_name,
        "charter_uri": node.crew_charter_uri,
        "external_manager": node.crew_external_manager,
    },
)
POLICY = ConsoleAction(
    name="policy",
    label="Set its review policy",
    consequence="It holds here and below, wherever nothing nearer says otherwise, for what is judged from now on. A "
    "view that is open goes stale.",
    form=PolicyForm,
    perform=_policy,
    initial=_own_policy,
    facts=_effective,
)
