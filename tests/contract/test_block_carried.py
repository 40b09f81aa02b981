"""A block shows no date and no number that the messages behind it do not carry."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cognigraph.ingest.extraction import Extraction, Extractor, Fact, Window
from cognigraph.model import Theme
from cognigraph.operations.asking import LoopRequest, new_state
from tests.conftest import START

pytestmark = pytest.mark.above_stores

LATER = START + timedelta(days=30)  # START is Wednesday, 20 May 2026
TEXTS = [
    "Yesterday Ann adopted a cat from the shelter.",
    "Ann has three hens in the garden.",
    "Ann bought the green canoe.",
    "Ann pays a rent of 9,000 crowns.",
]


class Misreading(Extractor):
    """An extractor that reads some dates and numbers right, and makes others up."""

    name = "misreading-1"

    def extract(self, window: Window) -> Extraction:
        facts = []
        for index, chunk in enumerate(window.chunks):
            for relation, thing, when in TOLD.get(chunk.text, ()):
                facts.append(Fact("Ann", "person", relation, thing, "object", (index,), when))
        theme = Theme(
            "Animals", "Ann has 3 hens. Ann has 17 goats. Ann sold a boat on 4 July 2026."
        )
        return Extraction(facts=tuple(facts), themes=(theme,), keys=())


TOLD = {
    TEXTS[0]: [("adopted", "cat", "2026-05-19"), ("fetched", "cat", "2026-03-02")],
    TEXTS[1]: [("has", "3 hens", None), ("feeds", "5 hens", None)],
    TEXTS[2]: [("bought", "green canoe", "2025-08"), ("owns", "canoe", "2026-05-20")],
    TEXTS[3]: [("pays", "9000 crowns rent", None), ("owes", "8000 crowns rent", None)],
}


@pytest.fixture
def space(open_memory, space_name):
    space = open_memory(enrich="manual", extractor=Misreading()).space(space_name)
    for number, text in enumerate(TEXTS):
        space.add(text, id=f"m{number}", session="s", speaker="Ben", at=START)
    space.flush()
    return space


def lines(block, kind):
    return {line.split("] ", 1)[1] for line in block.split("\n") if line.startswith(f"[{kind}")}


@pytest.mark.parametrize(
    ("question", "shown", "hidden"),
    [
        ("What did Ann do with the cat?",
         ["Ann adopted cat (2026-05-19; said 2026-05-20)", "Ann fetched cat (said 2026-05-20)"],
         "2026-03"),
        ("How many hens does Ann have?", ["Ann has 3 hens (said 2026-05-20)"], "5 hens"),
        ("Which rent does Ann pay?", [], "8000"),  # the message says the other one
        ("What about the canoe of Ann?",
         ["Ann owns canoe (since 2026-05-20; said 2026-05-20)"], "2025"),
    ],
)  # fmt: skip
def test_dates_and_numbers_of_facts(space, question, shown, hidden):
    block = space.context(question, now=LATER, max_tokens=2000)
    assert lines(block, "T") == set(shown)
    assert hidden not in block


def test_dates_and_numbers_of_a_summary(space):
    block = space.context("Which animals does Ann have?", now=LATER, max_tokens=2000)
    assert lines(block, "S") == {"s (2026-05-20): Animals: Ann has 3 hens."}


def test_what_an_application_states_is_not_checked(space):
    space.add_fact("Ann", "owns", "12 sheep", valid_from="2024-02", at=START)
    space.flush()
    block = space.context("How many sheep does Ann own?", now=LATER, max_tokens=2000)
    assert any("Ann owns 12 sheep" in line and "2024-02" in line for line in lines(block, "T"))


def test_a_loop_shows_what_is_carried_and_no_more(space):
    state = new_state(space._engine, space.name, LoopRequest(question="?", now=LATER))
    pool, recall = state.pool, state.recall
    pool.add(recall.facts("Which hens and cats does Ann have?", 15), "hens", 1)
    told = pool.block("hens", 2000)
    assert "Ann has 3 hens (said" in told
    assert "Ann adopted cat (2026-05-19; said 2026-05-20)" in told
    assert "5 hens" not in told
    assert "2026-03" not in told


@pytest.mark.parametrize("how", ["messages", "related"])
def test_the_messages_of_a_loop_come_with_what_is_carried(space, how):
    state = new_state(space._engine, space.name, LoopRequest(question="?", now=LATER))
    found = state.recall.messages("What did Ann do with the cat?", 4)
    if how == "related":
        found = state.recall.related("What did Ann do with the cat?", found.hits[:1])
    state.pool.add(found, "cat", 1)
    told = state.pool.block("What did Ann do with the cat?", 2000)
    assert lines(told, "S") == {"s (2026-05-20): Animals: Ann has 3 hens."}
    assert "2026-03" not in told
    assert "Ann adopted cat (2026-05-19" in told
