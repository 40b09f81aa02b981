"""The in-memory search index of one space, kept fresh from the file.

Vectors are searched by one matrix product per layer, words by an inverted index with the space's
own statistics. Both hold only this space's rows, so nothing another tenant writes can change a
score. The index follows the file by the space's revision: rows written by any process since the
last look are read before each search.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from threading import RLock
from typing import Any

import numpy as np

from cognigraph.stores.base import Ints, Lexicon, Vector
from cognigraph.stores.sqlite.blobs import unpack_terms, unpack_uids, unpack_vectors
from cognigraph.stores.sqlite.postings import Postings
from cognigraph.stores.sqlite.table import Array, Table

_BATCH = 4096


class SpaceIndex:
    """Chunks, triples and themes of one space. Use only while holding ``lock``."""

    def __init__(self, dimension: int) -> None:
        self.lock = RLock()
        self._dimension = dimension
        self._clear()

    def _clear(self) -> None:
        common = {
            "id": (np.int64, ()),
            "length": (np.int32, ()),
            "uid": (np.uint8, (16,)),
            "vector": (np.float32, (self._dimension,)),
        }
        self.revision = 0
        self.epoch = 0
        self.chunks = Table(
            common
            | {
                "session": (np.int64, ()),
                "at": (np.int64, ()),
                "question": (np.bool_, ()),
                "speaker": (np.int32, ()),
                "previous": (np.int32, ()),
                "following": (np.int32, ()),
            }
        )
        self.triples = Table(
            common
            | {
                "subject": (np.int64, ()),
                "object": (np.int64, ()),
                "first": (np.int64, ()),
                "last": (np.int64, ()),
            }
        )
        self.chunk_words = Postings()
        self.triple_words = Postings()
        self.total_length = 0
        self.speakers: list[str | None] = []
        self._speaker_codes: dict[str | None, int] = {}
        self._tails: dict[int, int] = {}
        self._themes: dict[int, Vector] = {}
        self._theme_matrix: tuple[Vector, Ints] | None = None

    @property
    def bytes(self) -> int:
        """Approximate memory held, for the cache of indexes."""
        per_row = self._dimension * 4 + 400
        return (self.chunks.rows + self.triples.rows + len(self._themes)) * per_row

    def refresh(self, connection: sqlite3.Connection, space_id: int) -> None:
        """Read what was written since the last look, in the caller's snapshot."""
        revision, epoch = connection.execute(
            "SELECT revision, epoch FROM space WHERE id = ?", (space_id,)
        ).fetchone()
        if epoch != self.epoch:
            self._clear()
            self.epoch = epoch
        if revision == self.revision:
            return
        if self.revision == 0:
            for table, name in ((self.chunks, "chunk_index"), (self.triples, "triple_index")):
                count = f"SELECT count(*) FROM {name} WHERE space_id = ?"
                table.reserve(connection.execute(count, (space_id,)).fetchone()[0])
        for rows in _batches(connection, _CHUNKS, space_id, self.revision):
            self._take_chunks(rows)
        for rows in _batches(connection, _TRIPLES, space_id, self.revision):
            self._take_triples(rows)
        self._take_themes(connection, space_id)
        self.revision = revision

    # Chunks

    def _take_chunks(self, rows: Sequence[tuple[Any, ...]]) -> None:
        ids, sessions, ats, questions, lengths = (
            np.array([row[i] for row in rows], np.int64) for i in range(5)
        )
        known = self.chunks.find(ids)
        values: dict[str, Array] = {
            "id": ids,
            "session": sessions,
            "at": ats,
            "question": questions.astype(bool),
            "length": lengths,
            "speaker": np.array([self._speaker(row[5]) for row in rows], np.int32),
            "uid": unpack_uids([row[6] for row in rows]),
            "vector": unpack_vectors([row[8] for row in rows], self._dimension),
        }
        old = known >= 0
        if old.any():
            self.chunks.update(known[old], {name: array[old] for name, array in values.items()})
            rows = [row for row, is_old in zip(rows, old, strict=True) if not is_old]
            values = {name: array[~old] for name, array in values.items()}
        first = self.chunks.rows
        unlinked = np.full(len(rows), -1, np.int32)
        self.chunks.append(values | {"previous": unlinked, "following": unlinked})
        self.total_length += int(values["length"].sum())
        self.chunk_words.append(*unpack_terms([row[7] for row in rows]), first)
        self._link(first)

    def _speaker(self, name: str | None) -> int:
        code = self._speaker_codes.get(name)
        if code is None:
            code = self._speaker_codes[name] = len(self.speakers)
            self.speakers.append(name)
        return code

    def _link(self, first: int) -> None:
        """Place rows from ``first`` on in their sessions' NEXT chains, by (time, arrival)."""
        previous, following = self.chunks["previous"], self.chunks["following"]
        ats, tails = self.chunks["at"], self._tails
        sessions = self.chunks["session"][first:].tolist()
        for row, session in enumerate(sessions, first):
            before, after = tails.get(session, -1), -1
            while before >= 0 and ats[before] > ats[row]:  # late arrivals walk back
                before, after = int(previous[before]), before
            previous[row], following[row] = before, after
            if before >= 0:
                following[before] = row
            if after >= 0:
                previous[after] = row
            else:
                tails[session] = row

    def lexicon(self, terms: Sequence[str]) -> Lexicon:
        """Statistics of this space for some terms."""
        n = self.chunks.rows
        frequencies = {term: len(self.chunk_words.lookup(term)[0]) for term in terms}
        return Lexicon(n, self.total_length / n if n else 0.0, frequencies)

    # Triples

    def _take_triples(self, rows: Sequence[tuple[Any, ...]]) -> None:
        ids, subjects, objects, firsts, lasts, lengths = (
            np.array([row[i] for row in rows], np.int64) for i in range(6)
        )
        values: dict[str, Array] = {
            "id": ids,
            "subject": subjects,
            "object": objects,
            "first": firsts,
            "last": lasts,
            "length": lengths,
            "uid": unpack_uids([row[6] for row in rows]),
            "vector": unpack_vectors([row[8] for row in rows], self._dimension),
        }
        known = self.triples.find(ids)
        old = known >= 0
        if old.any():
            self.triples.update(known[old], {name: array[old] for name, array in values.items()})
            rows = [row for row, is_old in zip(rows, old, strict=True) if not is_old]
            values = {name: array[~old] for name, array in values.items()}
        first = self.triples.rows
        self.triples.append(values)
        self.triple_words.append(*unpack_terms([row[7] for row in rows]), first)

    # Themes

    def _take_themes(self, connection: sqlite3.Connection, space_id: int) -> None:
        changed = connection.execute(
            """SELECT s.id, t.vector FROM session s LEFT JOIN theme t ON t.session_id = s.id
               WHERE s.space_id = ? AND s.changed > ? ORDER BY s.id, t.place""",
            (space_id, self.revision),
        ).fetchall()
        blobs: dict[int, list[bytes]] = {}
        for session, vector in changed:
            blobs.setdefault(session, []).extend([] if vector is None else [vector])
        for session, vectors in blobs.items():
            if vectors:
                self._themes[session] = unpack_vectors(vectors, self._dimension)
            else:
                self._themes.pop(session, None)
        if changed:
            self._theme_matrix = None

    def themes(self) -> tuple[Vector, Ints]:
        """All theme vectors of the space, and the session id of each row."""
        if self._theme_matrix is None:
            sessions = sorted(self._themes)
            parts = [self._themes[session] for session in sessions]
            matrix = np.concatenate(parts) if parts else np.empty((0, self._dimension), np.float32)
            owners = np.repeat(
                np.array(sessions, np.int64), np.array([len(part) for part in parts], np.int64)
            )
            self._theme_matrix = matrix, owners
        return self._theme_matrix


_CHUNKS = """
SELECT chunk_id, session_id, at, question, length, speaker, uid, terms, vector
FROM chunk_index WHERE space_id = ? AND changed > ?"""

_TRIPLES = """
SELECT triple_id, subject_id, object_id, first_observed, last_observed, length, uid, terms, vector
FROM triple_index WHERE space_id = ? AND changed > ?"""


def _batches(
    connection: sqlite3.Connection, query: str, space_id: int, revision: int
) -> Iterator[list[tuple[Any, ...]]]:
    cursor = connection.execute(query, (space_id, revision))
    while rows := cursor.fetchmany(_BATCH):
        yield rows
