"""Run the blocks of a Markdown page from top to bottom and compare what they print.

How a page is written:

- A ``python`` block is a program of its own. What it prints stands in the ``text`` block that
  follows it; without one it must print nothing.
- A ``console`` block has commands after ``$ `` and, below each, what it prints (both streams).
- ``...`` in the expected output stands for any text.
- All blocks of a page share one folder, so a file made by one block is there for the next.
- Blocks in other languages (``sh``, ``text``, ``toml``) are not run.

``python -m tests.pages README.md docs/*.md`` runs pages and writes the real output into them. The
page on models talks to a loopback server; the page on Neo4j needs a real one and is only run by the
tests.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from cognigraph.cli import main as cognigraph
from tests.e2e.command_line import environment
from tests.servers.model_server import ModelServer
from tests.servers.scripted import Stages

ROOT = Path(__file__).resolve().parents[1]
WIDTH = "100"

NEO4J = "docs/neo4j.md"
MODEL = "docs/models.md"

_READ = {
    "entities": ["Anna | person | my sister"],
    "facts": ["1 | Anna | moves to | Bergen | last Tuesday"],
    "keys": ["Bergen"],
    "themes": [{"title": "Anna's move", "summary": "Anna moved to Bergen on 19 May 2026."}],
}

_FENCE = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```$\n?", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(
    r"^\$ (?P<command>(?:.*\\\n)*.*)\n?(?P<output>(?:(?!\$ ).*\n?)*)", re.MULTILINE
)
_VOLATILE = re.compile(r"\bin [\d.,]+ (ms|s)\b")
_SHELL = re.compile(r"[|<>&;]")


@dataclass(frozen=True)
class Step:
    """One thing to run: its code, what it should print, and where that stands in the page."""

    line: int
    kind: str
    code: str
    expected: str
    start: int
    end: int
    fenced: bool = True


def steps(text: str) -> Iterator[Step]:
    """What a page runs, in order."""
    blocks = list(_FENCE.finditer(text))
    following = [*blocks, None][1:]
    for block, after in zip(blocks, following, strict=True):
        if block[1] == "python":
            yield _program(text, block, after)
        elif block[1] == "console":
            yield from _commands(text, block)


def _program(text: str, block: re.Match[str], after: re.Match[str] | None) -> Step:
    printed = (
        after is not None and after[1] == "text" and not text[block.end() : after.start()].strip()
    )
    start, end = after.span(2) if after and printed else (block.end(), block.end())
    return Step(
        _line(text, block.start()), "python", block[2], text[start:end], start, end, bool(printed)
    )


def _commands(text: str, block: re.Match[str]) -> Iterator[Step]:
    for found in _COMMAND.finditer(block[2]):
        start, end = (block.start(2) + place for place in found.span("output"))
        command = found["command"].replace("\\\n", " ")
        yield Step(
            _line(text, block.start(2) + found.start()),
            "console",
            command,
            found["output"],
            start,
            end,
        )


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def matches(expected: str, printed: str) -> bool:
    """Whether a program printed what is expected; ``...`` stands for anything."""
    parts = map(re.escape, _bare(expected).split("..."))
    return re.fullmatch(".*?".join(parts), _bare(printed), re.DOTALL) is not None


def _bare(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def run(
    text: str, folder: Path, services: Mapping[str, str] | None = None
) -> Iterator[tuple[Step, str]]:
    """Each step of a page with what it printed.

    ``services`` maps addresses and passwords on the page to those of servers under test.
    """
    there = dict(services or {})
    with (
        mock.patch.dict(os.environ, environment(COLUMNS=WIDTH), clear=True),
        contextlib.chdir(folder),
    ):
        os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        for step in steps(text):
            code = _replaced(step.code, there)
            printed = _python(code) if step.kind == "python" else _console(code)
            yield step, _replaced(printed, {real: shown for shown, real in there.items()})


def _replaced(text: str, pairs: Mapping[str, str]) -> str:
    for old, new in pairs.items():
        text = text.replace(old, new)
    return text


def _python(code: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "<page>", "exec"), {"__name__": "__main__"})
    return printed.getvalue()


def _console(command: str) -> str:
    words = shlex.split(command)
    if words[0] == "export":
        os.environ.update(word.split("=", 1) for word in words[1:])
        return ""
    if words[0] != "cognigraph" or _SHELL.search(command):
        done = subprocess.run(
            command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            encoding="utf-8", timeout=120, check=False,
        )  # fmt: skip
        return done.stdout
    printed = io.StringIO()
    with (
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
        contextlib.suppress(SystemExit),
    ):
        cognigraph(words[1:])
    return printed.getvalue()


def filled(text: str, folder: Path, services: Mapping[str, str] | None = None) -> str:
    """The page with the real output of every step whose expected output does not match."""
    parts: list[str] = []
    done = 0
    for step, printed in run(text, folder, services):
        if matches(step.expected, printed):
            continue
        fresh = _VOLATILE.sub(r"in ... \1", _bare(printed)) + "\n" if printed.strip() else ""
        if not step.fenced:
            fresh = f"\n```text\n{fresh}```\n"
        parts += [text[done : step.start], fresh]
        done = step.end
    return "".join([*parts, text[done:]])


@contextlib.contextmanager
def endpoint() -> Iterator[dict[str, str]]:
    """A model that answers as the page on models expects, in place of the address on the page."""
    with ModelServer(Stages([_READ], [])) as server:
        yield {"http://localhost:11434/v1": server.url}


def main() -> None:
    """Fill in the pages named on the command line."""
    pages = [Path(name).resolve() for name in sys.argv[1:]]
    for page in pages:
        if page == ROOT / NEO4J:
            continue
        with tempfile.TemporaryDirectory() as folder, endpoint() as there:
            fresh = filled(page.read_text("utf-8"), Path(folder), there)
        page.write_text(fresh, "utf-8")


if __name__ == "__main__":
    main()
