"""Products of word vectors that are computed from tokens, and the memory that words take."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from cognigraph.embed import WordLlamaEmbedder
from cognigraph.embed.word_vectors import WordTokens, WordVectors, token_means

WORDS = ["boat", "", "harbourmaster", "犬", "fjord", "<s>", "x" * 70, "boat"]
WITHOUT = 3


def test_products_are_those_of_the_unit_vectors_of_words():
    tokens = WordTokens(WITHOUT)
    tokens.append(WORDS[:2])
    tokens.append([])
    tokens.append(WORDS[2:])
    assert len(tokens) == WITHOUT + len(WORDS)
    vectors = np.concatenate([np.zeros((WITHOUT, 256)), WordLlamaEmbedder().embed(WORDS)])
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    some = np.array([4, 0, 7, 5, 3, 10, 9, 8, 6])
    assert np.allclose(tokens.vectors(some), vectors[some], atol=1e-6)
    asked = np.asarray(vectors[[3, 7]], np.float32)
    assert np.allclose(tokens.products(some, asked), vectors[some] @ asked.T, atol=1e-6)
    assert not tokens.products(np.array([0, 4]), asked).any()  # words without tokens


@pytest.mark.slow
def test_a_word_of_the_vocabulary_takes_less_than_half_the_memory_of_its_vector():
    made = [f"{first}{second}{third}ng" for first in "abcdefghij" for second in "aeiou"
            for third in "bcdfghjklmnpqrstvwxz"]  # fmt: skip
    vectors = WordVectors()
    vectors.best_matches(["boat"], vectors.read(["a boat"]))  # loads the model
    remembered = token_means()._of_word.cache_info()
    said = vectors.read([" ".join(made)])
    tracemalloc.start()
    try:
        assert vectors.best_matches(["boat"], said).shape == (1, 1)
        vector = np.dtype(np.float32).itemsize * WordLlamaEmbedder.dimension
        assert tracemalloc.get_traced_memory()[0] / len(made) < vector / 2
    finally:
        tracemalloc.stop()
    assert token_means()._of_word.cache_info() == remembered  # their tokens are not kept twice
