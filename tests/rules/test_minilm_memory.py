"""memory/recall/embedders/minilm.py: what a worker holds after long texts is what it held before."""

from __future__ import annotations

import subprocess
import sys

from oml.embedded.supervise import ROOT

# In a process of its own: what this one holds says nothing about a worker.
MEASURE = """
import psutil
from memory.recall.embedders.minilm import MiniLM
model = MiniLM()
model.embed(["A short text."])
before = psutil.Process().memory_info().rss
for words, texts in ((250, 12), (170, 16), (90, 24)):
    model.embed([f"{number} " + "word " * words for number in range(texts)])
print((psutil.Process().memory_info().rss - before) // 2**20)
"""


def test_embed__long_texts_of_several_lengths__memory_does_not_stay() -> None:
    done = subprocess.run([sys.executable, "-c", MEASURE], cwd=ROOT, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 150
