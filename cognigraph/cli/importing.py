"""``cognigraph import`` and ``watch``: read files with progress, or keep in step with a folder."""

from __future__ import annotations

import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType

from cognigraph.cli import render
from cognigraph.cli.command_run import FOUND_PROBLEM, OK, CommandRun, Interrupted
from cognigraph.cli.enriching import Enriched, enrich, show, together
from cognigraph.cli.memory_options import exists, in_our_words, opened
from cognigraph.cli.terminal import Bar, Terminal
from cognigraph.errors import BadRecordError, ConfigurationError
from cognigraph.importers.fields import parse_columns
from cognigraph.importers.formats import files_of, reader_named
from cognigraph.importers.notes import READER
from cognigraph.importers.record import Reader
from cognigraph.importers.source import locate
from cognigraph.memory import Memory
from cognigraph.model import ImportProgress, ImportReport
from cognigraph.plain_data import plain
from cognigraph.space import Space

_LISTED = 20
_SECONDS_A_LINE = 10.0
"""Without a progress bar, a line is printed each time these seconds have passed."""
_MEGABYTE = 1_000_000


def load(run: CommandRun) -> int:
    """Store the messages of a file, or with ``--dry-run`` say what it has."""
    arguments, terminal = run.arguments, run.terminal
    # Before the memory is opened, which makes a new one: a wrong name must leave no file.
    files_of(arguments.file, arguments.format)
    with _memory(run) as memory:
        report = _imported(run, memory)
        done = None
        if not (arguments.no_enrich or arguments.dry_run):
            done = together([enrich(memory.space(name), terminal) for name in report.spaces])
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


