"""``cognigraph eval locomo --qa --strategy``: loops over a benchmark, side by side."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from cognigraph.evaluate.qa import ANSWER, prompt
from tests.e2e.command_line import command, environment
from tests.e2e.test_eval import DATA, folder_of, lines, result, run
from tests.servers.loop_stages import stage_of
from tests.servers.model_server import Exchange, ModelServer, good

QUESTIONS, PRICES = 5, "1,2"
REPLIES: dict[str, Any] = {
    "lico-missing": {"verdict": "partial", "missing": "more", "queries": ["the cello at home"]},
    "ama-retrieve": {"query": "cello", "fine": 1, "abstract": 0, "event": 0, "atomic": 0, "k": 2},
    "ama-judge": {"reason": "", "action": "pass", "kept": [], "conflicts": []},
    "hymem-light": {"answer": "Comet", "sure": True},
    "hymem-reflect": {"complete": True, "question": ""},
    "loop-answer": {"answer": "Comet", "labels": []},
    "loop-infer": {"answer": "Comet", "labels": []},
}


def reply(exchange: Exchange) -> None:
    """What the scripted endpoint answers: the judge finds only one answer right."""
    system, user = (message["content"] for message in exchange.messages[:2])
    if system.startswith("You grade"):
        good({"reason": "scripted", "right": "Expected: Comet" in user})(exchange)
    elif system.startswith(prompt(ANSWER).parts["system"]):
        good({"answer": "Comet"})(exchange)
    else:
        good(REPLIES[stage_of(system)])(exchange)


def locomo_file(folder: Path) -> Path:
    return Path(shutil.copy(DATA / "locomo-small.json", folder / "locomo10.json"))


def endpoint(server: ModelServer) -> dict[str, str]:
    return {
        "COGNIGRAPH_MODEL": "test",
        "OPENAI_BASE_URL": server.url,
        "COGNIGRAPH_MODEL_PRICES": PRICES,
    }


def ways(*names: str) -> list[str]:
    return [part for name in names for part in ("--strategy", name)]


@pytest.mark.slow
def test_strategies_are_compared_and_a_run_continues(tmp_path: Path) -> None:
    file = locomo_file(tmp_path)
    all_ways = ways("licomemory", "hymem", "ama", "block")
    with ModelServer(reply) as server:
        options = ("locomo", file, "--limit", "1", "--qa", "--workers", "1")
        stopped = json.loads(
            run(*options, *all_ways, "--budget-calls", "9", "--json", code=1,
                **endpoint(server)).stdout
        )  # fmt: skip
        assert not stopped["complete"] and "budget of 9 calls" in stopped["qa"]["stopped"]
        assert server.calls == 9
        found = result(*options, *all_ways, **endpoint(server))
        assert found["complete"]
        rows = {row["strategy"]: row for row in found["compared"]}
        assert list(rows) == ["licomemory", "hymem", "ama", "block"]
        assert {row["judged"] for row in rows.values()} == {QUESTIONS}
        assert (rows["hymem"]["calls"], rows["ama"]["calls"], rows["block"]["calls"]) == (2, 3, 1)
        assert rows["hymem"]["tokens"] == 220.0
        assert rows["ama"]["cost"] == 3 * (100 + 2 * 10) / 1e6
        assert (rows["hymem"]["rounds"], rows["block"]["rounds"]) == (1, None)
        assert rows["licomemory"]["accuracy"] == rows["block"]["accuracy"] == 0.2
        assert found["qa"]["loops"]["stopped"].keys() <= {"answered", "no new query", "rounds"}
        calls = server.calls
        again = run(*options, *all_ways, **endpoint(server))
        assert server.calls == calls
    table = [line.replace("|", " ").split() for line in again.stdout.splitlines()]
    assert [cells[:3] for cells in table if cells[:1] == ["ama"]] == [["ama", "5", "0.200"]]


@pytest.mark.slow
def test_a_killed_run_of_a_strategy_continues(tmp_path: Path) -> None:
    file = locomo_file(tmp_path)

    def slow(exchange: Exchange) -> None:
        time.sleep(0.05)
        reply(exchange)

    arguments = ("eval", "locomo", file, "--limit", "1", "--qa", "--workers", "1",
                 *ways("hymem"))  # fmt: skip
    with ModelServer(slow) as server:
        process = subprocess.Popen(
            command(*arguments), cwd=tmp_path, env=environment(**endpoint(server)),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        until = time.monotonic() + 120
        while time.monotonic() < until and process.poll() is None:
            written = list(folder_of(file).glob("*/answers-*.jsonl"))
            if written and written[0].read_bytes().count(b"\n") >= 2:
                break
            time.sleep(0.02)
        process.kill()
        process.wait()
        kept = [line["id"] for line in lines(folder_of(file), "answers-*.jsonl")[:2]]
        before = server.calls
        server.then(reply)
        found = result(*arguments[1:], **endpoint(server))
        assert found["qa"]["accuracy"]["all"]["judged"] == QUESTIONS
        assert server.calls - before <= 3 * (QUESTIONS - len(kept))
    assert [line["id"] for line in lines(folder_of(file), "answers-*.jsonl")][:2] == kept
