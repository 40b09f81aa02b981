"""Completion scripts, errors as JSON, narrow terminals, help that names what there is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cognigraph.cli.app import _COMMANDS
from cognigraph.cli.completion import commands_of
from cognigraph.cli.parser import build_parser
from tests.e2e.command_line import Cli, document, error_of


def test_every_shell_knows_every_command(quick: Cli, tmp_path: Path) -> None:
    assert {command.name for command in commands_of(build_parser())[1:]} == _COMMANDS.keys()
    for shell in ("bash", "zsh"):
        script = quick("completion", shell).stdout
        assert all(name in script for name in _COMMANDS), shell


@pytest.mark.parametrize(
    ("arguments", "code", "kind", "message"),
    [
        (("stats", "--db", "no.db"), 3, "StoreUnavailableError", "there is no memory at no.db"),
        (("add", " "), 2, "InvalidMessageError", "the message has an empty text"),
        (("serch", "x"), 2, "UsageError", "did you mean 'search'"),
        (("search",), 2, "UsageError", "required: QUESTION"),
    ],
)
def test_errors_are_json_too(
    quick: Cli, arguments: tuple[str, ...], code: int, kind: str, message: str
) -> None:
    done = quick(*arguments, "--json")
    error = json.loads(done.stdout)["error"]
    assert (done.returncode, error["exit_code"], error["type"]) == (code, code, kind)
    assert message in error["message"]
    assert done.stderr.startswith("cognigraph: error: ") and message in done.stderr
    assert quick(*arguments).stdout == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("messages", "--sesion", "x"), "--sesion x (did you mean '--session'?)"),
        (("search", "--k", "3", "x"), "--k x (did you mean '-k'?)"),
        (
            ("serve", "--prot=1"),
            "--prot=1 (did you mean '--port'?) (see `cognigraph serve --help`)",
        ),
        (
            ("--databse", "x", "stats"),
            "--databse (did you mean '--database'?) (see `cognigraph --help`)",
        ),
        (("stats", "--zzz"), "unrecognized arguments: --zzz (see `cognigraph stats --help`)"),
        (("stats", "more"), "unrecognized arguments: more (see `cognigraph stats --help`)"),
    ],
)
def test_a_wrong_option_is_answered_with_a_near_one(
    quick: Cli, arguments: tuple[str, ...], message: str
) -> None:
    assert message in error_of(quick(*arguments), 2)
    found = json.loads(quick(*arguments, "--json").stdout)["error"]
    assert (found["type"], message in found["message"]) == ("UsageError", True)


@pytest.mark.slow
def test_tables_are_lists_on_narrow_terminals(quick: Cli) -> None:
    quick("add", "I moved to Oslo in May with Klara.", "--session", "a-rather-long-session-name",
          "--id", "m1", "--at", "2026-05-20T09:00:00Z", "--speaker", "Ann")  # fmt: skip
    wide, narrow = quick("messages"), quick("messages", COLUMNS="40")
    assert narrow.stdout.splitlines() == [
        "id: m1",
        "when (UTC): 2026-05-20 09:00",
        "session: a-rather-long-session-name",
        "speaker: Ann",
        "text: I moved to Oslo in May with Klara.",
    ]
    assert wide.stdout.splitlines()[0].split(" | ")[0].strip() == "id"
    for command in (("search", "Where is Ann?"), ("facts",), ("entities",), ("sessions",),
                    ("stats",), ("doctor",)):  # fmt: skip
        lines = quick(*command, COLUMNS="40").stdout.splitlines()
        assert max(map(len, lines)) <= 40, command
    assert document(quick("messages", "--json", COLUMNS="40"))["messages"][0]["id"] == "m1"


def test_help_names_every_embedder_and_extractor(quick: Cli) -> None:
    told = "".join(quick("--help").stdout.split())
    for name in ("wordllama", "fastembed:", "flag:", "sentence-transformers:", "openai:MODEL",
                 "rules", "openai[:MODEL]"):  # fmt: skip
        assert name in told, name


def test_a_port_that_does_not_exist_is_refused_before_anything_starts(quick: Cli) -> None:
    for command in ("serve", "mcp"):
        error = error_of(quick(command, "--port", "65536"), 2)
        assert "--port: must be a whole number from 0 to 65,535, not '65536'" in error


def test_a_profile_that_needs_facts_says_so_when_it_finds_nothing(quick: Cli) -> None:
    quick("add", "I moved to Oslo in May.", "--no-enrich")
    found = quick("search", "Where is Oslo?", "--ranking", "licomemory")
    assert found.returncode == 1
    assert found.stderr.startswith("nothing found; the profile licomemory finds messages through")
    assert "cognigraph enrich" in found.stderr
