"""``cognigraph eval paper``: the main tables of the papers, on small files as published."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cognigraph.evaluate.papers import PAPERS, in_split, rows, shown
from cognigraph.evaluate.qa import ANSWER, prompt
from cognigraph.ingest.membuilder.writers import PROMPTS, writer_prompt
from tests.e2e.command_line import Result, error_of
from tests.e2e.conftest import Cli
from tests.e2e.test_eval import DATA
from tests.servers.loop_stages import stage_of
from tests.servers.model_server import Exchange, ModelServer, good
from tests.unit.test_benchmark_formats import perltqa

LOOP: dict[str, Any] = {
    "ama-retrieve": {"query": "greyhound", "fine": 1, "abstract": 0, "event": 0, "atomic": 0},
    "ama-judge": {"reason": "", "action": "pass", "kept": [], "conflicts": []},
    "hymem-light": {"answer": "Comet", "sure": True},
    "hymem-reflect": {"complete": True, "question": ""},
    "loop-answer": {"answer": "Comet", "labels": []},
    "loop-infer": {"answer": "Comet", "labels": []},
}
NOTHING: dict[str, Any] = {"operations": []}
WRITE: dict[str, Any] = {
    "core": {"operation": "APPEND", "content": "Has a greyhound, Comet."},
    "episodic": {"operations": [{"action": "ADD", "title": "The dog", "turns": "1",
                                 "memory": "Ada has adopted a greyhound."}]},
    "semantic": NOTHING,
    "procedural": NOTHING,
}  # fmt: skip


class Models:
    """One endpoint for all three models: which of them asked what, by the model's name."""

    def __init__(self) -> None:
        self.asked: Counter[tuple[str, str]] = Counter()
        self.judged: Counter[str] = Counter()
        self.profiles: list[str] = []

    def __call__(self, exchange: Exchange) -> None:
        system, user = (message["content"] for message in exchange.messages[:2])
        stage, reply = self._reply(system, user)
        self.asked[exchange.body["model"], stage] += 1
        good(reply)(exchange)

    def _reply(self, system: str, user: str) -> tuple[str, Any]:
        if system.startswith("You grade"):
            self.judged[user] += 1
            right = "Expected: Comet" in user or self.judged[user] == 2
            return "judge", {"reason": "scripted", "right": right}
        if system.startswith(prompt(ANSWER).parts["system"]):
            return "answer", {"answer": "Comet, the dog"}
        for writer, id in PROMPTS.items():
            if system.startswith(writer_prompt(id).parts["system"]):
                if writer == "core":
                    self.profiles.append(user.split("<profile>\n")[1].split("\n</profile>")[0])
                return writer, WRITE[writer]
        if "memory consistent" in system and "<new_facts>" in user:
            return "conflicts", {"conflicts": []}
        if "summary of a conversation" in system or "notes of a conversation" in system:
            return "notes" if "notes of" in system else "summary", {
                "keys": ["dog"],
                "themes": [{"title": "Dog", "summary": "A dog."}],
            }
        if system.startswith("You extract") or ("<turns>" in user and "facts" in system):
            return "read", {"entities": [], "facts": ["1 | Ada | adopted | Comet"]}
        stage = stage_of(system)
        return stage, LOOP[stage]

    def by_model(self) -> Counter[str]:
        found: Counter[str] = Counter()
        for (model, _), count in self.asked.items():
            found[model] += count
        return found


def paper(quick: Cli, server: ModelServer, *arguments: object) -> Result:
    return quick(
        "eval", "paper", *arguments, "--build-model", "builder", "--answer-model", "reader",
        "--judge-model", "judge", "--workers", "2", OPENAI_BASE_URL=server.url,
    )  # fmt: skip


def finished(result: Result) -> dict[str, Any]:
    assert result.returncode == 0, result.stderr
    return dict(json.loads(result.stdout))


