"""Files beside a memory that hold the indexes of its large spaces, so that they open at once.

Reading the rows of a million messages takes half a minute. So the arrays that an index holds are
written to a file, which a later process maps into its memory before it reads the rows that are
newer. It has the signs in memory, and else only what it uses; what it changes is not written to the
file. The file is a copy of what is in the rows: without it, everything works.

The memory names the file that is valid for a space, by a random token, with the epoch of the space.
A file that another history of the memory has left (a restored backup) is therefore not taken for
its own; nor is one from before messages were forgotten, which is deleted with them.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from cognigraph.errors import CogniGraphError
from cognigraph.stores.sqlite.connection import Pool
from cognigraph.stores.sqlite.identity import create_beside
from cognigraph.stores.sqlite.index.evidence_reader import read_evidence
from cognigraph.stores.sqlite.index.space_index import SpaceIndex
from cognigraph.stores.sqlite.index.table import Array
from cognigraph.stores.sqlite.index.word_reader import read_words

_FORMAT = "cognigraph-index-4"
"""Changes with the arrays of an index, and with how codes are computed."""

_ALIGNED = 64
_IN_MEMORY = " code.signs"
"""Every search reads all signs: that takes a sixth less time where numpy asks for large pages."""
_LEAST_NEW, _SHARE_NEW = 8192, 5
"""A file is written again when this many rows are not in it, and one of this many of all."""

_VALID = """
SELECT m.value FROM meta m JOIN space s ON m.key = 'index ' || s.id
WHERE m.value LIKE s.epoch || ' %'"""

logger = logging.getLogger("cognigraph")


@dataclass(frozen=True, slots=True)
class Snapshots:
    """The files of one memory; ``generation`` counts the embedders that it has had."""

    pool: Pool
    generation: int

    def load(self, connection: sqlite3.Connection, space_id: int, index: SpaceIndex) -> None:
        """Fill an empty index from the file of its space, if there is a valid one."""
        row = connection.execute(f"{_VALID} AND s.id = ?", (space_id,)).fetchone()
        if row is None:
            return
        epoch, token = row[0].split(" ")
        try:
            with self._path(token).open("rb") as file:
                header = json.loads(file.readline())
                start = file.tell()
            if header["kind"] == self._kind(index):
                mapped = np.memmap(self._path(token), np.uint8, "c", start)
                arrays = {name: _view(mapped, *about) for name, about in header["arrays"].items()}
                for name in (one for one in arrays if one.endswith(_IN_MEMORY)):
                    arrays[name] = self._read(token, start, *header["arrays"][name])
                index.restore(int(epoch), header["state"], arrays)
        except (OSError, ValueError, KeyError) as error:
            logger.warning("an index is read from its rows: %s", error)

    def _read(self, token: str, start: int, dtype: str, shape: list[int], offset: int) -> Array:
        """One of the arrays of a file, in the memory of the process."""
        size = int(np.prod(shape, dtype=np.int64))
        return np.fromfile(self._path(token), dtype, size, offset=start + offset).reshape(shape)

    def is_due(self, index: SpaceIndex) -> bool:
        """Whether an index holds so many rows that no file has that one should be written."""
        total = index.chunks.rows + index.triples.rows
        if self.pool.is_read_only:
            return False
        return index.is_coded and index.unsaved > max(_LEAST_NEW, total // _SHARE_NEW)

    def save(self, space_id: int, index: SpaceIndex) -> None:
        """Write the file of a space. Without a file, the next process reads the rows."""
        token = uuid4().hex
        try:
            read_words(index, self.pool.read)
            read_evidence(index, self.pool.read)
            with index.lock:
                if not index.is_coded:  # messages were forgotten meanwhile
                    return
                self._write(token, index)
                epoch, index.unsaved = index.epoch, 0
            with self.pool.write() as connection:
                connection.execute(
                    "INSERT OR REPLACE INTO meta SELECT 'index ' || id, epoch || ' ' || ? "
                    "FROM space WHERE id = ? AND epoch = ?",
                    (token, space_id, epoch),
                )
            drop_stale(self.pool)
        except (OSError, CogniGraphError) as error:
            logger.warning("an index was not written to its file: %s", error)
            with suppress(OSError):
                self._path(token).unlink(missing_ok=True)

    def _write(self, token: str, index: SpaceIndex) -> None:
        state, arrays = index.state()
        about: dict[str, tuple[str, tuple[int, ...], int]] = {}
        offset = 0
        for name, array in arrays.items():
            about[name] = array.dtype.str, array.shape, offset
            offset += -(-array.nbytes // _ALIGNED) * _ALIGNED
        header = {"kind": self._kind(index), "state": state, "arrays": about}
        path = self._path(token)
        with os.fdopen(create_beside(self.pool.absolute, path, os.O_RDWR), "wb") as file:
            line = json.dumps(header).encode()
            start = -(-(len(line) + 1) // _ALIGNED) * _ALIGNED
            file.write(line.ljust(start - 1) + b"\n")
            for name, array in arrays.items():
                file.seek(start + about[name][2])
                np.ascontiguousarray(array).tofile(file)
            file.truncate(start + offset)
            os.fsync(file.fileno())

    def _kind(self, index: SpaceIndex) -> list[Any]:
        """What must be the same for the arrays to be usable."""
        format = index.vectors
        return [_FORMAT, self.generation, format.dimension, format.precision]

    def _path(self, token: str) -> Path:
        return Path(f"{self.pool.absolute}-index-{token}")


def _view(mapped: Array, dtype: str, shape: list[int], offset: int) -> Array:
    """One of the arrays in the data of a file."""
    size = np.dtype(dtype).itemsize * int(np.prod(shape, dtype=np.int64))
    if offset + size > len(mapped):
        raise ValueError("it ends too early")
    return np.asarray(mapped[offset : offset + size]).view(dtype).reshape(shape)


def drop_stale(pool: Pool) -> None:
    """Delete the files that are not valid, among them what crashed processes have left."""
    found = [*_files(pool)]
    if not found:
        return
    with pool.read() as connection:
        valid = {value.split(" ")[1] for (value,) in connection.execute(_VALID)}
    for path in found:
        if path.name.rpartition("-")[2] not in valid:
            with suppress(OSError):  # it may be open in another process, on Windows
                path.unlink(missing_ok=True)


def _files(pool: Pool) -> Iterator[Path]:
    start = f"{pool.absolute.name}-index-"
    with suppress(OSError):
        yield from (one for one in pool.absolute.parent.iterdir()
                    if one.name.startswith(start))  # fmt: skip
