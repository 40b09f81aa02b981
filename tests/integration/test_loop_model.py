"""Loops with the real client, against an endpoint that behaves well or badly."""

from __future__ import annotations

import itertools
import re
from datetime import timedelta
from itertools import product

import pytest

pytest.importorskip("openai")

from cognigraph import Limits, Memory
from cognigraph.llm import ChatModel, Limiter, Prices
from cognigraph.loop import ama, hymem, licomemory
from cognigraph.testing import HashEmbedder
from tests.servers.loop_stages import LoopStages
from tests.servers.model_server import ModelServer, drop, hang, status
from tests.servers.scripted import Fails

NOW = "2025-09-01T09:00:00Z"
TALK = {
    "mar": [
        "I go fishing at the lake every Sunday.",
        "The cat Pickle is afraid of spoons.",
        "My sister Pia expects a baby in August.",
    ],
    "may": [
        "We had a picnic by the river with Tom.",
        "I moved to Bremen on May 24.",
        "The rent is 740 euros a month.",
    ],
    "jul": [
        "Camping in the hills was cold but lovely.",
        "Somebody stole my green bike on Wednesday.",
        "I started to learn Low German.",
    ],
}
QUESTION = "What does Ann do outdoors?"
ENOUGH = {"verdict": "enough", "missing": "", "queries": []}
ANSWER = {"answer": "fishing, a picnic and camping", "labels": ["C1"]}


def missing(*queries, verdict="partial"):
    return {"verdict": verdict, "missing": "more activities", "queries": list(queries)}


@pytest.fixture
def ask(tmp_path):
    """Ask a question of the small talk; the model is a real client of a scripted endpoint."""
    opened = []

    def run(stages, question=QUESTION, *, attempts=1, timeout=5.0, prices=None, **options):
        server = ModelServer(stages)
        server.__enter__()
        model = ChatModel(
            "test", base_url=server.url, attempts=attempts, prices=prices, sleep=lambda _: None,
            timeout=timedelta(seconds=timeout), limiter=Limiter(4),
        )  # fmt: skip
        memory = Memory(
            tmp_path / "ann.db", embedder=HashEmbedder(256), enrich="manual", model=model
        )
        opened.extend((server, model, memory))
        for month, session in enumerate(TALK, 3):
            for turn, text in enumerate(TALK[session]):
                at = f"2025-{month:02}-01T09:0{turn}:00Z"
                memory.add(text, id=f"{session}{turn}", session=session, speaker="Ann", at=at)
        memory.flush()
        options.setdefault("strategy", licomemory(k=2, new=2))
        plain = memory.context(question, now=NOW)
        return memory.ask(question, now=NOW, **options), plain, server

    yield run
    for server, model, memory in zip(opened[::3], opened[1::3], opened[2::3], strict=True):
        memory.close()
        model.close()
        server.__exit__()


@pytest.mark.slow
def test_a_follow_up_brings_new_messages_and_the_answer_cites_the_block(ask):
    stages = LoopStages(
        lico_missing=[missing("camping in the hills", "a picnic by the river"), ENOUGH],
        loop_answer={"answer": "a picnic [C2]", "labels": ["[C1]", "C1", "C99", "lots"]},
    )
    shown = []
    answer, _, server = ask(stages, on_round=shown.append)
    assert stages.stages == ["lico-missing", "lico-missing", "loop-answer"]
    assert (answer.text, answer.verdict, answer.stopped) == ("a picnic [C2]", "enough", "answered")
    first, second = answer.rounds
    assert shown == [first, second]
    assert len(first.found) == 2
    assert {item.id for item in (*first.found, *second.found)} >= {"jul0", "may0"}
    assert not {item.id for item in first.found} & {item.id for item in second.found}
    assert second.found[0].query == "camping in the hills"
    assert [citation.label for citation in answer.citations] == ["C1", "C2"]
    assert answer.notes == ("2 labels of the answer are not in the block: left out",)
    assert {hit.id for hit in answer.context.hits} >= {"jul0", "may0"}
    assert answer.usage.calls == server.calls == 3
    assert answer.usage.input_tokens == 300
    call = answer.all_calls[0]
    assert (call.prompt, call.model) == ("lico-missing-1", "test")
    assert QUESTION in call.user and "fishing" in call.user
    assert call.reply["queries"] == ["camping in the hills", "a picnic by the river"]
    assert "round 2: messages, camping in the hills; a picnic by the river" in answer.trace


