"""``cognigraph watch``: keeps a memory in step with a folder of notes until it is interrupted."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from cognigraph.cli.commands import OK, CommandRun
from cognigraph.cli.enriching import enrich, show
from cognigraph.cli.importing import report_text
from cognigraph.cli.open_memory import in_our_words, opened
from cognigraph.errors import ConfigurationError
from cognigraph.importers.notes import READER
from cognigraph.importers.source import locate
from cognigraph.model import ImportReport
from cognigraph.space import Space

_ENDING = (signal.SIGINT, signal.SIGTERM)

State = dict[str, tuple[int, int]]
"""Size and time of change of each note, by its name."""


def watch(run: CommandRun) -> int:
    """Read the notes, and read them again whenever one changes."""
    folder = Path(run.arguments.folder).expanduser()
    if not folder.is_dir():
        raise ConfigurationError(f"{run.arguments.folder} is no folder")
    with opened(run.options, create=True) as memory, _until_interrupted() as ended:
        space = memory.space(run.options.space)
        keep_in_step(folder, lambda: _step(run, space, folder), ended, every=run.arguments.every)
    run.terminal.note("stopped watching; everything read so far is stored")
    return OK


def keep_in_step(
    folder: Path, step: Callable[[], None], ended: threading.Event, *, every: float
) -> None:
    """Call ``step`` at the beginning and after each change, until ``ended`` is set."""
    before: State | None = None
    while not ended.is_set():
        now = state(folder)
        if now != before:
            step()
        before = now
        ended.wait(every)


def state(folder: Path) -> State:
    """What tells whether a note has changed. A note that vanishes meanwhile is left out."""
    found: State = {}
    try:
        locations = locate(folder, READER.suffixes)
    except ConfigurationError:  # no notes yet, or none any more
        return found
    for location in locations:
        assert location.path is not None
        try:
            stat = location.path.stat()
        except OSError:
            continue
        found[location.name] = (stat.st_size, stat.st_mtime_ns)
    return found


def _step(run: CommandRun, space: Space, folder: Path) -> None:
    if not state(folder):
        run.terminal.note(f"there are no Markdown notes in {folder}; nothing was changed")
        return
    report = space.import_file(
        folder,
        format=READER.name,
        speaker=run.arguments.speaker,
        skip_invalid=True,
        prune=not run.arguments.keep,
    )
    done = None if run.arguments.no_enrich else enrich(space, run.terminal)
    _tell(run, report)
    if done is not None and done.chunks:
        show(done, run.terminal)


def _tell(run: CommandRun, report: ImportReport) -> None:
    run.terminal.note(report_text(report))
    for bad in report.rejected:
        run.terminal.note(f"left out: {bad.position} {in_our_words(bad.reason)}")


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
