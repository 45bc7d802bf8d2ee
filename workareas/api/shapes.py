"""Request shapes of administration (design: shapes, Administration)."""

from __future__ import annotations

from oml.core.actor import Role
from oml.http.fields import Flag, Listing, Moment, OneOf, Reference, StrictSerializer, Text, Whole
from workareas.ladder import Status
from workareas.space_roles import SpaceRole
from workareas.verbs import Capability
from workareas.words import BanKind, Effect, PrincipalKind

_REASON = 2000


class NothingShape(StrictSerializer):
    """A request without fields."""


class PageShape(StrictSerializer):
    limit = Whole(required=False, help_text="1 to 100; 20 when left out.")
    cursor = Text(max_length=4096, required=False, help_text="next_cursor of the page before.")


class CrewShape(StrictSerializer):
    name = Text(max_length=200)
    charter_uri = Text(max_length=2000, required=False, help_text="Recorded, never fetched.")
    external_manager = Text(max_length=200, required=False)


class CreateWorkareaShape(StrictSerializer):
    parent = Reference(help_text="Made under this node: id or path.")  # type: ignore[assignment]  # DRF moves it
    leaf = Text(max_length=200, help_text="1 to 64 of a-z, 0-9 and inner hyphens.")
    crew = CrewShape(required=False)


class StatusShape(StrictSerializer):
    workarea = Reference()
    status = OneOf(words=Status)
    reason = Text(max_length=_REASON, min_length=0, required=False)


class ReassignShape(StrictSerializer):
    workarea = Reference()
    parent = Reference(help_text="The new parent: id or path.")  # type: ignore[assignment]
    reason = Text(max_length=_REASON, min_length=0, required=False)
    dry_run = Flag(required=False, help_text="Only report whose access would change.")


class CrewUpdateShape(CrewShape):
    workarea = Reference()


class PolicyShape(StrictSerializer):
    workarea = Reference()
    held_expiry_s = Whole(required=False)
    min_verdicts = Whole(required=False)
    self_signed_allowed = Flag(required=False)
    serve_ttl_s = Whole(required=False)
    lineage_exclusion = Flag(required=False)
    reason_required = Flag(required=False)


class PrincipalShape(StrictSerializer):
    id = Reference(required=False, help_text="An existing principal …")
    name = Text(max_length=200, required=False, help_text="… or the name of a new one.")
    kind = OneOf(words=PrincipalKind, required=False, help_text="agent (default) or service.")


class GrantPart(StrictSerializer):
    workarea = Reference()
    capability = OneOf(words=Capability)
    effect = OneOf(words=Effect, required=False)


class IssueKeyShape(StrictSerializer):
    principal = PrincipalShape()
    role = OneOf(words=Role)
    grants = Listing(child=GrantPart(), required=False, max_length=100)
    expires_at = Moment(required=False)


class RotateKeyShape(StrictSerializer):
    key = Reference()
    overlap_s = Whole(required=False, help_text="Seconds for which the old secret still works; 0 when left out.")


class RevokeKeyShape(StrictSerializer):
    key = Reference()
    reason = Text(max_length=_REASON, min_length=0, required=False)


class RemovePrincipalShape(StrictSerializer):
    principal = Reference()
    reason = Text(max_length=_REASON, help_text="Why; kept in words beside the journal.")


class SpaceRoleNamedShape(StrictSerializer):
    workarea = Reference()
    principal = Reference()


class SpaceRoleShape(SpaceRoleNamedShape):
    role = OneOf(words=SpaceRole, help_text="Replaces the role that the human had in this space.")


class GrantShape(GrantPart):
    key = Reference()
    reason = Text(max_length=_REASON, min_length=0, required=False)


class GrantNamedShape(StrictSerializer):
    grant = Reference()


class ExplainShape(StrictSerializer):
    key = Reference()
    verb = Text(max_length=64)
    workarea = Reference()


class BanShape(StrictSerializer):
    kind = OneOf(words=BanKind)
    value = Text(max_length=128)
    reason = Text(max_length=_REASON, min_length=0, required=False)


class BanNamedShape(StrictSerializer):
    ban = Reference()


class SimulationShape(StrictSerializer):
    name = Text(max_length=200)
    audience = Listing(child=Reference(), max_length=1000, help_text="Key ids.")


class AudienceShape(StrictSerializer):
    simulation = Reference()
    add = Listing(child=Reference(), required=False, max_length=1000)
    remove = Listing(child=Reference(), required=False, max_length=1000)


class SimulationNamedShape(StrictSerializer):
    simulation = Reference()
