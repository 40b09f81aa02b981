"""The command line as a user runs it: a process, its output and its exit code."""

from __future__ import annotations

import json
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import pytest

from cognigraph import (
    ExtractionError,
    Memory,
    Settings,
    StoreUnavailableError,
    __version__,
)
from cognigraph.ingest import Fact
from cognigraph.testing import ScriptedExtractor
from tests.e2e.command_line import Cli, command, document, environment, error_of, run_here

SAMPLE = files("cognigraph").joinpath("sample")
NOW = "2025-10-20T09:00:00+02:00"


@pytest.fixture(scope="module")
def sample_db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample conversation, imported by the command line and only read by the tests."""
    path = tmp_path_factory.mktemp("sample") / "sample.db"
    done = run_here(
        "import", SAMPLE / "conversation.jsonl", "--db", path, "--json", folder=path.parent
    )
    outcome = document(done)
    assert (outcome["read"], outcome["new"], outcome["known"]) == (117, 117, 0)
    assert outcome["enriched"]["chunks"] == 117
    assert outcome["enriched"]["pending"] == 0
    assert done.stderr == ""
    return path


# The demo


@pytest.mark.slow
def test_demo_shows_the_whole_way_from_turn_to_answer(quick: Cli, tmp_path: Path) -> None:
    result = quick("demo", COGNIGRAPH_DB=str(tmp_path / "mine.db"))

    assert result.returncode == 0
    assert result.stderr == ""
    assert len(result.stdout.splitlines()) <= 125
    assert "\x1b" not in result.stdout
    for fact in (
        "117 turns",
        "-> m048 Mira: I live in Bremen now.",
        "fact: Mira lives in Bremen (said 2025-05-24)",
        "may-move/m0",
        "somebody stole the Peugeot",
        "cancel Lisbon",
        "I stopped the course in August",
        "[memory]",
        "[/memory]",
        "cognigraph import",
    ):
        assert fact in result.stdout
    assert list(tmp_path.iterdir()) == []  # neither the environment's file nor another one


@pytest.mark.slow
def test_demo_kept_in_a_file_can_be_played_again_and_asked(quick: Cli) -> None:
    first = document(quick("demo", "--db", "demo.db", "--json"))
    second = document(quick("demo", "--db", "demo.db", "--json"))

    assert first["new"] == first["turns"] == 117
    assert first["found_before_enrichment"] == ["m048"]
    assert second["new"] == 0
    assert second["stats"] == first["stats"]
    assert second["context"] == first["context"]
    found = document(quick("search", "What is Pickle afraid of?", "--db", "demo.db", "--json"))
    assert "m036" in [hit["id"] for hit in found["hits"][:3]]


def test_the_version_is_printed_without_loading_anything() -> None:
    script = (
        "import sys; from cognigraph.cli import main; main(['--version']);"
        "print('numpy' in sys.modules, 'cognigraph.memory' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [f"cognigraph {__version__}", "False False"]


def test_an_interrupt_while_the_program_is_loaded_ends_it_without_a_word() -> None:
    script = """if True:
        import os, signal, sys
        class Interrupting:
            def find_spec(self, name, path=None, target=None):
                if name == "cognigraph.cli.app":
                    os.kill(os.getpid(), signal.SIGINT)
        sys.meta_path.insert(0, Interrupting())
        from cognigraph.cli import main
        main(["stats"])
    """
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.slow
def test_what_the_demo_suggests_can_be_run(quick: Cli) -> None:
    lines = quick("demo", "--db", "demo.db").stdout.splitlines()
    suggested = [shlex.split(line) for line in lines if line.startswith("  cognigraph ")]
    assert [words[1] for words in suggested] == ["search", "facts", "cypher", "import"]
    for words in suggested[:3]:
        answer = quick(*words[1:])
        assert answer.returncode == 0, answer.stderr
        assert "Pickle" in answer.stdout or "Mira" in answer.stdout


def test_demo_does_not_mix_into_other_messages(quick: Cli) -> None:
    assert quick("add", "The boiler was serviced.", "--db", "mine.db").returncode == 0
    assert "holds other messages" in error_of(quick("demo", "--db", "mine.db"), 2)


@pytest.mark.slow
def test_sample_questions_find_their_messages(sample_db: Path) -> None:
    questions = json.loads(SAMPLE.joinpath("questions.json").read_text("utf-8"))
    asked = [item for item in questions["questions"] if item["expected"]]
    assert len(asked) >= 15
    positions = []
    with Memory(sample_db, enrich="manual") as memory:
        for item in asked:
            ids = [hit.id for hit in memory.search(item["question"], now=questions["now"])]
            positions.append(
                min((ids.index(id) for id in item["expected"] if id in ids), default=99)
            )
    assert sum(position < 15 for position in positions) >= len(asked) * 0.85
    assert sum(position < 5 for position in positions) >= len(asked) * 0.7


# Writing


@pytest.mark.slow
def test_why_shows_the_rank_of_a_message(quick: Cli, sample_db: str) -> None:
    question = "Where does Mira live now?"
    found = quick("why", question, "--expect", "m048", "--db", sample_db)
    assert found.returncode == 0
    assert "found: 1st of" in found.stdout
    missed = quick("why", question, "--expect", "m029", "-k", 3, "--db", sample_db)
    assert missed.returncode == 1
    assert "k is 3; it scores" in missed.stdout
    assert "asking in its own words -> rank 1" in missed.stderr
    told = json.loads(
        quick("why", question, "--expect", "m029", "-k", 3, "--db", sample_db, "--json").stdout
    )
    assert told["is_found"] is False
    assert [source["name"] for source in told["candidate_sources"]][:2] == [
        "chunk vector",
        "chunk words",
    ]
    assert len(told["hits"]) == 3
    assert "has no message 'm999'" in error_of(
        quick("why", question, "--expect", "m999", "--db", sample_db), 2
    )


@pytest.mark.slow
def test_as_of_on_the_command_line(quick: Cli, sample_db: str) -> None:
    options = ("--as-of", "2025-05-01T00:00:00Z", "--now", "2025-12-01T00:00:00Z")
    block = quick("context", "Where does Mira live?", *options, "--db", sample_db).stdout
    assert block
    assert "2025-05-24" not in block
    found = quick("search", "Where does Mira live?", *options, "--db", sample_db, "--json")
    assert max(hit["at"] for hit in json.loads(found.stdout)["hits"]) < "2025-05-01"


@pytest.mark.slow
def test_facts_and_messages_are_chosen_on_the_command_line(quick: Cli, sample_db: str) -> None:
    one = ("facts", "Mira", "--slot", "home", "--status", "current", "--db", sample_db, "--json")
    then = ("--valid-at", "2025-06-01T00:00:00Z")
    for times in ((), then, ("--as-of", "2025-06-01T00:00:00Z")):
        found = document(quick(*one, *times))["facts"]
        assert [triple["object"] for triple in found] == ["Bremen"]
    none = quick(*one, "--valid-at", "2025-05-01T00:00:00Z")
    assert (none.returncode, json.loads(none.stdout)["facts"]) == (1, [])
    assert "no fact meets these conditions" in none.stderr
    chosen = ("--speaker", "Mira", "--until", "2025-05-01T00:00:00Z", "--role", "person")
    found = document(quick("search", "home", *chosen, "--db", sample_db, "--json"))
    assert {hit["speaker"] for hit in found["hits"]} == {"Mira"}
    assert max(hit["at"] for hit in found["hits"]) < "2025-05-02"
    message = error_of(quick("context", "home", "--metadata", "x", "--db", sample_db), 2)
    assert "--metadata 'x' must be K=V" in message


@pytest.mark.slow
def test_a_question_without_support_finds_nothing(quick: Cli) -> None:
    quick("add", "I live in Oslo.", "--no-enrich")
    quick("add", "The bread rises in the fridge.", "--no-enrich")
    asked = ("context", "asdf qwer", "--min-confidence")
    assert document(quick(*asked, ".2", "--json"), 1)["notes"][-1].startswith("nothing found")
    assert "Weak:" in quick(*asked, "0").stdout
    assert "--min-confidence: must be a number from 0 to 1" in quick(*asked, "2").stderr


def test_what_is_added_can_be_searched(cli: Cli, quick: Cli) -> None:
    added = document(
        cli("add", "I moved to Oslo in May.", "--speaker", "Ann", "--session", "s1", "--id", "a1",
            "--at", "2025-06-01T10:00:00+02:00", "--json")
    )  # fmt: skip
    assert (added["id"], added["new"], added["session"], added["chunks"]) == ("a1", True, "s1", 1)
    assert added["enriched"]["pending"] == 0

    found = document(quick("search", "Where does Ann live?", "-k", "1", "--json"))
    [hit] = found["hits"]
    assert hit["id"] == "a1"
    assert hit["text"] == "I moved to Oslo in May."
    assert (hit["session"], hit["speaker"], hit["at"]) == ("s1", "Ann", "2025-06-01T08:00:00+00:00")
    assert hit["score"] == pytest.approx(hit["why"]["semantic"] * hit["why"]["decay"])


@pytest.mark.slow
def test_adding_the_same_id_again_changes_nothing(quick: Cli) -> None:
    for new in (True, False):
        done = document(quick("add", "-", "--id", "x", "--json", stdin="A heron stood there.\n"))
        assert done["new"] is new
    assert document(quick("stats", "--json"))["spaces"][0]["messages"] == 1
    assert "belongs to another text" in error_of(quick("add", "A crane.", "--id", "x"), 2)


def test_import_from_stdin_twice_changes_nothing_the_second_time(cli: Cli, quick: Cli) -> None:
    lines = "".join(
        json.dumps(message) + "\n"
        for message in (
            {"text": "The cellar is dry.", "id": "1", "at": "2025-01-01T08:00:00Z"},
            {"text": "No id but a time.", "at": "2025-01-01T08:01:00Z"},
            {"text": "Neither id nor time."},
            {"text": "Neither id nor time."},
        )
    )
    first = document(cli("import", "-", "--json", stdin=lines))
    second = document(quick("import", "-", "--json", stdin="\ufeff" + lines + "\n\n"))
    assert (first["read"], first["new"], first["known"]) == (4, 4, 0)
    assert (second["read"], second["new"], second["known"]) == (4, 0, 4)
    assert second["enriched"]["chunks"] == 0
    assert document(quick("stats", "--json"))["spaces"][0]["messages"] == 4


def test_import_names_the_line_that_is_wrong_and_keeps_those_before(quick: Cli) -> None:
    lines = '{"text": "one", "id": "1"}\n\n{"text": "two", "id": "2"}\nnot json\n{"text": "3"}\n'
    said = error_of(quick("import", "-", stdin=lines), 2)
    assert "line 4 is not JSON" in said
    assert "2 messages read so far are stored" in said
    assert document(quick("stats", "--json"))["spaces"][0]["messages"] == 2


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"text": ""}', "line 2 has an empty text"),
        ('{"txt": "a"}', "line 2 has no 'text' or 'content', but txt"),
        ("[1]", "line 2 is not a JSON object"),
        (
            '{"text": "a", "at": "2025-01-01T10:00:00"}',
            "line 2 the time 2025-01-01T10:00:00 has no timezone; "
            "add an offset (…+02:00, …Z) or give --timezone 'Europe/Oslo'",
        ),
    ],
)
def test_import_says_what_is_wrong_with_a_line(quick: Cli, line: str, problem: str) -> None:
    assert problem in error_of(quick("import", "-", stdin='{"text": "fine"}\n' + line), 2)


def test_chat_messages_are_imported_as_they_are(quick: Cli, tmp_path: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    lines = [
        {"role": "user", "content": "I live in Oslo.", "channel": "web", "session": "s"},
        {"role": "assistant", "content": None, "tool_calls": [call], "session": "s"},
        {"role": "assistant", "content": None, "tool_calls": [call | {"id": "c2"}]},
        {"role": "tool", "tool_call_id": "c1", "content": "Sunny in Oslo.", "session": "s"},
        {"role": "assistant", "content": [{"type": "text", "text": "It is sunny in Oslo."}]},
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    first = document(quick("import", "in.jsonl", "--no-enrich", "--json"))
    again = document(quick("import", "in.jsonl", "--no-enrich", "--json"))
    assert (first["new"], again["new"], again["known"]) == (5, 0, 5)
    hits = document(quick("search", "What about Oslo?", "--json"))["hits"]
    assert {(hit["role"], hit["text"]) for hit in hits} == {
        ("user", "I live in Oslo."), ("assistant", "It is sunny in Oslo."),
    }  # fmt: skip
    assert next(hit for hit in hits if hit["role"] == "user")["metadata"] == {"channel": "web"}


@pytest.mark.slow
def test_add_takes_role_tags_and_metadata(quick: Cli) -> None:
    options = ("--role", "user", "--speaker", "Ann", "--tag", "a", "--tag", "b")
    done = document(quick("add", "I live in Oslo.", *options, "--metadata", '{"n": 1}', "--json"))
    assert done["new"]
    (hit,) = document(quick("search", "Oslo", "--json"))["hits"]
    assert (hit["role"], hit["speaker"], hit["tags"]) == ("user", "Ann", ["a", "b"])
    assert hit["metadata"] == {"n": 1}
    assert "--metadata is not JSON" in error_of(quick("add", "x", "--metadata", "{"), 2)
    assert "--role: invalid choice: 'boss'" in error_of(quick("add", "x", "--role", "boss"), 2)


@pytest.mark.slow
def test_add_takes_facts_and_a_summary(quick: Cli) -> None:
    facts = json.dumps([{"subject": "Kim", "relation": "uses", "object": "Vim"}])
    quick("add", "Vim it is.", "--facts", facts, "--session-summary", "Kim chose Vim.", "--json")
    (triple,) = document(quick("facts", "--json"))["facts"]
    assert (triple["text"], triple["sources"][0]["provenance"]) == ("Kim uses Vim", "user")
    assert "Kim chose Vim." in quick("sessions").stdout
    assert "--facts is not JSON" in error_of(quick("add", "x", "--facts", "[Kim]"), 2)
    assert "facts[0].object is missing" in error_of(
        quick("add", "x", "--facts", '[{"subject": "Kim", "relation": "uses"}]'), 2
    )


def test_import_can_leave_out_what_is_wrong(quick: Cli, tmp_path: Path) -> None:
    lines = (
        '{"text": "one", "id": "1"}', "{oops", '{"text": " "}', '{"text": "other", "id": "1"}',
        '{"text": "two", "id": "2"}',
    )  # fmt: skip
    (tmp_path / "in.jsonl").write_text("\n".join(lines), "utf-8")
    done = document(quick("import", "in.jsonl", "--skip-invalid", "--no-enrich", "--json"), 1)
    assert [item["line"] for item in done["rejected"]] == [2, 3, 4]
    assert (done["read"], done["new"], done["known"]) == (5, 2, 0)
    assert done["enriched"] is None
    stats = document(quick("stats", "--json"))["spaces"][0]
    assert (stats["messages"], stats["pending"]) == (2, 2)
    assert document(quick("enrich", "--json"))["enriched"]["chunks"] == 2


@pytest.mark.slow
def test_an_interrupted_import_says_how_to_go_on(tmp_path: Path) -> None:
    process = subprocess.Popen(
        command("import", "-"), cwd=tmp_path, env=environment(), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        # A shell's background jobs ignore the signal, and what they start would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert process.stdin is not None
    batch = Settings().insert.batch
    for number in range(2 * batch + 50):
        process.stdin.write(json.dumps({"text": f"message number {number}"}) + "\n")
    process.stdin.flush()
    deadline = time.monotonic() + 30
    while _messages(tmp_path / "memory.db") < 2 * batch and time.monotonic() < deadline:
        time.sleep(0.05)
    # The first batch was counted before the second was stored; the second may not be counted yet.
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == ""
    counts = (batch, 2 * batch)
    assert any(f"interrupted; {count:,} messages read so far are stored" in err for count in counts)
    assert "again to continue" in err
    assert _messages(tmp_path / "memory.db") == 2 * batch


def _messages(path: Path) -> int:
    if not path.exists():
        return 0
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection, connection:
            count = connection.execute("SELECT count(*) FROM chunk").fetchone()[0]
        connection.close()
        return int(count)
    except sqlite3.Error:
        return 0


# Reading


def test_reading_commands_never_create_a_file(quick: Cli, tmp_path: Path) -> None:
    assert "there is no memory at memory.db" in error_of(quick("search", "anything"), 3)
    assert "no memory at other.db" in error_of(quick("stats", "--db", "other.db"), 3)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_search_why_explains_the_rank_of_a_hit(quick: Cli, sample_db: Path) -> None:
    result = quick("--db", sample_db, "search", "Who lives in Bremen?", "-k", 3, "--why",
                 "--now", NOW, "--timezone", "Europe/Berlin")  # fmt: skip
    assert result.returncode == 0
    assert "2025-05-24 21:48 may-move Mira: I live in Bremen now." in result.stdout
    assert "days before the question)" in result.stdout
    assert "harmonic mean" in result.stdout
    assert "facts: Mira lives in Bremen" in result.stdout
    assert "ranking default" in result.stderr


@pytest.mark.slow
def test_context_is_the_block_and_nothing_else(quick: Cli, sample_db: Path) -> None:
    options = ("--db", sample_db, "--max-tokens", 200, "--now", NOW)
    block = quick("context", "What is Pia allergic to?", *options)
    told = document(quick("context", "What is Pia allergic to?", *options, "--json"))
    assert block.stdout == told["text"] + "\n"
    assert block.stdout.startswith("[memory]\n")
    assert "allergic to walnuts" in block.stdout
    assert told["tokens"] <= 200
    assert "m055" in [citation["id"] for citation in told["citations"]]


@pytest.mark.slow
def test_lists_of_what_is_stored(quick: Cli, sample_db: Path) -> None:
    sessions = document(quick("sessions", "--db", sample_db, "--json"))["sessions"]
    assert [session["id"] for session in sessions][:2] == ["oct-juist", "sep-crutches"]
    assert all(session["keys"] and session["summary"] for session in sessions)

    entities = quick("entities", "pick", "--db", sample_db)
    assert "Pickle" in entities.stdout
    facts = quick("facts", "Felix", "--db", sample_db)
    assert "Felix is husband of Pia" in facts.stdout
    assert "may-move/m060" in facts.stdout
    assert facts.stdout == quick("facts", "Pia's husband", "--db", sample_db).stdout
    assert "| Pia's husband" in quick("entities", "Felix", "--db", sample_db).stdout
    nobody = quick("facts", "Pick", "--db", sample_db)
    assert (nobody.returncode, nobody.stdout) == (1, "")
    assert "`cognigraph entities` lists the names" in nobody.stderr


@pytest.mark.slow
def test_cypher_runs_queries_and_lists_named_ones(quick: Cli, sample_db: Path) -> None:
    query = "MATCH (s:Session) WHERE s.id = $id RETURN s.id AS id"
    rows = document(quick("cypher", query, "--param", "id=jul-knee", "--db", sample_db, "--json"))
    assert rows == {"rows": [{"id": "jul-knee"}]}
    about = quick("cypher", "--name", "about", "--param", "entity=Felix", "--db", sample_db)
    assert "is husband of" in about.stdout
    names = [query["name"] for query in document(quick("cypher", "--list", "--json"))["queries"]]
    assert "about" in names
    about = ("cypher", "--name", "about", "--param", "entity=Felix", "--db", sample_db)
    then = quick(*about, "--param", "as_of=2020-01-01T00:00:00Z")  # nothing had been said
    assert (then.returncode, then.stdout, then.stderr) == (0, "", "0 rows\n")
    assert "not allowed" in error_of(quick("cypher", "CREATE (n)", "--db", sample_db), 2)
    assert "NAME=VALUE" in error_of(quick("cypher", "x", "--param", "y", "--db", sample_db), 2)


@pytest.mark.slow
def test_spaces_are_separate_and_an_unknown_one_is_an_error(quick: Cli) -> None:
    for name in ("ann", "bob"):
        assert quick("add", f"{name} keeps bees", "--space", name, "--no-enrich").returncode == 0
    found = document(quick("search", "bees", "--space", "ann", "--json"))
    assert [hit["text"] for hit in found["hits"]] == ["ann keeps bees"]
    assert "the spaces are: ann, bob" in error_of(quick("search", "bees", "--space", "cid"), 2)
    everything = document(quick("stats", "--all", "--json"))["spaces"]
    assert [(item["space"], item["messages"]) for item in everything] == [("ann", 1), ("bob", 1)]


# Errors


@pytest.mark.slow
def test_wrong_times_are_reported(quick: Cli, sample_db: Path) -> None:
    options = ("--db", sample_db)
    assert "ISO 8601" in error_of(quick("search", "x", "--now", "soon", *options), 2)
    naive = error_of(quick("search", "x", "--now", "2025-10-20", *options), 2)
    assert "--timezone" in naive
    zoned = quick("search", "cat", "--now", "2025-10-20", "--timezone", "Europe/Oslo", *options)
    assert zoned.returncode == 0
    assert "unknown timezone" in error_of(quick("stats", "--timezone", "Mars/Base", *options), 2)


@pytest.mark.slow
def test_exit_codes_depend_on_the_outcome(quick: Cli, sample_db: Path, tmp_path: Path) -> None:
    assert quick().returncode == 2
    assert quick("search").returncode == 2
    assert "-k: must be a whole number from 1" in error_of(
        quick("search", "x", "-k", 0, "--db", sample_db), 2
    )
    assert "cannot read nowhere.jsonl" in error_of(quick("import", "nowhere.jsonl"), 2)
    assert quick("search", " ", "--db", sample_db).returncode == 1
    unreachable = quick("stats", "--db", "bolt://127.0.0.1:1", COGNIGRAPH_AUTH="neo4j:secret")
    assert "secret" not in error_of(unreachable, 3)
    assert "USER:PASSWORD" in error_of(
        quick("stats", "--db", "bolt://127.0.0.1:1", "--auth", "x"), 2
    )
    assert list(tmp_path.iterdir()) == []


def test_debug_lets_python_show_the_traceback(quick: Cli) -> None:
    with pytest.raises(StoreUnavailableError, match=r"there is no memory at memory\.db"):
        quick("stats", COGNIGRAPH_DEBUG="1")


# Terminals


@pytest.mark.slow
def test_messages_cannot_command_the_terminal(quick: Cli) -> None:
    evil = "bell\x07 clear\x1b[2J \x9b31m red \x1b]0;title\x07 \u202egnp [bold]not markup[/bold]"
    assert quick("add", "-", "--speaker", "E\x1b[7m", "--id", "e", stdin=evil).returncode == 0
    for arguments in (
        ("search", "clear bell", "--why"), ("context", "clear bell"), ("sessions",), ("entities",),
        ("facts",), ("cypher", "MATCH (c:Chunk) RETURN c.text AS text"),
    ):  # fmt: skip
        result = quick(*arguments, FORCE_COLOR="1" if arguments[0] == "search" else "")
        assert result.returncode in (0, 1)
        output = result.stdout + result.stderr
        for control in ("\x07", "\x1b[2J", "\x9b", "\x1b]", "\u202e", "\x1b[7m"):
            assert control not in output
    assert "[bold]not markup[/bold]" in quick("context", "clear bell").stdout


def test_a_terminal_that_is_not_unicode(quick: Cli) -> None:
    assert quick("add", "Inês grows 茶 and λ.", "--id", "i").returncode == 0
    shown = quick("search", "tea", PYTHONIOENCODING="ascii")
    assert shown.returncode == 0
    assert "In?s grows ? and ?." in shown.stdout
    told = document(quick("search", "tea", "--json", PYTHONIOENCODING="ascii"))
    assert told["hits"][0]["text"] == "Inês grows 茶 and λ."


@pytest.mark.slow
def test_a_closed_pipe_is_silent(sample_db: Path) -> None:
    for arguments in (("facts", "--limit", "1000"), ("stats", "--json")):
        process = subprocess.Popen(
            command(*arguments, "--db", sample_db), env=environment(),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        with process.stderr as errors:
            said = errors.read().decode()
        assert process.wait(30) == 141
        assert "Broken" not in said and "Traceback" not in said


@pytest.mark.slow
def test_version_and_the_other_way_to_start() -> None:
    told = subprocess.run(
        [sys.executable, "-m", "cognigraph", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.startswith("cognigraph 0.")


# Doctor


def test_doctor_is_content_with_a_good_memory(quick: Cli, sample_db: Path) -> None:
    told = document(quick("doctor", "--db", sample_db, "--json"))
    assert told["ok"] is True
    details = {check["name"]: check["detail"] for check in told["checks"]}
    assert details["embedder"].startswith("wordllama-l2-256, 256 dimensions")
    assert details["integrity"] == "ok"
    assert details["enrichment"] == "1 space, 0 chunks waiting, 0 parked"
    assert "no problems found" in quick("doctor").stdout  # without a memory yet


@pytest.mark.parametrize(
    "db", ["postgres://neo4j:p/w0rd@host/x", "bolt+x://neo4j:p%2Fw0rd@host:7687"]
)
def test_no_password_of_an_address_is_shown(quick: Cli, db: str) -> None:
    for words in (["doctor", "--json", "--db", db], ["stats", "--db", db], ["stats", db]):
        result = quick(*words)
        assert result.returncode in (1, 2)
        assert "host" in result.stdout + result.stderr
        assert "w0rd" not in result.stdout + result.stderr


def test_doctor_refuses_files_of_other_programs(quick: Cli, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("just some notes\n" * 100)
    with closing(sqlite3.connect(tmp_path / "theirs.db")) as connection, connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for name in ("notes.txt", "theirs.db", "missing.db"):
        result = quick("doctor", "--db", name)
        assert result.returncode == 1
        assert "FAIL" in result.stdout and "->" in result.stdout
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    told = document(quick("doctor", "--db", "notes.txt", "--json"), 1)
    [bad] = [check for check in told["checks"] if not check["ok"]]
    assert "not a cognigraph database" in bad["detail"]


@pytest.mark.slow
def test_doctor_reports_messages_that_nobody_enriches(quick: Cli, tmp_path: Path) -> None:
    with Memory(tmp_path / "memory.db", enrich="manual") as memory:
        memory.add("Felix repairs clocks.", id="f")
    assert "no problems found" in quick("doctor").stdout
    with closing(sqlite3.connect(tmp_path / "memory.db")) as connection, connection:
        connection.execute("UPDATE work SET since = since - 3600000000")
    told = document(quick("doctor", "--json"), 1)
    [bad] = [check for check in told["checks"] if not check["ok"]]
    assert bad["name"] == "worker"
    assert "more than 600 s" in bad["detail"] and "waits for 3,60" in bad["detail"]
    assert "cognigraph enrich" in bad["advice"]
    quick("enrich")
    assert "no problems found" in quick("doctor").stdout


@pytest.mark.slow
def test_parked_chunks_are_listed_and_can_be_retried(quick: Cli, tmp_path: Path) -> None:
    extractor = ScriptedExtractor()
    extractor.fail_for("f", error=ExtractionError("the model is gone", retryable=False))
    with Memory(tmp_path / "memory.db", enrich="manual", extractor=extractor) as memory:
        memory.add("Felix repairs clocks.", id="f")
        memory.queue.enrich()
    doctor = quick("doctor")
    assert doctor.returncode == 1
    assert "the model is gone" in doctor.stdout
    assert "--retry-failed" in doctor.stdout
    shown = quick("enrich")
    assert shown.returncode == 1
    assert "the model is gone" in shown.stdout
    again = document(quick("enrich", "--retry-failed", "--json"))
    assert again["retried"] == 1
    assert (again["enriched"]["chunks"], again["enriched"]["failed"]) == (1, 0)


@pytest.mark.slow
def test_merge_split_and_duplicates(quick: Cli, tmp_path: Path) -> None:
    extractor = ScriptedExtractor(
        {
            "a": [Fact("Bob", "person", "owns", "boat", "object", (0,))],
            "b": [Fact("Robert Lee", "person", "likes", "Oslo", "location", (0,))],
            "c": [Fact("Tom Hendriksen", "person", "left", "Oslo", "location", (0,))],
            "d": [Fact("Tom Hendrikson", "person", "left", "Rome", "location", (0,))],
        }
    )
    with Memory(tmp_path / "memory.db", enrich="manual", extractor=extractor) as memory:
        for id in "abcd":
            memory.add("Something was said.", id=id)
        memory.flush()
    told = document(quick("merge", "Bob", "--into", "Robert Lee", "--json"))
    assert (told["merge"]["name"], told["merge"]["into"], told["merge"]["by"]) == (
        "Bob", "Robert Lee", "user",
    )  # fmt: skip
    (entity,) = document(quick("entities", "bob", "--json"))["entities"]
    assert (entity["name"], entity["aliases"], entity["triples"]) == ("Robert Lee", ["Bob"], 2)
    assert "| Bob " in quick("entities").stdout
    assert "undo with: cognigraph split Bob" in quick("merge", "Bob", "--into", "Robert Lee").stdout
    split = document(quick("split", "Bob", "--json"))
    assert [(item["name"], item["aliases"]) for item in split["entities"]] == [("Bob", [])]

    (pair,) = document(quick("duplicates", "--json"))["duplicates"]
    assert {pair["name"], pair["other"]} == {"Tom Hendriksen", "Tom Hendrikson"}
    assert "Tom Hendrikson" in quick("duplicates").stdout
    assert quick("split", pair["other"], "--from", pair["name"]).returncode == 0
    assert document(quick("duplicates", "--json"), 1)["duplicates"] == []
    assert "no entity is called 'Robrt Lee'; did you mean 'Robert Lee'?" in error_of(
        quick("merge", "Robrt Lee", "--into", "Bob"), 2
    )


@pytest.mark.slow
def test_history_and_what_a_user_says_of_facts(quick: Cli, tmp_path: Path) -> None:
    def home(place: str) -> list[Fact]:
        return [Fact("Ann", "person", "lives in", place, "location", (0,))]

    extractor = ScriptedExtractor({"a": home("Bergen"), "b": home("Oslo")})
    with Memory(tmp_path / "memory.db", enrich="manual", extractor=extractor) as memory:
        memory.add("Something was said.", id="a", at="2026-02-01T09:00:00Z")
        memory.add("Something was said.", id="b", at="2026-06-01T09:00:00Z")
        memory.flush()

    def states() -> list[tuple[str, str]]:
        (chain,) = document(quick("history", "Ann", "lives in", "--json"))["history"]
        return [(item["object"], item["status"]) for item in chain["triples"]]

    assert states() == [("Bergen", "superseded"), ("Oslo", "current")]
    printed = quick("history", "Ann").stdout
    (chain,) = document(quick("history", "Ann", "--json"))["history"]
    assert chain["triples"][0]["reason"] == "another value was given later"
    assert all(triple["uid"] in printed for triple in chain["triples"])
    bergen, oslo = (triple["uid"] for triple in chain["triples"])
    assert f"undo with: cognigraph restore {oslo}" in quick("retract", oslo).stdout
    assert states() == [("Bergen", "current"), ("Oslo", "retracted")]
    assert document(quick("restore", oslo, "--json"))["status"] == "current"
    assert quick("restore", bergen).returncode == 0
    assert states() == [("Bergen", "current"), ("Oslo", "current")]
    assert "Ann lives in Oslo" in quick("conflicts").stdout
    told = quick(
        "supersede", bergen, oslo, "--at", "2026-05-01T00:00:00Z", "--reason", "moved", "--json"
    )
    assert document(told) == {"fact": bergen, "status": "superseded"}
    assert states() == [("Bergen", "superseded"), ("Oslo", "current")]
    assert document(quick("conflicts", "--json"), 1)["conflicts"] == []
    assert "no triple" in error_of(quick("retract", "0" * 32), 2)
