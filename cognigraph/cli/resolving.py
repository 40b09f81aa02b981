"""Commands that merge and split entities."""

from __future__ import annotations

import shlex

from cognigraph.cli import render
from cognigraph.cli.commands import OK, CommandRun, listed
from cognigraph.cli.open_memory import reading


def duplicates(run: CommandRun) -> int:
    """List pairs of entities that may be the same."""
    with reading(run.options) as space:
        found = space.suspected_duplicates(run.arguments.limit)
    run.terminal.document({"duplicates": found})
    return listed(run, found, render.duplicates(found), "no duplicates suspected")


def merge(run: CommandRun) -> int:
    """Merge two entities."""
    name, into = run.arguments.name, run.arguments.into
    with reading(run.options) as space:
        space.merge(name, into, type=run.arguments.type, into_type=run.arguments.other_type)
        merged = space.merges(1)
    run.terminal.document({"merge": merged[0]})
    back = f"cognigraph split {shlex.quote(merged[0].name)}{run.options.flags}"
    run.terminal.show(
        render.text(f"merged {merged[0].name} into {merged[0].into}; undo with: {back}")
    )
    return OK


def split(run: CommandRun) -> int:
    """Undo a merge."""
    options, name = run.arguments, run.arguments.name
    with reading(run.options) as space:
        space.split(
            name,
            apart_from=options.apart_from,
            type=options.type,
            other_type=options.other_type,
        )
        found = space.entities(name, 20)
    run.terminal.document({"entities": found})
    run.terminal.show(render.text(f"{name} is a separate entity again"))
    run.terminal.show(render.entities(found))
    return OK
