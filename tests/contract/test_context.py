"""The prompt block on every store: excerpts of long messages, and what surrounds a hit."""

from __future__ import annotations

from datetime import timedelta

import pytest

from cognigraph import ContextSettings, Settings
from tests.conftest import START

LATER = START + timedelta(days=1)
PADDING = "The weather was much the same as on all other days of that long and quiet week. "
LONG = f"""Here is the plan.

{PADDING * 9}
The harbour master keeps the spare key of the boathouse under the blue bucket.

{PADDING * 9}
```sh
cp plan.txt /tmp
```
Shall I print it?"""


@pytest.fixture
def space(open_memory, space_name):
    space = open_memory(enrich="manual").space(space_name)
    told = [
        ("assistant", LONG),
        ("user", "Yes, twice."),
        ("user", "Thanks a lot!"),
        ("user", "I sold the boat to Clara in May."),
        ("user", "I sold the boat to Clara, in May."),
    ]
    for number, (speaker, text) in enumerate(told):
        at = START + timedelta(minutes=number)
        space.add(text, id=f"m{number}", session="s", speaker=speaker, at=at)
    return space


@pytest.mark.above_stores
def test_a_split_message_is_cited_by_spans_of_its_whole_text(space):
    block = space.context("Where is the key of the boathouse?", max_tokens=120, now=LATER)
    cited = next(citation for citation in block.citations if citation.id == "m0")
    whole = space.get("m0")
    assert whole.chunks > 1
    assert cited.part is None
    assert any("under the blue bucket." in whole.text[start:end] for start, end in cited.spans)
    assert "The harbour master keeps the spare key of the boathouse under the blue bucket." in block
    assert block.tokens <= 120


@pytest.mark.above_stores
def test_an_answer_quotes_the_question_before_it(space):
    block = space.context("What is to be printed twice?", max_tokens=60, now=LATER, k=1)
    assert [hit.id for hit in block.hits] == ["m1"]
    assert 'user, asked "Shall I print it?": Yes, twice.' in block
    assert block.citations[-1].asked == "m0"


def test_repetitions_are_shown_once_and_sessions_without_a_summary_are_not(space):
    block = space.context("Who bought the boat?", max_tokens=400, now=LATER)
    assert len({"m3", "m4"} & {hit.id for hit in block.hits}) == 1
    assert "Sessions:" not in block


@pytest.mark.above_stores
def test_messages_can_be_shown_whole(space):
    settings = Settings(context=ContextSettings(excerpts=False))
    block = space.context(
        "Where is the key of the boathouse?", max_tokens=2000, now=LATER, settings=settings
    )
    cited = next(citation for citation in block.citations if citation.id == "m0")
    assert (cited.spans, cited.part) == ((), None)
    assert "\n  cp plan.txt /tmp\n" in block
    assert block.count("The weather was much the same") == 18
