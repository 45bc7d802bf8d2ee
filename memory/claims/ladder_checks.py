"""What a status step must find: the claims' side of the ladder (D8), hooked into ``workareas``.

To committed: no held item and no promoted self-signed one remains unreviewed. To validated: nothing is held.
"""

from __future__ import annotations

from memory.claims.models import Artifact
from memory.claims.states import State
from workareas.actions.nodes import on_status_step
from workareas.errors import Unreviewed
from workareas.ladder import Status
from workareas.models import Workarea
from workareas.selectors.fences import still_open


@on_status_step
def nothing_unreviewed(node: Workarea, after: Status) -> None:
    """Refuse the step while unreviewed content remains on the node.

    What a closed simulation left behind is served to nobody and can be judged by nobody, so it holds nothing up (D10).

    Raises:
        Unreviewed: ``workarea.unreviewed``, with the counts.
    """
    rows = Artifact.objects.filter(still_open(), workarea=node)
    held = rows.filter(state=State.HELD).count()
    self_signed = rows.filter(state=State.PROMOTED, self_signed=True).count() if after is Status.COMMITTED else 0
    if held or self_signed:
        raise Unreviewed(
            f"workarea {node.pk} cannot become {after}: {held} held and {self_signed} self-signed claims await review"
        )
