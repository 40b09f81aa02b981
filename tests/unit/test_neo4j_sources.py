"""When a search on Neo4j looks further than the first results of an index."""

from __future__ import annotations

from cognigraph.stores.neo4j.index.sources import OFF, ByVector, ByWords, looking_further

NEAR = ByVector.of_index(50, "index", 900, is_filtered=False)
FILTERED = ByVector.of_index(50, "index", 900, is_filtered=True, share=0.01)


def by_words(most: int) -> ByWords:
    found = ByWords.best("s", {"tea": 2.0}, 8.0, 30, most)
    assert found is not None
    return found


def test_an_index_is_asked_for_more_than_is_wanted_and_more_with_a_rare_tag() -> None:
    assert (NEAR.fetch, NEAR.after) == (100, 900)
    assert FILTERED.fetch == 2000
    assert FILTERED.with_share(0.5).fetch == 100
    assert OFF.with_share(0.5) is OFF and OFF.is_off and not OFF.compares_all


def test_more_vectors_are_fetched_until_enough_pass() -> None:
    assert NEAR.further(100, 0.7, 50, 10_000) is None
    more = NEAR.further(100, 0.7, 49, 10_000)
    assert more is not None and more.fetch == 500
    assert NEAR.further(100, 0.5, 10, 10_000) is None  # the rest is not near
    assert FILTERED.further(2000, 0.7, 25, 10_000) is None  # half of them do with a filter


def test_all_vectors_are_compared_if_an_index_stops_short_or_the_filter_hides_too_many() -> None:
    for found in (NEAR.further(20, 0.9, 20, 10_000), FILTERED.further(2000, 0.7, 24, 10_000)):
        assert found == ByVector(50, after=0) and found.compares_all
    assert NEAR.further(20, 0.9, 20, 20) is None


def test_all_texts_with_a_word_are_fetched_if_they_are_few() -> None:
    assert [by_words(most).fetch for most in (50, 500, 5000)] == [120, 501, 120]
    assert ByWords.best("s", {}, 8.0, 30, 50) is None
    parameters = by_words(50).parameters
    assert (parameters["constant"], parameters["slope"]) == (1.0 + 1.2 * 0.6, 1.2 * 0.4 / 8.0)


def test_more_texts_are_fetched_once_if_too_many_tie_or_are_hidden() -> None:
    words = by_words(5000)
    more = words.further(120, 29)
    assert more is not None and more.fetch == 4000 and more.parameters["is_last"]
    assert more.further(4000, 3) is None
    assert words.further(119, 3) is None and words.further(120, 30) is None
    assert words.further(4000, 3) is None  # so many had the same words, and were fetched at once
    assert looking_further(NEAR, words, [63, 0.7, 50, 120, 30], 0) is None
    assert looking_further(NEAR, words, [63, 0.7, 50, 120, 0], 0) == (NEAR, more)
