"""What can go wrong with the journal itself."""

from __future__ import annotations

from oml.core.errors import Unavailable


class JournalContradicted(Unavailable):
    """The journal is not the one that an earlier checkpoint was signed for: it shrank, or it was rewritten.

    The wire says ``internal.unavailable``; ``str()`` is the sentence for whoever runs the deployment. Nothing is
    signed until a person has looked (docs/operations/checkpoints-and-evidence.md).
    """

    def __init__(self, detail: str) -> None:
        super().__init__()
        self.detail = detail

    def __str__(self) -> str:
        return self.detail
