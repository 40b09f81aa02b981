"""The sample conversation on the command line, with a model that answers correctly."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path

import pytest

from cognigraph import Memory
from tests.e2e.command_line import Cli
from tests.servers.model_server import ModelServer, status
from tests.servers.scripted import Stages, section

SAMPLE_FILE = str(files("cognigraph").joinpath("sample", "conversation.jsonl"))
ANSWERS = json.loads(Path(__file__).with_name("sample_answers.json").read_text("utf-8"))
MESSAGES = [json.loads(line) for line in Path(SAMPLE_FILE).read_text("utf-8").splitlines()]
FIRST = {message["session"]: message["text"] for message in reversed(MESSAGES)}


COMMON = ("--timezone", "Europe/Berlin", "--json")


def session_of(prompt: str) -> str:
    """Return the session whose first turn is the first in a prompt."""
    line = section(prompt, "turns").splitlines()[1]
    (session,) = [session for session, text in FIRST.items() if line.endswith(text)]
    return session


@pytest.fixture
def stages() -> Stages:
    return Stages(
        [lambda prompt: ANSWERS[session_of(prompt)]["read"]],
        [lambda prompt: ANSWERS[session_of(prompt)]["summary"]],
    )


@pytest.fixture
def server(stages: Stages) -> Iterator[ModelServer]:
    with ModelServer(stages) as server:
        yield server


@pytest.fixture
def run(quick: Cli, server: ModelServer):
    model = {
        "COGNIGRAPH_MODEL": "perfect",
        "OPENAI_BASE_URL": server.url,
        "COGNIGRAPH_EXTRACTOR": "openai",
    }

    def call(*arguments: str, code: int = 0, **extra: str) -> str:
        done = quick(*arguments, *COMMON, **(model | extra))
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    return call


@pytest.fixture
def stored(tmp_path: Path) -> Iterator[Callable[[], Memory]]:
    """Open the memory that the commands wrote, without starting a process."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(Memory(tmp_path / "memory.db", enrich="manual"))


def rows(memory: Memory) -> dict[tuple[str, str, str], tuple[str | None, bool, list[str]]]:
    """Map (subject, relation, object) of each triple to its time, negation and messages."""
    return {
        (fact.subject, fact.relation, fact.object): (
            fact.when and fact.when.text,
            fact.negated,
            sorted(source.id for source in fact.sources),
        )
        for fact in memory.facts(limit=500)
    }


@pytest.mark.slow
def test_the_sample_becomes_the_graph_it_should(run, stages, stored):
    run("import", SAMPLE_FILE)
    assert sorted(stages.stages) == ["read"] * 8 + ["summarise"] * 8
    memory = stored()
    stats = memory.stats()
    assert (stats.messages, stats.done, stats.pending, stats.failed) == (117, 117, 0, 0)
    found = rows(memory)
    for row, expected in EXPECTED.items():
        assert found[row] == expected, row
    types = {entity.name: entity.type for entity in memory.entities(limit=500)}
    assert {name: types[name] for name in TYPES} == TYPES
    assert not {"I", "my sister", "the lab", "she", "the Peugeot"} & set(types)
    sessions = {session.id: session for session in memory.overview.sessions()}
    assert len(sessions) == 8
    themes = [theme.title for theme in sessions["jul-knee"].themes]
    assert themes == ["Jonas's knee", "Lisbon is cancelled", "Museum and theft"]
    assert sessions["oct-juist"].keys[0] == "Juist"
    asked = memory.search("Did Mira and Jonas go to Lisbon?", now="2025-10-20T09:00:00+02:00")
    assert {"m025", "m068"} <= {hit.id for hit in asked}


EXPECTED = {
    # an alias, and words that mean one date
    ("Pia", "sister of", "Jonas"): (None, False, ["m013"]),
    ("Pia", "expects", "baby"): ("2025-08", False, ["m013"]),
    ("Jonas", "signs up for", "half marathon in Hamburg"): ("2025-06-29", False, ["m011"]),
    ("Mira", "plans to call", "Pia"): ("2025-02-09", False, ["m014"]),
    ("Mira", "works as a technician at", "water institute"): (None, False, ["m008"]),
    # the date the model gave is wrong, the words are right
    ("Harbour Museum", "offers a job to", "Mira"): ("2025-03-13", False, ["m017"]),
    ("Mira", "adopts", "Pickle"): ("2025-04-26", False, ["m036"]),
    # one fact in two turns, a denial, a change of mind
    ("Mira", "owns", "green Peugeot"): (None, False, ["m002", "m003"]),
    ("Jonas", "runs", "half marathon in Hamburg"): (None, True, ["m062"]),
    ("Anselm", "runs", "half marathon in Hamburg"): (None, False, ["m064"]),
    ("Jonas", "cancels", "trip to Lisbon"): (None, False, ["m068", "m069"]),
    ("somebody unknown", "steals", "green Peugeot"): ("2025-07-02", False, ["m073"]),
    ("Jonas", "visits", "Juist"): ("2025-10-10/2025-10-14", False, ["m107"]),
    ("Pia", "gives birth to", "Ida"): ("2025-08-14T02:10", False, ["m076"]),
    ("Inês", "teaches", "Portuguese course"): (None, False, ["m023"]),
    ("Mira", "stops", "Portuguese course"): ("2025-08", False, ["m100"]),
}  # fmt: skip
TYPES = {
    "Mira": "person",
    "Jonas": "person",
    "Pia": "person",
    "Pickle": "animal",
    "Bremen": "location",
    "Harbour Museum": "organization",
    "green Peugeot": "object",
    "trip to Lisbon": "event",
    "baby": "concept",
}


@pytest.mark.slow
def test_an_outage_is_reported_and_the_next_run_finishes(run, stages, server, stored):
    server.then(status(401, "no such key"))
    assert "no such key" in run("import", SAMPLE_FILE, code=1)
    assert stored().stats().pending == 117
    server.then(stages)
    time.sleep(2.5)  # what an outage put off waits for two seconds
    run("enrich")
    assert (stored().stats().done, len(stages.asked)) == (117, 16)


def test_a_missing_model_name_is_reported(run):
    assert "set COGNIGRAPH_MODEL" in run("add", "Hello.", code=2, COGNIGRAPH_MODEL="")
