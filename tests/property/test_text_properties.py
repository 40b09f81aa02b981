"""Splitting, folding, analysis and ids keep their guarantees for any text."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from cognigraph import ids
from cognigraph.ingest.pieces import parts, split
from cognigraph.retrieve.question.analyse import analyse
from cognigraph.text import terms as lexical
from cognigraph.text.marks import estimate_tokens
from cognigraph.text.terms import is_question, printable, replace_surrogates
from tests.property.alphabets import ANY_TEXT, STORABLE_TEXT

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)

LONG_TEXT = st.one_of(
    STORABLE_TEXT,
    st.lists(
        st.sampled_from(
            ["word ", "Sentence. ", "東京。", "x", "e\u0301", "👩\u200d👧", "कि", "\n", " ", "?! ",
             "1\ufe0f\u20e3", "\u0301", "🇳🇴", '."', "\r\n"]
        ),
        max_size=120,
    ).map("".join),
)  # fmt: skip
LIMITS = st.integers(10, 60)
STRUCTURE = [
    "# One\n", "## Two ##\n", "### \u0301\n", "```python\n", "```\n", "~~~\n", "\n", "\r\n",
    "- item\n", "12) item\n", "def f(x):\n", "    def g(self):\n", "class C {\n", "@decorated\n",
    "    x = 1;\n", "}\n", "// note\n", "2026-05-20T09:00:00 INFO started\n", "| a | b |\n",
    "A sentence. Another one.\n", "word ", "e\u0301" * 30, "#" * 300 + " x\n", "    ", "x" * 70,
]  # fmt: skip


# --- Splitting


@given(LONG_TEXT, LIMITS)
def test_split_loses_nothing_and_keeps_the_limit(text, limit):
    pieces = split(text, limit)
    assert "".join(pieces) == text
    assert all(0 < len(piece) <= limit for piece in pieces) or text == ""
    assert split(text, limit) == pieces


@given(LONG_TEXT, LIMITS)
def test_split_makes_no_more_pieces_than_needed(text, limit):
    # Every cut lies in the second half of what it cuts, or in the last three quarters if it is
    # before a heading or a block of code.
    assert all(len(piece) >= limit // 4 for piece in split(text, limit)[:-1])
    plain = re.sub(r"[#`~{};:()\[\]=@]|\b(?:class|type|module|def|fn)\b", "", text)
    assert all(len(piece) >= limit // 2 for piece in split(plain, limit)[:-1])


@given(st.lists(st.sampled_from(STRUCTURE), max_size=60).map("".join), LIMITS)
def test_a_structured_text_is_split_without_loss(text, limit):
    found = parts(text, limit)
    assert "".join(part.text for part in found) == text
    assert all(0 < len(part.text) <= limit for part in found) or text == ""
    assert all(part.heading is None or 0 < len(part.heading) <= 240 for part in found)
    assert len(text) > limit or found == [(text, None)]


@given(LONG_TEXT, LIMITS)
@example("a" * 20 + ". \u0301" + "b" * 40, 24)
@example(("word " * 4 + "\u0301") * 10, 21)
def test_split_never_cuts_a_combining_sequence(text, limit):
    pieces = split(text, limit)
    longest = run = 0
    for character in text:
        run = run + 1 if unicodedata.category(character)[0] == "M" else 0
        longest = max(longest, run)
    assume(longest < limit // 2 - 2)  # an endless sequence has to be cut somewhere
    for piece in pieces[1:]:
        assert unicodedata.category(piece[0])[0] != "M"


# --- Folding and terms


@given(ANY_TEXT)
@example("ŉ")
@example("\u0345\u0301α")
@example("İ’s")
@example("ﬃ'S's")
def test_folding_twice_is_folding_once(text):
    once = lexical.fold(text)
    assert lexical.fold(once) == once


@given(ANY_TEXT)
def test_any_text_has_words_and_terms(text):
    words = lexical.words(text)
    terms = lexical.terms(text)
    assert len(words) == len(terms)
    assert all(word and not any(c.isspace() for c in word) for word in words)
    assert all(0 < len(term) <= 64 for term in terms)
    counts = lexical.term_counts(text)
    assert sum(counts[term] for term in set(terms)) == len(terms)
    if any(character.isalnum() for character in lexical.fold(text)):
        assert words


@given(ANY_TEXT, ANY_TEXT)
def test_words_of_two_texts_are_those_of_both(left, right):
    assert lexical.words(f"{left}\n{right}") == lexical.words(left) + lexical.words(right)


@given(ANY_TEXT)
def test_a_text_finds_itself(text):
    """Every term a query looks up is a term that the same text was indexed by."""
    asked = lexical.query_terms(text)
    assert set(asked) <= set(lexical.terms(text))
    assert len(set(asked)) == len(asked)
    assert bool(asked) == bool(lexical.terms(text))


@given(STORABLE_TEXT)
def test_case_and_compatibility_forms_do_not_matter(text):
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert lexical.words(unicodedata.normalize(form, text)) == lexical.words(text)


@given(st.text(st.characters(max_codepoint=127)))
def test_plain_text_has_the_same_words_among_any_others(text):
    assert lexical.words(text + " \u00e9")[:-1] == lexical.words(text)


# --- Analysis


@given(ANY_TEXT)
def test_any_question_can_be_analysed(text):
    found = analyse(text, NOW)
    assert found == analyse(text, NOW)
    assert found.question == text
    assert len(found.terms) <= 64
    assert all(found.terms) and all(found.anchors)
    assert len(found.entities) <= 8
    assert len(set(found.anchors)) == len(found.anchors)


@given(STORABLE_TEXT)
def test_the_smaller_text_functions_take_anything(text):
    assert is_question(text) in (True, False)
    assert is_question(text + "?")
    assert len(printable(text)) == len(text)
    assert replace_surrogates(text) == (text, 0)


@given(ANY_TEXT)
def test_replaced_text_can_be_stored(text):
    found, count = replace_surrogates(text)
    found.encode("utf-8")
    assert len(found) == len(text)
    assert count == sum("\ud800" <= c <= "\udfff" for c in text)


# --- Identity

PARTS = st.lists(ANY_TEXT, max_size=4)


@given(PARTS, PARTS)
def test_uids_collide_only_for_equal_parts(left, right):
    assert (ids.uid("Key", *left) == ids.uid("Key", *right)) == (left == right)


@given(st.text(max_size=20), st.integers(0, 20), st.integers(0, 20))
def test_no_cut_of_one_string_collides_with_another(text, first, second):
    a, b = (text[:first], text[first:]), (text[:second], text[second:])
    assert (ids.uid("Key", *a) == ids.uid("Key", *b)) == (a == b)


@given(ANY_TEXT)
def test_normal_forms_are_final(text):
    once = ids.normalise(text)
    assert ids.normalise(once) == once
    assert ids.normalise(f"  {text}\n") == once
    assert bool(once) == bool(text.strip())


@given(STORABLE_TEXT, STORABLE_TEXT)
def test_names_with_different_letters_or_digits_stay_apart(left, right):
    def letters(text: str) -> list[str]:
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
        return [c for c in folded if c.isalnum()]

    if letters(left) != letters(right):
        assert ids.normalise(left) != ids.normalise(right)


# --- Tokens


@given(ANY_TEXT, ANY_TEXT)
def test_token_estimates_add_up(left, right):
    apart = estimate_tokens(left) + estimate_tokens(right)
    # A line break between two texts costs one at most, and never saves more than one.
    assert apart <= estimate_tokens(f"{left} {right}") <= apart
    assert apart - 1 <= estimate_tokens(f"{left}\n{right}") <= apart + 1


@given(ANY_TEXT)
@pytest.mark.slow
def test_token_estimates_are_bounded(text):
    tokens = estimate_tokens(text)
    assert 0 <= tokens <= 3 * len(text)
    assert tokens > 0 or not any(c.isalnum() for c in text)
