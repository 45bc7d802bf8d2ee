"""What an act would do, shown before it is done, and bound to the confirmation that follows.

Whoever confirms has seen exactly this: when the same look gives something else by then, it is shown again instead of
done. What must never happen here: a rule; a look comes whole from the room that would act.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass

#: The hidden field that names what was seen.
SEEN = "seen"
#: The button that leads back to the form.
AGAIN = "again"


@dataclass(frozen=True, slots=True)
class Foresight:
    """The effect of an act, as a page prints it.

    Attributes:
        sentence: the effect in one sentence.
        facts: name and value, each a line.
        columns: headings of ``rows``.
        rows: one line per change.
        none: what to say where there is no row.
        more: what to say where rows were left out.
    """

    sentence: str
    facts: tuple[tuple[str, str], ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    none: str = ""
    more: str = ""

    @property
    def digest(self) -> str:
        """Names this look; another effect has another name."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()
