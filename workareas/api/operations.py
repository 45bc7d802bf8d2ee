"""Operations of who and where on ``/v1``: administration, never on the MCP surface (R1)."""

from __future__ import annotations

from typing import Any

from oml.core.actor import Actor, Role
from oml.core.clock import rfc3339_seconds
from oml.core.errors import Validation
from oml.http.operations import Operation
from workareas.actions import bans as ban_actions
from workareas.actions import keys as key_actions
from workareas.actions import nodes, simulations
from workareas.actions.keys import GrantSpec, NewPrincipal
from workareas.actions.nodes import Crew
from workareas.actions.reassign import Move, reassign
from workareas.actions.removal import remove_principal
from workareas.actions.space_roles import set_space_role
from workareas.api import shapes
from workareas.rules import Rule
from workareas.selectors.bans import bans as all_bans
from workareas.selectors.explain import explain_access
from workareas.selectors.journal import deployment_keys as keys_of_deployment
from workareas.selectors.keys import keys as all_keys
from workareas.selectors.nodes import node_outline
from workareas.selectors.policies import effective_policy
from workareas.selectors.simulations import simulation_body
from workareas.space_roles import SpaceRole
from workareas.verbs import Capability, Verb
from workareas.words import Effect, PrincipalKind


def _object(**members: str) -> dict[str, Any]:
    types: dict[str, Any] = {
        "str": {"type": "string"},
        "int": {"type": "integer"},
        "bool": {"type": "boolean"},
        "list": {"type": "array"},
        "object": {"type": "object"},
        "str?": {"type": ["string", "null"]},
        "object?": {"type": ["object", "null"]},
    }
    return {
        "type": "object",
        "required": list(members),
        "properties": {name: types[kind] for name, kind in members.items()},
    }


