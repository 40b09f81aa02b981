"""The commands ``episodes``, ``core-profile`` and ``procedures``: what enrichment has written."""

from __future__ import annotations

from typing import Any

from cognigraph.cli import format_values, render
from cognigraph.cli.commands import FOUND_PROBLEM, OK, CommandRun, listed
from cognigraph.cli.numbers import count
from cognigraph.cli.open_memory import reading

_WRITERS = "the writers need a model: cognigraph enrich --redo --extractor membuilder"


def add_derived_commands(command: Any) -> None:
    """Add the commands and their options."""
    episodes = command("episodes", "list the parts of conversations, the newest first")
    episodes.add_argument("session", metavar="SESSION", nargs="?", help="only of this session")
    episodes.add_argument(
        "--limit", type=count, default=20, metavar="N", help="number of rows (default: 20)"
    )
    profile = command("core-profile", "print what the writers keep about the user, as one text")
    profile.add_argument(
        "--version", type=count, metavar="N", help="an earlier version, from 1 (default: newest)"
    )
    procedures = command("procedures", "list how things are done, step by step")
    procedures.add_argument("--versions", action="store_true", help="also earlier versions")


def episodes(run: CommandRun) -> int:
    """List episodes."""
    given = run.arguments
    with reading(run.options) as space:
        found = space.episodes(given.session, given.limit)
    run.terminal.document({"episodes": found})
    where = "" if given.session is None else f" of the session {given.session!r}"
    none = f"no episodes{where}; `cognigraph enrich` finds them"
    return listed(run, found, render.episodes(found, run.options.reader), none)


def core_profile(run: CommandRun) -> int:
    """Print the core profile in one version."""
    version = run.arguments.version
    with reading(run.options) as space:
        found = space.core_profile(version)
    run.terminal.document({"core_profile": found})
    if found is None:
        which = "core profile" if version is None else f"version {version} of the core profile"
        run.terminal.note(f"there is no {which}; {_WRITERS}")
        return FOUND_PROBLEM
    run.terminal.write(found.text)
    day = format_values.day(found.at, run.options.reader)
    run.terminal.note(f"version {found.version}, from messages until {day}")
    return OK


def procedures(run: CommandRun) -> int:
    """List procedures with their steps."""
    with reading(run.options) as space:
        found = space.procedures(versions=run.arguments.versions)
    run.terminal.document({"procedures": found})
    if not found:
        run.terminal.note(f"no procedures; {_WRITERS}")
        return FOUND_PROBLEM
    table = render.table("procedure", ">version", "when", "steps")
    for one in found:
        steps = "\n".join(f"{number}. {step}" for number, step in enumerate(one.steps, 1))
        cell = render.text(one.context, "dim")
        for line in steps.splitlines():
            cell.append("\n").append_text(render.text(line, "default"))
        table.add_row(
            render.text(one.title, "bold"),
            str(one.version),
            render.text(format_values.day(one.at, run.options.reader), "cyan"),
            cell,
        )
    run.terminal.show(table)
    return OK
