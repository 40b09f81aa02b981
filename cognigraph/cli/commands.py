"""Commands that store, search and list: each opens the memory, calls it and prints the result."""

from __future__ import annotations

import sys
from typing import Any

from cognigraph.cli import render
from cognigraph.cli.command_run import FOUND_PROBLEM, OK, CommandRun, Interrupted
from cognigraph.cli.enriching import budget_of, dry_run, enrich, show
from cognigraph.cli.memory_options import opened, reading
from cognigraph.cli.options import json_or_text
from cognigraph.cypher import named_queries, named_query
from cognigraph.cypher.guard.unknown_names import unknown_names
from cognigraph.errors import ConfigurationError


def add(run: CommandRun) -> int:
    """Store one message."""
    arguments, options = run.arguments, run.options
    text = stdin() if arguments.text == "-" else arguments.text
    given = {**run.given(), "text": text}
    with opened(options, create=True) as memory:
        space = memory.space(options.space)
        result = space.add(**given)
        done = None if arguments.no_enrich else enrich(space, run.terminal)
    new = bool(result.new)
    run.terminal.document(
        {
            "id": result.id,
            "new": new,
            "session": arguments.session,
            "chunks": result.chunks,
            "notes": result.notes,
            "timings": result.timings,
            "enriched": done,
        }
    )
    milliseconds = sum(result.timings.values())
    stored = f"stored as {result.id} in {milliseconds:.1f} ms, searchable"
    past = "forgotten and is not stored again" if result.forgotten else "stored before"
    known = f"{result.id} was {past}; nothing changed"
    run.terminal.show(render.text(stored if new else known))
    for note in result.notes:
        run.terminal.note(note)
    if done is not None and done.chunks:
        show(done, run.terminal)
    return OK if done is None or done.ok else FOUND_PROBLEM


def stdin() -> str:
    """Standard input as text."""
    return sys.stdin.buffer.read().decode("utf-8", "replace")


def context(run: CommandRun) -> int:
    """Build the prompt block for a question."""
    arguments, options = run.arguments, run.options
    given = run.given()
    with reading(options) as space:
        block = space.context(**given, timezone=options.reader)
    run.terminal.document(
        {
            "question": arguments.question,
            "text": str(block),
            "tokens": block.tokens,
            "confidence": block.confidence,
            "notes": block.notes,
            "citations": block.citations,
            "hits": block.hits,
        }
    )
    if not block:
        nothing = "nothing found, or nothing that fits into the token limit"
        run.terminal.note("; ".join(block.notes) or nothing)
        return FOUND_PROBLEM
    run.terminal.write(str(block))
    return OK


def cypher(run: CommandRun) -> int:
    """Run a Cypher query, or list those that come with the package."""
    arguments, terminal = run.arguments, run.terminal
    if arguments.list:
        queries = list(named_queries().values())
        terminal.document({"queries": queries})
        terminal.show(
            render.listing(queries, run.options.reader, "name", "what it shows=what", "parameters")
        )
        return OK
    if (arguments.query is None) == (arguments.name is None):
        raise ConfigurationError("pass either QUERY, --name NAME or --list")
    parameters = _parameters(arguments.param, arguments.name)
    with reading(run.options) as space:
        given = run.given()
        rows = space.cypher(given.pop("query"), **given, parameters=parameters)
    terminal.document({"rows": rows})
    if rows:
        terminal.show(render.rows(rows))
    terminal.note(render.plural(len(rows), "row"))
    for problem in unknown_names(arguments.query or ""):
        terminal.note(problem)
    return OK


_TAKEN = ("name", "limit", "timeout")


def _parameters(given: list[str], name: str | None) -> dict[str, Any]:
    """Read K=V: numbers, booleans and quoted strings as JSON, anything else as a string."""
    strings = set()
    if name is not None:
        strings = {p.name for p in named_query(name).parameters if p.type in ("string", "time")}
    parameters: dict[str, Any] = {}
    for item in given:
        key, equals, value = item.partition("=")
        if not (equals and key.isidentifier()):
            raise ConfigurationError(f"--param {item!r} must be NAME=VALUE")
        if key in _TAKEN:
            raise ConfigurationError(
                f"a parameter cannot be called {key!r} here; use another name in the query"
            )
        parameters[key] = value if key in strings else json_or_text(value)
    return parameters


def enrich_pending(run: CommandRun) -> int:
    """Enrich what is queued, or estimate the work with ``--dry-run``."""
    arguments, terminal = run.arguments, run.terminal
    if arguments.older_than is not None and not arguments.redo:
        raise ConfigurationError("--older-than requires --redo")
    limits = run.given()["limits"]
    with reading(run.options, budget=budget_of(limits)) as space:
        if arguments.dry_run:
            return dry_run(
                space,
                terminal,
                redo=arguments.redo,
                older_than=arguments.older_than,
                prices=run.options.prices,
            )
        again = space.queue.redo(arguments.older_than) if arguments.redo else 0
        retried = space.queue.retry() if arguments.retry_failed else 0
        try:
            done = enrich(space, terminal, limits)
        except KeyboardInterrupt as error:
            raise Interrupted(
                "interrupted; what was enriched is kept; `cognigraph enrich` continues from there"
            ) from error
    terminal.document({"redo": again, "retried": retried, "enriched": done})
    if not done.chunks and not done.summaries and done.ok and not done.is_left:
        terminal.show(render.text("nothing to enrich"))
    else:
        show(done, terminal)
    return OK if done.ok else FOUND_PROBLEM
