"""Commands that list, forget and replace messages, and that export and back up spaces."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta, tzinfo

from rich.table import Table

from cognigraph.cli import render
from cognigraph.cli.command_run import FOUND_PROBLEM, OK, CommandRun
from cognigraph.cli.commands import stdin
from cognigraph.cli.memory_options import opened, reading
from cognigraph.cli.options import listing_filter
from cognigraph.errors import ConfigurationError
from cognigraph.model import Forgotten, StoredMessage
from cognigraph.settings import Retention, RetentionSettings, Settings

_TEXT_MOST = 300
_GONE = (
    "messages", "chunks", "sessions", "triples", "entities", "keys", "themes", "revisions",
    "cached_answers",
)  # fmt: skip


def spaces(run: CommandRun) -> int:
    """List the names of all spaces that hold messages."""
    with opened(run.options) as memory:
        names = memory.spaces()
    run.terminal.document({"spaces": names})
    if not names:
        run.terminal.note("no space holds messages")
        return FOUND_PROBLEM
    for name in names:
        run.terminal.show(render.text(name))
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
    if not page:
        run.terminal.note("no messages")
        return FOUND_PROBLEM
    run.terminal.show(_table(page.messages, options.reader))
    if len(page) == given.limit:
        run.terminal.note(f"the next page: --after={page.cursor}")
    return OK


def _table(found: Sequence[StoredMessage], zone: tzinfo) -> Table:
    # Most memories have no keys, and need no column for who wrote a message.
    by: list[render.Column] = [("by", "written_by")] if any(m.written_by for m in found) else []
    return render.listing(
        found, ("id", "id"),
        (f"when ({render.zone_name(zone)})", lambda item: render.stamp(item.at, zone)),
        ("session", "session"), *by, ("speaker", "speaker"),
        ("text", lambda item: render.text(item.text, most=_TEXT_MOST)),
    )  # fmt: skip


def forget(run: CommandRun) -> int:
    """Show what forgetting messages would delete, or with ``--yes`` delete it."""
    given, options = run.arguments, run.options
    if given.keep and not given.expired:
        raise ConfigurationError("--keep requires --expired")
    if given.yes and given.dry_run:
        raise ConfigurationError("--yes deletes, and --dry-run does not: give one of them")
    rules = tuple(_retention(text) for text in given.keep)
    settings = Settings(retention=RetentionSettings(rules=rules))
    with reading(options, settings) as space:
        report = space.forget(**run.given() | {"dry_run": not given.yes})
    run.terminal.document(report)
    if not report:
        run.terminal.note("no message has expired" if given.expired else "no message matches")
        return FOUND_PROBLEM
    if report.listed:
        run.terminal.show(_table(report.listed, options.reader))
        if more := report.messages - len(report.listed):
            run.terminal.show(render.text(f"and {render.plural(more, 'message')} more"))
        run.terminal.show(render.text(""))
    run.terminal.show(_report(report))
    _notes(run, report)
    return OK if report.is_erased is not False else FOUND_PROBLEM


def _retention(text: str) -> Retention:
    days, _, rest = text.partition(":")
    role, _, tag = rest.partition(":")
    try:
        keep = timedelta(days=float(days))
    except (ValueError, OverflowError) as error:
        raise ConfigurationError(f"--keep {text!r} must be DAYS[:ROLE[:TAG]]") from error
    return Retention(keep=keep, role=role or None, tag=tag or None)  # type: ignore[arg-type]


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
