"""Commands that list, forget and replace messages, and that export and back up spaces."""

from __future__ import annotations

from rich.table import Table

from cognigraph.cli import render
from cognigraph.cli.command_run import FOUND_PROBLEM, OK, CommandRun
from cognigraph.cli.commands import stdin
from cognigraph.cli.memory_options import opened, reading
from cognigraph.errors import ConfigurationError
from cognigraph.model import Forgotten

_GONE = (
    "messages", "chunks", "sessions", "triples", "entities", "keys", "themes", "revisions",
    "cached_answers",
)  # fmt: skip


def forget(run: CommandRun) -> int:
    """Show what forgetting messages would delete, or with ``--yes`` delete it."""
    given, options = run.arguments, run.options
    if given.yes and given.dry_run:
        raise ConfigurationError("--yes deletes, and --dry-run does not: give one of them")
    with reading(options) as space:
        report = space.forget(**run.given() | {"dry_run": not given.yes})
    run.terminal.document(report)
    if not report:
        run.terminal.note("no message has expired" if given.expired else "no message matches")
        return FOUND_PROBLEM
    if report.listed:
        run.terminal.show(
            render.listing(report.listed, options.reader, *render.messages(report.listed))
        )
        if more := report.messages - len(report.listed):
            run.terminal.show(render.text(f"and {render.plural(more, 'message')} more"))
        run.terminal.show(render.text(""))
    run.terminal.show(_report(report))
    _notes(run, report)
    return OK if report.is_erased is not False else FOUND_PROBLEM


def _report(report: Forgotten) -> Table:
    made = render.table("", ">deleted", ">kept: others said it too")
    kept = {"triples": report.kept_triples, "entities": report.kept_entities}
    for name in _GONE:
        count = getattr(report, name)
        if count or kept.get(name):
            stays = f"{kept[name]:,}" if name in kept else ""
            made.add_row(render.text(name.replace("_", " ")), f"{count:,}", stays)
    return made


def _notes(run: CommandRun, report: Forgotten) -> None:
    if report.dry_run:
        run.terminal.note("nothing was deleted; add --yes to delete it")
    if report.is_erased is False:
        run.terminal.note(
            "deleted, but another program is reading the file, so bytes are left in it; they are "
            "removed when the memory is opened next"
        )
    if report.reread:
        count = render.plural(report.reread, "message")
        verb = "would be" if report.dry_run else "will be"
        flags = run.options.flags
        how = "" if report.dry_run else f": cognigraph enrich{flags}"
        run.terminal.note(f"{count} of the same sessions {verb} read again{how}")


def update(run: CommandRun) -> int:
    """Replace the text of a message."""
    given, options = run.given(), run.options
    if given["text"] == "-":
        given["text"] = stdin()
    with reading(options) as space:
        message = space.update(**given)
        count = len(space.overview.versions(message.id, message.session))
    run.terminal.document({"message": message, "versions": count})
    run.terminal.show(
        render.text(
            f"{message.id} in session {message.session} has version {count}; "
            f"to read it: cognigraph enrich{options.flags}"
        )
    )
    return OK


def export(run: CommandRun) -> int:
    """Write a space to a file."""
    file, count = run.arguments.path, run.call()
    run.terminal.document({"messages": count, "file": file})
    run.terminal.show(render.text(f"wrote {render.plural(count, 'message')} to {file}"))
    return OK


def restore(run: CommandRun) -> int:
    """Read a space from a file that ``export`` has written."""
    file, options = run.arguments.file, run.options
    with opened(options, create=True) as memory:
        space = memory.space(options.space)
        count = space.files.load(file)
        pending = space.stats().pending
    run.terminal.document({"messages": count, "pending": pending})
    run.terminal.show(render.text(f"read {render.plural(count, 'message')} of an export"))
    if pending:
        run.terminal.note(f"{pending:,} are to be enriched: cognigraph enrich{options.flags}")
    return OK


def backup(run: CommandRun) -> int:
    """Copy the SQLite file."""
    file = run.arguments.file
    with opened(run.options) as memory:
        memory.admin.backup(file)
    run.terminal.document({"file": file})
    run.terminal.show(render.text(f"wrote {file}"))
    return OK
