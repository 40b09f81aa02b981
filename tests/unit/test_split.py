"""Splitting: nothing lost, nothing over the limit, cuts where a reader would cut."""

from __future__ import annotations

import time

import pytest

from cognigraph.ingest.insert.split import split


def test_a_text_within_the_limit_is_not_split():
    assert split("short", 100) == ["short"]
    assert split("x" * 100, 100) == ["x" * 100]
    assert split("", 100) == [""]


def test_cuts_fall_after_sentences():
    text = "One two three. Four five six! Seven eight nine? Ten eleven twelve."
    pieces = split(text, 40)
    assert pieces == ["One two three. Four five six! ", "Seven eight nine? Ten eleven twelve."]


def test_quotes_and_brackets_stay_with_their_sentence():
    text = "She said “come here now.” Then she went away and sat down."
    assert split(text, 40)[0] == "She said “come here now.” "


def test_cjk_sentences_need_no_space():
    text = "今日は天気がいい。" * 8
    assert split(text, 20) == ["今日は天気がいい。" * 2] * 4


def test_without_sentences_cuts_fall_between_words():
    pieces = split("word " * 50, 100)
    assert all(piece.endswith(" ") for piece in pieces[:-1])
    assert "".join(pieces) == "word " * 50


def test_without_spaces_cuts_fall_at_the_limit():
    assert [len(piece) for piece in split("x" * 250, 100)] == [100, 100, 50]


def test_a_period_inside_a_number_does_not_end_a_sentence():
    text = "a" * 52 + " 3.14159 " + "b" * 60
    assert split(text, 100)[0].endswith("3.14159 ")


@pytest.mark.parametrize(
    "cluster",
    ["e\u0301\u0323", "👍🏽", "👩\u200d👩\u200d👧", "❤\ufe0f", "1\ufe0f\u20e3", "कि", "நி", "🇳🇴"],
    ids=["accents", "skin", "family", "variation", "keycap", "hindi", "tamil", "flag"],
)
def test_no_cut_inside_a_visible_character(cluster):
    for shift in range(len(cluster)):
        text = "x" * shift + cluster * 60
        pieces = split(text, 100)
        assert "".join(pieces) == text
        rest = pieces[0][shift:]
        assert len(rest) % len(cluster) == 0, f"cut inside {cluster!a}"


def test_an_endless_combining_sequence_is_cut_at_the_limit():
    text = "e" + "\u0301" * 500
    pieces = split(text, 100)
    assert "".join(pieces) == text
    assert max(map(len, pieces)) <= 100


@pytest.mark.parametrize("unit", ["x", "x ", "!", ". ", "e\u0301", "\n", '."', "…”"])
def test_time_is_linear(unit):
    # Linear takes some 50 ms; anything quadratic takes minutes.
    text = unit * (300_000 // len(unit))
    started = time.perf_counter()
    assert "".join(split(text, 1000)) == text
    assert time.perf_counter() - started < 3
