"""An embedder that remembers, for benches alone: a second run measures ranking and not the model again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory.recall.embedders import DIMENSIONS, Embedder, EmbedderUnavailable


class Remembering:
    """Asks the real embedder for what it has not seen, by SHA-256 of the text."""

    def __init__(self, real: Embedder, path: Path) -> None:
        self.real = real
        self.model_id = real.model_id
        self.path = path
        self.asked = 0
        self.known: dict[bytes, NDArray[np.float32]] = {}
        if path.exists():
            with np.load(path) as stored:
                self.known = dict(zip((bytes(key) for key in stored["keys"]), stored["vectors"], strict=True))

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        keys = [hashlib.sha256(text.encode("utf-8", "replace")).digest() for text in texts]
        new = list(dict.fromkeys(key for key in keys if key not in self.known))
        if new:
            by_key = dict(zip(keys, texts, strict=True))
            self.asked += len(new)
            self.known |= dict(zip(new, self.real.embed([by_key[key] for key in new]), strict=True))
        return np.stack([self.known[key] for key in keys]) if keys else np.zeros((0, DIMENSIONS), np.float32)

    def windows(self, text: str) -> list[str]:
        return self.real.windows(text)

    def knows(self, text: str) -> float:
        return self.real.knows(text)

    def save(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        keys = np.array([np.frombuffer(key, np.uint8) for key in self.known])
        np.savez(self.path, keys=keys, vectors=np.stack(list(self.known.values())))


class Away:
    """An embedder that is down: recall must go on with words."""

    model_id = "away"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise EmbedderUnavailable("switched off by the bench")

    def windows(self, text: str) -> list[str]:
        return [text]

    def knows(self, text: str) -> float:
        return 0.0
