"""BM25 against a textbook computation, term by term."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from cognigraph.text.terms import query_terms, terms
from cognigraph.text.word_book import K1, B, Lexicon, bm25, idf
from tests.cases import each

TEXTS = [
    "The cat sat on the mat.",
    "A dog chased the cat, the cat ran, and the cat hid.",
    "Dogs and cats living together",
    "Nothing of the kind happened here at all, said the old man to his neighbour.",
    "mat",
]


def textbook(query: str) -> list[float]:
    """Sum over the query's terms of idf x tf (k1 + 1) / (tf + k1 (1 - b + b dl / avdl))."""
    bags = [Counter(terms(text)) for text in TEXTS]
    lengths = [sum(bag.values()) for bag in bags]
    average = sum(lengths) / len(lengths)
    scores = []
    for bag, length in zip(bags, lengths, strict=True):
        score = 0.0
        for term in query_terms(query):
            df = sum(term in other for other in bags)
            weight = math.log(1 + (len(bags) - df + 0.5) / (df + 0.5))
            norm = K1 * (1 - B + B * length / average)
            score += weight * bag[term] * (K1 + 1) / (bag[term] + norm)
        scores.append(score)
    return scores


@each("query", ["cat", "cat mat", "Where did the old dog live?", "zebra"])
def test_scores_equal_the_textbook_formula(query):
    asked = query_terms(query)
    bags = [Counter(terms(text)) for text in TEXTS]
    length = np.array([sum(bag.values()) for bag in bags], float)
    matches = np.array([[bag[term] for term in asked] for bag in bags], float)
    frequencies = {term: sum(term in bag for bag in bags) for term in asked}
    lexicon = Lexicon(len(TEXTS), float(length.mean()), frequencies)
    found = bm25(matches, length, idf(lexicon, asked), lexicon.mean_length)
    assert found.tolist() == pytest.approx(textbook(query))


def test_a_term_that_is_everywhere_still_counts_a_little():
    assert idf(Lexicon(10, 5.0, {"a": 10}), ("a",))[0] == pytest.approx(math.log1p(0.5 / 10.5))
    assert idf(Lexicon(10, 5.0, {"a": 10}), ("a",))[0] > 0


def test_rarer_terms_weigh_more():
    lexicon = Lexicon(100, 5.0, {"rare": 1, "common": 60})
    rare, common, unknown = idf(lexicon, ("rare", "common", "unknown"))
    assert unknown > rare > common > 0


def test_the_effect_of_repetition_saturates():
    length, weight = np.full(4, 10.0), np.ones(1)
    scores = bm25(np.array([[0.0], [1.0], [2.0], [50.0]]), length, weight, 10.0)
    assert scores[0] == 0.0
    assert scores[1] == pytest.approx(1.0)
    assert scores[1] < scores[2] < scores[3] < K1 + 1


def test_without_terms_or_texts():
    assert bm25(np.empty((3, 0)), np.ones(3), np.empty(0), 1.0).tolist() == [0, 0, 0]
    assert bm25(np.empty((0, 2)), np.empty(0), np.ones(2), 0.0).tolist() == []
    assert idf(Lexicon(0, 0.0, {}), ("a",))[0] > 0
    assert idf(Lexicon(0, 0.0, {}), ()).tolist() == []
