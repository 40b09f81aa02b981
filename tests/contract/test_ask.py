"""Questions that are answered by a loop, on every store."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from cognigraph import Assessment, ConfigurationError, Filter, SearchSettings, Settings, Strategy
from cognigraph.errors import ModelUnavailableError
from cognigraph.ingest import Fact
from cognigraph.loop import AskAsItIs, Retry, ama
from cognigraph.operations.asking import loop_state
from cognigraph.testing import ScriptedModel
from tests.cases import first_on_neo4j

NOW = "2026-08-01T09:00:00Z"


def home(place, **more):
    return Fact("Ann", "person", "lives in", place, "location", (0,), **more)


TURNS = {
    "b": ("2026-02-01", "I live in Bergen, by the fish market.", home("Bergen")),
    "o": ("2026-06-10", "I live in Oslo now, near the park.", home("Oslo")),
    "j": ("2026-03-01", "I like jazz more than rock.",
          Fact("Ann", "person", "likes", "jazz", "concept", (0,))),
}  # fmt: skip


def fill(space, extractor, order="boj"):
    extractor.script({id: [TURNS[id][2]] for id in TURNS})
    for id in order:
        day, text, _ = TURNS[id]
        at = datetime.fromisoformat(f"{day}T09:00:00").replace(tzinfo=UTC)
        space.add(text, id=id, session=f"s-{id}", speaker="Ann", at=at)
    space.flush()
    return space


def judged(**more):
    return {"reason": "", "action": "pass", "kept": [], "conflicts": [], **more}


def standing(space):
    return {fact.text: (fact.status, fact.reason) for fact in space.facts()}


@pytest.mark.slow
def test_conflicts_are_repaired_in_one_transaction_and_back(open_memory, extractor, space_name):
    """The rules settle a new home by themselves; a user has restored the old one."""

    def reply(prompt):
        return {
            "ama-retrieve": {"query": "Where does Ann live?", "fine": 0, "abstract": 0,
                             "event": 0, "atomic": 1, "k": 0},
            "ama-judge": judged(action="refresh", kept=["F1", "F2"], conflicts=["F1", "F2", "F9"]),
            "ama-refresh": {"changes": [
                {"action": "update", "entry": "F1", "replaced_by": "F2", "reason": "she moved"},
                {"action": "update", "entry": "F2", "replaced_by": "F1", "reason": "or back"},
                {"action": "delete", "entry": "F1", "replaced_by": "", "reason": "old"},
                {"action": "update", "entry": "F7", "replaced_by": "F1", "reason": "invented"},
            ]},
            "loop-answer": {"answer": "in Oslo", "labels": ["F1"]},
        }[prompt.name]  # fmt: skip

    space = fill(open_memory(model=ScriptedModel(reply)).space(space_name), extractor)
    bergen = next(fact for fact in space.facts() if fact.text == "Ann lives in Bergen")
    space.review.restore(bergen)
    both = {"Ann lives in Bergen", "Ann lives in Oslo"}
    assert {text for text, (status, _) in standing(space).items() if status == "current"} >= both

    before = standing(space)
    proposed = space.ask("Where does she live?", ["We talk about Ann."], strategy="ama", now=NOW)
    (change,) = proposed.proposals
    assert (change.action, change.old.text, change.applied) == ("supersede", bergen.text, False)
    assert change.new is not None and change.new.text == "Ann lives in Oslo"
    assert standing(space) == before
    notes = proposed.rounds[0].notes
    assert sum("nothing proposed" in note for note in notes) == 3
    assert "1 of 3 ids were not among those shown: left out" in notes

    applied = space.ask("Where does she live?", strategy="ama", repair="apply", now=NOW)
    assert [proposal.applied for proposal in applied.proposals] == [True]
    assert standing(space)[bergen.text] == ("superseded", "she moved")
    space.review.restore(applied.proposals[0].old)
    assert standing(space)[bergen.text][0] == "current"


@pytest.mark.parametrize(
    ("retention", "action"),
    first_on_neo4j([(None, "supersede"), (timedelta(days=1), "retract")]),
)
@pytest.mark.slow
def test_episodes_in_conflict_stand_for_their_facts(open_memory, space_name, retention, action):
    """And what has outlived the retention limit goes, instead of being superseded."""

    def refresh(prompt):
        labels = {}
        for line in prompt.user.splitlines():
            for place in ("Bergen", "Oslo"):
                if f"Ann lives in {place}" in line:
                    labels[place] = line[1 : line.index("]")]
        change = {"entry": labels["Bergen"], "replaced_by": labels["Oslo"], "reason": ""}
        return {"changes": [{"action": "update", **change}]}

    def reply(prompt):
        found = {
            "ama-retrieve": {"query": "Ann's homes", "fine": 0, "abstract": 0, "event": 1,
                             "atomic": 0, "k": 5},
            "ama-judge": judged(action="refresh", conflicts=["E1", "E2"]),
            "ama-refresh": refresh,
            "loop-answer": {"answer": "in Oslo", "labels": []},
        }[prompt.name]  # fmt: skip
        return found(prompt) if callable(found) else found

    space = open_memory(model=ScriptedModel(reply), extractor="rules").space(space_name)
    for id, (day, text, _) in TURNS.items():
        space.add(text, session=f"s-{id}", speaker="Ann", at=f"{day}T09:00:00Z")
    space.flush()
    space.review.restore(next(fact for fact in space.facts() if "Bergen" in fact.text))
    strategy = ama(k_min=5, retention=retention)
    answer = space.ask("Where has Ann lived?", strategy=strategy, now=NOW)
    assert answer.rounds[0].plan.layer == "episodes"
    assert [(proposal.action, proposal.old.text) for proposal in answer.proposals] == [
        (action, "Ann lives in Bergen")
    ]


@pytest.mark.slow
def test_a_failure_after_a_proposal_changes_nothing(open_memory, extractor, space_name):
    replies = [
        {"query": "Where does Ann live?", "fine": 0, "abstract": 0, "event": 0, "atomic": 1,
         "k": 1},
        judged(action="refresh", conflicts=["F1", "F2"]),
        {"changes": [{"action": "update", "entry": "F1", "replaced_by": "F2", "reason": ""},
                     {"action": "update", "entry": "F2", "replaced_by": "F1", "reason": ""}]},
        ModelUnavailableError("down"),
    ]  # fmt: skip
    space = fill(open_memory(model=ScriptedModel(replies)).space(space_name), extractor)
    space.review.restore(next(fact for fact in space.facts() if "Bergen" in fact.text))
    before = standing(space)
    answer = space.ask("Where does Ann live?", strategy="ama", repair="apply", now=NOW)
    assert (answer.stopped, len(answer.proposals)) == ("model failed", 1)
    assert not answer.proposals[0].applied
    assert standing(space) == before
    assert str(answer.context) == str(space.context("Where does Ann live?", now=NOW))


@pytest.mark.slow
@pytest.mark.above_stores
def test_without_a_model_there_is_the_block_and_a_note(open_memory, extractor, space_name):
    space = fill(open_memory().space(space_name), extractor)
    plain = space.context("Where does Ann live?", now=NOW)
    for name in ("licomemory", "hymem", "ama"):
        block = space.context("Where does Ann live?", now=NOW, strategy=name)
        assert str(block) == str(plain) and len(block.citations) == len(plain.citations)
        assert block.notes[0].startswith("no model is configured")
        answer = space.ask("Where does Ann live?", now=NOW, strategy=name)
        assert (answer.text, answer.stopped, str(answer.context)) == ("", "no model", str(plain))
        assert answer.usage.calls == 0
    with pytest.raises(ConfigurationError, match="unknown strategy 'lico'"):
        space.ask("Where?", strategy="lico")
    with pytest.raises(ConfigurationError, match="for a block without a strategy"):
        space.context("Where?", strategy="ama", k=3)
    with pytest.raises(ConfigurationError, match="history must be a sequence of texts"):
        space.ask("Where?", "a text")


@pytest.mark.slow
@pytest.mark.above_stores
def test_a_strategy_without_a_model_reads_every_layer_once(open_memory, extractor, space_name):
    space = fill(open_memory().space(space_name), extractor)

    def assess(state):
        return Assessment("enough" if "live" in state.question else "partial")

    functions = Strategy(
        name="functions", route=AskAsItIs(2, "facts"), assess=assess, reflect=Retry(2), rounds=9
    )
    seen = []
    block = space.context("How many dogs does Ann keep?", now=NOW, strategy=functions,
                          on_round=seen.append)  # fmt: skip
    assert [(item.plan.layer, item.plan.related) for item in seen] == [
        ("facts", False), ("messages", False), ("episodes", False), ("messages", True),
    ]  # fmt: skip
    assert {item.layer for ended in seen for item in ended.found} == {"facts", "messages"}
    assert "Facts:" in block and "Messages:" in block
    done = []
    space.context("Where does Ann live?", now=NOW, strategy=functions, on_round=done.append)
    assert [item.assessment.verdict for item in done] == ["enough"]


@pytest.mark.above_stores
@pytest.mark.slow
def test_a_slot_can_be_used_alone_and_no_message_comes_twice(open_memory, extractor, space_name):
    space = fill(open_memory().space(space_name), extractor)
    state = loop_state(space, "What does Ann like?", now=NOW, as_of="2026-05-01T00:00:00Z")
    first = state.fetch(AskAsItIs(k=1)(state))
    rest = state.fetch(AskAsItIs(k=9)(state))
    assert [item.id for item in first] == ["j"]
    assert rest == ()  # the same query is not sent again
    more = state.recall.messages("Ann", 9, state.pool.message_keys())
    assert {hit.id for hit in more.hits} == {"b"}  # not o: it was said later
    assert ama(k_min=3).route.k_min == 3
    with pytest.raises(TypeError, match="k_min"):
        ama()


@pytest.mark.slow
def test_messages_are_related_that_state_the_same_fact(open_memory, extractor, space_name):
    space = fill(open_memory().space(space_name), extractor)
    texts = {"again": "Bergen is still my home.", "aside": "What a rainy day.", "end": "Bye."}
    extractor.script({"again": [home("Bergen")]})
    for minute, (id, text) in enumerate(texts.items()):
        at = datetime(2026, 3, 5, 9, minute, tzinfo=UTC)
        space.add(text, id=id, session="s-later", speaker="Ann", at=at)
    space.flush()
    for where, expected in ((None, {"again"}), (Filter(session="s-b"), set())):
        state = loop_state(space, "Who has a fish market near?", now=NOW, where=where)
        hits = [hit for hit in state.recall.messages(state.question, 9).hits if hit.id == "b"]
        assert {hit.id for hit in state.recall.related(state.question, hits).hits} == expected


@pytest.mark.above_stores
def test_a_strategy_searches_with_the_ranking_of_the_settings(open_memory, extractor, space_name):
    space = fill(open_memory().space(space_name), extractor)
    question, paper = "Where does Ann live?", SearchSettings(ranking="licomemory")
    usual = loop_state(space, question, now=NOW)
    lico = loop_state(space, question, now=NOW, settings=Settings(search=paper))
    searched = [state.recall.messages(question, 3) for state in (usual, lico)]
    assert [found.trace.ranking for found in searched] == ["default", "licomemory"]
    assert searched[0].hits[0].score != searched[1].hits[0].score
