"""Properties of the rules: batching changes no summary, and no text breaks them."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cognigraph.ingest.extraction import Extraction, Window
from cognigraph.ingest.rules.extractor import MAX_FACTS, RulesExtractor
from cognigraph.ingest.rules.summary import KEYS, POOL, SHOWN_KEYS, SessionState, shorten
from cognigraph.stores.records import SessionNotes, WorkChunk
from cognigraph.times import parse_when
from tests.examples import examples

AT = datetime(2024, 2, 28, 23, 30, tzinfo=UTC)
EXTRACTOR = RulesExtractor()

WORDS = """I we you it she my your Ann Tom Dana Oslo moved bought love is was not never will to
the a in with and but because if who that lamp harbour choir ceramics workshop sister yesterday
last next week May 2022 two ago . , ! ? 's n't \" ( 東京 😀""".split()

speakers = st.sampled_from(["Ann", "Tom", None])
prose = st.lists(st.sampled_from(WORDS), min_size=0, max_size=30).map(" ".join)
texts = st.one_of(prose, st.text(max_size=80))
chats = st.lists(st.tuples(speakers, texts), min_size=1, max_size=8)


def chunks_of(chat: list[tuple[str | None, str]]) -> tuple[WorkChunk, ...]:
    return tuple(
        WorkChunk(f"u{n}", f"m{n}", "s", speaker, AT + timedelta(minutes=n), text)
        for n, (speaker, text) in enumerate(chat)
    )


def fed(chunks: tuple[WorkChunk, ...], sizes: list[int]) -> Extraction:
    """The last extraction after feeding the chunks in batches of the given sizes."""
    notes, index = SessionNotes(), 0
    found = Extraction()
    while index < len(chunks):
        size = sizes.pop(0) if sizes else len(chunks)
        before = chunks[max(0, index - EXTRACTOR.context) : index]
        found = EXTRACTOR.extract(Window("x", "s", chunks[index : index + size], before, notes))
        notes = SessionNotes(notes.version + 1, found.keys or (), found.themes or (), found.state)
        index += size
    return found


@pytest.mark.slow
@settings(max_examples=examples(60))
@example([("Ann", "I met Tom in Oslo."), ("Tom", "Tom here, from the ceramics workshop.")], [1])
@given(chats, st.lists(st.integers(1, 4), max_size=8))
def test_any_batching_gives_the_same_keys_and_themes(
    chat: list[tuple[str | None, str]], sizes: list[int]
) -> None:
    chunks = chunks_of(chat)
    whole, parts = fed(chunks, []), fed(chunks, sizes)
    assert (parts.keys, parts.themes) == (whole.keys, whole.themes)
    assert json.loads(parts.state)["keys"] == json.loads(whole.state)["keys"]


@pytest.mark.slow
@given(chats)
def test_an_extraction_is_well_formed(chat: list[tuple[str | None, str]]) -> None:
    chunks = chunks_of(chat)
    found = EXTRACTOR.extract(Window("x", "s", chunks))
    indices = set(range(len(chunks)))
    for fact in found.facts:
        assert fact.chunks and set(fact.chunks) <= indices
        assert fact.subject.strip() and fact.relation.strip() and fact.object.strip()
        assert fact.subject != fact.object
        assert fact.when is None or parse_when(fact.when) is not None
    for mention in found.mentions:
        assert mention.name.strip() and mention.chunks and set(mention.chunks) <= indices
    assert len(found.facts) <= MAX_FACTS * len(chunks)
    assert found.keys is not None and len(found.keys) <= SHOWN_KEYS
    assert found.themes is not None and len({t.title for t in found.themes}) == len(found.themes)


@settings(max_examples=examples(60))
@given(chats)
def test_reading_is_deterministic_and_its_state_round_trips(
    chat: list[tuple[str | None, str]],
) -> None:
    window = Window("x", "s", chunks_of(chat))
    found = EXTRACTOR.extract(window)
    assert EXTRACTOR.extract(window) == found
    state = SessionState.load(found.state)
    assert state.dump() == found.state
    assert len(state.keys) <= KEYS and len(state.pool) <= POOL


@given(st.text(max_size=1200))
def test_shortened_text_fits(text: str) -> None:
    assert len(shorten(text)) <= 200


@settings(max_examples=examples(30))
@given(st.text())
def test_any_state_text_is_survived(state: str) -> None:
    chunks = chunks_of([("Ann", "I moved to Oslo.")])
    found = EXTRACTOR.extract(Window("x", "s", chunks, (), SessionNotes(state=state)))
    assert [(f.relation, f.object) for f in found.facts] == [("moved to", "Oslo")]
