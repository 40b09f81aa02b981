"""Searching, on every store: the right turns, consistent explanations, a fixed order."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from cognigraph import ConfigurationError, LicoMemorySettings, SearchSettings, Settings
from cognigraph.ingest import Extraction, Fact
from cognigraph.model import Theme
from cognigraph.retrieve.plan import candidate_query
from cognigraph.retrieve.question.analyse import analyse
from tests.cases import each
from tests.conftest import START, OpenMemory
from tests.contract.rounding import rounded

WIDE = LicoMemorySettings(candidates="wide")
TALK = {
    "home": [
        ("Ann", "I moved to Oslo in May because of the new job."),
        ("Ben", "Congratulations! How is the flat?"),
        ("Ann", "Tiny, but I see the fjord from the kitchen."),
        ("Ben", "Send me a photo."),
    ],
    "bike": [
        ("Ben", "The chain of my bike broke on the way to work."),
        ("Ann", "Again? What will you do?"),
        ("Ben", "The repair cafe opens on Saturday, I go there."),
    ],
    "food": [
        ("Ann", "Your sourdough starter is alive, I baked rye bread."),
        ("Ben", "Was it sour enough?"),
        ("Ann", "Very. My sister Clara ate half of it."),
    ],
}


@pytest.fixture
def space(open_memory: OpenMemory, space_name, extractor):
    space = open_memory().space(space_name)
    space.add_many(
        {"text": text, "id": f"{session}{number}", "session": session, "speaker": speaker,
         "at": START + timedelta(days=day, minutes=number)}
        for day, (session, turns) in enumerate(TALK.items())
        for number, (speaker, text) in enumerate(turns)
    )  # fmt: skip
    extractor.script(
        {
            "home0": [Fact("Ann", "person", "moved to", "Oslo", "location", (0,), when="2026-05")],
            "home2": [Fact("Ann", "person", "sees", "fjord", "location", (0,))],
            "bike2": [Fact("Ben", "person", "goes to", "repair cafe", "organization", (0,))],
            "food2": [Fact("Ann", "person", "has sister", "Clara", "person", (0,))],
        }
    )
    extractor.session = lambda window: Extraction(
        keys=((window.session, 1.0), (window.chunks[0].speaker, 1.0)),
        themes=(Theme(window.session, window.chunks[0].text),),
    )
    return space


def ids(result):
    return [hit.id for hit in result]


def test_turns_are_found_before_any_enrichment(space, later):
    assert space.search("Where did Ann move?", now=later)[0].id == "home0"
    assert "bike0" in ids(space.search("What broke?", now=later))[:2]


@pytest.mark.every_line
def test_facts_lead_to_turns_that_share_no_word_with_the_question(space, later):
    space.flush()
    result = space.search("Clara", now=later)
    assert result[0].id == "food2"
    assert [triple.text for triple in result[0].triples] == ["Ann has sister Clara"]
    assert result.triples[0].text == "Ann has sister Clara"
    assert result.trace.anchors == ("Clara",)


@pytest.mark.slow
def test_an_entity_name_reaches_facts_that_vectors_and_words_miss(space, later, extractor):
    space.flush()
    found = {t.text for t in space.search("repair cafe", now=later).triples}
    assert "Ben goes to repair cafe" in found


def test_candidates_include_neighbours_in_the_session(space, later):
    found = ids(space.search("How is the flat?", k=4, now=later))
    assert found[0] in ("home1", "home2")
    assert set(found) == {"home0", "home1", "home2", "home3"}


@pytest.mark.slow
def test_sessions_are_ranked_with_their_summary(space, later):
    space.flush()
    result = space.search("the chain of the bike", now=later)
    assert result.sessions[0].session.id == "bike"
    assert result.sessions[0].session.keys == ("Ben", "bike")
    assert result.sessions[0].score >= result.sessions[-1].score > 0


@pytest.mark.parametrize("profile", ["default", "licomemory"])
@pytest.mark.every_line
def test_every_hit_explains_its_score(space, later, profile):
    space.flush()
    # The order in time moves messages past better scores.
    settings = SearchSettings(ranking=profile, time_order=False)
    result = space.search("Where does Ann live?", now=later, settings=settings)
    assert len(result) == {"default": 10, "licomemory": 3}[profile]
    assert [hit.score for hit in result] == sorted((hit.score for hit in result), reverse=True)
    for hit in result:
        why = hit.why
        assert why.score == hit.score == pytest.approx(why.semantic * why.decay)
        assert why.gap_seconds == (later - hit.at).total_seconds()
        assert 0 < why.decay <= 1
        if profile == "default":
            assert sum(why.features.values()) == pytest.approx(why.semantic)
        else:
            assert why.semantic == why.harmonic_mean
        assert 0 <= why.harmonic_mean <= 1
        assert f"{why.score:.3f}" in str(why)


@pytest.mark.slow
def test_licomemory_is_the_formula_on_stored_values(space, later):
    space.flush()
    settings = SearchSettings(ranking="licomemory")
    result = space.search("Where does Ann live?", now=later, settings=settings)
    for hit in result:
        why = hit.why
        if why.session_score is not None and why.session_score > 0.01:
            expected = 2 * why.session_score * why.triple_score
            expected /= why.session_score + why.triple_score
            assert why.harmonic_mean == pytest.approx(expected)
    without = space.search(
        "Where does Ann live?", now=later, settings=replace(settings, decay=False)
    )
    assert all(hit.why.decay == pytest.approx(1) for hit in without)


@pytest.mark.slow
def test_anchors_are_similar_names_with_the_settings_of_the_authors(space, later):
    space.flush()
    question = "Which cafe for bikes does he like?"
    paper, released = (
        space.search(question, now=later, settings=settings)
        for settings in (
            SearchSettings(ranking="licomemory"), SearchSettings.licomemory_as_released(),
        )
    )  # fmt: skip
    assert paper.trace.anchors == ()  # no name is in the question as it is
    assert "repair cafe" in released.trace.anchors and len(released.trace.anchors) <= 6
    assert released[0].id == "bike2"


@pytest.mark.above_stores
def test_licomemory_says_why_it_finds_nothing_before_enrichment(space, later):
    """It reaches messages through facts only, which the user would have to know."""
    search = SearchSettings(ranking="licomemory")
    found = space.search("Where does Ann live?", now=later, settings=search)
    block = space.context("Where does Ann live?", now=later, settings=Settings(search=search))
    assert (len(found), block) == (0, "")
    for notes in (found.trace.notes, block.notes):
        assert len(notes) == 1
        assert "through facts" in notes[0] and "`cognigraph enrich`" in notes[0]
    assert repr(found).splitlines()[1].strip() == found.trace.notes[0]
    assert space.search("Where does Ann live?", now=later).hits


@pytest.mark.above_stores
@pytest.mark.slow
def test_licomemory_says_which_hits_no_triple_leads_to(space, later):
    space.flush()
    settings = SearchSettings(ranking="licomemory", licomemory=WIDE)
    bare = next(hit for hit in space.search("Ann", k=50, now=later) if not hit.triples)
    found = space.search(bare.text, k=50, now=later, settings=settings)
    result = [hit for hit in found if hit.score > 0]  # an irrelevant triple scores 0
    behind = [any("no candidate triple cites" in note for note in hit.why.notes) for hit in result]
    assert behind == sorted(behind)
    assert set(behind) == {True, False}
    for hit, is_behind in zip(result, behind, strict=True):
        assert is_behind == (hit.why.semantic < hit.why.harmonic_mean)
        assert is_behind or hit.triples


@pytest.mark.slow
def test_candidates_of_the_paper_are_reached_from_the_best_sessions(space, later):
    question, cited = "What does Ben do with the bike now?", {"home0", "home2", "bike2", "food2"}
    paper = SearchSettings(ranking="licomemory", sessions_by_vector=1)
    wide = replace(paper, licomemory=WIDE)
    unread = space.search(question, now=later, settings=paper)
    assert ids(unread) == []
    assert any("enrich" in note for note in unread.trace.notes)
    space.flush()
    found = space.search(question, now=later, settings=paper)
    assert ids(found) == ["bike2"], "the one message that a triple of the session cites"
    assert [triple.text for triple in found.triples] == ["Ben goes to repair cafe"]
    assert found.sessions[0].session.id == "bike"
    (why,) = [hit.why for hit in found]
    expected = 2 * why.session_score * why.triple_score / (why.session_score + why.triple_score)
    assert why.score == pytest.approx(expected * why.decay)
    everywhere = replace(paper, sessions_by_vector=0)
    assert set(ids(space.search(question, now=later, settings=everywhere))) == cited
    assert set(ids(space.search(question, now=later, settings=wide))) > cited
    ordered = "the newest of the best come first"
    assert ordered in space.search(question, now=later, settings=wide).trace.notes
    assert ordered not in found.trace.notes
    dated = "What did Ben do after Ann moved to Oslo?"
    notes = [space.search(dated, now=later, settings=item).trace.notes for item in (wide, paper)]
    assert [any("taken to be" in note for note in own) for own in notes] == [True, False]


@pytest.mark.above_stores
@pytest.mark.slow
def test_k_bounds_and_order_agree(space, later):
    everything = ids(space.search("bread or bike?", k=50, now=later))
    assert len(everything) == len(set(everything)) == 10
    assert ids(space.search("bread or bike?", k=3, now=later)) == everything[:3]
    with pytest.raises(ConfigurationError):
        space.search("bread", k=0)


@pytest.mark.slow
def test_the_same_question_has_the_same_answer(space, later, open_memory, space_name):
    space.flush()
    first = space.search("Who bakes bread?", now=later)
    again = open_memory().space(space_name).search("Who bakes bread?", now=later)
    assert rounded(first.hits) == rounded(again.hits)
    assert rounded(first.triples) == rounded(again.triples)
    assert rounded(first.sessions) == rounded(again.sessions)


@each("question", ["", "  ", "\n"])
def test_an_empty_question_has_an_empty_answer(space, question):
    result = space.search(question)
    assert list(result) == []
    assert space.context(question) == ""


@each(
    "question",
    [
        "?",
        "AND OR NOT NEAR",
        '"unbalanced',
        "a* OR b:c ^2 ~ {x TO y] \\",
        "'; DROP TABLE chunk; --",
        "🙂🙂",
        "\x00\ud800",
        "the of and",
        "word " * 5000,
        "نص عربي",
    ],
)
def test_no_question_is_a_syntax_error(space, later, question):
    space.search(question, now=later)
    space.search(question, now=later, settings=SearchSettings(ranking="licomemory"))


def test_texts_come_with_the_candidates_when_asked_for(open_memory, space_name, extractor):
    extractor.script({"m0": [Fact("Ann", "person", "moved to", "Oslo", "location", (0,))]})
    memory = open_memory()
    space = memory.space(space_name)
    space.add("I moved to Oslo.", id="m0", session="s", speaker="Ann", at=START)
    space.add("Nice!", id="m1", session="s", speaker="Ben", at=START + timedelta(minutes=1))
    space.flush()
    engine = memory._engine
    asked = candidate_query(analyse("Oslo", START), engine.embedder, SearchSettings())
    found = engine.store.search.candidates(space_name, asked)
    assert dict(zip(found.chunks.speakers, found.chunks.texts, strict=True)) == {
        "Ann": "I moved to Oslo.",
        "Ben": "Nice!",
    }
    assert [*found.triples.texts] == ["Ann moved to Oslo"]
    without = engine.store.search.candidates(space_name, replace(asked, texts=False))
    assert without.chunks.texts == without.triples.texts == ()
    assert without.chunks.uids == found.chunks.uids


def test_a_word_of_like_meaning_is_found(open_memory, space_name, later):
    space = open_memory().space(space_name)
    for index, text in enumerate(["A puppy lives here now.", "The rent went up.", "It rained."]):
        space.add(text, id=f"m{index}", session=f"s{index}", at=START)
    off = SearchSettings(sessions=False, cues=False, decay=False, chunks_by_terms=0)
    why = space.search("dogs", now=later, settings=off)
    scores = {hit.id: hit.why.features["similar words"] for hit in why}
    assert max(scores, key=scores.__getitem__) == "m0"
    silent = replace(off, late_interaction=False)
    hit = space.search("dogs", now=later, settings=silent)[0]
    assert "similar words" not in hit.why.features


@pytest.mark.slow
def test_candidate_sources_can_be_switched_off(space, later):
    space.flush()
    off = SearchSettings(
        triples=False,
        sessions=False,
        windows=False,
        late_interaction=False,
        cues=False,
        decay=False,
    )
    result = space.search("Where did Ann move?", now=later, settings=off)
    assert result[0].id == "home0"
    assert set(result[0].why.features) <= {"vector", "words", "fusion"}
    assert result[0].why.decay == 1
    assert result.triples == ()
    lexical = replace(off, chunks_by_vector=0)
    assert ids(space.search("sourdough", now=later, settings=lexical)) == ["food0"]


def test_the_newer_of_two_equal_messages_comes_first(open_memory, space_name, later):
    space = open_memory().space(space_name + "-t")
    for session, days in (("old", 0), ("new", 20), ("mid", 10)):
        at = START + timedelta(days=days)
        space.add("I work at the harbour.", id=session, session=session, speaker="Ann", at=at)
    assert ids(space.search("Where does Ann work?", now=later)) == ["new", "mid", "old"]


@pytest.mark.above_stores
@pytest.mark.slow
def test_context_fits_cites_and_repeats(space, later):
    space.flush()
    block = space.context("Where does Ann live now?", max_tokens=300, now=later)
    assert block.tokens <= 300
    assert block == space.context("Where does Ann live now?", max_tokens=300, now=later)
    assert "Oslo" in block
    for citation in block.citations:
        assert f"[{citation.label}] " in block
    messages = [c.id for c in block.citations if c.kind == "message"]
    assert messages == [hit.id for hit in block.hits]
    times = [hit.at for hit in block.hits]
    assert times == sorted(times)  # newest last
    small = space.context("Where does Ann live now?", max_tokens=40, now=later)
    assert 0 < small.tokens <= 40
    assert space.context("Where does Ann live now?", max_tokens=3, now=later) == ""


@pytest.mark.above_stores
@pytest.mark.slow
def test_context_shows_times_in_the_timezone_of_the_memory(space, later):
    assert "2026-05-20 09:00" in space.context("Where did Ann move?", now=later)
    tokyo = space.context("Where did Ann move?", now=later, timezone="Asia/Tokyo")
    assert "2026-05-20 18:00" in tokyo
    with pytest.raises(ConfigurationError, match="Mars"):
        space.context("Where?", timezone="Mars/Base")


def test_the_part_of_a_long_message_with_the_rare_word_is_shown(open_memory, space_name):
    """A part that repeats a common word of the question does not hide the one that answers."""
    space = open_memory().space(space_name)
    lines = [f"10:{n // 60:02}:{n % 60:02} INFO worker handled job {n:04}" for n in range(160)]
    space.add("\n".join(lines), id="log", speaker="Ann", at="2026-05-01T09:00:00Z")
    hit = space.search("What happened to job 0123?", now="2026-06-01T09:00:00Z")[0]
    assert hit.parts > 4
    assert "job 0123" in hit.text
