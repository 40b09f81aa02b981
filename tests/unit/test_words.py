"""Static word vectors: best matches of words, independent of earlier queries."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognigraph.embed import WordLlamaEmbedder
from cognigraph.embed.word_vectors import WordVectors, beginning, word_vectors
from cognigraph.text.terms import START, STOP_WORDS, stem, words
from tests.cases import each

TEXTS = ("A puppy lives here.", "The rent went up", "", "the of and", "Dogs bark at the dog")
SAID = WordVectors().read(TEXTS)


def brute(asked: list[str], text: str) -> list[float]:
    said = [word for word in words(text) if word not in STOP_WORDS]
    best = []
    for word in asked:
        pairs = np.asarray(WordLlamaEmbedder().embed([word, *said]), float)
        pairs /= np.maximum(np.linalg.norm(pairs, axis=1, keepdims=True), 1e-12)
        similar = [max(0.0, float(pairs[0] @ other)) for other in pairs[1:]]
        equal = [float(stem(word) == stem(other)) for other in said]
        best.append(max([0.0, *similar, *equal]))
    return best


def test_the_best_match_of_each_word():
    found = WordVectors().best_matches(["dog", "rent"], SAID)
    assert found.tolist() == [pytest.approx(brute(["dog", "rent"], t), abs=2e-5) for t in TEXTS]
    assert found[4, 0] == 1.0  # the same stem
    assert found[1, 1] == 1.0
    assert 0.3 < found[0, 0] < 1.0  # "puppy" is similar to "dog"
    assert found[0, 0] > found[1, 0]
    assert found[2].tolist() == found[3].tolist() == [0.0, 0.0]


def test_an_empty_question_or_text_matches_nothing():
    assert WordVectors().best_matches([], SAID).shape == (5, 0)
    assert WordVectors().best_matches(["dog"], WordVectors().read([])).shape == (0, 1)


def test_a_stop_word_is_similar_to_nothing():
    assert WordVectors().best_matches(["the"], WordVectors().read(["the dog"])).tolist() == [[0.0]]


WRITTEN = st.lists(st.sampled_from("dog puppy rent the bark oslo é 42 犬".split())).map(" ".join)
FEW = len(STOP_WORDS) + 6  # number of words at which the vocabulary is rebuilt


@pytest.mark.slow
@given(st.lists(st.lists(WRITTEN, max_size=4), max_size=6), st.sampled_from([FEW, 1000]))
def test_results_do_not_depend_on_earlier_texts_and_questions(before, most):
    vectors = WordVectors(most, remembered=9)
    for texts in before:
        found = vectors.best_matches(["oslo", "dog"], vectors.read(texts))
        expected = [brute(["oslo", "dog"], text) for text in texts]
        assert found == pytest.approx(np.reshape(expected, (-1, 2)), abs=2e-5)


@given(st.lists(WRITTEN, max_size=5), st.lists(WRITTEN, max_size=5))
def test_vectors_are_in_the_order_of_the_words(first, second):
    vectors = WordVectors(FEW, remembered=9)
    for texts in (first, second, [*first, *second]):
        said = vectors.read(texts)
        assert said.text_count == len(texts)
        read = said.vocabulary.words(said.rows)
        assert read == [word for text in texts for word in (START, *words(text))]
        first = said.first(1)
        assert first.vocabulary.words(first.rows) == read[: int(said.ends[0]) if texts else 0]
        is_dog = first.vocabulary.marks("dog", lambda word: word == "dog")
        assert said.count(is_dog[said.rows]).tolist() == [words(t).count("dog") for t in texts]


@pytest.mark.slow
def test_threads_share_one_vocabulary():
    expected = WordVectors().best_matches(["dog"], SAID)
    vectors = WordVectors(FEW, remembered=9)
    with ThreadPoolExecutor(4) as pool:
        asked = [
            pool.submit(vectors.best_matches, ["dog"], vectors.read([*TEXTS, f"w{n}"]))
            for n in range(40)
        ]
        for answer in asked:
            assert answer.result()[:5] == pytest.approx(expected, abs=2e-5)
    assert word_vectors() is word_vectors()


def test_ascii_and_other_texts_are_tokenised_alike():
    plain = WordVectors().best_matches(["dog", "rent"], SAID)
    mixed = WordVectors().best_matches(
        ["dog", "rent"], WordVectors().read([*TEXTS, "Zoë's 犬", "a\0dog"])
    )
    assert mixed[:5] == pytest.approx(plain, abs=2e-5)
    assert mixed[6, 0] == 1.0


@given(st.text(alphabet="abcdeghilmnoprstuvyz'é", min_size=1, max_size=12))
def test_a_stem_starts_like_its_word(text):
    """Only words that start like a word of the query are stemmed, which this makes safe."""
    for word in words(text):
        # Non-words such as "aing" and "eings" are reduced to a single letter.
        assert beginning(stem(word)) == beginning(word) or len(stem(word)) == 1


@each(
    ("one", "other"),
    [
        ("dying", "die"),
        ("flies", "fly"),
        ("skis", "ski"),
        ("hoping", "hopes"),
        ("relational", "relate"),
        ("ugly", "ugliness"),
    ],
)
def test_words_with_the_same_stem_match(one, other):
    vectors = WordVectors()
    assert vectors.best_matches([one], vectors.read([other, "rent"]))[0, 0] == 1.0
