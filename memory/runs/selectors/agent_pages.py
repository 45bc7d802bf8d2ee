"""What the agents' pages show a signed-in human: which agents ran where they may inspect, and the memory of one.

The routes' own selector says which rows somebody sees; this adds names and pages. What must never happen here: a row
that the routes would not list, or one that is shown and not logged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Max

from memory.runs.errors import PersistenceForbidden, StateRowNotFound
from memory.runs.inspecting import Asked, Place
from memory.runs.kept import Kept
from memory.runs.models import AgentMemory, Run
from memory.runs.rules import RuntimeTool, Scope
from memory.runs.selectors.persistence import log_look, memories, open_state, seen, slots
from oml.core.actor import Actor
from oml.core.errors import Validation
from workareas import access
from workareas.models import Principal
from workareas.space_roles import Persistence

PER_PAGE = 50
ALL, SHARED, MINE = "all", "shared", "mine"


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list.

    Attributes:
        number: from 1.
        total: of the rows of all pages.
    """

    rows: list[Any]
    number: int
    total: int

    @property
    def last(self) -> int:
        return max(1, -(-self.total // PER_PAGE))


def inspected_agents(actor: Actor, *, page: int = 1) -> Page:
    """The agents that ran in spaces where the human may inspect state, by name and space.

    Raises:
        OperatorCeiling: ``access.verb_ceiling``; operators know no agent state (D9).
        PersistenceForbidden: ``access.forbidden``; there is no such space.
        Validation: ``request.validation``; there is no such page.
    """
    access.require_content_role(actor, "operators know no agent state")
    scope = access.load(actor).persistence_scope(Persistence.READ)
    if not scope.allow:
        raise PersistenceForbidden.nowhere()
    pairs = (
        Run.objects.filter(scope.predicate("space__path"), tenant_id=actor.tenant_id)
        .values("agent__scope", "agent__name", "space_id", "space__path")
        .annotate(runs=Count("pk"), last_run=Max("started_at"))
        .order_by("agent__scope", "agent__name", "space__path")
    )
    return _cut(list(pairs), page)


def agent_page(actor: Actor, *, agent: str, space: str) -> dict[str, Any]:
    """An agent as it is registered, for whoever may inspect it in a space.

    Raises:
        see :func:`memory.runs.selectors.persistence.open_state`.
    """
    opened = open_state(actor, _place(actor, agent, space), need=Persistence.READ)
    ran = Run.objects.filter(agent=opened.agent, space=opened.space)
    return {
        "agent": opened.agent,
        "space": opened.space,
        "tools": [tool for tool in RuntimeTool if tool in opened.agent.runtime_tools],
        "may_delete": opened.may_delete,
        **ran.aggregate(runs=Count("pk"), last_run=Max("started_at")),
    }


def memory_tab(actor: Actor, *, agent: str, space: str, show: str = ALL, page: int = 1) -> dict[str, Any]:
    """Slots and notes of an agent in a space: one page of them, slots first.

    Args:
        show: ``all``, ``shared``, ``mine``, or the id of another actor, for whoever may delete.

    Returns:
        ``opened``, ``page``, ``slots`` and ``notes`` of it, ``names`` of their actors, and ``actors`` to choose from.

    Raises:
        see :func:`memory.runs.selectors.persistence.persistence`; Validation: there is no such page.
    """
    opened = open_state(actor, _place(actor, agent, space), need=Persistence.READ)
    one_actor = show not in (ALL, SHARED, MINE)
    asked = Asked(actor_type="actor", actor_id=show) if one_actor else Asked()
    rows = seen(actor, opened, asked)
    if one_actor and opened.may_delete:
        rows = [row for row in rows if row.actor_id == show]
    elif show in (SHARED, MINE):
        rows = [row for row in rows if _is_shown(row, actor, show)]
    cut = _cut([*slots(rows), *reversed(memories(rows))], page)
    log_look(actor, opened, cut.rows)
    return {
        "opened": opened,
        "page": cut,
        "slots": [row for row in cut.rows if row.key is not None],
        "notes": [row for row in cut.rows if row.key is None],
        "names": _names(row.actor_id for row in cut.rows if row.actor_id is not None),
        "actors": _actors(opened.agent.pk, opened.space.pk, but=actor.principal_id) if opened.may_delete else [],
    }


def one_row(actor: Actor, *, agent: str, space: str, row: int) -> Kept:
    """One row as its page of confirmation shows it, for whoever may delete it.

    Raises:
        see :func:`memory.runs.selectors.persistence.open_state`; PersistenceForbidden: may not delete;
        StateRowNotFound: ``access.not_found``.
    """
    opened = open_state(actor, _place(actor, agent, space), need=Persistence.DELETE)
    owner = AgentMemory.objects.filter(pk=row, agent=opened.agent, space=opened.space).values_list("actor_id").first()
    asked = Asked(actor_type="actor", actor_id=owner[0]) if owner and owner[0] else Asked()
    found = [one for one in seen(actor, opened, asked) if one.id == row]
    if not found:
        raise StateRowNotFound("row", str(row))
    log_look(actor, opened, found[:1])
    return found[0]


def _is_shown(row: Kept, actor: Actor, show: str) -> bool:
    return row.scope is Scope.SHARED if show == SHARED else row.actor_id == actor.principal_id


def _place(actor: Actor, agent: str, space: str) -> Place:
    return Place(org=actor.tenant_id, space=space, agent=agent)


def _cut(rows: list[Any], page: int) -> Page:
    cut = Page(rows[(page - 1) * PER_PAGE : page * PER_PAGE], page, len(rows))
    if not 1 <= page <= cut.last:
        raise Validation(f"there are {cut.last} pages", param="page")
    return cut


def _names(principals: Any) -> dict[str, str]:
    return dict(Principal.objects.filter(pk__in=set(principals)).values_list("pk", "name"))


def _actors(agent: str, space: str, *, but: str) -> list[tuple[str, str]]:
    rows = AgentMemory.objects.filter(agent_id=agent, space_id=space, scope=Scope.ACTOR).exclude(actor_id=but)
    return list(rows.values_list("actor_id", "actor__name").distinct().order_by("actor__name", "actor_id"))
