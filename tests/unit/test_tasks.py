"""Lines of a list of tasks, and which of them are about the same one."""

from __future__ import annotations

import pytest

from cognigraph.ingest.rules.turns import DONE, TO_DO, tasks
from cognigraph.states.slots import FactForm, claim_of

LIST = """Before the move:
TODO: renew the passport
- [ ] call the plumber.
- [x] paint the fence
**DONE:** order 3 oak boards
1. TODO(ann): sell the car!
"""


def told(text: str, *, by_assistant: bool = False) -> list[tuple[str, str]]:
    return [(task.relation, task.object) for task in tasks(text, "Ann", by_assistant=by_assistant)]


def test_lines_with_a_word_or_a_box_are_tasks():
    assert told(LIST) == [
        (TO_DO, "renew the passport"),
        (TO_DO, "call the plumber"),
        (DONE, "paint the fence"),
        (DONE, "order 3 oak boards"),
        (TO_DO, "sell the car"),
    ]


def test_open_boxes_of_an_assistant_are_advice():
    assert told("- [ ] drink water\n- [x] booked the flight\nTODO: pay", by_assistant=True) == [
        (DONE, "booked the flight"),
        (TO_DO, "pay"),
    ]
    assert told("Done: commit 4be1f02.", by_assistant=True) == []


@pytest.mark.parametrize(
    "text",
    [
        "I have so much to do: laundry, dishes.",
        "We are done: the house is sold.",
        "```python\n# TODO: fix\nTODO: this\n```",
        "TODO:",
        "TODO: ...",
        "[x]",
        "- [?] what",
        "",
    ],
)
def test_what_is_no_task(text):
    assert told(text) == []


def claim(relation: str, item: str):
    found = claim_of(FactForm("Ann", "person", relation, item, "task"))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("item", "done"),
    [
        ("renew the passport", "Renew the passport"),
        ("renew the passport", "renewed my passport"),
        ("renew passport", "passport has been renewed"),
        ("call the plumber about the boiler", "plumber called about the boiler"),
    ],
)
def test_done_ends_the_task_of_the_same_words(item, done):
    open_, closed = claim(TO_DO, item), claim(DONE, done)
    assert (open_.says, closed.says) == ("holds", "ends")
    assert open_.slot == closed.slot


@pytest.mark.parametrize("done", ["renew the visa", "renew the passport of Ben", "passport"])
def test_done_does_not_end_another_task(done):
    assert claim(TO_DO, "renew the passport").slot != claim(DONE, done).slot
