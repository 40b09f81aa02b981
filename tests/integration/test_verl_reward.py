"""The reward function for verl, with a model behind an endpoint, on rows as they are exported."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from cognigraph import ConfigurationError
from cognigraph.cli.app import main
from cognigraph.ingest.membuilder.extractor import MemBuilderExtractor
from cognigraph.testing import ScriptedModel
from cognigraph.training.outputs import count_tokens, read_output
from cognigraph.training.questions import SessionQuestion, append_questions
from cognigraph.training.rewards import core_penalty
from tests.servers.model_server import Exchange, ModelServer, good
from tests.unit.test_rules import window

pytestmark = pytest.mark.slow

EXPERT = {
    "core": {"operation": "APPEND", "content": "Lives in Graz."},
    "episodic": {"operations": [{"action": "ADD", "title": "Move", "turns": "1",
                                 "memory": "2026-05-20: Ann moves to Graz."}]},
    "semantic": {"operations": [{"action": "ADD", "fact": "1 | Ann | owns | a red kayak"}]},
    "procedural": {"operations": []},
}  # fmt: skip
KAYAK = SessionQuestion("space", "s", "single", "Which boat does Ann own?", "a red kayak")
HOME = SessionQuestion("space", "s", "single", "Where does Ann live?", "Graz")


def answer(exchange: Exchange) -> None:
    """It knows what stands in the block, and nothing else; the judge compares words."""
    system, user = (message["content"] for message in exchange.messages[:2])
    if system.startswith("You grade"):
        good({"reason": "", "right": "known" in user.rpartition("Response:")[2]})(exchange)
        return
    wanted = "red kayak" if "boat" in user else "Lives in Graz"
    block = user.split("[memory]")[1].split("[/memory]")[0]
    good({"answer": "known" if wanted in block else "missing", "labels": []})(exchange)


@pytest.fixture
def rows(tmp_path: Path) -> dict[str, dict[str, Any]]:
    recording, questions = tmp_path / "calls.jsonl", tmp_path / "questions.jsonl"
    model = ScriptedModel(lambda prompt: EXPERT[prompt.name])
    seen = window(("Ann", "I moved to Graz with my red kayak."))
    MemBuilderExtractor(model, record=recording).extract(seen)
    call = json.loads(recording.read_text("utf-8").splitlines()[0])
    asked = [
        SessionQuestion(call["space"], call["session"], item.kind, item.question, item.answer)
        for item in (KAYAK, HOME)
    ]
    append_questions(asked, questions)
    arguments = ["--format", "rl", "--questions", str(questions)]
    assert main(["export-training", str(recording), str(tmp_path / "rl"), *arguments]) == 0
    lines = (tmp_path / "rl" / "train.json").read_text("utf-8").splitlines()
    return {row["ability"]: row for row in map(json.loads, lines)}


@pytest.fixture
def reward(monkeypatch: pytest.MonkeyPatch):
    """The module as verl 0.9 loads it, by the path of its file and not into ``sys.modules``."""
    found = importlib.util.find_spec("cognigraph.training.verl_reward")
    assert found is not None and found.origin is not None
    spec = importlib.util.spec_from_file_location("custom_module", found.origin)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with ModelServer(answer) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("COGNIGRAPH_MODEL", "grader")
        module.server = server
        yield module


def scored(module: Any, row: dict[str, Any], solution: Any) -> dict[str, float]:
    text = solution if isinstance(solution, str) else json.dumps(solution)
    return module.compute_score(
        row["data_source"], text, row["reward_model"]["ground_truth"], row["extra_info"], x=1
    )


def test_an_output_is_rewarded_by_what_can_be_answered_from_it(reward, rows):
    whole = scored(reward, rows["semantic"], EXPERT["semantic"])
    # Fact and episode are found equally often: the episode, first in the order, counts more.
    assert whole == {"score": 1.0, "valid": 1.0, "task": 1.0, "penalty": 0.0, "weight": 1.0}
    # Without the fact one of two questions cannot be answered; an episode was found most often.
    assert scored(reward, rows["semantic"], {"operations": []}) == {
        "score": 0.5, "valid": 1.0, "task": 0.5, "penalty": 0.0, "weight": 1.0,
    }  # fmt: skip
    assert scored(reward, rows["core"], {"operation": "NONE"})["task"] == 0.5
    thought = f"<think>{{}}</think>\n{json.dumps(EXPERT['core'])}"
    assert scored(reward, rows["core"], thought)["score"] == 1.0


@pytest.mark.parametrize("text", [
    "no JSON", '{"operations": [{"action": "DELETE"}]}',
    '{"operations": [{"action": "ADD", "fact": "9 | Ann | owns | a kayak"}]}',
    '{"operations": [{"action": "ADD", "fact": "1 | Ann | owns | a kayak"}, {"action": "MERGE"}]}',
])  # fmt: skip
def test_an_output_that_is_not_valid_as_a_whole_gets_nothing_and_costs_no_call(reward, rows, text):
    assert scored(reward, rows["semantic"], text)["score"] == 0.0
    assert scored(reward, rows["semantic"], text)["valid"] == 0.0
    assert reward.server.calls == 0


def test_a_profile_that_grows_too_much_is_penalised(reward, rows):
    long = "Lives in Graz. " + "She likes green hills and long walks there. " * 30
    found = scored(reward, rows["core"], {"operation": "APPEND", "content": long})
    expected = float(core_penalty(0, count_tokens([long.strip()])))
    assert 0 < expected < 1 and found["penalty"] == pytest.approx(expected)
    assert found["score"] == pytest.approx(1 - 0.8 * expected)


def test_the_rollouts_of_the_four_writers_make_one_memory_each(reward, rows):
    """The first rollout lacks the fact, the second the profile; nothing comes of the expert."""
    order = ["core", "core", "episodic", "episodic", "semantic", "semantic", "procedural",
             "procedural"]  # fmt: skip
    nothing = {"operation": "NONE", "operations": []}
    outputs = [EXPERT["core"], nothing, *[nothing] * 2, nothing, EXPERT["semantic"], *[nothing] * 2]
    found = reward.compute_scores(
        [rows[kind]["data_source"] for kind in order],
        [json.dumps(output) for output in outputs],
        [rows[kind]["reward_model"]["ground_truth"] for kind in order],
        [rows[kind]["extra_info"] for kind in order],
    )
    assert [item["task"] for item in found] == [0.5] * 8
    assert [item["weight"] for item in found] == [1, 1, 1, 1, 1, 4.0, 1, 1]


def test_a_row_that_lacks_something_says_what_to_do(reward, rows):
    row = rows["core"]
    with pytest.raises(ConfigurationError, match="no questions; make them with"):
        reward.compute_score(row["data_source"], "{}", "[]", row["extra_info"])
    with pytest.raises(ConfigurationError, match="record the calls again"):
        reward.compute_score(row["data_source"], "{}", "[]", {"writer": "core"})
    with pytest.raises(ConfigurationError, match="the data source is 'gsm8k'"):
        reward.compute_score("gsm8k", "{}", "[]", {})


def test_entries_that_are_updated_stay():
    before = {"F1": "Ann drinks coffee"}
    update = {"action": "UPDATE", "target": "F1", "fact": "2 | Ann | drinks | tea | May = 2026-05"}
    found = read_output(json.dumps({"operations": [update]}), "semantic", before, 2)
    assert found.entries == ("Ann drinks coffee", "Ann drinks tea (2026-05)")
    assert (found.new, found.valid) == (("Ann drinks tea (2026-05)",), True)
    bread = {"action": "ADD", "title": "Bread", "steps": ["knead", "bake"], "context": "Sundays",
             "turns": "1"}  # fmt: skip
    found = read_output(json.dumps({"operations": [bread]}), "procedural", {}, 1)
    assert found.entries == ("Bread: Sundays: 1. knead 2. bake",)
    refused = {"operation": "REPLACE", "old": "Has a cat.", "content": "Has a dog."}
    assert not read_output(json.dumps(refused), "core", "Likes tea.", 1).valid
