"""Explaining the rank of a message, on every store, consistently with search."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from cognigraph import ConfigurationError, NotFoundError, SearchSettings
from cognigraph.ingest import Fact
from tests.conftest import START, OpenMemory
from tests.contract.rounding import rounded

NOW = START + timedelta(days=30)
CITIES = "Oslo Bergen Tromso Bodo Molde Hamar Skien Halden Moss Narvik".split()


@pytest.fixture
def space(open_memory: OpenMemory, space_name, extractor):
    space = open_memory().space(space_name)
    for number, city in enumerate(CITIES * 2):
        text = f"My flat in {city} was cold." if number < 10 else f"A train left {city} at noon."
        space.add(
            text, id=f"{city}{number // 10}", session=f"s{number % 5}", speaker="Ann",
            at=START + timedelta(hours=number),
        )  # fmt: skip
    extractor.script({"Oslo0": [Fact("Ann", "person", "rented a flat in", "Oslo", "city", (0,))]})
    space.flush()
    return space


@pytest.mark.slow
@pytest.mark.above_stores
def test_a_message_that_is_found_has_its_rank(space):
    found = space.why("Which flat in Oslo was cold?", "Oslo0", now=NOW)
    hits = space.search("Which flat in Oslo was cold?", now=NOW).hits
    assert (found.is_found, found.rank, found.score) == (True, 1, pytest.approx(hits[0].score))
    assert rounded(found.hits) == rounded(hits)
    assert found.verdict.startswith("found: 1st of 20 candidates")
    assert found.proposals == ()
    assert [triple.object for triple in found.triples] == ["Oslo"]
    sources = {source.name: source for source in found.candidate_sources}
    assert sources["chunk words"].rank == 1
    assert sources["triple words"].rank == 1
    assert sources["triple anchors"].rank == 1


@pytest.mark.slow
@pytest.mark.above_stores
def test_points_add_up_and_compare_with_the_last_hit(space):
    found = space.why("Which flat in Oslo was cold?", "Narvik1", 3, now=NOW)
    assert found.rank > 3
    last = found.hits[-1]
    assert len(found.hits) == 3
    assert sum(s.points_at_k for s in found.signals) == pytest.approx(last.why.semantic)
    mine = space.search("Which flat in Oslo was cold?", 20, NOW)[found.rank - 1]
    assert mine.id == "Narvik1"
    assert sum(s.points for s in found.signals) == pytest.approx(mine.why.semantic)
    lost = [s.points - s.points_at_k for s in found.signals]
    assert lost == sorted(lost)
    assert lost[0] < 0


@pytest.mark.slow
@pytest.mark.above_stores
def test_each_proposal_was_tried(space):
    question = "Which flat in Oslo was cold?"
    found = space.why(question, "Narvik1", 3, now=NOW)
    told = {proposal.what: proposal.rank for proposal in found.proposals}
    assert told[f"k = {found.rank} includes it"] == found.rank
    assert told["asking in its own words"] == 1
    assert space.search("A train left Narvik at noon.", 3, NOW)[0].id == "Narvik1"
    off = SearchSettings(decay=False)
    positions = [hit.id for hit in space.search(question, 20, NOW, settings=off)]
    assert dict(found.variants)["without decay"] == positions.index("Narvik1") + 1


@pytest.mark.slow
@pytest.mark.above_stores
def test_a_message_that_no_candidate_source_found(space):
    question = "Which flat in Oslo was cold?"
    narrow = SearchSettings(
        chunks_by_vector=1, chunks_by_terms=0, radius=0, windows=False, triples=False
    )
    found = space.why(question, "Moss0", 3, now=NOW, settings=narrow)
    assert found.rank is None
    assert "not among the" in found.verdict
    vector = next(source for source in found.candidate_sources if source.name == "chunk vector")
    assert vector.rank > vector.limit == 1
    tried = next(p for p in found.proposals if p.what.startswith("search.chunks_by_vector"))
    assert tried.what == f"search.chunks_by_vector = {vector.rank}"
    wide = replace(narrow, chunks_by_vector=vector.rank)
    positions = [hit.id for hit in space.search(question, 20, NOW, settings=wide)]
    assert positions.index("Moss0") + 1 == tried.rank


@pytest.mark.slow
def test_a_message_hidden_by_as_of_is_explained(space):
    found = space.why("Which train left Moss?", "Moss1", now=NOW, as_of=START)
    assert found.rank is None
    assert [proposal.what for proposal in found.proposals] == [
        "ask without as_of: it was said later than that"
    ]


@pytest.mark.slow
@pytest.mark.above_stores
def test_a_message_that_is_not_enriched_is_remarked(space):
    space.add("The oven in Hamar is new.", id="oven", session="s9", at=START)
    found = space.why("Which oven is new?", "oven", now=NOW)
    assert found.is_found
    assert any("not enriched yet" in remark for remark in found.remarks)
    assert not space.get("oven").is_enriched
    assert space.get("Moss1").is_enriched


@pytest.mark.above_stores
def test_errors_say_what_to_do(space):
    with pytest.raises(NotFoundError, match=r"has no message 'nope'.*search shows them"):
        space.why("Which flat?", "nope")
    with pytest.raises(NotFoundError, match="in session 's1'"):
        space.why("Which flat?", "Oslo0", session="s1")
    with pytest.raises(ConfigurationError, match="give the question"):
        space.why(" ", "Oslo0")
    with pytest.raises(ConfigurationError, match="at least 1"):
        space.why("Which flat?", "Oslo0", 0)


@pytest.mark.slow
@pytest.mark.above_stores
def test_an_explained_search_shows_the_next_messages(space):
    plain = space.search("Which flat in Oslo was cold?", 3, NOW)
    result = space.search("Which flat in Oslo was cold?", 3, NOW, explain=True)
    assert rounded(result.hits) == rounded(plain.hits)
    assert plain.others == ()
    assert len(result.others) == 17
    scores = [hit.score for hit in (*result.hits, *result.others)]
    assert scores == sorted(scores, reverse=True)
