"""Move a node with its subtree under a new parent, in one transaction; or say beforehand whose access changes.

Grants stay bound to node ids; what changes is which ancestors they are inherited from. Paths are derived, so they
are rewritten; the permission epoch rises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.db import connection
from django.db.models import QuerySet

from oml.core.actor import Actor
from oml.core.errors import Validation
from oml.journal.append import append, hold, journalled
from workareas import access, reasons
from workareas.actions.nodes import LONGEST_PATH
from workareas.errors import Frozen
from workareas.events import WorkareaReassigned
from workareas.ladder import Status, is_frozen
from workareas.models import Workarea
from workareas.rules import Rule, capabilities, within
from workareas.verbs import Capability, Verb

_MOVE = """
UPDATE workareas_workarea SET path = %s || substr(path, %s)
WHERE tenant_id = %s AND (path = %s OR path LIKE %s)
"""
MAX_REPORTED = 500


@dataclass(frozen=True, slots=True)
class AccessChange:
    """One key at one node: what it would gain and lose."""

    key_id: str
    workarea: str
    path: str
    gained: tuple[str, ...]
    lost: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """A move, done or foreseen."""

    node: Workarea
    old_path: str
    new_path: str
    nodes: int
    changes: tuple[AccessChange, ...]
    truncated: bool


#: ``(tenant_id, old_path, new_path, waiting)``.
Hook = Callable[[str, str, str, bool], None]
_after_move: list[Hook] = []


def on_move(hook: Hook) -> Hook:
    """Register work of a room above that keeps derived paths of its own.

    It is called twice: first waiting for whoever holds a row, then, with the journal's head held, for the rows that
    came meanwhile and without waiting: who holds one now waits for the head, and decides again after the move.
    """
    _after_move.append(hook)
    return hook


@journalled
def reassign(actor: Actor, *, workarea: str, parent: str, reason: str | None = None, dry_run: bool = False) -> Move:
    """Move ``workarea`` under ``parent``.

    Args:
        actor: an admin of the node and of the new parent.
        workarea: id or path of what moves.
        parent: id or path of where to.
        reason: kept in words beside the journal.
        dry_run: change nothing, only report whose access would change.

    Raises:
        AccessNotFound, AccessForbidden, VerbCeiling: see :func:`workareas.access.require`.
        Validation: ``request.validation``; the root, into itself, to where it is, or the leaf is taken there.
        Frozen: ``workarea.frozen``; the node, a descendant or the new parent is validated.
    """
    known = access.load(actor)
    node = access.require_node(known.decide(Verb.REASSIGN, access.find(actor, workarea), workarea))
    above = access.require_node(known.decide(Verb.REASSIGN, access.find(actor, parent), parent))
    subtree = _locked_subtree(actor.tenant_id, node)
    _check(node, above, subtree)
    old_path, new_path = node.path, f"{above.path}.{node.leaf}"
    changes = _access_changes(actor.tenant_id, subtree, old_path, new_path)
    shown = tuple(changes[:MAX_REPORTED])
    move = Move(node, old_path, new_path, len(subtree), shown, truncated=len(changes) > MAX_REPORTED)
    if dry_run:
        return move
    old_parent = node.parent_id
    node.parent, node.path = above, new_path
    node.save(update_fields=["parent"])
    for hook in _after_move:
        hook(actor.tenant_id, old_path, new_path, True)
    hold(actor)  # what was added under the node meanwhile is there by now, and nothing more is until this is done
    with connection.cursor() as cursor:
        cursor.execute(_MOVE, [new_path, len(old_path) + 1, actor.tenant_id, old_path, _like(old_path)])
    for hook in _after_move:
        hook(actor.tenant_id, old_path, new_path, False)
    words = reasons.keep(actor, subject_id=node.pk, act="reassign", text=reason)
    moved = WorkareaReassigned(
        workarea_id=node.pk,
        workarea=node.pk,
        old_parent=str(old_parent),
        new_parent=above.pk,
        reason_commitment=words,
    )
    append(actor, [moved], epoch=known.epoch, raise_epoch=True)
    return move


def _locked_subtree(tenant_id: str, node: Workarea) -> list[Workarea]:
    rows: QuerySet[Workarea] = Workarea.objects.select_for_update(no_key=True).filter(
        access.Scope((node.path,), ()).predicate(), tenant_id=tenant_id
    )
    return list(rows.order_by("path"))


def _check(node: Workarea, above: Workarea, subtree: Sequence[Workarea]) -> None:
    if node.is_root:
        raise Validation("the root stays where it is", param="workarea")
    if within(above.path, node.path):
        raise Validation("a workarea cannot move into its own subtree", param="parent")
    if node.parent_id == above.pk:
        raise Validation("the workarea is there already", param="parent")
    for one in (*subtree, above):
        if is_frozen(Status(one.status)):
            raise Frozen(one.pk)
    if max(len(one.path) for one in subtree) - len(node.path) + len(above.path) + len(node.leaf) >= LONGEST_PATH:
        raise Validation(f"a path would be longer than {LONGEST_PATH} characters", param="parent")
    if Workarea.objects.filter(parent=above, leaf=node.leaf).exists():
        raise Validation(f"the new parent has a child called {node.leaf} already", param="parent")


def _access_changes(tenant_id: str, subtree: list[Workarea], old_path: str, new_path: str) -> list[AccessChange]:
    """Compare every live key's effective capabilities at every node of the subtree, before and after."""
    changes = []
    for key_id, (role, mine) in sorted(access.live_rules(tenant_id).items()):
        if _inherited(mine, old_path) == _inherited(mine, new_path):
            continue  # rules inside the subtree move with it; only what comes from above can change
        moved = [_moved(rule, old_path, new_path) for rule in mine]
        for node in subtree:
            before = capabilities(mine, role, node.path)
            after = capabilities(moved, role, new_path + node.path[len(old_path) :])
            if before != after:
                gained, lost = tuple(sorted(after - before)), tuple(sorted(before - after))
                changes.append(AccessChange(key_id, node.pk, node.path, gained, lost))
    return changes


def _inherited(rules: list[Rule], path: str) -> set[tuple[Capability, bool]]:
    parent = path.rpartition(".")[0]
    return {(rule.capability, rule.allow) for rule in rules if rule.covers(parent)}


def _moved(rule: Rule, old_path: str, new_path: str) -> Rule:
    if not within(rule.path, old_path):
        return rule
    return Rule(new_path + rule.path[len(old_path) :], rule.capability, rule.allow, rule.source)


def _like(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"{escaped}.%"
