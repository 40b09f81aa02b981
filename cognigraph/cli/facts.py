"""Commands about facts and entities: list, explain their history, decide, merge and split."""

from __future__ import annotations

import shlex

from rich.text import Text

from cognigraph.cli import render
from cognigraph.cli.command_run import FOUND_PROBLEM, OK, CommandRun
from cognigraph.cli.commands import listed
from cognigraph.cli.enriching import enrich
from cognigraph.cli.memory_options import opened, reading
from cognigraph.cli.terminal import one_line
from cognigraph.model import Procedure
from cognigraph.space import Space


def facts(run: CommandRun) -> int:
    """List facts."""
    given, options = run.arguments, run.options
    with reading(options) as space:
        found = space.facts(**run.given())
        none = "" if found else _no_facts(space, given.entity)
    run.terminal.document({"facts": found})
    return listed(run, found, render.triples_with_ids(found, options.reader), none)


def _no_facts(space: Space, entity: str | None) -> str:
    """Say why nothing is listed; a name that is not known is compared with others."""
    if entity is None:
        return "no facts"
    if space.facts(entity, 1):
        return f"no fact about {entity!r} meets these conditions"
    near = space.entities(entity, 5)
    like = f"; did you mean {', '.join(item.name for item in near)}?" if near else ""
    return f"no fact has the entity {entity!r}{like}"


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


def history(run: CommandRun) -> int:
    """List what was said about each slot of an entity, oldest first."""
    entity = run.arguments.entity
    found = run.call()
    run.terminal.document({"history": found})
    triples = [triple for chain in found for triple in chain.triples][: run.arguments.limit]
    slot = f" with {run.arguments.relation!r}" if run.arguments.relation else ""
    none = f"no facts about {entity!r}{slot}; `cognigraph entities` lists the names"
    return listed(run, triples, render.decided(triples, run.options.reader), none)


def profile(run: CommandRun) -> int:
    """Show what is true of an entity, by slot."""
    found = run.call()
    run.terminal.document(found)
    run.terminal.show(render.text(f"{found.name} ({', '.join(found.types)})", "bold"))
    if found.aliases:
        run.terminal.show(render.text(f"also {', '.join(found.aliases)}"))
    triples = [item for entry in found.entries for item in (*entry.facts, *entry.earlier)]
    if not triples:
        run.terminal.note("no facts")
        return FOUND_PROBLEM
    run.terminal.show(render.decided(triples, run.options.reader))
    return OK


def conflicts(run: CommandRun) -> int:
    """List current facts of which only one can be true."""
    found = run.call()
    run.terminal.document({"conflicts": found})
    triples = [triple for conflict in found for triple in conflict.triples]
    return listed(run, triples, render.decided(triples, run.options.reader), "no conflicts")


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


def duplicates(run: CommandRun) -> int:
    """List pairs of entities that may be the same."""
    found = run.call()
    run.terminal.document({"duplicates": found})
    return listed(run, found, render.duplicates(found), "no duplicates suspected")


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
    run.terminal.show(render.entities(found))
    return OK


_WRITERS = "the writers need a model: cognigraph enrich --redo --extractor membuilder"


def episodes(run: CommandRun) -> int:
    """List episodes."""
    given = run.arguments
    found = run.call()
    run.terminal.document({"episodes": found})
    where = "" if given.session is None else f" of the session {given.session!r}"
    none = f"no episodes{where}; `cognigraph enrich` finds them"
    return listed(run, found, render.episodes(found, run.options.reader), none)


def core_profile(run: CommandRun) -> int:
    """Print the core profile in one version."""
    version = run.arguments.version
    found = run.call()
    run.terminal.document({"core_profile": found})
    if found is None:
        which = "core profile" if version is None else f"version {version} of the core profile"
        run.terminal.note(f"there is no {which}; {_WRITERS}")
        return FOUND_PROBLEM
    run.terminal.write(found.text)
    day = render.day(found.at, run.options.reader)
    run.terminal.note(f"version {found.version}, from messages until {day}")
    return OK


def procedures(run: CommandRun) -> int:
    """List procedures with their steps."""
    found = run.call()
    run.terminal.document({"procedures": found})
    if not found:
        run.terminal.note(f"no procedures; {_WRITERS}")
        return FOUND_PROBLEM
    table = render.listing(
        found,
        ("procedure", "title", "bold"),
        (">version", "version"),
        ("when", lambda item: render.day(item.at, run.options.reader), "cyan"),
        ("steps", _steps),
    )  # fmt: skip
    run.terminal.show(table)
    return OK


def _steps(procedure: Procedure) -> Text:
    cell = render.text(procedure.context, "dim")
    for number, step in enumerate(procedure.steps, 1):
        cell.append(f"\n{number}. {one_line(step)}", "default")
    return cell
