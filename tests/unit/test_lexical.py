"""Lexical analysis: one way from text to terms, in any script."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from cognigraph.text.terms import STOP_WORDS, fold, query_terms, term_counts, terms, words
from tests.cases import each


@each(
    ("text", "expected"),
    [
        ("Ann's dog isn't here", "ann dog isnt here"),
        ("ANN’S", "ann"),
        ("boys' toys", "boys toys"),
        ("Straße ﬁne Ｏｓｌｏ", "strasse fine oslo"),
        ("İstanbul", "i\u0307stanbul"),
    ],
)
def test_folding(text, expected):
    assert fold(text) == expected


@each(
    ("text", "expected"),
    [
        ("Hello, World! 42 x_y", ["hello", "world", "42", "x_y"]),
        ("e-mail@example.org", ["e", "mail", "example", "org"]),
        ("東京都", ["東京", "京都"]),
        ("猫", ["猫"]),
        ("私はPythonが好き", ["私は", "python", "が好", "好き"]),
        ("สวัสดี", ["สว", "วั", "ัส", "สด", "ดี"]),
        ("한국어 좋아", ["한국어", "좋아"]),
        ("Привет, мир", ["привет", "мир"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        ("cafe\u0301", ["café"]),
        ("हिन्दी नमस्ते", ["हिन्दी", "नमस्ते"]),  # vowel signs are marks, not letters
        ("தமிழ்", ["தமிழ்"]),
        ("שָׁלוֹם", ["שָׁלוֹם"]),
        ("🙂 !?", []),
        ("", []),
    ],
)
def test_words(text, expected):
    assert words(text) == [fold(word) for word in expected]


def test_terms_are_stemmed_and_keep_repetitions():
    assert terms("Running runs ran run") == ["run", "run", "ran", "run"]
    assert term_counts("cats and a cat") == Counter({"cat": 2, "and": 1, "a": 1})


def test_a_form_of_a_word_finds_its_other_forms():
    for left, right in [("moved", "moving"), ("Ann's", "Ann"), ("PAINTINGS", "painting"),
                        ("Bücher", "bücher")]:  # fmt: skip
        assert terms(left) == terms(right)


def test_terms_are_bounded():
    assert [len(term) for term in terms("x" * 1000)] == [64]


def test_a_query_leaves_stop_words_out_unless_there_is_nothing_else():
    assert query_terms("Where did Ann move to, and Ann's dog?") == ("ann", "move", "dog")
    assert query_terms("who are you") == ("who", "are", "you")
    assert query_terms("?!") == ()


def test_stop_words_are_in_the_form_they_are_compared_in():
    assert all(words(word) == [word] for word in STOP_WORDS)


@pytest.mark.slow
def test_stemming_is_thread_safe():
    vocabulary = [f"walking{n} dancers{n} relations{n}" for n in range(300)]
    alone = [terms(text) for text in vocabulary]
    from cognigraph.text.terms import stem

    stem.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(terms, vocabulary * 3))
    assert together == alone * 3
