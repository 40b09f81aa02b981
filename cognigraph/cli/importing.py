"""``cognigraph import``: reads files with progress, or says what is in them."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from cognigraph.cli import format_values, render
from cognigraph.cli.commands import FOUND_PROBLEM, OK, CommandRun, Interrupted
from cognigraph.cli.enriching import Enriched, enrich, show
from cognigraph.cli.open_memory import exists, in_our_words, opened
from cognigraph.cli.terminal import Bar, Terminal
from cognigraph.errors import BadRecordError
from cognigraph.importers.columns import parse_columns
from cognigraph.importers.formats import files_of, reader_or_auto
from cognigraph.memory import Memory
from cognigraph.model import BadRecord, ImportProgress, ImportReport
from cognigraph.space import Space

_LISTED = 20
_SECONDS_A_LINE = 10.0
"""Without a progress bar, a line is printed each time so many seconds have passed."""
_MEGABYTE = 1_000_000


def load(run: CommandRun) -> int:
    """Store the messages of a file, or with ``--dry-run`` say what it has."""
    arguments, terminal = run.arguments, run.terminal
    # Before the memory is opened, which makes a new one: a wrong name must leave no file.
    files_of(arguments.file, reader_or_auto(arguments.format))
    with _memory(run) as memory:
        space = memory.space(run.options.space)
        report = _imported(run, space)
        done = None if arguments.no_enrich or arguments.dry_run else enrich(space, terminal)
    _summary(run, report, done)
    return OK if not report.rejected_count and (done is None or done.ok) else FOUND_PROBLEM


@contextmanager
def _memory(run: CommandRun) -> Iterator[Memory]:
    """The memory; for a dry run, an empty one in a temporary folder if there is none."""
    if not run.arguments.dry_run or exists(run.options):
        with opened(run.options, create=not run.arguments.dry_run) as memory:
            yield memory
        return
    with tempfile.TemporaryDirectory() as folder:
        options = replace(run.options, db=str(Path(folder) / "dry-run.db"))
        with opened(options, create=True) as memory:
            yield memory


def _imported(run: CommandRun, space: Space) -> ImportReport:
    arguments = run.arguments
    stored = 0
    with run.terminal.progress("reading" if arguments.dry_run else "storing", None) as bar:
        report = _Reporter(run.terminal, bar)

        def on_progress(progress: ImportProgress) -> None:
            nonlocal stored
            stored = progress.stored
            report(progress)

        try:
            return space.import_file(
                arguments.file,
                format=arguments.format,
                session=arguments.session,
                speaker=arguments.speaker,
                columns=parse_columns(arguments.columns),
                skip_invalid=arguments.skip_invalid,
                dry_run=arguments.dry_run,
                prune=arguments.prune,
                on_progress=on_progress,
            )
        except BadRecordError as error:
            raise BadRecordError(
                error.position,
                f"{in_our_words(error.reason)}; {_are_stored(error.stored)}; "
                "correct it and run this again, or use --skip-invalid",
                stored=error.stored,
            ) from error
        except KeyboardInterrupt as error:
            raise Interrupted(
                f"interrupted; {_are_stored(stored)}; run the same command again to continue"
            ) from error


def _are_stored(count: int) -> str:
    verb = "is" if count == 1 else "are"
    return f"{format_values.plural(count, 'message')} read so far {verb} stored"


class _Reporter:
    """Shows how far an import is: on a bar, or on a line from time to time."""

    def __init__(self, terminal: Terminal, bar: Bar) -> None:
        self._terminal = terminal
        self._bar = bar
        self._told = time.monotonic()

    def __call__(self, progress: ImportProgress) -> None:
        text = progress_text(progress)
        self._bar.at(progress.bytes, text, progress.total_bytes)
        if self._terminal.draws or self._terminal.json:
            return
        if time.monotonic() - self._told >= _SECONDS_A_LINE:
            self._told = time.monotonic()
            self._terminal.note(text)


def progress_text(progress: ImportProgress) -> str:
    """Such as ``12,300 messages, 45 of 210 MB, 2,100 a second``."""
    size = f"{progress.bytes / _MEGABYTE:,.0f}"
    if progress.total_bytes is not None:
        size += f" of {progress.total_bytes / _MEGABYTE:,.0f}"
    count = format_values.plural(progress.read, "message")
    return f"{count}, {size} MB, {progress.rate:,.0f} a second"


def _summary(run: CommandRun, report: ImportReport, done: Enriched | None) -> None:
    run.terminal.document(
        {
            "formats": report.formats,
            "files": report.files,
            "sessions": report.sessions,
            "read": report.read,
            "new": report.new,
            "known": report.known,
            "updated": report.updated,
            "forgotten": report.forgotten,
            "pruned": report.pruned,
            "rejected": [_rejected(bad) for bad in report.rejected],
            "rejected_count": report.rejected_count,
            "notes": report.notes,
            "first_at": report.first_at,
            "last_at": report.last_at,
            "seconds": report.seconds,
            "dry_run": report.is_dry_run,
            "enriched": done,
        }
    )
    run.terminal.show(render.text(report_text(report)))
    if report.is_dry_run:
        run.terminal.show(render.text(contents_text(report, run)))
    for bad in report.rejected[:_LISTED]:
        run.terminal.note(f"left out: {bad.position} {in_our_words(bad.reason)}")
    if report.rejected_count > _LISTED:
        run.terminal.note(f"left out: {report.rejected_count - _LISTED:,} more")
    if report.is_dry_run:
        run.terminal.note("nothing was stored")
    if done is not None:
        show(done, run.terminal)


def _rejected(bad: BadRecord) -> dict[str, object]:
    found: dict[str, object] = {"position": bad.position, "reason": in_our_words(bad.reason)}
    return found if bad.line is None else {"line": bad.line} | found


def report_text(report: ImportReport) -> str:
    """Such as ``read 3 messages in 0.1 s: 2 new messages, 1 stored before``."""
    would = "would be " if report.is_dry_run else ""
    new = format_values.plural(report.new, "new message")
    parts = [f"{new} {would}stored" if would else new, f"{report.known:,} stored before"]
    for count, what in (
        (report.updated, f"{would}given a new text"),
        (report.forgotten, "forgotten before and not stored again"),
        (report.pruned, f"{would}forgotten, no longer in the notes"),
        (report.rejected_count, f"{would}left out"),
    ):
        if count:
            parts.append(f"{count:,} {what}")
    read = format_values.plural(report.read, "message")
    return f"read {read} in {report.seconds:.1f} s: " + ", ".join(parts)


def contents_text(report: ImportReport, run: CommandRun) -> str:
    """What the files hold: their format, sessions and times."""
    sessions = format_values.plural(report.sessions, "session")
    files = format_values.plural(report.files, "file")
    text = f"{files} ({', '.join(report.formats)}) with {sessions}"
    if report.first_at is not None and report.last_at is not None:
        zone = run.options.reader
        first = format_values.stamp(report.first_at, zone)
        text += f", from {first} to {format_values.stamp(report.last_at, zone)}"
        return f"{text} {format_values.zone_name(zone)}"
    return f"{text}, without times" if report.read else text
