"""Files of an evaluation: downloaded benchmarks, read item by item, and the journal of a run.

LongMemEval's files are up to gigabytes, so a list is read item by item and never held as a whole.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from cognigraph.errors import ConfigurationError
from cognigraph.importers.json_records import MalformedError, elements

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


@contextmanager
def misread(what: str, title: str) -> Iterator[None]:
    """Raise :class:`DatasetError` for whatever shows that a part is not as a benchmark's are."""
    try:
        yield
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, DatasetError):
            raise
        raise DatasetError(f"{what} is not as {title}'s are: {error!r}") from error


def sha256(*paths: Path) -> str:
    """Return the SHA-256 of a file's bytes in hexadecimal; of several, that of all digests."""
    digests = []
    for path in paths:
        with _open(path) as stream:
            digests.append(hashlib.file_digest(stream, "sha256").hexdigest())
    return (
        digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()
    )


def _open(path: Path) -> io.BufferedReader:
    if path.is_dir():
        raise DatasetError(f"{path} is a folder; give the JSON file of the benchmark")
    try:
        return path.open("rb")
    except OSError as error:
        raise DatasetError(f"cannot read {path}: {error.strerror or error}") from error


def reachable(path: Path) -> None:
    """Raise :class:`DatasetError` if there is no such file or folder, or it cannot be read."""
    if not path.is_dir():
        _open(path).close()


def first_item(path: Path) -> Any:
    """Return the first item of a file (see :func:`items`), or ``None`` if it has none."""
    with closing(items(path)) as found:
        return next(found, None)


def document(path: Path) -> Any:
    """Return the whole content of a JSON file."""
    with _open(path) as stream:
        try:
            return json.load(stream)
        except (ValueError, RecursionError) as error:
            raise DatasetError(f"{path.name} is not the JSON of a benchmark: {error}") from error


def rows(path: Path) -> Iterator[Any]:
    """Yield the items of a JSON list, or the lines of JSON lines."""
    if path.suffix != ".jsonl":
        yield from items(path)
        return
    with _open(path) as raw, io.TextIOWrapper(raw, "utf-8-sig") as stream:
        yield from (json.loads(line) for line in stream if line.strip())


def items(path: Path) -> Generator[Any, None, None]:
    """Yield the items of the JSON list in a file one at a time; a single object is one item.

    :class:`DatasetError` says where the JSON is wrong, or what else the file is.
    """
    with _open(path) as stream:
        start = stream.peek(64)[:64].lstrip(b"\xef\xbb\xbf \t\r\n")
        for mark, form in _FORMS:
            if start.lower().startswith(mark):
                raise DatasetError(f"{path.name} is {form}")
        wrong = f"{path.name} is not the JSON of a benchmark"
        if not start.startswith((b"[", b"{")):
            reason = "it does not begin with a list" if start else "it is empty"
            raise DatasetError(f"{wrong}: {reason}")
        try:
            for number, item in enumerate(elements(stream)):
                if number and start.startswith(b"{"):
                    raise DatasetError(
                        f"{path.name} is JSON lines; give the benchmark's own JSON file"
                    )
                yield item
        except MalformedError as error:
            raise DatasetError(f"{wrong}: {error}; was it downloaded whole?") from error


class Journal:
    """Records by key in one append-only file of JSON lines; the last record of a key counts.

    An incomplete last line, left by a crash, is dropped.
    """

    def __init__(self, path: Path, key: str) -> None:
        self._path = path
        self._key = key
        self.records: dict[str, dict[str, Any]] = {}
        if path.exists():
            self._read()

    def _read(self) -> None:
        data = self._path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            with self._path.open("r+b") as stream:
                stream.truncate(whole)
        for number, line in enumerate(data[:whole].splitlines(), 1):
            try:
                record = json.loads(line)
                self.records[record[self._key]] = record
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                raise DatasetError(
                    f"line {number} of {self._path} is damaged; remove the file to do that part "
                    "of the evaluation again"
                ) from error

    def write(self, record: dict[str, Any]) -> None:
        """Append a record; it is on disk when this returns."""
        line = json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"
        with self._path.open("ab") as stream:
            stream.write(line.encode("utf-8", "surrogatepass"))
            stream.flush()
            os.fsync(stream.fileno())
        self.records[record[self._key]] = record
