"""``cognigraph eval`` as a user runs it, on small files in the official formats."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from cognigraph import Memory
from cognigraph.cli.evaluating import judge_environment
from cognigraph.evaluate.evaluation import EvalSettings, Evaluation
from tests.e2e.command_line import Result, command, environment, run_here
from tests.servers.model_server import Messages, ModelServer, good, status
from tests.unit.test_benchmark_formats import realmem

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture
def locomo(tmp_path: Path) -> Path:
    return Path(shutil.copy(DATA / "locomo-small.json", tmp_path / "locomo10.json"))


@pytest.fixture
def longmemeval(tmp_path: Path) -> Path:
    return Path(shutil.copy(DATA / "longmemeval-small.json", tmp_path / "longmemeval_s.json"))


def run(*arguments: object, code: int = 0, **extra: str) -> Result:
    """The command line in this process."""
    done = run_here("eval", *arguments, folder=Path.cwd(), **extra)
    assert done.returncode == code, (done.stdout, done.stderr)
    return done


def result(*arguments: object, **extra: str) -> dict[str, Any]:
    return dict(json.loads(run(*arguments, "--json", **extra).stdout))


def lines(folder: Path, name: str) -> list[dict[str, Any]]:
    (file,) = folder.glob(f"*/{name}")
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def folder_of(file: Path) -> Path:
    return file.with_name(f"{file.name}.cognigraph-eval")


def test_locomo_end_to_end(cli, locomo):
    done = cli("eval", "locomo", locomo, "-k", "1,3", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert (found["conversations"], found["insert"]["turns"], found["questions"]) == (2, 9, 8)
    assert found["sha256"] == Evaluation(locomo, EvalSettings(benchmark="locomo")).sha256
    at_3 = found["recall"]["turn"]["3"]
    assert at_3["all"]["questions"] == 7
    assert at_3["no_adversarial"]["questions"] == 6
    assert {name: row["questions"] for name, row in at_3["by_category"].items()} == {
        "adversarial": 1, "multi-hop": 1, "open-domain": 1, "single-hop": 3, "temporal": 1,
    }  # fmt: skip
    assert at_3["by_category"]["single-hop"]["recall"] == 1.0
    low, high = at_3["all"]["recall_interval"]
    assert low <= at_3["all"]["recall"] <= high
    assert found["recall"]["turn"]["1"]["all"]["recall"] <= at_3["all"]["recall"]
    assert found["recall"]["session"]["1"]["by_category"]["temporal"]["recall_all"] == 1.0
    assert found["context_tokens"]["p50"] > 20
    assert found["search_ms"]["p50"] > 0
    assert found["insert"]["triples"] > 0
    assert found["insert"]["notes"] == {
        "evidence that names no turn": 1,
        "questions without evidence, not counted in recall": 1,
    }
    assert found["usage"]["extraction"]["calls"] == 0
    assert (found["qa"], found["complete"]) == (None, True)
    records = lines(folder_of(locomo), "questions.jsonl")
    assert found["failures"] == sum("failure" in record for record in records)
    first = records[0]
    assert (first["id"], first["evidence"]) == ("talk-1/q1", ["D1:1"])
    assert first["asked_at"] == "2023-07-01T00:05:02+00:00"
    assert json.loads(Path(found["page"]).with_name("result.json").read_text("utf-8"))["questions"]


@pytest.mark.slow
def test_the_benchmark_is_found_out(locomo, tmp_path):
    done = run("auto", locomo, "--limit", "1", "--extractor", "none", "--json")
    assert "is LoCoMo" in done.stderr
    assert json.loads(done.stdout)["benchmark"] == "locomo"
    nothing = tmp_path / "nothing.json"
    nothing.write_text('[{"a": 1}]', "utf-8")
    error = run("auto", nothing, code=2).stderr
    assert "nothing.json is of no known benchmark" in error
    assert "VehicleMemBench (the folder benchmark)" in error


def test_a_question_within_a_conversation_sees_only_what_was_said_before(tmp_path):
    folder = tmp_path / "dataset"
    folder.mkdir()
    realmem(folder)
    found = result("realmem", folder, "--extractor", "none")
    assert found["recall"]["turn"]["5"]["all"]["recall"] == 1.0
    (record,) = lines(folder_of(folder), "questions.jsonl")
    assert set(record["found"]) <= {"aa#1", "aa#2"}


@pytest.mark.slow
def test_what_was_missed_is_explained(locomo):
    found = result("locomo", locomo, "-k", "1", "--extractor", "none")
    records = {r["id"]: r for r in lines(folder_of(locomo), "questions.jsonl")}
    missed = records["talk-1/q2"]["failure"]
    (missing,) = missed["missing"]
    assert missing["id"] in ("D1:2", "D2:1")
    assert missing["rank"] > 1
    assert missed["searched_to"] == 7
    adversarial = records["talk-1/q5"]
    if "failure" in adversarial:
        assert adversarial["failure"]["instead"][0]["why"].startswith("score ")
    page = Path(found["page"]).read_text("utf-8")
    assert "Which things did Bo do with the cello?" in page
    assert f"rank {missing['rank']}" in page
    assert "not read for facts" in page


@pytest.mark.slow
def test_longmemeval_end_to_end(longmemeval):
    found = result("longmemeval", longmemeval, "-k", "1,5", "--extractor", "none")
    assert (found["conversations"], found["questions"]) == (4, 4)
    sessions, turns = found["recall"]["session"], found["recall"]["turn"]
    assert sessions["5"]["all"]["questions"] == turns["5"]["all"]["questions"] == 3
    assert sessions["5"]["all"]["recall_all"] == 1.0
    assert "no_adversarial" not in sessions["5"]
    piano = sessions["1"]["by_category"]["temporal-reasoning"]
    assert (piano["recall"], piano["recall_any"], piano["recall_all"]) == (0.5, 1.0, 0.0)
    assert found["insert"]["notes"]["session ids that came again"] == 1
    with Memory(Path(found["page"]).with_name("memory.db"), enrich="manual") as memory:
        assert len([name for name in memory.spaces() if name.endswith(("-q1", "-q2"))]) == 2


@pytest.mark.slow
def test_the_table_for_people(locomo):
    done = run("locomo", locomo, "--limit", "1")
    assert "1 conversation, 7 turns, 6 questions" in done.stdout
    assert "multi-hop" in done.stdout
    assert done.stdout.rstrip().endswith("page.md")


@pytest.mark.slow
def test_other_settings_start_another_run(locomo):
    first = result("locomo", locomo, "-k", "3", "--extractor", "none")
    second = result("locomo", locomo, "-k", "2", "--extractor", "none")
    assert Path(first["page"]).parent != Path(second["page"]).parent
    again = result("locomo", locomo, "-k", "3", "--extractor", "none")
    assert again == first


@pytest.mark.slow
def test_a_higher_limit_continues_the_run(locomo):
    result("locomo", locomo, "--limit", "1", "--extractor", "none")
    before = lines(folder_of(locomo), "questions.jsonl")
    assert len(before) == 6
    assert result("locomo", locomo, "--extractor", "none")["questions"] == 8
    assert lines(folder_of(locomo), "questions.jsonl")[:6] == before


@pytest.mark.slow
def test_a_run_can_use_another_store_and_output_folder(locomo, tmp_path):
    found = result("locomo", locomo, "--db", tmp_path / "other.db", "--out", tmp_path / "out")
    assert Path(found["page"]).is_relative_to(tmp_path / "out")
    assert not folder_of(locomo).exists()
    with Memory(tmp_path / "other.db", enrich="manual") as memory:
        assert len(memory.spaces()) == 2


@pytest.mark.slow
def test_a_killed_run_continues(tmp_path):
    """Killed during the questions: answers so far are kept, and the rest is asked."""
    samples = json.loads((DATA / "locomo-small.json").read_text("utf-8"))
    samples[0]["qa"] *= 10
    file = tmp_path / "long.json"
    file.write_text(json.dumps(samples), "utf-8")
    process = subprocess.Popen(
        command("eval", "locomo", file, "--extractor", "none"), env=environment(),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            answered = list(folder_of(file).glob("*/questions.jsonl"))
            if answered and answered[0].read_bytes().count(b"\n") >= 5:
                break
            time.sleep(0.01)
        assert process.poll() is None, "it was over before it could be killed"
        os.kill(process.pid, signal.SIGKILL)
    finally:
        process.kill()
        process.wait()
    (journal,) = folder_of(file).glob("*/questions.jsonl")
    before = journal.read_bytes()
    with journal.open("ab") as stream:
        stream.write(b'{"id": "talk-1/q7", "cut o')
    found = result("locomo", file, "--extractor", "none")
    assert found["questions"] == 62
    assert journal.read_bytes().startswith(before[: before.rfind(b"\n") + 1])
    assert journal.read_bytes().count(b"\n") == 62


@pytest.mark.slow
def test_a_damaged_journal_says_what_to_do(locomo):
    result("locomo", locomo, "--limit", "1", "--extractor", "none")
    (journal,) = folder_of(locomo).glob("*/questions.jsonl")
    journal.write_bytes(b"nonsense\n")
    done = run("locomo", locomo, "--limit", "1", "--extractor", "none", code=2)
    assert "questions.jsonl is damaged; remove the file" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["longmemeval", "LOCOMO"], "looks like LoCoMo, not LongMemEval: cognigraph eval locomo"),
        (["locomo", "missing.json"], "cannot read missing.json: No such file"),
        (["locomo", "LOCOMO", "-k", "5,x"], "must be numbers such as 5,10,15"),
        (["locomo", "LOCOMO", "-k", "0"], "numbers from 1"),
        (["locomo"], "FILE of the benchmark is required"),
        (["locomo", "LOCOMO", "--qa"], "COGNIGRAPH_MODEL"),
    ],
)
def test_wrong_use_is_one_line_and_leaves_nothing(locomo, arguments, message):
    given = [str(locomo) if word == "LOCOMO" else word for word in arguments]
    done = run(*given, code=2)
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not folder_of(locomo).exists()


# With a model


def reading(messages: Messages) -> dict[str, Any]:
    """Answer any extraction prompt with one fact, and any summary prompt in the same way."""
    return {
        "entities": ["Comet | animal"],
        "facts": ["1 | Comet | is | a greyhound"],
        "keys": ["Comet"],
        "themes": [{"title": "dogs", "summary": "A greyhound."}],
    }


@pytest.mark.slow  # an outage is waited for
def test_the_usage_of_a_model_is_reported(locomo):
    arguments = ("locomo", locomo, "--extractor", "openai", "--json")
    with ModelServer(status(401, "bad key")) as server:
        refused = run(*arguments, code=2, COGNIGRAPH_MODEL_PRICES="1,2", **endpoint(server))
        assert "7 chunks of talk-1 could not be read" in refused.stderr
        assert "bad key" in refused.stderr
        server.then(good(reading))
        before = server.calls
        found = json.loads(
            run(*arguments, COGNIGRAPH_MODEL_PRICES="1,2", **endpoint(server)).stdout
        )
        usage = found["usage"]["extraction"]
        assert usage["calls"] == server.calls - before == 3  # a call for each session
        assert usage["cost"] == pytest.approx(3 * (100 + 20) / 1e6)
        assert "test" in found["settings"]["extractor"]
        other = result(*arguments[:-1], COGNIGRAPH_MODEL="other", OPENAI_BASE_URL=server.url)
    assert Path(other["page"]).parent != Path(found["page"]).parent
    assert other["insert"]["triples"] == found["insert"]["triples"] == 2


def scripted(messages: Messages) -> dict[str, Any]:
    """Answers from the notes, and judges by whether the expected words are in the response."""
    user = messages[-1]["content"]
    if "Expected: " not in user:
        asked = user.rpartition(":\n")[2]
        known = "Comet" if "greyhound" in asked and "Ada" in asked else "not known"
        return {"answer": known if "Comet" in user else "no notes"}
    expected = user.partition("Expected: ")[2].partition("\n")[0]
    response = user.partition("Response: ")[2]
    refused = "do not say" in expected and response == "not known"
    return {"reason": f"it says {response}", "right": expected == response or refused}


def endpoint(server: ModelServer) -> dict[str, str]:
    return {"COGNIGRAPH_MODEL": "test", "OPENAI_BASE_URL": server.url}


@pytest.mark.slow
def test_answers_are_judged(locomo):
    with ModelServer(good(scripted)) as server:
        found = result("locomo", locomo, "--limit", "1", "--qa", "--judge", "strict",
                       COGNIGRAPH_MODEL_PRICES="1,2", **endpoint(server))  # fmt: skip
        assert server.calls == 10
        assert {request.body["model"] for request in server.requests} == {"test", "strict"}
    answers = found["qa"]
    assert (answers["model"], answers["judge"]) == ("test", "strict")
    assert answers["accuracy"]["all"] == {"judged": 5, "right": 1, "accuracy": 0.2}
    assert answers["accuracy"]["by_category"]["single-hop"]["accuracy"] == 1.0
    assert "adversarial" not in answers["accuracy"]["by_category"]
    assert (answers["failed"], answers["not_asked"], found["complete"]) == (0, 0, True)
    assert found["usage"]["answers"]["calls"] == found["usage"]["judge"]["calls"] == 5
    # 100 tokens in and 10 out a call; the judge is another model, its prices are not known
    assert found["usage"]["answers"]["cost"] == pytest.approx(5 * (100 + 20) / 1e6)
    assert found["usage"]["judge"]["cost"] == 0
    assert answers["prompts"]["answer-1"].startswith("---\nname: answer\n")
    page = Path(found["page"]).read_text("utf-8")
    assert "Answers judged wrong (4)" in page
    assert "it says not known" in page


@pytest.mark.slow
def test_adversarial_questions_give_credit_only_if_asked(locomo):
    with ModelServer(good(scripted)) as server:
        arguments = ("locomo", locomo, "--limit", "1", "--qa", "--extractor", "none")
        result(*arguments, **endpoint(server))
        before = server.calls
        found = result(*arguments, "--credit-adversarial", **endpoint(server))
        assert server.calls == before + 2
    shares = found["qa"]["accuracy"]
    assert shares["all"]["judged"] == 6
    assert shares["no_adversarial"]["judged"] == 5
    assert shares["by_category"]["adversarial"] == {"judged": 1, "right": 1, "accuracy": 1.0}


@pytest.mark.slow
def test_a_failed_call_is_repeated_and_not_a_wrong_answer(locomo):
    def failing_judge(exchange: Any) -> None:
        judging = "Expected: " in exchange.messages[-1]["content"]
        (status(400, "broken") if judging else good(scripted))(exchange)

    with ModelServer(failing_judge) as server:
        arguments = ("locomo", locomo, "--limit", "1", "--qa", "--extractor", "none",
                     "--workers", "1", "--json")  # fmt: skip
        broken = json.loads(run(*arguments, code=1, **endpoint(server)).stdout)
        assert broken["qa"]["accuracy"]["all"] == {"judged": 0, "right": 0, "accuracy": None}
        assert broken["qa"]["failed"] >= 1
        assert broken["qa"]["failed"] + broken["qa"]["not_asked"] == 5
        assert "broken" in broken["qa"]["stopped"]
        answered = broken["qa"]["failed"]
        server.then(good(scripted))
        before = server.calls
        mended = json.loads(run(*arguments, **endpoint(server)).stdout)
        # Those that were only not judged are not asked of the model again.
        assert server.calls - before == 2 * 5 - answered
    assert mended["qa"]["accuracy"]["all"]["judged"] == 5
    assert (mended["qa"]["failed"], mended["complete"]) == (0, True)


@pytest.mark.slow
def test_a_budget_stops_a_run_and_the_next_one_continues(locomo):
    with ModelServer(good(scripted)) as server:
        arguments = ("locomo", locomo, "--limit", "1", "--qa", "--extractor", "none",
                     "--workers", "1", "--json")  # fmt: skip
        done = run(*arguments, "--budget-calls", "4", code=1, **endpoint(server))
        found = json.loads(done.stdout)
        assert server.calls == 4
        assert found["qa"]["accuracy"]["all"]["judged"] == 2
        assert "budget of 4 calls" in found["qa"]["stopped"]
        rest = json.loads(run(*arguments, **endpoint(server)).stdout)
        assert server.calls == 10
    assert rest["qa"]["accuracy"]["all"]["judged"] == 5


def test_prompts_can_be_read_without_a_file():
    shown = run("locomo", "--show-prompts").stdout
    assert "judge-unanswerable-1.md" in shown
    assert "{{memory}}" in shown


def test_the_models_key_goes_to_no_other_address():
    environ = {
        "COGNIGRAPH_MODEL": "small", "OPENAI_API_KEY": "secret", "COGNIGRAPH_MODEL_PRICES": "1,2",
        "OPENAI_BASE_URL": "http://one/v1",
    }  # fmt: skip
    assert judge_environment(environ, None) == environ
    other = judge_environment(environ, "large")
    assert (other["COGNIGRAPH_MODEL"], other["OPENAI_API_KEY"]) == ("large", "secret")
    assert other["COGNIGRAPH_MODEL_PRICES"] == ""
    elsewhere = judge_environment({**environ, "COGNIGRAPH_JUDGE_BASE_URL": "http://two/v1"}, None)
    assert (elsewhere["OPENAI_BASE_URL"], elsewhere["OPENAI_API_KEY"]) == ("http://two/v1", "")
    keyed = judge_environment(
        {**environ, "COGNIGRAPH_JUDGE_BASE_URL": "http://two/v1", "COGNIGRAPH_JUDGE_API_KEY": "k2",
         "COGNIGRAPH_JUDGE_PRICES": "3,4"},
        "large",
    )  # fmt: skip
    assert (keyed["OPENAI_API_KEY"], keyed["COGNIGRAPH_MODEL_PRICES"]) == ("k2", "3,4")


@pytest.mark.slow
def test_eval_self_compares_settings_on_the_memory_itself(tmp_path):
    file = tmp_path / "own.db"
    history = json.loads((DATA / "assistant-small.json").read_text("utf-8"))
    with Memory(file, enrich="manual") as memory:
        memory.add_many(
            {**turn, "session": session["session"], "at": session["time"] + "Z"}
            for session in history["sessions"]
            for turn in session["turns"]
        )
    asked = ("self", "--db", file, "--questions", "4", "-k", "3")
    found = result(*asked)
    assert (found["questions"], found["k"], found["seed"]) == (4, 3, 0)
    names = [each["name"] for each in found["settings"]]
    assert names[0] == "default"
    assert {"cosine", "cosine + BM25", "licomemory"} <= set(names)
    assert found == result(*asked)
    assert found["examples"] != result(*asked, "--seed", "1")["examples"]
    done = run(*asked)
    assert "4 questions made from messages of 'default'" in done.stdout
    assert "found k=3" in done.stdout
    assert done.stdout.splitlines()[-1] == found["advice"]
    assert "favour search by words" in done.stderr


def test_eval_self_takes_no_file(tmp_path):
    done = run("self", tmp_path / "x.json", code=2)
    assert "--db names the memory" in done.stderr
