"""For how long a coding agent waits for each hook, beside ``python -c pass``.

``python -m bench.hooks --json bench/results/hooks.json`` fills a memory of coding agents with
synthetic messages of one project, and runs the hooks of each agent as the agent does: a process,
with JSON on its standard input, until it has ended. A bare Python is started before each of them,
since the start of Python is a large part and the machine's other work is part of both: the time of
the processor is given, too, which is what a machine without other work needs.

``warm`` is while the process in the background listens; ``cold`` is after it has ended. A warm
prompt has an answer if it comes within the time that an agent waits; ``answered`` is the share. A
cold prompt has none. ``--python`` measures another installation.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from bench.measure import machine, write
from bench.synthetic import SyntheticExtractor, World, messages
from cognigraph import Limits, Memory
from cognigraph.hooks.agents import AGENTS, PERSON, Agent, space_of
from cognigraph.hooks.spool import Spool
from cognigraph.stores import start_blocks

_SAY_COMMAND = """
import sys; from pathlib import Path
from cognigraph.hooks.agents import AGENTS; from cognigraph.hooks.settings import command
agent, event, db = sys.argv[1:]
print(command(AGENTS[agent], event, Path(db)))
"""
_LOOK = 0.05
_PAUSE = 0.7
"""Between two events, so that what the first one has left to do in the background is done."""


class Run(NamedTuple):
    """A process: milliseconds until it has ended, those of the processor, whether it printed."""

    ms: float
    cpu_ms: float
    has_printed: bool


class Host:
    """A coding agent with a home and a project of its own."""

    def __init__(self, root: Path, python: str) -> None:
        self._python = python
        self._home, self.project = root / "home", root / "app"
        (self.project / ".git").mkdir(parents=True)
        self.db = self._home / ".local/share/cognigraph/agents.db"
        self.spool = Spool(self.db)
        self.space = space_of(self.project)
        self._number = 0
        self._commands: dict[tuple[str, str], list[str]] = {}

    def fill(self, count: int) -> list[str]:
        """Store messages of the project and of the person; returns what can be asked."""
        self.db.parent.mkdir(parents=True)
        world = World()
        with Memory(
            self.db, enrich="manual", extractor=SyntheticExtractor(world, per_turn=1)
        ) as memory:
            project = memory.space(self.space)
            project.add_many(replace(message, role="user") for message in messages(world, count))
            project.queue.enrich(limits=Limits(rounds=20))
            memory.space(PERSON).add("Commit messages are in Norwegian.", id="p1")
            texts = [message.text for message in project.messages(limit=500)]
        return [text for text in texts if len(text) > 20]

    def hook(self, agent: Agent, event: str, stay: float, **given: Any) -> Run:
        """Run a hook."""
        self._number += 1
        base = {"session_id": f"s{self._number}", "cwd": str(self.project), "transcript_path": None}
        if agent.name == "cursor":
            base["cursor_version"] = "3"
        return self._run(self._command(agent.name, event), json.dumps(base | given), stay)

    def _command(self, agent: str, event: str) -> list[str]:
        """The command as the measured installation writes it into an agent's settings."""
        if (agent, event) not in self._commands:
            said = subprocess.run(
                [self._python, "-c", _SAY_COMMAND, agent, event, str(self.db)],
                stdout=subprocess.PIPE, encoding="utf-8", check=True, cwd=self.project,
            )  # fmt: skip
            self._commands[agent, event] = shlex.split(said.stdout)
        return self._commands[agent, event]

    def bare(self) -> Run:
        """Run a Python that has nothing to do."""
        return self._run([self._python, "-c", "pass"], "", 0)

    def _run(self, words: list[str], given: str, stay: float) -> Run:
        environment = os.environ | {"HOME": str(self._home), "COGNIGRAPH_HOOKS_STAY": str(stay)}
        started = time.perf_counter()
        process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            cwd=self.project, env=environment,
        )  # fmt: skip
        assert process.stdin is not None and process.stdout is not None
        with process.stdin as stdin, process.stdout as stdout:
            stdin.write(given.encode())
            stdin.close()
            printed = stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        taken = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, words
        return Run(taken * 1000, (used.ru_utime + used.ru_stime) * 1000, printed != b"")

    def is_kept(self) -> bool:
        """Whether the process in the background runs."""
        if not self.spool.lock_file.exists():
            return False
        try:
            with self.spool.locked() as is_free:
                return not is_free
        except sqlite3.OperationalError:
            return True

    def wait(self, *, until_kept: bool) -> None:
        """Wait until the process in the background can answer, or has ended; all is made ready."""
        while not (
            self.spool.socket_file.exists() and not self.spool.names()
            if until_kept
            else not self.is_kept()
        ):
            time.sleep(_LOOK)
        while until_kept and start_blocks.outdated(str(self.db), self.space, PERSON):
            time.sleep(_LOOK)


