"""Every input is checked against known facts before it is stored, on every store."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from cognigraph import ModelUnavailableError
from cognigraph.ingest.model.conflicts import (
    NOT_CHECKED,
    NOT_SHOWN,
    NOT_THE_SAME,
    SAID_LATER,
    ConflictChecker,
)
from cognigraph.ingest.model.extractor import ModelExtractor
from cognigraph.llm import Prompt
from cognigraph.testing import ScriptedModel
from tests.conftest import START


def at(minutes: int) -> datetime:
    return START + timedelta(minutes=minutes)


class Reader:
    """Reads the fact that stands in each message, and answers the check as it is told."""

    def __init__(self) -> None:
        self.checks: list[Any] = []
        self.asked: list[str] = []

    def __call__(self, prompt: Prompt) -> Any:
        if prompt.name == "conflicts":
            self.asked.append(prompt.user)
            answer = self.checks.pop(0) if self.checks else {"conflicts": []}
            return answer(prompt.user) if callable(answer) else answer
        if prompt.name != "extract":
            theme = {"title": "Vehicles", "summary": "Mara tells what she drives.", "turns": "1"}
            return {"keys": ["vehicle"], "themes": [theme]}
        turns = prompt.user.split("<turns>")[-1].splitlines()
        said = [line for line in turns if line.startswith("[")]
        return {
            "entities": [],
            "facts": [f"{n} | {line.split(': ', 1)[1]}" for n, line in enumerate(said, 1)],
        }


def superseding(words: str) -> Any:
    """The known fact with these words is replaced by the first new one."""

    def answer(user: str) -> Any:
        (line,) = [line for line in user.splitlines() if line.startswith("F") and words in line]
        return {"conflicts": [{"entry": line.partition(".")[0], "replaced_by": "N1"},
                              {"entry": "F99", "replaced_by": "N1"}]}  # fmt: skip

    return answer


@pytest.fixture
def reader() -> Reader:
    return Reader()


@pytest.fixture
def space(open_memory, reader, space_name):
    model = ScriptedModel(reader, name="test")
    return open_memory(extractor=ConflictChecker(model, ModelExtractor(model))).space(space_name)


def tell(space, text: str, minutes: int, session: str = "s") -> Any:
    space.add(text, id=f"m{minutes}", session=session, speaker="Mara", at=at(minutes))
    (step,) = space.queue.enrich()
    return step


def test_what_was_known_is_superseded_before_the_next_question(space, reader):
    tell(space, "Mara | owns | a white van", 0)
    assert reader.asked == []  # nothing was known yet
    reader.checks.append(superseding("white van"))
    step = tell(space, "Mara | rides | a cargo bike", 10, session="later")
    (asked,) = reader.asked
    assert f"F1. Mara owns white van ({START:%Y-%m-%d})" in asked.replace("a white", "white")
    assert "N1. Mara rides" in asked
    assert [reason.partition(": ")[0] for reason in step.rejected] == [NOT_SHOWN]
    facts = {fact.relation: fact for fact in space.facts(status=None)}
    assert (facts["owns"].status, facts["rides"].status) == ("superseded", "current")
    assert facts["owns"].superseded_by == facts["rides"].uid
    assert facts["owns"].valid_to == at(10)
    space.review.restore(facts["owns"])
    assert {fact.relation for fact in space.facts()} == {"owns", "rides"}


@pytest.mark.above_stores
def test_an_input_is_checked_against_what_is_known_of_others(space, reader):
    """What Mara says of her sister contradicts what Tom has said of her."""
    space.add("Ilse | lives in | Bergen", id="t", session="tom", speaker="Tom", at=at(0))
    space.queue.enrich()
    reader.checks.append(superseding("Ilse lives in Bergen"))
    tell(space, "Ilse | moved to | Lisbon", 10)
    (asked,) = reader.asked
    assert "Ilse lives in Bergen" in asked.split("<turns>")[0]
    standing = {fact.object: fact.status for fact in space.facts(status=None)}
    assert standing == {"Bergen": "superseded", "Lisbon": "current"}


@pytest.mark.above_stores
def test_what_was_said_later_and_a_failed_check_change_nothing(space, reader):
    tell(space, "Mara | owns | a white van", 60)
    reader.checks.append(superseding("white van"))
    step = tell(space, "Mara | rides | a cargo bike", 10, session="earlier")  # told of the past
    assert [reason.partition(": ")[0] for reason in step.rejected] == [SAID_LATER, NOT_SHOWN]
    reader.checks.append(ModelUnavailableError("down"))
    step = tell(space, "Mara | owns | a sailing boat", 70, session="last")
    assert [reason.partition(": ")[0] for reason in step.rejected] == [NOT_CHECKED]
    assert {fact.status for fact in space.facts(status=None)} == {"current"}
    assert len(space.facts()) == 3 and space.stats().pending == 0


def repeating(words: str) -> Any:
    """The first new fact repeats the known one with these words."""

    def answer(user: str) -> Any:
        line = next(line for line in user.splitlines() if line.startswith("F") and words in line)
        return {"repeats": [{"new": "N1", "entry": line.partition(".")[0]}]}

    return answer


@pytest.mark.slow
@pytest.mark.above_stores
def test_what_is_said_again_in_other_words_is_another_source_of_the_known_fact(space, reader):
    tell(space, "Mara | works at | Fiat", 0)
    reader.checks.append(repeating("works at"))
    tell(space, "Mara | is employed by | the firm Fiat", 10, session="later")
    (fact,) = space.facts(status=None)
    assert fact.text == "Mara works at Fiat" and fact.status == "current"
    assert [source.id for source in fact.sources] == ["m10", "m0"]
    for number, text in enumerate(("works at | Fiat | in 2031 = 2031", "not works at | Fiat")):
        reader.checks.append(repeating("Mara works at"))
        step = tell(space, f"Mara | {text}", 20 + number, session=f"s{number}")
        assert [reason.partition(": ")[0] for reason in step.rejected] == [NOT_THE_SAME]
    space.forget(session="s")
    assert "Mara works at Fiat" in {fact.text for fact in space.facts(status=None)}