def _imported(run: CommandRun, memory: Memory) -> ImportReport:
    """Import into the space that is named, or else each message into that of its owner."""
    arguments, options = run.arguments, run.options
    space = memory.space(options.space)
    store = space.files.import_file if options.is_space_named else memory.admin.import_spaces
    stored = 0
    with run.terminal.progress("reading" if arguments.dry_run else "storing", None) as bar:
        report = _Reporter(run.terminal, bar)

        def on_progress(progress: ImportProgress) -> None:
            nonlocal stored
            stored = progress.stored
            report(progress)

        try:
            return store(
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
    return f"{render.plural(count, 'message')} read so far {verb} stored and can be searched"


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
    count = render.plural(progress.read, "message")
    return f"{count}, {size} MB, {progress.rate:,.0f} a second"


def _summary(run: CommandRun, report: ImportReport, done: Enriched | None) -> None:
    rejected = [
        plain(bad) | {"line": bad.line, "reason": in_our_words(bad.reason)}
        for bad in report.rejected
    ]
    run.terminal.document(plain(report) | {"rejected": rejected, "enriched": done})
    run.terminal.show(render.text(report_text(report)))
    if report.spaces != (run.options.space,):
        run.terminal.show(render.text(spaces_text(report.spaces)))
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


def report_text(report: ImportReport) -> str:
    """Such as ``read 3 messages in 0.1 s: 2 new messages, 1 stored before``."""
    would = "would be " if report.is_dry_run else ""
    new = render.plural(report.new, "new message")
    parts = [f"{new} {would}stored" if would else new, f"{report.known:,} stored before"]
    for count, what in (
        (report.updated, f"{would}given a new text"),
        (report.forgotten, "forgotten before and not stored again"),
        (report.pruned, f"{would}forgotten, no longer in the notes"),
        (report.rejected_count, f"{would}left out"),
    ):
        if count:
            parts.append(f"{count:,} {what}")
    read = render.plural(report.read, "message")
    return f"read {read} in {report.seconds:.1f} s: " + ", ".join(parts)


def spaces_text(names: Sequence[str]) -> str:
    """Such as ``for 2 spaces: user_id:alice, user_id:bob``."""
    more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
    return f"for {render.plural(len(names), 'space')}: {', '.join(names[:_LISTED])}{more}"


def contents_text(report: ImportReport, run: CommandRun) -> str:
    """What the files hold: their format, sessions and times."""
    sessions = render.plural(report.sessions, "session")
    files = render.plural(report.files, "file")
    text = f"{files} ({', '.join(report.formats)}) with {sessions}"
    if report.first_at is None or report.last_at is None:
        return text
    first, last = (render.stamp(at, run.options.reader) for at in (report.first_at, report.last_at))
    return f"{text}, from {first} to {last} {render.zone_name(run.options.reader)}"


_ENDING = (signal.SIGINT, signal.SIGTERM)

State = dict[str, tuple[int, int]]
"""Size and time of change of each file, by its name in the folder."""


def watch(run: CommandRun) -> int:
    """Read the files of a folder, and read them again whenever one changes."""
    folder = Path(run.arguments.folder).expanduser()
    if not folder.is_dir():
        raise ConfigurationError(f"{run.arguments.folder} is no folder")
    reader = reader_named(run.arguments.format)
    read = _read_notes if reader is READER else _read_files
    with opened(run.options, create=True) as memory, _until_interrupted() as ended:
        space = memory.space(run.options.space)
        keep_in_step(
            folder, reader, lambda names: read(run, space, folder, names), ended,
            every=run.arguments.every,
        )  # fmt: skip
    run.terminal.note("stopped watching; everything read so far is stored")
    return OK


def keep_in_step(
    folder: Path,
    reader: Reader,
    step: Callable[[list[str]], None],
    ended: threading.Event,
    *,
    every: float,
) -> None:
    """Call ``step`` at the beginning and after each change, until ``ended`` is set.

    It gets the names of the files that are new or changed.
    """
    before: State | None = None
    while not ended.is_set():
        now = state(folder, reader)
        if now != before:
            step([name for name in now if now[name] != (before or {}).get(name)])
        before = now
        ended.wait(every)


def state(folder: Path, reader: Reader) -> State:
    """What tells whether a file has changed. A file that vanishes meanwhile is left out."""
    found: State = {}
    try:
        locations = locate(folder, reader.suffixes)
    except ConfigurationError:  # no files yet, or none any more
        return found
    for location in locations:
        assert location.path is not None
        try:
            stat = location.path.stat()
        except OSError:
            continue
        name = location.path.relative_to(folder.resolve()).as_posix()  # also if it is packed
        found[name] = (stat.st_size, stat.st_mtime_ns)
    return found


def _read_files(run: CommandRun, space: Space, folder: Path, names: list[str]) -> None:
    """Read what is new in the files that have changed, such as transcripts that grow."""
    for name in names:
        report = space.files.import_file(
            folder / name,
            format=run.arguments.format,
            speaker=run.arguments.speaker,
            skip_invalid=True,
        )
        if report.new or report.rejected:
            run.terminal.note(f"{name}: {report_text(report)}")
    if not run.arguments.no_enrich:
        _enrich(run, space)


def _enrich(run: CommandRun, space: Space) -> None:
    done = enrich(space, run.terminal)
    if done.chunks:
        show(done, run.terminal)


def _read_notes(run: CommandRun, space: Space, folder: Path, names: list[str]) -> None:
    """Read all notes, since a section may have moved from one to another."""
    if not state(folder, READER):
        run.terminal.note(f"there are no Markdown notes in {folder}; nothing was changed")
        return
    report = space.files.import_file(
        folder,
        format=READER.name,
        speaker=run.arguments.speaker,
        skip_invalid=True,
        prune=not run.arguments.keep,
    )
    run.terminal.note(report_text(report))
    for bad in report.rejected:
        run.terminal.note(f"left out: {bad.position} {in_our_words(bad.reason)}")
    if not run.arguments.no_enrich:
        _enrich(run, space)


@contextmanager
def _until_interrupted() -> Iterator[threading.Event]:
    """An event that Ctrl-C and SIGTERM set, so that a step is always finished."""
    ended = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        ended.set()

    before = {number: signal.signal(number, end) for number in _ENDING}
    try:
        yield ended
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
