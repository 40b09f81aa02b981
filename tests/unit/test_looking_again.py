"""A second look for answers that may be scattered: one more message of each session."""

from __future__ import annotations

import pytest

from cognigraph import Memory
from cognigraph.loop import AskAsItIs
from cognigraph.operations.asking import loop_state
from cognigraph.testing import HashEmbedder, ScriptedModel

NOW = "2026-06-01T09:00:00Z"
OFTEN = "How often did Ann swim?"
WHERE = "Where did Ann swim?"
SCATTERED = 6
ASIDE = "Later Ann swam a little."
WORDS = (
    "bicycle kettle lamp gate anvil tractor clock boat fence wagon plough roof bell axe oven"
).split()


def messages():
    for turn in range(40):
        text = f"Ann swam again: lane {turn} of the pool, how often did she swim there?"
        yield message("pool", f"p{turn}", "Ann", f"2026-03-01T09:{turn:02}:00Z", text)
    for number in range(SCATTERED):
        for turn in range(15):
            text = ASIDE if turn == 7 else f"{WORDS[turn]} number {number} was repaired by a smith."
            at = f"2026-04-{number + 1:02}T09:{turn:02}:00Z"
            yield message(f"t{number}", f"t{number}-{turn}", "Tom", at, text)


def message(session, id, speaker, at, text):
    return {"session": session, "id": id, "speaker": speaker, "at": at, "text": text}


@pytest.fixture
def space(tmp_path):
    """One session of 40 messages about swimming, and six with one aside each."""
    with Memory(tmp_path / "m.db", embedder=HashEmbedder(256), enrich="manual") as memory:
        space = memory.space("s")
        space.add_many(messages())
        yield space


def scattered(block):
    return sorted(hit.id for hit in block.hits if hit.session != "pool")


@pytest.mark.slow
def test_without_a_model_a_second_look_brings_one_message_of_each_session(space):
    plain, answer = space.context(OFTEN, now=NOW, k=15), space.ask(OFTEN, now=NOW)
    assert scattered(plain) == []
    assert scattered(answer.context) == [f"t{number}-7" for number in range(SCATTERED)]
    keys = [(hit.session, hit.id) for hit in answer.context.hits]
    assert len(keys) == len(set(keys)) > 25
    assert plain.tokens < answer.context.tokens <= 2600
    assert (answer.stopped, answer.usage.calls) == ("no model", 0)
    block = space.context(OFTEN, now=NOW, strategy="licomemory")
    assert str(block) == str(answer.context)


@pytest.mark.slow
def test_facts_that_may_be_parts_of_a_list_stand_together(space):
    for number, place in enumerate(("the lake", "the sea", "a river", "the harbour")):
        fact = {"subject": "Ann", "relation": "swims in", "object": place}
        at = f"2026-05-{9 - number:02}T09:00:00Z"
        space.add(f"It was cold at {place}.", id=f"w{number}", session=f"w{number}",
                  speaker="Ann", at=at, facts=[fact])  # fmt: skip
    other = {"subject": "Ann", "relation": "likes to swim with", "object": "Tom"}
    space.add("Tom is slow.", session="z", speaker="Ann", at="2026-05-07T12:00Z", facts=[other])
    space.flush()
    block = space.ask(OFTEN, now=NOW).context
    lines = [line.partition("] ")[2] for line in block.splitlines() if line.startswith("[T")]
    swum = [place for line in lines for place in [line.partition("swims in ")[2]] if place]
    assert [place.partition(" (")[0] for place in swum] == [
        "the harbour", "a river", "the sea", "the lake"
    ]  # fmt: skip
    at = [number for number, line in enumerate(lines) if "swims in" in line]
    assert at == list(range(at[0], at[0] + 4))


@pytest.mark.slow
def test_other_questions_and_small_blocks_are_not_looked_at_again(space):
    assert str(space.ask(WHERE, now=NOW).context) == str(space.context(WHERE, now=NOW))
    small = space.ask(OFTEN, now=NOW, max_tokens=900).context
    assert str(small) == str(space.context(OFTEN, 900, NOW))
    route = AskAsItIs()
    plans = [
        route(loop_state(space, question, now=NOW, max_tokens=tokens))
        for question, tokens in ((OFTEN, 2600), (OFTEN, 900), (WHERE, 2600))
    ]
    assert [(plan.k, plan.again) for plan in plans] == [(25, 8), (15, 0), (15, 0)]


def test_what_nothing_supports_is_not_looked_for_again(space):
    answer = space.ask("How many quasars exploded?", now=NOW)
    assert (str(answer.context), answer.context.hits) == ("", ())


@pytest.mark.slow
def test_a_model_judges_what_both_looks_found(tmp_path, space):
    from cognigraph.loop import Asker, NoticeMissing

    model = ScriptedModel([{"verdict": "enough"}])
    state = loop_state(space, OFTEN, now=NOW, max_tokens=2600)
    state._asker = Asker(model)
    evidence = state.fetch(AskAsItIs()(state))
    assert len(evidence) == 25 + SCATTERED + 1  # the pool has one more message to give, too
    assert NoticeMissing()(state).verdict == "enough"
    assert model.asked[0].prompt.user.count(ASIDE) == SCATTERED
