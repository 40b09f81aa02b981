"""The default ranking beats simple ones: friends' talk, a user with an assistant, a team's chat."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import pytest

from bench.plain import BOTH, COSINE, WORDS, Plain
from cognigraph import Memory
from cognigraph.embed.word_vectors import WordLlamaEmbedder
from cognigraph.evaluate.metrics import score
from cognigraph.retrieve.rank.ranking import WEIGHT_SETS
from tests.cases import each

CUTOFF = 5


class Talk(NamedTuple):
    """Messages in order, questions each with its kind and the ids that answer it, and when."""

    messages: list[dict[str, str]]
    questions: list[tuple[str, str, set[str]]]
    now: str


def friends() -> Talk:
    sample = files("cognigraph.sample")
    lines = (sample / "conversation.jsonl").read_text("utf-8").splitlines()
    asked = json.loads((sample / "questions.json").read_text("utf-8"))
    questions = [
        (q["question"], "friends", set(q["expected"])) for q in asked["questions"] if q["expected"]
    ]
    return Talk([json.loads(line) for line in lines], questions, asked["now"])


def assistant() -> Talk:
    path = Path(__file__).parents[1] / "data" / "assistant-small.json"
    history = json.loads(path.read_text("utf-8"))
    messages = [
        {**turn, "session": session["session"], "at": session["time"] + "Z"}
        for session in history["sessions"]
        for turn in session["turns"]
    ]
    questions = [(q["question"], q["kind"], set(q["expected"])) for q in history["questions"]]
    return Talk(messages, questions, history["now"])


def team() -> Talk:
    """Return a chat of four people; nothing was learned or tuned on it."""
    data = Path(__file__).parents[2] / "bench" / "labels" / "team"
    chat = json.loads((data / "conversations" / "team.json").read_text("utf-8"))
    asked = json.loads((data / "qa" / "team.qa.json").read_text("utf-8"))["qa"]
    messages = [
        {**turn, "session": str(session["session"]), "at": session["time"] + "Z"}
        for session in chat["sessions"]
        for turn in session["turns"]
    ]
    questions = [(q["question"], q["kind"], set(q["evidence"])) for q in asked]
    return Talk(messages, questions, "2026-05-14T09:00:00Z")


@pytest.mark.slow
@pytest.mark.parametrize(
    "talk", [friends(), assistant(), team()], ids=["friends", "assistant", "team"]
)
def test_the_default_is_not_below_a_simple_ranking(tmp_path, talk):
    shares: dict[str, list[float]] = {"default": [], COSINE: [], WORDS: [], BOTH: []}
    plain = Plain(WordLlamaEmbedder(), talk.messages)
    with Memory(tmp_path / "m.db", embedder="wordllama", enrich="manual") as memory:
        memory.add_many(talk.messages)
        for question, _, expected in talk.questions:
            found = memory.search(question, k=CUTOFF, now=talk.now)
            simple = plain.rankings(question, len(talk.messages))
            rankings = {name: ids for name, (ids, _) in simple.items()}
            rankings["default"] = [hit.id for hit in found]
            for name, ids in rankings.items():
                shares[name].append(score(ids, expected, CUTOFF).recall)
    recall = {name: mean(values) for name, values in shares.items()}
    assert recall["default"] == max(recall.values())


LEARNED = json.loads(
    (Path(__file__).parents[2] / "bench" / "results" / "weights.json").read_text("utf-8")
)


CHOSEN = {"plain": {"fusion": 1.0, "speaker named": 1.2, "window words": 2.0}}
CHOSEN_WHERE_LONG = {"plain": {"window words": -1.3}}
"""What was chosen afterwards, on all kinds of talk (bench/kinds.py)."""


@pytest.mark.parametrize("name", WEIGHT_SETS)
def test_the_weights_are_those_that_were_learned_or_chosen(name):
    learned, shipped = LEARNED[name], WEIGHT_SETS[name]
    assert dict(shipped.weights) == learned["weights"] | CHOSEN.get(name, {})
    assert dict(shipped.list_changes) == learned["lists"]
    assert dict(shipped.long_changes) == learned["long"] | CHOSEN_WHERE_LONG.get(name, {})


@each("simple", ["cosine", "cosine and words"])
@each("name", WEIGHT_SETS)
def test_no_kind_of_question_did_better_with_a_simple_ranking(name, simple):
    """On histories that were left out of the learning."""
    held_out = LEARNED[name]["cross_validated"]["assistants-dev"]
    below = {
        (embedder, kind): (held_out[embedder]["by_category"][kind], share)
        for embedder, figures in LEARNED[name]["baselines"][simple]["assistants-dev"].items()
        for kind, share in figures["by_category"].items()
        if held_out[embedder]["by_category"][kind] < share
    }
    assert below == {}
