"""Terminal output: tables on stdout, notes and progress on stderr, text without control codes."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from cognigraph.plain_data import plain
from cognigraph.text.redaction import redacted
from cognigraph.text.terms import printable, replace_surrogates

_NARROW = 60
"""Below this number of columns, tables that do not fit are printed as lists."""

# What `printable` keeps and a terminal may interpret: carriage return, C1 controls (0x9b starts an
# escape sequence), and marks that reorder or hide text.
_OBEYED = re.compile("[\r\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069]")


def safe(text: str) -> str:
    """The text without anything that a terminal would interpret, except line breaks and tabs."""
    return _OBEYED.sub(" ", printable(replace_surrogates(text)[0].replace("\r\n", "\n")))


def one_line(text: str, most: int | None = None) -> str:
    """Safe text on one line, cut to ``most`` characters, at a word boundary if one is near."""
    line = " ".join(safe(text).split())
    if most is None or len(line) <= most:
        return line
    cut = line[: most - 3]
    space = cut.rfind(" ")
    within = line[most - 3] != " " and space > most // 2
    return (cut[:space] if within else cut).rstrip(" ,;:.") + "..."


class _Console(Console):
    """A console that draws tables in ASCII for pipes and raises an error on a broken pipe."""

    @property
    def encoding(self) -> str:
        """The encoding used for drawing; text is still written in the encoding of the stream."""
        return super().encoding if self.is_terminal else "ascii"

    def on_broken_pipe(self) -> None:
        """Raise BrokenPipeError, on which ``main`` exits silently."""
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
        """Width of standard output in columns."""
        return self._out.width

    def show(self, *renderables: RenderableType) -> None:
        """Print tables and text for people; prints nothing with ``--json``."""
        if not self.json:
            for renderable in renderables:
                if isinstance(renderable, Table) and self._is_cramped(renderable):
                    self._show_rows(renderable)
                else:
                    self._out.print(renderable)

    def _is_cramped(self, table: Table) -> bool:
        """Whether a table with a header is squeezed into a few characters a column."""
        if self._out.width >= _NARROW or not table.show_header:
            return False
        return self._out.measure(table).maximum >= self._out.width

    def _show_rows(self, table: Table) -> None:
        """Print a table as a list: each row's cells below each other, with their headers."""
        names = [one_line(str(column.header)) for column in table.columns]
        for index, row in enumerate(zip(*(column.cells for column in table.columns), strict=True)):
            if index:
                self._out.print()
            for name, cell in zip(names, row, strict=True):
                if str(cell).strip():
                    text = cell if isinstance(cell, Text) else Text(str(cell))
                    label = Text(f"{name}: " if name else "", style="dim")
                    self._out.print(label.append_text(text))

    def write(self, text: str) -> None:
        """Write a text unchanged except for control characters; writes nothing with ``--json``."""
        if not self.json:
            sys.stdout.write(safe(text) + "\n")

    def document(self, value: Any) -> None:
        """Write the JSON document of ``--json``; writes nothing without it."""
        if self.json:
            unicode = sys.stdout.encoding.lower().replace("-", "").startswith("utf")
            text = json.dumps(plain(value), ensure_ascii=not unicode, indent=2, allow_nan=False)
            if sys.stdout.isatty():  # these stand in strings alone, where an escape means the same
                text = _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
            sys.stdout.write(text + "\n")

    def note(self, text: str) -> None:
        """Print a remark on standard error, so that piped output stays clean."""
        self._err.print(safe(text), style="dim", soft_wrap=True)

    def error(self, text: str) -> None:
        """Print an error message in one line on standard error."""
        sys.stderr.write(f"cognigraph: error: {one_line(redacted(text))}\n")

    def fail(self, text: str, kind: str, code: int) -> None:
        """Report what ended the command: as :meth:`error` does, and with ``--json`` as JSON."""
        message = one_line(redacted(text))
        self.document({"error": {"type": kind, "message": message, "exit_code": code}})
        self.error(text)

    @property
    def draws(self) -> bool:
        """Whether progress bars are visible."""
        return self._err.is_terminal and not self.json

    @contextmanager
    def progress(self, what: str, total: float | None) -> Iterator[Bar]:
        """Show a progress bar on standard error if that is a terminal."""
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

    def at(self, done: float, note: str = "", total: float | None = None) -> None:
        """Set the progress and the note beside the bar, and the total if it is known now."""
        self._progress.update(self._task, completed=done, note=note, total=total)


def _console(stream: TextIO, width: int) -> _Console:
    return _Console(
        file=stream,
        width=None if stream.isatty() else width,
        markup=False,
        emoji=False,
        highlight=False,
    )


def _never_fail(stream: TextIO) -> None:
    """Write "?" for characters that the terminal cannot show, instead of raising an error."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")
