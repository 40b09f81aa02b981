"""The commands about facts that change: their history, conflicts, and what users say of them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, tzinfo

from rich.table import Table
from rich.text import Text

from cognigraph.cli import format_values, render
from cognigraph.cli.commands import FOUND_PROBLEM, OK, CommandRun, listed
from cognigraph.cli.enriching import enrich
from cognigraph.cli.filter_options import filter_of, times_of
from cognigraph.cli.open_memory import moment, opened, reading
from cognigraph.model import Triple
from cognigraph.space import Space


def triples(run: CommandRun) -> int:
    """List facts."""
    given, options = run.arguments, run.options
    entity = given.entity
    as_of, valid_at = times_of(given, options)
    with reading(options) as space:
        found = space.triples(
            entity,
            given.limit,
            as_of=as_of,
            valid_at=valid_at,
            status=given.status,
            slot=given.slot,
            text=given.text,
            where=filter_of(given, options),
        )
        none = "" if found else _no_triples(space, entity)
    run.terminal.document({"triples": found})
    return listed(run, found, render.triples(found, options.reader), none)


def _no_triples(space: Space, entity: str | None) -> str:
    """Say why nothing is listed; a name that is not known is compared with others."""
    if entity is None:
        return "no triples"
    if space.triples(entity, 1):
        return f"no triple of {entity!r} meets these conditions"
    near = space.entities(entity, 5)
    like = f"; did you mean {', '.join(one.name for one in near)}?" if near else ""
    return f"no triple has the entity {entity!r}{like}"


def add_fact(run: CommandRun) -> int:
    """Store a fact that the user states."""
    given, options = run.arguments, run.options
    with opened(options, create=True) as memory:
        space = memory.space(options.space)
        result = space.add_fact(
            given.subject,
            given.relation,
            given.object,
            when=given.when,
            valid_from=given.valid_from,
            valid_to=given.valid_to,
            negated=given.negated,
            replaces=given.replaces,
            source=given.source,
            subject_type=given.subject_type,
            object_type=given.object_type,
            at=moment(given.at, options, "--at"),
            expires=moment(given.expires, options, "--expires"),
        )
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
    as_of, valid_at = times_of(run.arguments, run.options)
    with reading(run.options) as space:
        found = space.history(entity, run.arguments.relation, as_of=as_of, valid_at=valid_at)
    run.terminal.document({"history": found})
    triples = [triple for chain in found for triple in chain.triples][: run.arguments.limit]
    slot = f" with {run.arguments.relation!r}" if run.arguments.relation else ""
    none = f"no facts about {entity!r}{slot}; `cognigraph entities` lists the names"
    return listed(run, triples, _table(triples, run.options.reader), none)


def profile(run: CommandRun) -> int:
    """Show what is true of an entity, by slot."""
    given, options = run.arguments, run.options
    as_of, valid_at = times_of(given, options)
    with reading(options) as space:
        found = space.profile(given.entity, earlier=given.earlier, as_of=as_of, valid_at=valid_at)
    run.terminal.document(found)
    run.terminal.show(render.text(f"{found.name} ({', '.join(found.types)})", "bold"))
    if found.aliases:
        run.terminal.show(render.text(f"also {', '.join(found.aliases)}"))
    triples = [one for entry in found.entries for one in (*entry.facts, *entry.earlier)]
    if not triples:
        run.terminal.note("no facts")
        return FOUND_PROBLEM
    run.terminal.show(_table(triples, options.reader))
    return OK


def conflicts(run: CommandRun) -> int:
    """List current facts of which only one can be true."""
    with reading(run.options) as space:
        found = space.conflicts(run.arguments.limit)
    run.terminal.document({"conflicts": found})
    triples = [triple for conflict in found for triple in conflict.triples]
    return listed(run, triples, _table(triples, run.options.reader), "no conflicts")


def supersede(run: CommandRun) -> int:
    """Record that one fact took the place of another."""
    arguments = run.arguments
    at = moment(arguments.at, run.options, "--at")
    with reading(run.options) as space:
        space.supersede(arguments.old, arguments.new, at=at, reason=arguments.reason)
    return _done(run, arguments.old, "superseded")


def retract(run: CommandRun) -> int:
    """Take a fact back."""
    with reading(run.options) as space:
        space.retract(run.arguments.triple, reason=run.arguments.reason)
    return _done(run, run.arguments.triple, "retracted")


def restore(run: CommandRun) -> int:
    """Make a fact current."""
    with reading(run.options) as space:
        space.restore(run.arguments.triple, reason=run.arguments.reason)
    run.terminal.document({"triple": run.arguments.triple, "status": "current"})
    run.terminal.show(render.text(f"{run.arguments.triple} is current"))
    return OK


def _done(run: CommandRun, uid: str, status: str) -> int:
    run.terminal.document({"triple": uid, "status": status})
    back = f"cognigraph restore {uid}{run.options.flags}"
    run.terminal.show(render.text(f"{status}; undo with: {back}"))
    return OK


def _table(found: Iterable[Triple], zone: tzinfo) -> Table:
    made = render.table("fact", "status", "from", "until", "because", "triple")
    made.columns[-1].no_wrap = True  # it is there to be copied
    for triple in found:
        made.add_row(
            render.text(triple.text, "bold"),
            render.text(triple.status),
            Text(_day(triple.valid_from, zone), style="cyan"),
            Text(_day(triple.valid_to, zone), style="cyan"),
            render.text(triple.reason or ""),
            render.text(triple.uid, "dim"),
        )
    return made


def _day(at: datetime | None, zone: tzinfo) -> str:
    return "" if at is None else format_values.day(at, zone)
