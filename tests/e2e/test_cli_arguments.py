"""Wrong arguments of the command line: exit code 2 and one line that says what to give."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from itertools import cycle

import pytest

from cognigraph import Memory
from cognigraph.cli.parser import build_parser
from tests.cases import each
from tests.e2e.command_line import error_of

NUMBERS = [
    "-1",
    "1.5x",
    "",
    "nan",
    "inf",
    "-inf",
    "9" * 30,
    "9" * 5000,
    "1e400",
    "\udcff",
    "x" * 999,
]


_NO_NUMBERS = ("permission",)


def options() -> list[tuple[str, str, Callable[[str], object], str]]:
    """Every command with each of its options that takes a number, how it reads it, and a value."""
    (commands,) = [
        action
        for action in build_parser()._actions
        if isinstance(action, argparse._SubParsersAction)
    ]
    found = [
        (name, action.option_strings[0], action.type)
        for name, parser in commands.choices.items()
        for action in parser._actions
        if action.type not in (None, str) and action.option_strings
        if action.dest not in _NO_NUMBERS
    ]
    return [(*option, value) for option, value in zip(found, cycle(NUMBERS), strict=False)]


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    path = tmp_path_factory.mktemp("arguments") / "ann.db"
    with Memory(path, enrich="manual") as memory:
        memory.add("Ann moved to Oslo.", id="m1", session="s1")
    return path


def one_line(done, code=2):
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("cognigraph: error: ")
    assert len(line) < 400
    return line


@each(("name", "option", "read", "value"), options())
def test_every_number_is_checked(quick, name, option, read, value):
    assert read not in (int, float), "give it a type with a range"
    for wrong in NUMBERS:
        with pytest.raises(argparse.ArgumentTypeError, match="must be a"):
            read(wrong)
    line = one_line(quick(name, f"{option}={value}"))
    assert option in line and "must be a" in line


@each(
    ("arguments", "said"),
    [
        (["nonsense"], "invalid choice: 'nonsense'"),
        (["stats", "--\x1b[31mred\u2028x"], "unrecognized arguments: -- [31mred x"),
        (["search"], "the following arguments are required: QUESTION"),
        (["search", "x", "-k", "0"], "-k: must be a whole number from 1 to 2,147,483,647, not '0'"),
        (["search", "x", "--now", "yesterday"], "cannot read --now 'yesterday'"),
        (["search", "x", "--as-of", "2026-01-01"], "--as-of '2026-01-01' has no timezone"),
        (["search", "x", "--timezone", "Mars"], "unknown timezone 'Mars'"),
        (["search", "x", "--space", ""], "the name of a space must be 1 to 512 characters"),
        (["search", "x", "--space", "x" * 600], "the name of a space must be 1 to 512 characters"),
        (["search", "x", "--space", "other"], "no space 'other'"),
        (["search", "x", "--ranking", "best"], "invalid choice: 'best'"),
        (["context", "x", "--max-tokens", "0"], "--max-tokens: must be a whole number from 1"),
        (["why", "x", "--expect", "nothing"], "has no message 'nothing'"),
        (["add", ""], "has an empty text"),
        (["add", "x", "--session", ""], "session must be 1 to 512 characters"),
        (["add", "x", "--id", "x" * 600], "id must be 1 to 512 characters"),
        (["add", "x", "--at", "soon"], "cannot read --at 'soon'"),
        (["cypher"], "pass either QUERY, --name NAME or --list"),
        (["cypher", "--name", "nonsense"], "nonsense"),
        (["cypher", "MATCH (c:Chunk) RETURN c.text", "--param", "x"], "must be NAME=VALUE"),
        (["cypher", "RETURN $x", "--param", f"x={2**70}"], "$x must fit into 64 bits"),
        (["import", "/nonsense.jsonl"], "cannot read /nonsense.jsonl"),
        (["import", "/dev/null/x"], "cannot read /dev/null/x: Not a directory"),
        (["enrich", "--older-than", "2"], "--older-than requires --redo"),
        (["enrich", "--deadline", "1e300"], "--deadline: must be a number from 0"),
        (["merge", "a", "--into", "b"], "a"),
        (["stats", "--auth", "x"], "must be USER:PASSWORD"),
        (["stats", "--embedder", "nonsense"], "nonsense"),
        (["stats", "--extractor", "nonsense"], "nonsense"),
    ],
)
def test_a_wrong_value_is_one_line_and_exit_code_2(quick, db, arguments, said):
    assert said in one_line(quick(*arguments, "--db", db))


@pytest.mark.parametrize("command", [["add", "x"], ["stats"]])
def test_what_cannot_be_a_database_file(quick, tmp_path, command):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in ("/dev/null", "/dev/zero", pipe):
        line = one_line(quick(*command, "--db", path), 3)
        assert f"{path} is a device, pipe or socket and cannot hold a memory" in line
    line = one_line(quick(*command, "--db", tmp_path), 3)
    assert f"{tmp_path} is a folder; give the path of a file" in line
    error_of(quick(*command, "--db", "x" * 5000), 3)