def _create_workarea(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    crew = Crew(**values["crew"]) if "crew" in values else None
    return node_outline(nodes.create_workarea(actor, parent=values["parent"], leaf=values["leaf"], crew=crew))


def _advance_status(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    return node_outline(
        nodes.advance_status(actor, workarea=values["workarea"], status=values["status"], reason=values.get("reason"))
    )


def _reassign(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    move = reassign(actor, **values)
    return _move(move, dry_run=values.get("dry_run", False))


def _move(move: Move, *, dry_run: bool) -> dict[str, Any]:
    return {
        "workarea": move.node.pk,
        "old_path": move.old_path,
        "new_path": move.new_path,
        "nodes": move.nodes,
        "dry_run": dry_run,
        "access_changes": [
            {
                "key": change.key_id,
                "workarea": change.workarea,
                "path": change.path,
                "gained": list(change.gained),
                "lost": list(change.lost),
            }
            for change in move.changes
        ],
        "access_changes_truncated": move.truncated,
    }


def _update_crew(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    workarea = values.pop("workarea")
    return node_outline(nodes.update_crew(actor, workarea=workarea, crew=Crew(**values)))


def _set_policy(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    workarea = values.pop("workarea")
    row = nodes.set_policy(actor, workarea=workarea, settings=values)
    return {"workarea": row.workarea_id, "effective": effective_policy(row.workarea).as_dict()}


def _issue_key(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    asked = values["principal"]
    if ("id" in asked) == ("name" in asked):
        raise Validation("principal is either an id, or the name of a new one", param="principal")
    kind = PrincipalKind(asked.get("kind", PrincipalKind.AGENT))
    issued = key_actions.issue_key(
        actor,
        principal=asked["id"] if "id" in asked else NewPrincipal(asked["name"], kind),
        role=Role(values["role"]),
        grants=[_spec(part) for part in values.get("grants", ())],
        expires_at=values.get("expires_at"),
    )
    return {"key_id": issued.key.pk, "principal": issued.key.principal_id, "secret": issued.secret}


def _spec(part: dict[str, Any]) -> GrantSpec:
    return GrantSpec(part["workarea"], Capability(part["capability"]), Effect(part.get("effect", Effect.ALLOW)))


def _list_keys(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    return all_keys(actor, **values)


def _rotate_key(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    issued = key_actions.rotate_key(actor, **values)
    until = issued.key.previous_expires_at
    return {
        "key_id": issued.key.pk,
        "secret": issued.secret,
        "previous_expires_at": rfc3339_seconds(until) if until else None,
    }


def _revoke_key(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    key = key_actions.revoke_key(actor, key=values["key"], reason=values.get("reason"))
    assert key.revoked_at is not None  # what the action has just seen to
    return {"key_id": key.pk, "revoked_at": rfc3339_seconds(key.revoked_at)}


def _add_grant(actor: Actor, values: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    grant, created = key_actions.get_or_add_grant(
        actor, key=values["key"], spec=_spec(values), reason=values.get("reason")
    )
    body = {
        "grant_id": grant.pk,
        "key": grant.key_id,
        "workarea": grant.workarea_id,
        "capability": str(grant.capability),
        "effect": str(grant.effect),
    }
    return body, created


def _remove_grant(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    key_actions.remove_grant(actor, grant=values["grant"])
    return {"grant_id": values["grant"], "removed": True}


def _remove_principal(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    done = remove_principal(actor, **values)
    return {"principal": done.principal.pk, "removed": True, "keys_revoked": list(done.keys_revoked)}


def _space_role(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    role = SpaceRole(values["role"]) if "role" in values else None
    node, given = set_space_role(actor, principal=values["principal"], workarea=values["workarea"], role=role)
    return {
        "principal": values["principal"],
        "workarea": node.pk,
        "role": role,
        "permissions": sorted(permission.spoken for permission in given),
    }


def _explain(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    verb = values["verb"]
    if verb not in list(Verb):
        raise Validation(f"verb is one of {', '.join(Verb)}", param="verb")
    found = explain_access(actor, key=values["key"], verb=Verb(verb), workarea=values["workarea"])
    decision = found.decision
    return {
        "key": found.key.pk,
        "role": found.key.role,
        "verb": verb,
        "workarea": values["workarea"],
        "capability": str(found.capability),
        "allowed": decision.allowed and not found.key_problem,
        "code": decision.code or None,
        "rule": decision.rule or None,
        "key_problem": found.key_problem or None,
        "because": [_rule(rule) for rule in decision.because],
        "blocked_by": [_rule(rule) for rule in decision.blocked_by],
        "permission_epoch": decision.epoch,
    }


def _rule(rule: Rule) -> dict[str, str]:
    return {
        "path": rule.path,
        "capability": str(rule.capability),
        "effect": "allow" if rule.allow else "deny",
        "source": rule.source,
    }


def _add_ban(actor: Actor, values: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    ban, created = ban_actions.get_or_add_ban(
        actor, kind=values["kind"], value=values["value"], reason=values.get("reason")
    )
    return {"ban_id": ban.pk, "kind": str(ban.kind), "value": ban.value}, created


def _list_bans(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    return all_bans(actor, **values)


def _remove_ban(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    ban_actions.remove_ban(actor, ban=values["ban"])
    return {"ban_id": values["ban"], "removed": True}


def _create_simulation(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    return simulation_body(simulations.create_simulation(actor, **values))


def _change_audience(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    return simulation_body(simulations.change_audience(actor, **values))


def _close_simulation(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    return simulation_body(simulations.close_simulation(actor, **values))


def _deployment_keys(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    return {"items": keys_of_deployment(actor), "next_cursor": None}


_NODE = _object(id="str", path="str", status="str", crew="object?", parent="str?")
_LIST = _object(items="list", next_cursor="str?")
_SIMULATION = _object(simulation_id="str", name="str", audience="list", closed_at="str?")

create_workarea = Operation(
    "workarea_create", shapes.CreateWorkareaShape, _create_workarea, _NODE, True, "Create a workarea"
)
advance_status = Operation(
    "workarea_status", shapes.StatusShape, _advance_status, _NODE, summary="Move a workarea up the status ladder"
)
move_workarea = Operation(
    "workarea_reassign",
    shapes.ReassignShape,
    _reassign,
    _object(
        workarea="str",
        old_path="str",
        new_path="str",
        nodes="int",
        dry_run="bool",
        access_changes="list",
        access_changes_truncated="bool",
    ),
    summary="Move a workarea with its subtree, or see beforehand whose access changes",
)
update_crew = Operation(
    "workarea_crew", shapes.CrewUpdateShape, _update_crew, _NODE, summary="Record who works in a workarea"
)
set_policy = Operation(
    "workarea_policy",
    shapes.PolicyShape,
    _set_policy,
    _object(workarea="str", effective="object"),
    summary="Set a workarea's review policy; what is left out stays as it is",
)
issue_key = Operation(
    "key_issue",
    shapes.IssueKeyShape,
    _issue_key,
    _object(key_id="str", principal="str", secret="str"),  # noqa: S106  (a type, not a secret)
    True,
    "Issue a key; its secret is in this answer and nowhere else",
)
list_keys = Operation("key_list", shapes.PageShape, _list_keys, _LIST, summary="Keys of the tenant, newest first")
rotate_key = Operation(
    "key_rotate",
    shapes.RotateKeyShape,
    _rotate_key,
    _object(key_id="str", secret="str", previous_expires_at="str?"),  # noqa: S106
    summary="Give a key a new secret, with an optional overlap",
)
revoke_key = Operation(
    "key_revoke",
    shapes.RevokeKeyShape,
    _revoke_key,
    _object(key_id="str", revoked_at="str"),
    summary="Revoke a key at once",
)
take_out_principal = Operation(
    "principal_remove",
    shapes.RemovePrincipalShape,
    _remove_principal,
    _object(principal="str", removed="bool", keys_revoked="list"),
    summary="Remove an actor: its keys are revoked and its private state is destroyed",
)
_SPACE_ROLE = _object(principal="str", workarea="str", role="str?", permissions="list")
set_role = Operation(
    "space_role_set",
    shapes.SpaceRoleShape,
    _space_role,
    _SPACE_ROLE,
    summary="Give a human a preset role in a space: who may inspect and delete agent state",
)
unset_role = Operation(
    "space_role_unset",
    shapes.SpaceRoleNamedShape,
    _space_role,
    _SPACE_ROLE,
    summary="Take a human's role in a space away",
)
add_grant = Operation(
    "grant_add",
    shapes.GrantShape,
    _add_grant,
    _object(grant_id="str", key="str", workarea="str", capability="str", effect="str"),
    True,
    "Allow or deny a key a capability over a subtree; deny wins",
)
remove_grant = Operation(
    "grant_remove",
    shapes.GrantNamedShape,
    _remove_grant,
    _object(grant_id="str", removed="bool"),
    summary="Take a grant back",
)
explain = Operation(
    "access_explain",
    shapes.ExplainShape,
    _explain,
    _object(
        key="str",
        role="str",
        verb="str",
        workarea="str",
        capability="str",
        key_problem="str?",
        allowed="bool",
        code="str?",
        rule="str?",
        because="list",
        blocked_by="list",
        permission_epoch="int",
    ),
    summary="Why a key may or may not use a verb at a workarea",
)
add_ban = Operation(
    "ban_add",
    shapes.BanShape,
    _add_ban,
    _object(ban_id="str", kind="str", value="str"),
    True,
    "Ban an author or a source",
)
list_bans = Operation("ban_list", shapes.PageShape, _list_bans, _LIST, summary="Bans of the tenant")
remove_ban = Operation(
    "ban_remove", shapes.BanNamedShape, _remove_ban, _object(ban_id="str", removed="bool"), summary="Lift a ban"
)
create_simulation = Operation(
    "simulation_create", shapes.SimulationShape, _create_simulation, _SIMULATION, True, "Open a simulation"
)
change_audience = Operation(
    "simulation_audience", shapes.AudienceShape, _change_audience, _SIMULATION, summary="Change a simulation's audience"
)
close_simulation = Operation(
    "simulation_close",
    shapes.SimulationNamedShape,
    _close_simulation,
    _SIMULATION,
    summary="Close a simulation for good",
)
deployment_keys = Operation(
    "deployment_keys",
    shapes.NothingShape,
    _deployment_keys,
    _LIST,
    summary="Public keys that envelopes, verdicts, bundles and checkpoints are verified with",
)