def main() -> None:
    """Measure and print, or write JSON."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--messages", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=20, help="of each warm event")
    parser.add_argument("--cold-rounds", type=int, default=6, help="of each cold event")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--json")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        host = Host(Path(folder).resolve(), given.python)
        asked = host.fill(given.messages)
        agents = {
            name: dict(_agent(host, AGENTS[name], asked, given.rounds, given.cold_rounds))
            for name in ("claude-code", "codex", "gemini", "cursor")
        }
    write(
        {
            "machine": machine() | {"load": round(os.getloadavg()[2], 1)},
            "messages": given.messages,
            "agents": agents,
        },
        given.json,
    )


def _agent(
    host: Host, agent: Agent, asked: list[str], rounds: int, cold: int
) -> Iterator[tuple[str, Any]]:
    by_kind = {kind: event for event, kind in reversed(agent.events.items())}
    said = {"prompt": "", "prompt_response": "Done.", "last_assistant_message": "Done.",
            "text": "Done."}  # fmt: skip
    stay = 120.0
    host.hook(agent, by_kind["start"], stay)
    host.wait(until_kept=True)
    time.sleep(_PAUSE)
    for kind in ("start", "prompt", "answer", "keep"):
        if kind not in by_kind:
            continue
        runs, bare = [], []
        for number in range(rounds):
            bare.append(host.bare())
            given = said | {"prompt": asked[number * 7 % len(asked)]}
            runs.append(host.hook(agent, by_kind[kind], stay, **given))
            time.sleep(_PAUSE)
        yield f"warm {by_kind[kind]}", _row(runs, bare, kind in agent.takes_context)
    _end(host)
    for kind in ("start", "prompt"):
        runs, bare = [], []
        for number in range(cold):
            bare.append(host.bare())
            given = said | {"prompt": asked[number * 11 % len(asked)]}
            runs.append(host.hook(agent, by_kind[kind], stay, **given))
            _end(host)
        yield f"cold {by_kind[kind]}", _row(runs, bare, kind in agent.takes_context)


def _end(host: Host) -> None:
    """Let the process in the background store what waits, make all ready, and end."""
    while host.spool.names() or start_blocks.outdated(str(host.db), host.space, PERSON):
        time.sleep(_LOOK)
    for process in Path("/proc").iterdir():
        if process.name.isdecimal():
            try:
                words = (process / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if b"--keep" in words and str(host.db).encode() in words:
                os.kill(int(process.name), 15)
    host.wait(until_kept=False)


def _row(runs: list[Run], bare: list[Run], takes_context: bool) -> dict[str, Any]:
    row: dict[str, Any] = {"runs": len(runs)}
    for name, measured in (("hook", runs), ("python", bare)):
        times = [run.ms for run in measured]
        row[name] = {
            "median_ms": round(statistics.median(times)),
            "largest_ms": round(max(times)),
            "cpu_median_ms": round(statistics.median(run.cpu_ms for run in measured)),
        }
    if takes_context:
        row["answered"] = round(statistics.mean(run.has_printed for run in runs), 3)
    return row


if __name__ == "__main__":
    main()
