"""Which indexes of spaces are in memory, and files beside the memory that hold large ones.

Reading the rows of a million messages takes half a minute. So the arrays that an index holds are
written to a file, which a later process maps into its memory before it reads the rows that are
newer. It has the signs in memory, and else only what it uses; what it changes is not written to the
file. The file is a copy of what is in the rows: without it, everything works.

The memory names the file that is valid for a space, by a random token, with the epoch of the space.
A file that another history of the memory has left (a restored backup) is therefore not taken for
its own; nor is one from before messages were forgotten, which is deleted with them.

The words of texts are read beside the searches, as are, before a file is written, those that are
still missing and the evidence of facts. Until then a search reads them from the rows.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from sqlite3 import Connection
from threading import Lock, Thread
from typing import Any
from uuid import uuid4

import numpy as np

from cognigraph.arrays import Ints
from cognigraph.errors import CogniGraphError
from cognigraph.stores.sqlite import rows
from cognigraph.stores.sqlite.connection import Pool, create_beside
from cognigraph.stores.sqlite.index.index_words import NumberLists
from cognigraph.stores.sqlite.index.layer import FEW_ROWS, Array
from cognigraph.stores.sqlite.index.space_index import SpaceIndex
from cognigraph.stores.sqlite.rows import VectorFormat, select_in

_TEXT_BATCH = 1024
CHUNK_TEXTS = "SELECT id, text FROM chunk WHERE id IN ({})"
TRIPLE_TEXTS = "SELECT id, subject || ' ' || relation || ' ' || object FROM triple WHERE id IN ({})"
Connect = Callable[[], AbstractContextManager[sqlite3.Connection]]
EVIDENCE = "SELECT DISTINCT triple_id, chunk_id FROM evidence WHERE {}triple_id IN ({{}})"
_FACT_BATCH = 4096
_FEW_RESTATED = 16
"""If more than one fact in this many was restated, the evidence of all facts is read again."""
_FORMAT = "cognigraph-index-4"
"""Changes with the arrays of an index, and with how codes are computed."""
_ALIGNED = 64
_IN_MEMORY = " code.signs"
"""Every search reads all signs: that takes a sixth less time where numpy asks for large pages."""

_LEAST_NEW, _SHARE_NEW = 8192, 5
"""A file is written again when this many rows are not in it, and one of this many of all."""
_LEAST_UNREAD, _SHARE_UNREAD = 32, 8
"""Words are read when those of this many texts are not known, and one of this many of all."""
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
                for name in (array for array in arrays if array.endswith(_IN_MEMORY)):
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
        yield from (item for item in pool.absolute.parent.iterdir()
                    if item.name.startswith(start))  # fmt: skip


def _view(mapped: Array, dtype: str, shape: list[int], offset: int) -> Array:
    """One of the arrays in the data of a file."""
    size = np.dtype(dtype).itemsize * int(np.prod(shape, dtype=np.int64))
    if offset + size > len(mapped):
        raise ValueError("it ends too early")
    return np.asarray(mapped[offset : offset + size]).view(dtype).reshape(shape)


def needs_words(index: SpaceIndex) -> bool:
    """Whether searches read so many texts that their words should be read once for all."""
    total = index.chunks.rows + index.triples.rows
    unread = total - index.words.chunks - index.words.triples
    return unread > max(_LEAST_UNREAD, total // _SHARE_UNREAD)


def read_words(index: SpaceIndex, connect: Connect) -> None:
    """Read the words of all texts of an index.

    Its lock is held for short times only: texts are read without it. If rows were removed or
    changed meanwhile, the texts are those of other rows, and are read again; so are those that
    another thread has read meanwhile.
    """
    while True:
        with index.lock:
            words = index.words
            read = words.chunks, words.triples
            chunks, triples = _next_texts(index)
        if chunks:
            texts = _texts(connect, CHUNK_TEXTS, chunks)
        elif triples:
            texts = _texts(connect, TRIPLE_TEXTS, triples)
        else:
            break
        with index.lock:
            if index.words is words and read == (words.chunks, words.triples):
                (words.take_chunks if chunks else words.take_triples)(texts)
    with index.lock:
        index.words.rest()


def _next_texts(index: SpaceIndex) -> tuple[list[int], list[int]]:
    """The ids of the next messages whose words are not known, and of the next such facts."""
    chunks, triples = index.words.chunks, index.words.triples
    return (
        index.chunks["id"][chunks : chunks + _TEXT_BATCH].tolist(),
        index.triples["id"][triples : triples + _TEXT_BATCH].tolist(),
    )


def _texts(connect: Connect, statement: str, ids: Sequence[int]) -> list[str]:
    """The texts with these ids; what was deleted meanwhile is empty, and its row will go too."""
    with connect() as connection:
        found = dict(select_in(connection, statement, ids))
    return [found.get(id, "") for id in ids]


def read_evidence(index: SpaceIndex, connect: Connect) -> None:
    """Read the evidence of all facts of an index.

    The lock of the index is held only for short times, so a search may run in between. If the
    evidence of a fact changes meanwhile, the search marks the fact as restated and no longer uses
    what was read here.
    """
    with index.lock:
        restated = index.triples["restated"]
        if np.count_nonzero(restated) * _FEW_RESTATED > index.triples.rows:
            index.evidence = NumberLists(np.int64)
            restated[:] = False
    while True:
        with index.lock:
            evidence = index.evidence
            first = evidence.rows
            ids = index.triples["id"][first : first + _FACT_BATCH].copy()
        if not len(ids):
            return
        chunks, sizes = _evidence_lists(connect, ids)
        with index.lock:
            # Unless rows were removed meanwhile, or another thread has read the same.
            if index.evidence is evidence and evidence.rows == first:
                evidence.append(chunks, sizes)


def _evidence_lists(connect: Connect, ids: Ints) -> tuple[Ints, Ints]:
    """The ids of the chunks that are evidence of triples, one after another, and their numbers."""
    with connect() as connection:
        pairs = evidence_pairs(connection, ids.tolist())
    order = np.argsort(ids, kind="stable")
    positions = order[np.searchsorted(ids, pairs[:, 0], sorter=order)]
    by_triple = np.argsort(positions, kind="stable")
    return pairs[by_triple, 1], np.bincount(positions, minlength=len(ids))


def evidence_pairs(
    connection: sqlite3.Connection, ids: Sequence[int], until: int | None = None
) -> Ints:
    """The evidence (e, 2) of triples that was observed by ``until``: ids of triples and chunks."""
    if not ids:
        return np.empty((0, 2), np.int64)
    before, first = ("", ()) if until is None else ("observed_at <= ? AND ", (until,))
    pairs = select_in(connection, EVIDENCE.format(before), ids, *first)
    return np.array(pairs, np.int64).reshape(-1, 2)


# A least-recently-used cache of the in-memory indexes of spaces.

Snapshot = Callable[[], AbstractContextManager[Connection]]
"""Starts a read transaction."""

FreshIndex = tuple[Connection, SpaceIndex, int]
"""A read transaction, the index of a space in the same state, and the row id of the space."""


@dataclass
class _Entry:
    index: SpaceIndex
    charged: int = 0


class SpaceIndexes:
    """Indexes by space, limited in their total size in bytes; thread-safe.

    The least recently searched indexes are dropped and read again when needed. The one searched
    last always stays. The total is maintained, so the cost of a search does not depend on the
    number of spaces. Large indexes are read from files. They are written to them, and the words of
    texts are read, in a thread beside the searches.
    :meth:`finish` waits for all threads, because a connection in use keeps the journal of the file.
    """

    def __init__(self, most_bytes: int, few_rows: int = FEW_ROWS) -> None:
        self._most_bytes = most_bytes
        self.few_rows = few_rows
        self.snapshots: Snapshots | None = None
        self._beside: Thread | None = None
        self._loading: set[Thread] = set()
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._total = 0
        self._lock = Lock()

    def __contains__(self, space: str) -> bool:
        with self._lock:
            return space in self._entries

    def __len__(self) -> int:
        with self._lock:
            return len(self._entries)

    @property
    def bytes(self) -> int:
        """The total memory of the indexes."""
        with self._lock:
            return self._total

    def load(self, space: str, vectors: VectorFormat, snapshot: Snapshot) -> None:
        """Start to load the index of a space in another thread, unless it is in memory."""
        if space in self:
            return
        thread = Thread(
            target=self._load, args=(space, vectors, snapshot), name="cognigraph-warm", daemon=True
        )
        with self._lock:
            self._loading = {item for item in self._loading if item.is_alive()} | {thread}
            thread.start()

    def _load(self, space: str, vectors: VectorFormat, snapshot: Snapshot) -> None:
        # An error here occurs again in the search that follows, which reports it.
        with suppress(CogniGraphError), self.fresh(space, vectors, snapshot):
            pass

    @contextmanager
    def fresh(
        self, space: str, vectors: VectorFormat, snapshot: Snapshot
    ) -> Iterator[FreshIndex | None]:
        """A snapshot, the index of a space refreshed to that snapshot, and the space's row id.

        None if there is no such space: an unknown name must cost no memory.
        """
        index = self.get(space)
        if index is None:
            with snapshot() as connection:
                there = rows.space_id(connection, space) is not None
            if not there:
                yield None
                return
            index = self.add(space, SpaceIndex(vectors, self.few_rows))
        # Lock first, then snapshot: a snapshot older than the index would lack some of its rows.
        with index.lock, snapshot() as connection:
            space_id = rows.space_id(connection, space)
            if space_id is None:
                yield None
                return
            before = index.epoch, index.revision
            if self.snapshots is not None and not index.revision:
                self.snapshots.load(connection, space_id, index)
            index.refresh(connection, space_id, snapshot)
            if before != (index.epoch, index.revision):
                self.charge(space, index)
            self._work_beside(space, space_id, index, snapshot)
            yield connection, index, space_id

    def _work_beside(
        self, space: str, space_id: int, index: SpaceIndex, snapshot: Snapshot
    ) -> None:
        """Write an index to its file or read its words, in another thread, if much has come."""
        if self.snapshots is not None and self.snapshots.is_due(index):
            work = partial(self.snapshots.save, space_id, index)
        elif needs_words(index):
            work = partial(read_words, index, snapshot)
        else:
            return
        with self._lock:
            if self._beside is not None and self._beside.is_alive():
                return
            self._beside = Thread(
                target=self._work, args=(work, space, index), name="cognigraph-index", daemon=True
            )
            self._beside.start()

    def _work(self, work: Callable[[], None], space: str, index: SpaceIndex) -> None:
        with suppress(CogniGraphError):  # a later search tries again
            work()
        with index.lock:  # the words of its texts have come to it
            self.charge(space, index)

    def finish(self) -> None:
        """Wait until what is being loaded is loaded, and what is being written is written."""
        with self._lock:
            loading, self._loading = self._loading, set()
        for thread in loading:  # one that is loading may yet begin to write
            thread.join()
        with self._lock:
            beside = self._beside
        if beside is not None:
            beside.join()

    def get(self, space: str) -> SpaceIndex | None:
        """The cached index of a space, which becomes the most recently used; ``None`` if absent."""
        with self._lock:
            entry = self._entries.get(space)
            if entry is None:
                return None
            self._entries.move_to_end(space)
            return entry.index

    def add(self, space: str, index: SpaceIndex) -> SpaceIndex:
        """Add an index and return it; if another thread has added one meanwhile, return that."""
        with self._lock:
            return self._entries.setdefault(space, _Entry(index)).index

    def charge(self, space: str, index: SpaceIndex) -> None:
        """Update the recorded size of an index; drop the oldest indexes if the total is too large.

        The caller holds the lock of the index.
        """
        size = index.bytes
        with self._lock:
            entry = self._entries.get(space)
            if entry is None or entry.index is not index:
                return  # dropped meanwhile: freed after the search that uses it
            self._total += size - entry.charged
            entry.charged = size
            while self._total > self._most_bytes:
                oldest = next(iter(self._entries))
                if oldest == space:
                    break
                self._total -= self._entries.pop(oldest).charged

    def clear(self) -> None:
        """Drop all indexes."""
        with self._lock:
            self._entries.clear()
            self._total = 0
