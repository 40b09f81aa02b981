"""Where output goes: text made safe, tables on stdout, notes and progress on stderr."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from cognigraph.cli.json_output import plain
from cognigraph.text.clean import printable, replace_surrogates

# What `printable` leaves and a terminal may obey: carriage return, C1 controls (0x9b starts a
# sequence), and marks that reorder or hide text.
_OBEYED = re.compile("[\r\x80-\x9f\u061c\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069]")


def safe(text: str) -> str:
    """The text without anything a terminal would act on; line breaks and tabs stay."""
    return _OBEYED.sub(" ", printable(replace_surrogates(text)[0].replace("\r\n", "\n")))


def one_line(text: str, most: int | None = None) -> str:
    """Safe text on one line, cut at ``most`` characters on a word where that is near."""
    line = " ".join(safe(text).split())
    if most is None or len(line) <= most:
        return line
    cut = line[: most - 3]
    space = cut.rfind(" ")
    within = line[most - 3] != " " and space > most // 2
    return (cut[:space] if within else cut).rstrip(" ,;:.") + "..."


class _Console(Console):
    """A console that draws ASCII into pipes and leaves a broken pipe to the caller."""

    @property
    def encoding(self) -> str:
        """What may be drawn with; text is written in the encoding of the stream all the same."""
        return super().encoding if self.is_terminal else "ascii"

    def on_broken_pipe(self) -> None:
        """Pass it on: ``main`` ends silently."""
        raise BrokenPipeError


class Terminal:
    """Standard output and error of one command."""

    def __init__(self, *, width: int, json: bool = False) -> None:
        for stream in (sys.stdout, sys.stderr):
            _never_fail(stream)
        self.json = json
        self._out = _console(sys.stdout, width)
        self._err = _console(sys.stderr, width)

    @property
    def wide(self) -> int:
        """Columns of standard output."""
        return self._out.width

    def show(self, *renderables: RenderableType) -> None:
        """Write for a reader; nothing with ``--json``."""
        if not self.json:
            for renderable in renderables:
                self._out.print(renderable)

    def write(self, text: str) -> None:
        """Write a text exactly, but for control characters."""
        if not self.json:
            sys.stdout.write(safe(text) + "\n")

    def document(self, value: Any) -> None:
        """Write the one JSON document of ``--json``."""
        if self.json:
            unicode = sys.stdout.encoding.lower().replace("-", "").startswith("utf")
            text = json.dumps(plain(value), ensure_ascii=not unicode, indent=2, allow_nan=False)
            sys.stdout.write(text + "\n")

    def note(self, text: str) -> None:
        """A remark on standard error, which does not disturb what is piped."""
        self._err.print(safe(text), style="dim", soft_wrap=True)

    def error(self, text: str) -> None:
        """The one line that says what went wrong."""
        sys.stderr.write(f"cognigraph: error: {one_line(text)}\n")

    @property
    def draws(self) -> bool:
        """Whether a progress bar is seen."""
        return self._err.is_terminal and not self.json

    @contextmanager
    def progress(self, what: str, total: float | None) -> Iterator[Bar]:
        """A progress bar on standard error, if that is a terminal."""
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[note]}"),
            TimeElapsedColumn(),
        )
        progress = Progress(*columns, console=self._err, transient=True, disable=not self.draws)
        with progress:
            yield Bar(progress, progress.add_task(what, total=total, note=""))


class Bar:
    """A running progress bar."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task

    def at(self, done: float, note: str = "") -> None:
        """Move the bar."""
        self._progress.update(self._task, completed=done, note=note)


def _console(stream: TextIO, width: int) -> _Console:
    return _Console(
        file=stream,
        width=None if stream.isatty() else width,
        markup=False,
        emoji=False,
        highlight=False,
    )


def _never_fail(stream: TextIO) -> None:
    """A letter the terminal cannot show becomes "?", it does not end the program."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")
