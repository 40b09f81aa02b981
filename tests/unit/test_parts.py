"""Terms and parts: what is indexed of a text in any language."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cognigraph.text.terms import PART, parts, term_counts, terms, words


def test_a_word_has_its_overlapping_four_letters():
    assert list(parts("Rohre")) == ["+rohr", "+ohre"]
    assert list(parts("Bad am See 2024")) == []


def test_a_compound_has_the_parts_of_its_words():
    assert set(parts("Heizung")) <= set(parts("Ölheizung"))


def test_accents_and_umlauts_are_written_out():
    assert list(parts("Küche")) == list(parts("Kueche")) == ["+kuec", "+uech", "+eche"]
    assert list(parts("Ménage")) == list(parts("menage"))


def test_scripts_without_spaces_have_single_characters_beside_pairs():
    assert terms("跑步鞋") == ["跑步", "步鞋"]
    assert list(parts("跑步鞋")) == ["+跑", "+步", "+鞋"]


def test_only_texts_in_other_languages_are_indexed_with_parts():
    assert term_counts("The boiler is broken.") == {"the": 1, "boiler": 1, "is": 1, "broken": 1}
    assert term_counts("Boiler!") == {"boiler": 1}
    german = term_counts("Die Heizung ist kaputt.")
    assert german["heizung"] == german["+heiz"] == 1


@given(st.text())
def test_a_part_is_no_word_and_words_stay(text):
    assert not any(word.startswith(PART) for word in words(text))
    assert all(part.startswith(PART) for part in parts(text))
    counts = term_counts(text)
    assert all(counts[term] for term in terms(text))