@pytest.mark.slow
def test_a_verdict_alone_is_a_reply(ask):
    stages = LoopStages(lico_missing={"verdict": "enough"}, loop_answer={"answer": "fishing"})
    answer, _, server = ask(stages)
    assert (answer.text, answer.verdict, answer.stopped) == ("fishing", "enough", "answered")
    assert (server.calls, answer.notes, answer.citations) == (2, (), ())


@pytest.mark.slow
def test_a_model_that_asks_for_500_queries_gets_as_many_as_the_strategy_allows(ask):
    many = [f"query number {n}" for n in range(500)]
    stages = LoopStages(lico_missing=missing(*many), loop_answer=ANSWER)
    answer, _, _ = ask(stages, strategy=licomemory(k=2, new=1, queries=3, rounds=2))
    assert answer.rounds[1].plan.queries == tuple(many[:3])
    assert "497 of 500 queries were left out: 3 a round" in answer.rounds[0].notes
    assert (answer.stopped, len(answer.rounds), answer.text) == ("rounds", 2, ANSWER["answer"])


@pytest.mark.slow
def test_a_model_that_repeats_itself_is_not_searched_for_again(ask):
    stages = LoopStages(
        lico_missing=missing("camping trip", "Camping trip!", QUESTION.upper()), loop_answer=ANSWER
    )
    answer, _, server = ask(stages, strategy=licomemory(k=2, new=1, rounds=9))
    assert [item.plan.queries for item in answer.rounds] == [(QUESTION,), ("camping trip",)]
    assert (answer.stopped, server.calls) == ("no new query", 3)
    assert "3 of 3 queries were empty or sent before: not sent again" in answer.rounds[1].notes


@pytest.mark.slow
def test_a_contradiction_is_noted_and_the_verdict_counts(ask):
    stages = LoopStages(
        lico_missing={"verdict": "Enough", "missing": "all", "queries": ["more"]},
        loop_answer=ANSWER,
    )
    answer, _, server = ask(stages)
    assert (len(answer.rounds), server.calls) == (1, 2)
    assert answer.rounds[0].notes == ("enough, and yet 1 queries: they were not sent",)
    odd = LoopStages(lico_missing=missing(verdict="maybe"), loop_answer=ANSWER)
    answer, _, _ = ask(odd)
    assert answer.verdict == "partial"
    assert "'maybe' is not one of those asked for" in answer.rounds[0].notes[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "number"),
    [*product(("prose", "refused", "dropped"), (1, 2, 3)), ("timeout", 2)],
)
def test_a_model_that_fails_at_any_call_leaves_the_block_without_a_loop(ask, number, way):
    bad = {
        "prose": "I am afraid I cannot answer in JSON today.",
        "timeout": Fails(hang(20)),
        "dropped": Fails(drop()),
        "refused": Fails(status(401, "no such key")),
    }[way]
    judged = [
        [bad],
        [missing("camping in the hills"), bad],
        [missing("camping in the hills"), ENOUGH],
    ]
    stages = LoopStages(lico_missing=judged[number - 1], loop_answer=bad)
    answer, plain, server = ask(stages, timeout=2)
    assert (answer.text, answer.stopped) == ("", "model failed")
    assert str(answer.context) == str(plain)
    assert answer.context.notes == answer.notes
    assert "the model failed" in answer.notes[0] and "block without a loop" in answer.notes[0]
    assert len(answer.rounds) == min(number, 2)
    assert answer.all_calls[-1].error and answer.all_calls[-1].reply is None
    assert answer.usage.calls == server.calls  # a repair of prose is counted as well
    assert answer.usage.calls == number + (way == "prose")


@pytest.mark.slow
def test_calls_are_never_exceeded_and_the_last_one_writes_the_answer(ask):
    for calls in range(4):
        stages = LoopStages(
            lico_missing=[missing("a"), missing("b"), missing("c"), ENOUGH], loop_answer=ANSWER
        )
        answer, _, server = ask(stages, limits=Limits(calls=calls))
        assert server.calls == answer.usage.calls == calls
        assert stages.stages == ["lico-missing"] * (calls - 1) + ["loop-answer"] * bool(calls)
        assert answer.text == (ANSWER["answer"] if calls else "")
        assert answer.stopped == "limit"
        assert len(answer.context.hits) >= 2