@pytest.fixture
def locomo(tmp_path: Path) -> Path:
    return Path(shutil.copy(DATA / "locomo-small.json", tmp_path / "locomo10.json"))


@pytest.fixture
def longmemeval(tmp_path: Path) -> Path:
    return Path(shutil.copy(DATA / "longmemeval-small.json", tmp_path / "longmemeval_s.json"))


@pytest.mark.slow
def test_what_a_run_takes_is_said_before_it_begins(quick, locomo, longmemeval):
    models = Models()
    with ModelServer(models) as server:
        both = ("--data", locomo, "--data", longmemeval)
        told = paper(quick, server, "licomemory", *both)
        assert told.returncode == 1 and "LoCoMo, 8 questions: answer" in told.stdout
        assert "add --yes, or a limit with --budget-calls" in told.stderr
        # 8 and 4 questions, 5 runs, an answer and a verdict each; the building comes on top
        told = json.loads(paper(quick, server, "licomemory", *both, "--json").stdout)["estimates"]
        assert [(item["questions"], item["answers"]["calls"]) for item in told] == [
            (8, 40),
            (4, 20),
        ]
        assert all(item["judge"]["calls"] == item["answers"]["calls"] for item in told)
        assert all(item["build"]["calls"] > 0 for item in told)
        assert server.calls == 0
        assert "eval paper needs one of licomemory, ama, hymem, membuilder" in error_of(
            paper(quick, server, "memgpt", *both), 2
        )
        assert "--data is required: a file of LongMemEval, LoCoMo" in error_of(
            paper(quick, server, "licomemory"), 2
        )
        same = paper(quick, server, "ama", "--data", locomo, "--data", locomo, "--yes")
        assert "one file or folder for each benchmark" in error_of(same, 2)


@pytest.mark.slow
def test_licomemory_is_measured_over_several_runs_and_continues(quick, locomo):
    models = Models()
    with ModelServer(models) as server:
        arguments = ("licomemory", "--data", locomo, "--runs", "2")
        stopped = paper(quick, server, *arguments, "--budget-calls", "12", "--json")
        assert stopped.returncode in (1, 2) and server.calls == 12
        found = finished(paper(quick, server, *arguments, "--yes", "--json"))
        asked = models.by_model()
        assert set(asked) == {"builder", "reader", "judge"}
        assert (asked["reader"], asked["judge"]) == (16, 16)  # 8 questions, also adversarial, twice
        calls = server.calls
        again = paper(quick, server, *arguments, "--yes")
        assert server.calls == calls
        assert finished(paper(quick, server, *arguments, "--yes", "--json")) == found
    (measured,) = found["benchmarks"]
    whole = measured["rows"][0]
    assert (whole["name"], whole["questions"]) == ("all", 8)
    assert whole["accuracy"] == {"mean": 0.5625, "sd": 0.6187}  # 1 of 8, then all
    assert whole["tokens"]["mean"] == 110 and whole["build_tokens"]["mean"] > 0
    assert {row["name"] for row in measured["rows"][1:]} == {
        "adversarial", "multi-hop", "open-domain", "single-hop", "temporal",
    }  # fmt: skip
    assert 0 < whole["recall"]["mean"] <= 1
    table = Path(found["table"]).read_text("utf-8")
    assert "| | questions | T_R (s) | K_R | Acc. | Rec. | K_G | T_G (s) |" in table
    assert "| published: GPT-4o-mini |  | 1.61 | 1,200 | 0.672 | 0.681 | - | - |" in table
    assert "0.562 ± 0.619" in again.stdout and again.stdout.splitlines()[-1] == found["table"]


