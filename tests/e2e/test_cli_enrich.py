"""``cognigraph enrich`` as a user runs it: estimate, limits, redo, revisions."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cognigraph import Memory, ModelUnavailableError, Usage
from cognigraph.cli import main
from cognigraph.ingest import Extraction, Fact
from cognigraph.ingest.derive import NO_EVIDENCE
from cognigraph.testing import ScriptedExtractor

AT = "2026-05-20T09:00:00+00:00"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """The command line in this process: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def call(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return code, out, err

    for number in range(3):
        text = f"I moved to Oslo in May 20{20 + number}."
        given = ("--id", f"m{number}", "--session", f"s{number}", "--speaker", "Ann", "--at", AT)
        assert call("add", text, *given, "--no-enrich")[0] == 0
    return call


@pytest.fixture
def extractor(monkeypatch: pytest.MonkeyPatch) -> ScriptedExtractor:
    """An extractor with costs; each call finds one valid and one invalid fact."""
    scripted = ScriptedExtractor(name="x-1")
    lives = Fact("Ann", "person", "lives in", "Oslo", "location", (0,))
    nowhere = Fact("Ann", "person", "likes", "tea", "object", (9,))
    scripted.result = lambda window: Extraction(
        facts=(lives, nowhere),
        keys=((window.session, 1.0),),
        usage=Usage(calls=2, input_tokens=1000, output_tokens=100, cost=0.25),
    )
    monkeypatch.setattr(
        "cognigraph.cli.memory_options.resolve_extractor", lambda *_, **__: scripted
    )
    return scripted


def document(result: tuple[int, str, str]) -> Any:
    return json.loads(result[1])


@pytest.mark.slow
def test_an_estimate_calls_and_changes_nothing(run, extractor, monkeypatch):
    assert "x-1 gives no estimate of its cost" in run("enrich", "--dry-run")[1]
    extractor.estimate = lambda window: Usage(calls=2, input_tokens=500_000, output_tokens=100_000)
    code, out, _ = run("enrich", "--dry-run")
    assert code == 0
    assert out.strip() == (
        "3 turns in 3 chunks of 3 sessions to read; estimate for x-1: "
        "6 calls, 1,500,000 tokens in, 300,000 out"
    )
    monkeypatch.setenv("COGNIGRAPH_MODEL_PRICES", "0.2,1.0")
    found = document(run("enrich", "--dry-run", "--json"))["estimate"]
    assert (found["usage"]["cost"], found["windows"], extractor.calls) == (0.6, 3, 0)
    assert document(run("stats", "--json"))["spaces"][0]["pending"] == 3


def test_enriching_with_rules_has_no_cost(run):
    assert run("enrich", "--dry-run")[1].strip().endswith("estimate for rules-8: no model calls")


@pytest.mark.slow
def test_enrich_reports_usage_and_rejections(run, extractor):
    code, out, err = run("enrich")
    assert code == 0
    assert "enriched 3 chunks" in out
    assert "6 calls, 3,000 tokens in, 300 out, cost 0.7500; 3 left out" in out
    assert f"left out: 3 x {NO_EVIDENCE}" in err
    assert run("enrich")[1].strip() == "nothing to enrich"


@pytest.mark.slow
def test_rejections_are_in_the_document(run, extractor):
    done = document(run("enrich", "--json"))["enriched"]
    assert done["rejections"] == {NO_EVIDENCE: 3}
    assert done["rejected"][0] == {
        "session": "s0", "reason": f"{NO_EVIDENCE}: Ann likes tea",
    }  # fmt: skip
    assert (done["usage"]["calls"], done["chunks"], done["triples"]) == (6, 3, 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "why"),
    [
        (("--max-calls", 2), "the limit of 2 calls is reached"),
        (("--max-tokens", 1100), "the limit of 1,100 tokens is reached"),
        (("--max-cost", 0.1), "the limit of cost 0.1 is reached"),
        (("--deadline", 0), "the limit of 0 seconds is reached"),
    ],
)
def test_limits_stop_and_say_so(run, extractor, option, why):
    code, out, err = run("enrich", *option)
    assert code == 1
    assert "2 still waiting" in out
    assert f"stopped: {why}" in err
    assert "continue with: cognigraph enrich" in err
    assert run("enrich")[0] == 0


