"""Commands about facts and entities: add, decide, merge and split, and their profiles."""

from __future__ import annotations

import shlex

from cognigraph.cli import render
from cognigraph.cli.command_run import FOUND_PROBLEM, OK, CommandRun
from cognigraph.cli.enriching import enrich
from cognigraph.cli.listing import NO_WRITERS, listed
from cognigraph.cli.memory_options import opened, reading


def add_fact(run: CommandRun) -> int:
    """Store a fact that the user states."""
    given, options = run.arguments, run.options
    with opened(options, create=True) as memory:
        space = memory.space(options.space)
        result = space.add_fact(**run.given())
        done = None if given.no_enrich else enrich(space, run.terminal)
        text = space.get(result.id)
    assert text is not None
    run.terminal.document({"id": result.id, "new": bool(result.new), "text": text.text})
    known = "" if result.new else ", as it was before"
    run.terminal.show(render.text(f"stored as {result.id}{known}: {text.text}"))
    return OK if done is None or done.ok else FOUND_PROBLEM


def profile(run: CommandRun) -> int:
    """Show what is true of an entity, by slot."""
    found = run.call()
    run.terminal.document(found)
    run.terminal.show(render.text(f"{found.name} ({', '.join(found.types)})", "bold"))
    if found.aliases:
        run.terminal.show(render.text(f"also {', '.join(found.aliases)}"))
    facts = [item for entry in found.entries for item in (*entry.facts, *entry.earlier)]
    return listed(run, facts, render.DECIDED, "no facts")


_STATUS = {"supersede": "superseded", "retract": "retracted", "restore": "current"}


def decide(run: CommandRun) -> int:
    """Record what a user says of a fact: ``supersede``, ``retract`` or ``restore``."""
    command = run.arguments.command
    uid = run.arguments.old if command == "supersede" else run.arguments.fact
    status = _STATUS[command]
    run.call()
    run.terminal.document({"fact": uid, "status": status})
    back = f"; undo with: cognigraph restore {uid}{run.options.flags}"
    text = f"{uid} is current" if command == "restore" else f"{status}{back}"
    run.terminal.show(render.text(text))
    return OK


def merge(run: CommandRun) -> int:
    """Merge two entities."""
    with reading(run.options) as space:
        space.review.merge(**run.given())
        merged = space.review.merges(1)
    run.terminal.document({"merge": merged[0]})
    back = f"cognigraph split {shlex.quote(merged[0].name)}{run.options.flags}"
    run.terminal.show(
        render.text(f"merged {merged[0].name} into {merged[0].into}; undo with: {back}")
    )
    return OK


def split(run: CommandRun) -> int:
    """Undo a merge."""
    name = run.arguments.name
    with reading(run.options) as space:
        space.review.split(**run.given())
        found = space.entities(name, 20)
    run.terminal.document({"entities": found})
    run.terminal.show(render.text(f"{name} is a separate entity again"))
    run.terminal.show(render.listing(found, run.options.reader, *render.ENTITIES))
    return OK


def core_profile(run: CommandRun) -> int:
    """Print the core profile in one version."""
    version = run.arguments.version
    found = run.call()
    run.terminal.document({"core_profile": found})
    if found is None:
        which = "core profile" if version is None else f"version {version} of the core profile"
        run.terminal.note(f"there is no {which}; {NO_WRITERS}")
        return FOUND_PROBLEM
    run.terminal.write(found.text)
    day = render.day(found.at, run.options.reader)
    run.terminal.note(f"version {found.version}, from messages until {day}")
    return OK
