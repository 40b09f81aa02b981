"""Texts whose words are stored as numbers are ranked as if they were read."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cognigraph.embed.word_vectors import WordVectors, word_vectors
from cognigraph.retrieve.question.analyse import form_features
from cognigraph.retrieve.rank.signals import candidate_words
from cognigraph.stores.candidates import Candidates, StoredTexts
from cognigraph.stores.sqlite.index.index_words import IndexWords, NumberLists
from cognigraph.text.terms import START, names_in, stem, words
from cognigraph.text.word_book import Lexicon, StringBook, WordBook, ragged, slices, stem_number
from tests.examples import examples
from tests.unit.pools import chunk_pool, session_pool, triple_pool

TEXT = st.lists(
    st.sampled_from("We met Anna. in Oslo's é 犬小屋 42 running \0 “Zoë” the".split(" "))
)
TEXTS = st.lists(TEXT.map(" ".join), max_size=8)
LISTS = st.lists(st.lists(st.integers(0, 9), max_size=4), max_size=12)


def flat(lists: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    values = [value for item in lists for value in item]
    return np.array(values, np.int32), np.array([*map(len, lists)], np.int64)


@pytest.mark.slow
@given(st.lists(LISTS, max_size=5), st.data())
@settings(max_examples=examples(60))
def test_lists_that_were_added_in_parts_are_found_by_their_rows(parts, data):
    lists, added = NumberLists(), list[list[int]]()
    for part in parts:
        lists.append(*flat(part))
        added += part
        rows = np.array(data.draw(st.lists(st.integers(0, len(added) + 2), max_size=9)), np.int64)
        values, sizes, known = lists.lists_of(rows)
        expected = [added[row] if row < len(added) else [] for row in rows.tolist()]
        assert (values.tolist(), sizes.tolist()) == tuple(item.tolist() for item in flat(expected))
        assert known.tolist() == [row < len(added) for row in rows.tolist()]
    restored = NumberLists()
    restored.restore(lists.arrays())
    everything = restored.lists_of(np.arange(len(added)))
    assert (everything[0].tolist(), everything[1].tolist()) == tuple(
        item.tolist() for item in flat(added)
    )
    assert lists.rows == restored.rows == len(added)


def test_slices_may_be_empty():
    found = slices(np.array([3, 0, 7, 0]), np.array([2, 0, 1, 0]))
    assert found.tolist() == [3, 4, 7]
    assert [array.tolist() for array in ragged([], np.int32)] == [[0], []]
    assert len(slices(np.empty(0, np.int64), np.empty(0, np.int64))) == 0


def test_a_book_keeps_its_strings_when_it_is_stored_and_goes_on():
    book = StringBook()
    assert book.numbers(["Anna", "é\ud800", "Anna", ""]).tolist() == [0, 1, 0, 2]
    stored = StringBook()
    stored.restore(book.arrays())
    book.rest()
    for item in (book, stored):
        assert item.numbers(["犬", ""]).tolist() == [3, 2]
        item.settle()
        assert item.strings([3, 0, 1, 2]) == ["犬", "Anna", "é\ud800", ""]
        assert len(item) == 4
    few = book.only(np.array([False, True, False, True]))
    assert few.numbers(["犬", "é\ud800", "Anna"]).tolist() == [1, 0, 2]


def test_words_go_with_their_stems():
    book, given_words = WordBook(), ["running", "犬小屋", "runs"]
    numbers = book.numbers(given_words)
    book.settle()
    assert book.strings([0]) == [START]
    assert book.stems(numbers).tolist() == [stem_number(stem(word)) for word in given_words]
    few = book.only(np.array([True, False, True, True]))
    assert few.strings(np.arange(3)) == [START, "犬小屋", "runs"]
    assert few.stems(np.array([2])) == book.stems(numbers[:1])


def indexed(texts: list[str], facts: list[str]) -> IndexWords:
    made = IndexWords()
    for text in texts:
        made.take_chunks([text])
    made.take_triples(facts)
    return made


@pytest.mark.slow
@given(TEXTS, TEXTS, st.integers(0, 8), st.integers(0, 8))
@settings(max_examples=examples(60))
def test_words_are_those_of_texts_that_are_read(texts, facts, stored, known):
    """Of some texts the words are stored, of the others not."""
    index = indexed(texts[:stored], facts[:known])
    rows, triples = np.arange(len(texts)), np.arange(len(facts))
    read: list[int] = []
    said = StoredTexts(
        rows.tolist(), lambda ids: read.extend(ids) or {id: texts[id] for id in ids},
        index.of_chunks(rows), index.names_of(rows),
    )  # fmt: skip
    stated = StoredTexts(
        triples.tolist(), lambda ids: {id: facts[id] for id in ids}, index.of_triples(triples)
    )
    speakers = tuple(None if row % 3 else "Ann Lee" for row in rows)
    found = Candidates(
        Lexicon(9, 9.0, {}),
        chunk_pool([0.5] * len(texts), texts=said, speakers=speakers),
        triple_pool([0.5] * len(facts), [[]] * len(facts), texts=stated),
        session_pool(),
    )
    some = rows[::-1]
    both = candidate_words(found, some, said.some(some))
    spoken = [f"{speakers[row] or ''} {texts[row]}" for row in some]
    expected = word_vectors().read([*spoken, *facts])
    assert both.vocabulary.words(both.rows) == expected.vocabulary.words(expected.rows)
    assert both.ends.tolist() == expected.ends.tolist()
    vectors = WordVectors()
    matches = vectors.best_matches(["run", "oslo"], vectors.read([*spoken, *facts]))
    assert vectors.best_matches(["run", "oslo"], both) == pytest.approx(matches, abs=2e-5)
    for form in (None, "name", "number"):
        own = form_features(said.some(some), both, {"Anna", None}, form)
        wanted = form_features([texts[row] for row in some], both, {"Anna", None}, form)
        assert {name: list(v) for name, v in own.items()} == {
            name: list(v) for name, v in wanted.items()
        }
    assert set(read) == set(rows[stored:])


@pytest.mark.slow
@given(TEXTS, st.data())
@settings(max_examples=examples(60))
def test_only_the_words_of_rows_that_stay_are_left(texts, data):
    index = indexed(texts, texts)
    flags = st.lists(st.booleans(), min_size=len(texts), max_size=len(texts))
    chunks, triples = (np.flatnonzero(np.array(data.draw(flags), bool)) for _ in range(2))
    left = index.only(chunks, triples)
    restored = IndexWords()
    restored.restore(left.arrays())
    kept, stated = ([texts[row] for row in rows.tolist()] for rows in (chunks, triples))
    for item in (left, restored):
        found, facts = item.of_chunks(np.arange(len(kept))), item.of_triples(np.arange(len(stated)))
        assert found.book.strings(found.values) == [word for text in kept for word in words(text)]
        assert facts.book.strings(facts.values) == [word for text in stated for word in words(text)]
        book = found.book.strings(np.arange(len(found.book)))
        assert sorted(book) == sorted(
            {START, *(w for text in [*kept, *stated] for w in words(text))}
        )
        names = item.names_of(np.arange(len(kept)))
        assert set(names.book.strings(np.arange(len(names.book)))) == {
            name for _, name in names_in(kept)
        }
        assert (item.chunks, item.triples) == (len(kept), len(stated))


def test_words_of_a_book_and_of_texts_share_a_vocabulary():
    index = indexed(["My puppies barked", "a rent"], [])
    vectors = WordVectors()
    vectors.best_matches(["dog"], vectors.read(["a dog barks"]))
    stored = index.of_chunks(np.array([0, 1]))
    assert isinstance(stored.book, WordBook)
    vocabulary = vectors.current()
    rows = vocabulary.rows_of(stored.book, stored.values)
    assert vocabulary.words(rows) == ["my", "puppies", "barked", "a", "rent"]
    plain = WordVectors()
    from_texts = plain.read(["My puppies barked", "a rent", "a dog barks"])
    expected = plain.best_matches(["bark", "puppy"], from_texts)
    again = vectors.best_matches(
        ["bark", "puppy"], vectors.read(["My puppies barked", "a rent", "a dog barks"])
    )
    assert again.tolist() == expected.tolist()
    assert expected[:, 0].tolist()[0] == expected[2, 0] == 1.0


def test_words_that_are_read_later_are_those_that_were_known():
    index = indexed(["A boat", "no rent"], [])
    found = index.of_chunks(np.array([1, 2, 0]))
    index.take_chunks(["a new rent"] * 9)  # merged with what was there
    index.of_chunks(np.arange(3))
    assert found.known.tolist() == [True, False, True]
    assert found.book.strings(found.values) == ["no", "rent", "a", "boat"]
    assert found.sizes.tolist() == [2, 0, 2]
    assert found.at(np.array([2])).sizes.tolist() == [2]
