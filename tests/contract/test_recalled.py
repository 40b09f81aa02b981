"""Recalled text that an agent repeats, on every store: stored, but not extracted."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cognigraph.ingest import RulesExtractor
from tests.conftest import START

pytestmark = pytest.mark.above_stores

TALK = [
    ("Ann", "I moved to Oslo in May 2026."),
    ("Ben", "My sister Clara bought a red kayak."),
    ("Ann", "I work at the harbour as a pilot."),
]


def fill(space):
    for number, (speaker, text) in enumerate(TALK):
        at = START + timedelta(minutes=number)
        space.add(text, id=f"m{number}", session="s", speaker=speaker, at=at)


def learned(space):
    return {
        (t.text, t.first_observed, t.last_observed, tuple(s.id for s in t.sources))
        for t in space.facts()
    }


def recall(space, question="Where does Ann live?"):
    return str(space.context(question, now=START + timedelta(days=1)))


def test_recalled_text_is_stored_whole_and_not_learned_again(open_memory, space_name):
    space = open_memory(extractor=RulesExtractor()).space(space_name)
    fill(space)
    space.flush()
    before, mentions = learned(space), {(e.name, e.mentions) for e in space.entities()}
    assert any("Oslo" in text for text, *_ in before)
    block = recall(space)
    assert "[C1] " in block
    assert "I moved to Oslo" in block
    later = START + timedelta(days=2)
    quoted = "\n".join("> " + line for line in block.split("\n"))
    lines = "\n".join(line for line in block.split("\n") if line.startswith("[C"))
    for number, text in enumerate((block, quoted, lines, f"```\n{block}\n```", block[:-30])):
        space.add(text, id=f"r{number}", session="t", speaker=None, at=later)
    space.flush()
    assert learned(space) == before
    assert {(e.name, e.mentions) for e in space.entities()} == mentions
    assert (space.stats().done, space.stats().failed) == (8, 0)
    assert space.get("r1").text == quoted


def test_new_text_beside_a_recalled_block_is_extracted(open_memory, space_name):
    space = open_memory(extractor=RulesExtractor()).space(space_name)
    fill(space)
    space.flush()
    before = learned(space)
    text = f"This is what I remember.\n{recall(space)}\nMy brother Piet lives in Bergen."
    space.add(text, id="r", session="t", speaker="Eva", at=START + timedelta(days=2))
    space.flush()
    new = learned(space) - before
    assert new
    assert {sources for *_, sources in new} == {("r",)}
    assert any("Piet" in text for text, *_ in new)
    assert not any("Oslo" in text or "kayak" in text for text, *_ in new)
    assert before <= learned(space)


@pytest.mark.slow
def test_the_source_stands_before_what_was_recalled_from_it(open_memory, space_name):
    space = open_memory(extractor=RulesExtractor()).space(space_name)
    fill(space)
    space.flush()
    later = START + timedelta(days=2)
    for number in range(6):
        space.add(recall(space), id=f"r{number}", session=f"t{number}", speaker="Bot", at=later)
        text = f"{recall(space)}\nIs there anything else I can help with?"
        space.add(text, id=f"q{number}", session=f"t{number}", speaker="Bot", at=later)
    space.flush()
    for question, source in (("Where did Ann move?", "m0"), ("Who bought a red kayak?", "m1")):
        found = [hit.id for hit in space.search(question, k=5, now=later + timedelta(days=1))]
        assert found[0] == source
        assert not {id for id in found if id.startswith("r")} & set(found[:2])


@pytest.mark.slow
def test_a_long_block_that_was_split_is_still_one_block(open_memory, space_name):
    space = open_memory(extractor=RulesExtractor()).space(space_name)
    for number in range(30):
        text = f"I met friend{number} in Oslo. We talked about boat{number}. It was fine. " * 3
        at = START + timedelta(minutes=number)
        space.add(text, id=f"m{number}", session="s", speaker="Ann", at=at)
    space.flush()
    before = learned(space)
    block = str(space.context("Oslo boats", now=START + timedelta(days=1)))
    assert len(block) > 3000
    result = space.add(f"Sure.\n{block}", id="r", session="t", at=START + timedelta(days=2))
    assert result.chunks > 2
    space.flush()
    assert learned(space) == before
    assert space.get("r").text == f"Sure.\n{block}"
