"""What turns texts into vectors, behind one small interface; which one is a setting (``OML_EMBEDDER``).

One instance per process, made on first use: loading a model costs memory and half a second, and a process that never
embeds must not pay. What must never happen here: vectors of two models compared; every vector carries ``model_id``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

#: Width of the vector columns; an embedder with another width cannot be configured.
DIMENSIONS = 384


class EmbedderUnavailable(Exception):
    """The embedder cannot answer now; recall goes on with words alone and says so."""


class Embedder(Protocol):
    """Deterministic: the same text gives the same vector, alone or in a batch (up to the last bits of a float)."""

    model_id: str

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, one row a text, in order.

        Args:
            texts: each short enough for the model's window; see :meth:`windows`.

        Raises:
            EmbedderUnavailable: nothing can be embedded at the moment.
        """
        ...

    def windows(self, text: str) -> list[str]:
        """The text in overlapping pieces that the model sees whole; one piece where the text fits."""
        ...

    def knows(self, text: str) -> float:
        """How far the model understands the text's script, 0 to 1: its vector counts that much."""
        ...


_makers: dict[str, Callable[[], Embedder]] = {}
_made: dict[str, Embedder] = {}
_lock = threading.Lock()


def embedder(name: str) -> Embedder:
    """The process's instance of a named embedder.

    Raises:
        KeyError: no embedder of that name.
        EmbedderUnavailable: it cannot be loaded.
    """
    with _lock:
        if name not in _made:
            _made[name] = _makers[name]()
        return _made[name]


def substitute(name: str, instance: Embedder | None) -> None:
    """Put an instance in the place of the named one, or take it away again; benches and tests do."""
    with _lock:
        _made.pop(name, None)
        if instance is not None:
            _made[name] = instance


def _minilm() -> Embedder:
    from memory.recall.embedders.minilm import MiniLM

    return MiniLM()


_makers["minilm"] = _minilm
