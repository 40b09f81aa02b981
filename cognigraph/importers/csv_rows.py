"""Tables: one message in each row, with a header that names the columns."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Iterator
from typing import Self

from cognigraph.errors import ConfigurationError
from cognigraph.importers.record import Bad, Position, Reader, ReadOptions, Record
from cognigraph.importers.source import Input

_DELIMITERS = ",;\t|"
_TEXTS = {"text", "content", "message", "body", "msg"}
_MAX_ROW = 32 * 1024 * 1024
"""Largest number of characters of a row."""
_SPREADSHEET = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def _read(file: Input, options: ReadOptions) -> Iterator[Record]:
    head = file.head()
    encoding = "utf-16" if head.startswith(_SPREADSHEET) else "utf-8-sig"
    first = head.decode(encoding, "replace").partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    csv.field_size_limit(max(csv.field_size_limit(), _MAX_ROW))
    text = io.TextIOWrapper(file.stream, encoding, newline="")
    try:
        lines = _Lines(text)
        yield from _records(csv.reader(lines, delimiter=delimiter, strict=True), lines, options)
    finally:
        text.detach()


class _TooLong(csv.Error):
    """A row that is too long to be held in memory."""


class _Lines:
    """The lines of a table, of which one row takes a limited number of characters."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text = text
        self.left = _MAX_ROW
        """How many characters the row may still take."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        line = self._text.readline(self.left + 1)
        if not line:
            raise StopIteration
        self.left -= len(line)
        if self.left < 0:
            raise _TooLong(f"a row is longer than {_MAX_ROW // 1024**2} MB")
        return line


def _records(rows: Iterator[list[str]], lines: _Lines, options: ReadOptions) -> Iterator[Record]:
    names: list[str] | None = None
    while True:
        number = getattr(rows, "line_num", 0) + 1
        lines.left = _MAX_ROW
        try:
            row = next(rows, None)
        except (csv.Error, UnicodeDecodeError) as error:
            yield Record(Position(number), Bad(f"cannot be read: {error}"))
            if names is None or isinstance(error, UnicodeDecodeError | _TooLong):
                return
            continue
        if row is None:
            return
        if not any(cell.strip() for cell in row):
            continue
        if names is None:
            names = _names(row, options)
        else:
            yield Record(Position(number), _message(row, names, options))


def _names(header: list[str], options: ReadOptions) -> list[str]:
    """The columns; a name is spelled with underscores, unless it is mapped as it is."""
    mapped = set(options.columns.values())
    names = [
        name if name in mapped else "_".join(name.strip().casefold().split()) for name in header
    ]
    missing = mapped - set(names)
    if missing:
        raise ConfigurationError(
            f"there is no column {min(missing)!r}; the columns are {', '.join(names)}"
        )
    if "text" not in options.columns and _TEXTS.isdisjoint(names):
        raise ConfigurationError(
            f"no column holds the text; the columns are {', '.join(names)}; "
            "say which with --columns text=COLUMN"
        )
    return names


def _message(row: list[str], names: list[str], options: ReadOptions) -> dict[str, str] | Bad:
    if len(row) > len(names) and any(cell.strip() for cell in row[len(names) :]):
        return Bad(f"has {len(row)} cells, but there are {len(names)} columns")
    cells = {name: cell for name, cell in zip(names, row, strict=False) if name and cell.strip()}
    session = {} if options.session is None else {"session": options.session}
    return session | cells


READER = Reader(
    "csv",
    "a table with a header; --columns says which column holds what",
    lambda head: head.suffix in (".csv", ".tsv"),
    _read,
    (".csv", ".tsv"),
    names_session=True,
)