@pytest.mark.slow
def test_ama_and_hymem_leave_out_adversarial_questions(quick, locomo):
    tables = {}
    for name, stage in (("ama", "ama-judge"), ("hymem", "hymem-light")):
        models = Models()
        with ModelServer(models) as server:
            found = finished(paper(quick, server, name, "--data", locomo, "--yes", "--json"))
        assert models.asked["reader", stage] == 7
        assert bool(models.asked["builder", "notes"]) == (name == "hymem")
        tables[name] = found
        row = found["benchmarks"][0]["rows"][0]
        assert (row["questions"], row["accuracy"]["mean"]) == (7, pytest.approx(1 / 7, abs=1e-4))
    ama = tables["ama"]
    rows_of = {row["name"]: row for row in ama["benchmarks"][0]["rows"]}
    assert (rows_of["single-hop"]["f1"]["mean"], rows_of["single-hop"]["bleu_1"]["mean"]) == (
        pytest.approx(1 / 3, abs=1e-4),  # "Comet", of three questions one is about it
        pytest.approx(1 / 3, abs=1e-4),
    )
    assert list(ama["heads"].values()) == ["LLM score", "F1", "BLEU-1", "tokens", "latency (s)"]


@pytest.mark.slow
def test_membuilder_writes_a_memory_and_answers_from_it(quick, locomo, longmemeval, tmp_path):
    models = Models()
    folder = tmp_path / "people"
    folder.mkdir()
    data = ("--data", locomo, "--data", longmemeval, "--data", perltqa(folder))
    with ModelServer(models) as server:
        found = finished(paper(quick, server, "membuilder", *data, "--yes", "--json"))
    measured = found["benchmarks"]
    assert [item["benchmark"] for item in measured] == ["locomo", "longmemeval", "perltqa"]
    assert [item["rows"][0]["questions"] for item in measured][:2] == [8, 4]
    assert found["complete"]
    assert models.asked["builder", "core"] == models.asked["builder", "semantic"] > 4
    # Each session's writer has read the profile that those before it have written.
    assert sum(profile == "Has a greyhound, Comet." for profile in models.profiles) > 0
    published = measured[2]["published"]
    assert published["built by Qwen3-4B, trained"] == {"accuracy": 0.9314}


def test_the_split_has_50_questions_twice_and_leaves_the_others():
    assert in_split("sft", "00ca467f") and in_split("rl", "0100672e")
    assert not in_split("test", "00ca467f") and in_split("test", "another")
    assert [len(ids) for ids in (_ids("sft"), _ids("rl"))] == [50, 50]


def _ids(split: str) -> list[str]:
    path = Path(__file__).parents[2] / "cognigraph" / "evaluate" / "longmemeval_splits.json"
    return list(json.loads(path.read_text("utf-8"))[split])


def test_rows_have_means_over_runs_and_their_deviation():
    first = [{"category": "a", "accuracy": 1.0, "f1": 0.5}, {"category": "b", "accuracy": 0.0}]
    second = [{"category": "a", "accuracy": 0.0, "f1": 0.5}, {"category": "b", "accuracy": 0.0}]
    whole, a, b = rows([first, second], {"build_tokens": 1234.5})
    assert whole["accuracy"] == {"mean": 0.25, "sd": 0.3536}  # .5 and 0
    assert whole["f1"] == {"mean": 0.5, "sd": 0.0} and whole["build_tokens"] == {"mean": 1234.5}
    assert a["accuracy"] == {"mean": 0.5, "sd": 0.7071} and "build_tokens" not in a
    assert b == {"name": "b", "questions": 1, "accuracy": {"mean": 0.0, "sd": 0.0}}
    (once, _) = rows([first[:1]], {})
    assert once["accuracy"] == {"mean": 1.0}
    assert (shown("accuracy", whole["accuracy"]), shown("tokens", 1234.5), shown("f1", None)) == (
        "0.250 ± 0.354", "1,234", "-",
    )  # fmt: skip


def test_every_paper_has_columns_for_what_it_published():
    for paper in PAPERS.values():
        for figures in paper.published.values():
            for values in figures.values():
                assert set(values) <= set(paper.heads)