@pytest.mark.slow
def test_retries_count_against_the_calls(ask):
    stages = LoopStages(lico_missing=Fails(status(503)), loop_answer=ANSWER)
    answer, _, server = ask(stages, attempts=9, limits=Limits(calls=4))
    assert server.calls == answer.usage.calls == 4
    assert (answer.stopped, answer.text) == ("limit", ANSWER["answer"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limits", "told"),
    [
        (Limits(tokens=200), "the limit of 200 tokens is reached"),
        (Limits(cost=0.001), "the limit of cost 0.001 is reached"),
    ],
)
def test_tokens_and_money_end_the_search(ask, limits, told):
    stages = LoopStages(lico_missing=[missing("a"), missing("b")], loop_answer=ANSWER)
    prices = Prices(5.0, 5.0)  # a call of 110 tokens costs 0.00055
    answer, _, server = ask(stages, limits=limits, prices=prices)
    assert (server.calls, answer.stopped, answer.text) == (2, "limit", "")
    assert answer.notes[0] == f"stopped early: {told}"
    assert answer.usage.cost == pytest.approx(0.0011)
    assert {"a", "b"} >= {item.plan.queries[0] for item in answer.rounds[1:]}


@pytest.mark.slow
def test_time_cuts_a_call_that_hangs(ask):
    stages = LoopStages(lico_missing=[missing("a"), Fails(hang(20))], loop_answer=ANSWER)
    answer, _, _ = ask(stages, timeout=15, limits=Limits(time=timedelta(seconds=2)))
    assert (answer.stopped, answer.text, len(answer.rounds)) == ("limit", "", 2)
    assert answer.notes[0] == "stopped early: the limit of 2 seconds is reached"


@pytest.mark.slow
def test_rounds_are_limited(ask):
    numbers = itertools.count()
    stages = LoopStages(
        lico_missing=lambda prompt: missing(f"fishing {next(numbers)}"), loop_answer=ANSWER
    )
    for rounds in (0, 1, 2):
        answer, _, _ = ask(stages, limits=Limits(rounds=rounds))
        assert (len(answer.rounds), answer.stopped) == (rounds, "rounds" if rounds else "limit")


HIDDEN = re.compile(r"\[(E\d+)\]")


@pytest.mark.slow
def test_deep_batches_run_at_the_same_time_and_their_order_is_irrelevant(ask):
    def select(prompt):
        shown = HIDDEN.findall(prompt)
        return {"ids": [*shown[:1], "E99", "e1", shown[0]]}

    stages = LoopStages(
        hymem_light={"answer": "", "sure": False},
        hymem_select=select,
        hymem_reflect={"complete": True, "question": ""},
        hymem_deep=ANSWER,
    )
    answer, _, server = ask(stages, strategy=hymem(rounds=3, d=1, n=6, k=1))
    # Each conversation of the talk is two episodes: its last turn is about something else.
    assert stages.stages.count("hymem-select") == 6
    assert (answer.stopped, answer.text) == ("answered", ANSWER["answer"])
    (only,) = answer.rounds
    assert {item.id for item in (*only.found, *only.deepened) if item.layer == "messages"} == {
        f"{session}{turn}" for session in TALK for turn in range(3)
    }
    assert [call.prompt for call in only.calls] == [
        "hymem-light-2", *["hymem-select-1"] * 6, "hymem-deep-1", "hymem-reflect-2",
    ]  # fmt: skip
    shown = [HIDDEN.findall(call.user)[0] for call in only.calls[1:7]]
    assert shown == [f"E{number}" for number in range(1, 7)]
    assert sum("were not among those shown: left out" in note for note in only.notes) == 6
    assert answer.usage.calls == server.calls == 9
    # All that was said in the selected episodes, whole and in order of time.
    lines = str(answer.context).splitlines()
    assert lines[1] == "Messages:" and lines[2].startswith("[C1] ")
    said = [line.split(": ", 1)[1] for line in lines[2:-1]]
    assert said == [text for session in TALK for text in TALK[session]]
    (deep,) = [call for call in only.calls if call.prompt == "hymem-deep-1"]
    assert str(answer.context) in deep.user


@pytest.mark.slow
def test_what_was_said_is_shortened_if_it_does_not_fit(ask):
    stages = LoopStages(
        hymem_light={"answer": "", "sure": False},
        hymem_select=lambda prompt: {"ids": HIDDEN.findall(prompt)},
        hymem_reflect={"complete": True, "question": ""},
        hymem_deep=ANSWER,
    )
    answer, _, _ = ask(stages, strategy=hymem(rounds=1, d=9, n=6, k=1, max_tokens=90))
    assert 0 < answer.context.tokens <= 90


@pytest.mark.slow
def test_an_answer_that_is_not_known_is_looked_for_in_the_messages(ask):
    stages = LoopStages(
        hymem_light={"answer": "That is not known.", "sure": True},
        hymem_select={"ids": []},
        hymem_reflect={"complete": True, "question": ""},
        hymem_deep=[{"answer": "Nicht bekannt"}, ANSWER],
    )
    answer, _, _ = ask(stages, strategy=hymem(rounds=3, d=10, n=6, k=2))
    assert stages.stages == [
        "hymem-light", "hymem-select", "hymem-deep", "hymem-reflect", "hymem-deep",
        "hymem-reflect",
    ]  # fmt: skip
    assert [(item.plan.layer, item.plan.queries) for item in answer.rounds] == [
        ("episodes", (QUESTION,)), ("messages", (QUESTION,)),
    ]  # fmt: skip
    note = "sure, but the answer says that something is not known: taken as not sure"
    assert answer.rounds[0].notes == (note,)
    assert (answer.text, answer.verdict) == (ANSWER["answer"], "enough")
    seen = {item.id for item in answer.rounds[0].found if item.layer == "messages"}
    new = [item.id for item in answer.rounds[1].found]
    assert (len(seen), len(new), seen & set(new)) == (5, 2, set())
    last = stages.prompts("hymem-deep")[-1]
    assert all(TALK[id[:3]][int(id[3])] in last for id in new)


@pytest.mark.slow
def test_summaries_are_judged_beside_newer_messages_in_order_of_time(ask):
    stages = LoopStages(
        hymem_light={"answer": "fishing", "sure": True},
        hymem_reflect={"complete": True, "question": ""},
    )
    answer, _, _ = ask(stages, strategy=hymem(rounds=1, d=10, k=1))
    (shown,) = stages.prompts("hymem-light")
    lines = re.findall(r"^\[([EM])\d+\] (\d{4}-\d\d-\d\d)", shown, re.MULTILINE)
    assert sorted(kind for kind, _ in lines) == ["E", *"MMMMM"]
    assert [day for _, day in lines] == sorted(day for _, day in lines)
    assert {item.label[0] for item in answer.rounds[0].found} == {"E", "M"}
    assert len(answer.context.hits) == 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "stage"),
    [("Would Ann enjoy a sailing trip?", "loop-infer"), (QUESTION, "loop-answer")],
)
def test_an_open_question_may_be_answered_by_inference(ask, question, stage):
    inferred = {"answer": "Probably: she fishes and camps", "labels": ["C1"]}
    stages = LoopStages(lico_missing=ENOUGH, loop_infer=inferred, loop_answer=inferred)
    answer, _, _ = ask(stages, question)
    assert stages.stages == ["lico-missing", stage]
    assert (answer.text, len(answer.citations)) == (inferred["answer"], 1)


