"""Commands that list what is stored: each is a table, told its columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from cognigraph.cli import render
from cognigraph.cli.command_run import FOUND_PROBLEM, OK, CommandRun
from cognigraph.cli.memory_options import opened, reading
from cognigraph.cli.options import listing_filter
from cognigraph.cli.render import Column


def _facts_in(parts: Iterable[Any]) -> list[Any]:
    return [triple for part in parts for triple in part.triples]


@dataclass(frozen=True, slots=True)
class Listing:
    """How a command lists what its operation returns.

    ``name`` is the key in the JSON document, ``none`` what is said if there is nothing, with the
    arguments of the command in braces, and ``items`` makes the rows of what the operation returns.
    """

    name: str
    columns: tuple[Column, ...]
    none: str
    items: Callable[[Any], list[Any]] = list


_NAMES = "`cognigraph entities` lists the names"
NO_WRITERS = "the writers need a model: cognigraph enrich --redo --extractor membuilder"
LISTINGS = {
    "sessions": Listing("sessions", render.SESSIONS, "no sessions"),
    "episodes": Listing(
        "episodes", render.EPISODES, "no such episodes; `cognigraph enrich` finds them"
    ),
    "entities": Listing("entities", render.ENTITIES, "no such entities"),
    "facts": Listing("facts", render.FACTS, f"no fact meets these conditions; {_NAMES}"),
    "history": Listing(
        "history", render.DECIDED, f"no such facts about {{entity!r}}; {_NAMES}", _facts_in
    ),
    "conflicts": Listing("conflicts", render.DECIDED, "no conflicts", _facts_in),
    "duplicates": Listing(
        "duplicates",
        (">score", "entity=name", "type", "and=other", "type=other_type", "because=reason"),
        "no duplicates suspected",
    ),
    "procedures": Listing(
        "procedures",
        (
            "procedure=title", ">version", "when=at", "context",
            ("steps", lambda item: [f"{n}. {step}" for n, step in enumerate(item.steps, 1)]),
        ),
        f"no procedures; {NO_WRITERS}",
    ),
}  # fmt: skip


def list_stored(run: CommandRun) -> int:
    """List what the operation of the command returns."""
    given, chosen = run.arguments, LISTINGS[run.arguments.command]
    found = run.call()
    run.terminal.document({chosen.name: found})
    limit = getattr(given, "limit", None)
    items = chosen.items(found)[:limit]
    code = listed(run, items, chosen.columns, chosen.none.format(**vars(given)))
    if items and len(items) == limit:
        run.terminal.note(f"showing the first {limit}; use --limit N for more")
    return code


def listed(run: CommandRun, items: list[Any], columns: Iterable[Column], none: str) -> int:
    """Print a table, or say that there is nothing."""
    if not items:
        run.terminal.note(none)
        return FOUND_PROBLEM
    run.terminal.show(render.listing(items, run.options.reader, *columns))
    return OK


def messages(run: CommandRun) -> int:
    """List messages in order of time."""
    given, options = run.arguments, run.options
    with reading(options) as space:
        page = space.messages(
            **run.given(),
            order="newest" if given.newest else "oldest",
            where=listing_filter(given),
        )
    run.terminal.document({"messages": page.messages, "cursor": page.cursor})
    code = listed(run, [*page.messages], render.messages(page.messages), "no messages")
    if page and len(page) == given.limit:
        run.terminal.note(f"the next page: --after={page.cursor}")
    return code


def spaces(run: CommandRun) -> int:
    """List the names of all spaces that hold messages."""
    with opened(run.options) as memory:
        names = memory.spaces()
    run.terminal.document({"spaces": names})
    for name in names:
        run.terminal.show(render.text(name))
    if not names:
        run.terminal.note("no space holds messages")
    return OK if names else FOUND_PROBLEM


def stats(run: CommandRun) -> int:
    """Count the contents of one space, or of every space."""
    options, given = run.options, run.given()
    if run.arguments.all:
        with opened(options) as memory:
            found = [memory.space(name).stats(**given) for name in memory.spaces()]
    else:
        with reading(options) as space:
            found = [space.stats(**given)]
    run.terminal.document({"spaces": found})
    # Most memories embed at once, and need no column for this.
    later = any(item.vectors_pending for item in found)
    table = render.listing(
        found, options.reader, "space", ">sessions", ">messages", ">chunks", ">entities",
        ">triples", ">keys", (">pending", lambda item: item.pending + item.leased), ">failed",
        (">summaries\ndue", lambda item: item.summaries_pending + item.summaries_failed),
        *[">vectors\nwaiting=vectors_pending"] * later,
    )  # fmt: skip
    run.terminal.show(table)
    return OK
