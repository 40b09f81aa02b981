"""Downloaded benchmark files: their digest, their items one at a time, which benchmark they are.

LongMemEval's files are up to gigabytes, so a list is read item by item and never held as a whole.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cognigraph.errors import ConfigurationError

_BLOCK = 1 << 20
_FORMS = (
    (b"pk\x03\x04", "a zip archive: unpack it and give the JSON file in it"),
    (b"\x1f\x8b", "a gzip archive: unpack it and give the JSON file in it"),
    (b"par1", "a Parquet file: download the JSON file of the benchmark"),
    (b"sqlite format 3", "an SQLite database: give the JSON file of the benchmark"),
    (b"version https://git-lfs", "a Git LFS pointer, not the file itself: run `git lfs pull`"),
    (b"<!doctype html", "a web page: download the raw file"),
    (b"<html", "a web page: download the raw file"),
)


class DatasetError(ConfigurationError):
    """A benchmark file cannot be read, or belongs to another benchmark than the one named."""


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file's bytes in hexadecimal."""
    with _open(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _open(path: Path) -> io.BufferedReader:
    if path.is_dir():
        raise DatasetError(f"{path} is a folder; give the JSON file of the benchmark")
    try:
        return path.open("rb")
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror or error}") from error


def items(path: Path) -> Iterator[Any]:
    """Yield the items of the JSON list in a file one at a time; a single object is one item.

    :class:`DatasetError` says where the JSON is wrong, or what else the file is.
    """
    with _open(path) as raw, io.TextIOWrapper(raw, "utf-8-sig") as stream:
        start = raw.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")
        for mark, form in _FORMS:
            if start.lower().startswith(mark):
                raise DatasetError(f"{path.name} is {form}")
        raw.seek(0)
        yield from _Items(stream, path.name)


class _Items:
    """Reads a list through a buffer that holds one item at a time."""

    def __init__(self, stream: io.TextIOWrapper, name: str) -> None:
        self._stream = stream
        self._name = name
        self._buffer = ""
        self._at = 0
        self._ended = False
        self._decoder = json.JSONDecoder()

    def __iter__(self) -> Iterator[Any]:
        first = self._peek()
        if first == "{":
            yield self._item()
        elif first == "[":
            self._at += 1
            if self._peek() == "]":
                return
            yield self._item()
            while self._peek() == ",":
                self._at += 1
                yield self._item()
            if self._peek() != "]":
                raise self._wrong("the list does not end; was it downloaded whole?")
            self._at += 1
        else:
            raise self._wrong("it does not begin with a list" if first else "it is empty")
        if self._peek() == "{":
            raise DatasetError(f"{self._name} is JSON lines; give the benchmark's own JSON file")
        if self._peek():
            raise self._wrong("something follows the list")

    def _more(self) -> bool:
        """Read as much as the buffer still holds, so that a long item is not parsed too often."""
        if self._ended:
            return False
        try:
            block = self._stream.read(max(_BLOCK, len(self._buffer) - self._at))
        except UnicodeDecodeError as error:
            raise self._wrong("it is not UTF-8") from error
        self._buffer, self._at = self._buffer[self._at :] + block, 0
        self._ended = not block
        return not self._ended

    def _peek(self) -> str:
        """Return the next character that is not white space, or "" at the end."""
        while True:
            while self._at < len(self._buffer):
                if not self._buffer[self._at].isspace():
                    return self._buffer[self._at]
                self._at += 1
            if not self._more():
                return ""

    def _item(self) -> Any:
        self._peek()
        while True:
            try:
                item, self._at = self._decoder.raw_decode(self._buffer, self._at)
                return item
            except json.JSONDecodeError as error:
                if not self._more():
                    raise self._wrong(f"{error.msg}; was it downloaded whole?") from error
            except RecursionError as error:
                raise self._wrong("it is nested too deeply") from error

    def _wrong(self, reason: str) -> DatasetError:
        return DatasetError(f"{self._name} is not the JSON of a benchmark: {reason}")


_FINGERPRINTS: Mapping[str, frozenset[str]] = {
    "locomo": frozenset({"conversation", "qa"}),
    "longmemeval": frozenset({"question_id", "haystack_sessions"}),
}
_TITLES = {"locomo": "LoCoMo", "longmemeval": "LongMemEval"}


def check_kind(item: Any, wanted: str, name: str) -> dict[str, Any]:
    """Return the item if it has the benchmark's fields; otherwise raise an error that says more."""
    found = set(item) if isinstance(item, dict) else set()
    if _FINGERPRINTS[wanted] <= found:
        return dict(item)
    for kind, marks in _FINGERPRINTS.items():
        if marks <= found:
            raise DatasetError(
                f"{name} looks like {_TITLES[kind]}, not {_TITLES[wanted]}: "
                f"cognigraph eval {kind} {name}"
            )
    shown = f"has {', '.join(sorted(map(str, found))[:6]) or 'no fields'}"
    if not isinstance(item, dict):
        shown = f"is a {type(item).__name__}"
    raise DatasetError(
        f"{name} is not {_TITLES[wanted]}: an item should have "
        f"{' and '.join(sorted(_FINGERPRINTS[wanted]))}, the first one {shown}"
    )