@pytest.mark.slow
def test_retries_widen_the_search_and_look_for_what_was_missing(ask):
    judged = {"action": "retry", "missing": "camping in the hills"}
    stages = LoopStages(
        ama_retrieve={"query": QUESTION, "atomic": 1, "k": 1},
        ama_judge=[judged, {"action": "pass", "kept": ["M1", "M3"]}],
        loop_answer=ANSWER,
    )
    answer, _, _ = ask(stages, strategy=ama(k_min=1, rounds=3))
    first, second = answer.rounds
    assert (first.plan.layer, first.plan.k) == ("messages", 1)
    assert first.plan.reason == "atomic; few facts are stored"
    assert (second.plan.layer, second.plan.k) == ("episodes", 2)
    assert second.plan.queries == (QUESTION, "camping in the hills")
    assert "<sent>\n- What does Ann do outdoors?\n</sent>" in stages.prompts("ama-judge")[0]
    assert answer.text == ANSWER["answer"]


def test_an_empty_memory_asks_no_model(tmp_path):
    with ModelServer(LoopStages(loop_answer=ANSWER)) as server:
        model = ChatModel("test", base_url=server.url)
        with Memory(tmp_path / "empty.db", embedder=HashEmbedder(), model=model) as memory:
            for name in ("licomemory", "hymem"):
                answer = memory.ask(QUESTION, strategy=name)
                assert (answer.text, answer.stopped, answer.verdict) == (
                    "", "nothing found", "nothing",
                )  # fmt: skip
        model.close()
        assert server.calls == 0