@pytest.mark.slow
def test_an_outage_is_listed_and_parks_nothing(run, extractor):
    extractor.fail_for("m0", "m1", "m2", times=9, error=ModelUnavailableError("503 from x"))
    code, out, err = run("enrich")
    assert code == 1
    assert "to be retried" in out
    assert "parked" not in out
    assert "stopped: 503 from x" in err
    assert extractor.calls == 2


@pytest.mark.slow
def test_enrich_redo_extracts_again(run, extractor):
    run("enrich")
    extractor.name = "x-2"
    found = document(run("enrich", "--redo", "--older-than", "2", "--dry-run", "--json"))[
        "estimate"
    ]
    assert (found["again"], found["chunks"]) == (3, 3)
    done = document(run("enrich", "--redo", "--older-than", "2", "--json"))
    assert (done["redo"], done["enriched"]["chunks"], done["enriched"]["triples"]) == (3, 3, 0)
    done = document(run("enrich", "--redo", "--older-than", "2", "--json"))
    assert (done["redo"], done["enriched"]["chunks"]) == (0, 0)
    code, _, err = run("enrich", "--older-than", "2")
    assert (code, "--older-than requires --redo" in err) == (2, True)
    assert run("enrich", "--redo", "--older-than", "newest")[0] == 2


@pytest.mark.slow
def test_progress_is_a_line_every_so_often_where_no_bar_is_drawn(run, extractor, tmp_path):
    with Memory(tmp_path / "memory.db", enrich="manual", extractor=extractor) as memory:
        memory.add_many(
            {"text": f"turn {n}", "session": f"t{n}", "id": f"t{n}", "at": AT} for n in range(40)
        )
    _, _, err = run("enrich")
    assert "20 of 43 chunks, 40 calls, 20,000 tokens in, 2,000 out, cost 5.0000" in err
    assert "40 of 43 chunks" in err


@pytest.mark.slow
def test_a_due_summary_is_reported_and_written_later(run, extractor):
    down = ModelUnavailableError("503 from x")
    read = extractor.result
    extractor.result = lambda window: replace(
        read(window), keys=None, state="{}", error=down if window.session == "s1" else None
    )
    extractor.summarises = True
    extractor.summarise = lambda window: Extraction(error=down, usage=Usage(calls=1))
    extractor.estimate = lambda window: Usage(calls=2 if window.chunks else 1)
    code, out, _ = run("enrich")
    assert code == 1
    assert "enriched 3 chunks" in out and "; 1 summary due" in out
    assert "(its summary)" in out and "to be retried" in out
    assert run("enrich", "--dry-run")[1].strip() == (
        "1 summary due; estimate for x-1: 1 call, 0 tokens in, 0 out"
    )
    stats = document(run("stats", "--json"))["spaces"][0]
    assert (stats["pending"], stats["done"], stats["summaries_pending"]) == (0, 3, 1)
    lines = [line.split() for line in run("stats")[1].splitlines()]  # header "summaries due"
    assert (lines[0][-1], lines[-1][-1]) == ("summaries", "1")
    assert "0 chunks waiting, 1 summary due, 0 parked" in run("doctor")[1]
    deadline = time.monotonic() + 20
    extractor.summarise = lambda window: Extraction(keys=(("Oslo", 1.0),), usage=Usage(calls=1))
    while "summary updated" not in out:
        assert time.monotonic() < deadline
        time.sleep(0.2)
        code, out, _ = run("enrich")
    assert code == 0
    assert "enriched 0 chunks" in out and "1 summary updated" in out
    assert run("enrich")[1].strip() == "nothing to enrich"
    assert document(run("stats", "--json"))["spaces"][0]["summaries_pending"] == 0
