"""The in-memory search index of one space, refreshed from the file before each search.

Each layer is searched by its vectors (``nearest.py``) and by an inverted index of words with the
space's own statistics. Both hold only this space's rows, so nothing that another tenant writes can
change a score. A refresh reads the rows that any process has written since the revision of the
space that the index holds.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from threading import RLock
from typing import Any

import numpy as np

from cognigraph.arrays import Ints
from cognigraph.stores.sqlite.index.index_words import IndexWords, NumberLists
from cognigraph.stores.sqlite.index.layer import (
    FEW_ROWS,
    Array,
    Layer,
    Lookup,
    Postings,
    ThemeRow,
    Themes,
    joined,
    part_of,
    term_hashes,
)
from cognigraph.stores.sqlite.rows import (
    VectorFormat,
    select_in,
    unpack_integers,
    unpack_terms,
    unpack_uids,
)
from cognigraph.text.word_book import Lexicon

BATCH = 4096
Span = tuple[int, int, int]
"""The row id of a space, and a range of its revisions: after the first, up to the last."""
# One result row per block of rows: SQLite joins the values of each column without the interpreter
# lock, which is several times faster than 400,000 rows of small objects and runs beside another
# thread. A cast to BLOB keeps the joined bytes unchanged. No name contains a NUL
# (text.terms.is_name).
CHUNKS = """
SELECT group_concat(chunk_id), group_concat(session_id), group_concat(at), group_concat(question),
       group_concat(length), group_concat(coalesce(speaker, ''), char(0)),
       CAST(group_concat(uid, '') AS BLOB), group_concat(length(terms)),
       CAST(coalesce(group_concat(terms, ''), '') AS BLOB), CAST(group_concat(vector, '') AS BLOB),
       group_concat(role)
FROM chunk_index INDEXED BY chunk_index_changed
WHERE space_id = ? AND changed > ? AND changed <= ?"""
TRIPLES = """
SELECT group_concat(triple_id), group_concat(subject_id), group_concat(object_id),
       group_concat(first_observed), group_concat(last_observed), group_concat(length),
       CAST(group_concat(uid, '') AS BLOB), group_concat(length(terms)),
       CAST(coalesce(group_concat(terms, ''), '') AS BLOB), CAST(group_concat(vector, '') AS BLOB)
FROM triple_index INDEXED BY triple_index_changed
WHERE space_id = ? AND changed > ? AND changed <= ?"""
Names = tuple[str, str]
"""The uid of a session, and its id given by the caller."""
_BYTES = 330
"""Measured memory of the names of one session."""
_REMOVALS = 1_000_000
"""An epoch grows by one when rows are deleted; all else makes it another random number."""
_THEMES = """
SELECT session_id, vector, terms, length FROM theme WHERE session_id IN ({})
ORDER BY session_id, place"""
_SESSIONS = 1024
"""Sessions whose themes are read at a time: those of a million messages have 20 MB of vectors."""

_EMPTY_BYTES, _SESSION_BYTES, _SPEAKER_BYTES = 5_000, 170, 240
"""Measured memory of an empty index, and of each session and speaker in addition to the arrays."""


class SpaceIndex:
    """Chunks, triples and themes of one space. Callers must hold ``lock``.

    A layer with more than ``few_rows`` rows holds codes instead of its vectors.
    """

    def __init__(self, vectors: VectorFormat, few_rows: int = FEW_ROWS) -> None:
        self.lock = RLock()
        self.vectors = vectors
        self._few_rows = few_rows
        self._clear()

    def _clear(self) -> None:
        common = {
            "id": (np.int64, ()),
            "length": (np.int32, ()),
            "uid": (np.uint8, (16,)),
        }
        dimension, few = self.vectors.dimension, self._few_rows
        self.revision = self._themes_revision = 0
        self.epoch = 0
        self.unsaved = 0
        self.chunks = Layer(
            common
            | {
                "session": (np.int64, ()),
                "at": (np.int64, ()),
                "question": (np.bool_, ()),
                "speaker": (np.int32, ()),
                "role": (np.int8, ()),
                "previous": (np.int32, ()),
                "following": (np.int32, ()),
            },
            dimension,
            few,
        )
        self.triples = Layer(
            common
            | {
                "subject": (np.int64, ()),
                "object": (np.int64, ()),
                "first": (np.int64, ()),
                "last": (np.int64, ()),
                "restated": (np.bool_, ()),
            },
            dimension,
            few,
        )
        self.by_subject, self.by_object = Postings(), Postings()
        self._moved = False  # whether the entities of a triple have changed
        self.roles: set[int] = set()  # those that chunks have
        self.speakers: list[str | None] = []
        self._speaker_codes: dict[str | None, int] = {}
        self._tails: dict[int, int] = {}
        self.themes = Themes(self.vectors, few)
        self.sessions = SessionNames()
        self.words = IndexWords()
        self.evidence = NumberLists(np.int64)
        """The ids of the chunks that are evidence of the first triples."""

    @property
    def bytes(self) -> int:
        """Approximate memory of the index, for the cache of indexes."""
        parts = (
            self.chunks, self.triples, self.chunks.words, self.triples.words, self.by_subject,
            self.by_object, self.themes, self.sessions, self.words, self.evidence,
        )  # fmt: skip
        sessions = len(self._tails) * _SESSION_BYTES + len(self.speakers) * _SPEAKER_BYTES
        return _EMPTY_BYTES + sessions + sum(part.nbytes for part in parts)

    def refresh(
        self,
        connection: sqlite3.Connection,
        space_id: int,
        another: Callable[[], AbstractContextManager[sqlite3.Connection]] | None = None,
    ) -> None:
        """Read what was written since the last refresh, in the caller's snapshot.

        The first refresh reads everything. If there are many triples, a second thread reads them
        through the connection ``another`` while this thread reads the chunks. The snapshot of
        ``another`` may be newer; changes after the caller's snapshot are left to the next refresh.
        """
        revision, epoch = connection.execute(
            "SELECT revision, epoch FROM space WHERE id = ?", (space_id,)
        ).fetchone()
        if epoch != self.epoch:
            if not (self.revision and 0 < epoch - self.epoch < _REMOVALS):
                self._clear()
        elif revision == self._themes_revision:  # after a file was read, the themes are missing
            return
        is_complete = False
        try:
            if epoch != self.epoch and self.revision:
                self._keep_unchanged(connection, space_id)
            self.epoch = epoch
            self._read(connection, (space_id, self.revision, revision), another)
            self.revision = self._themes_revision = revision
            is_complete = True
        finally:
            if not is_complete:  # some of the rows may lack their words
                self._clear()

    def _keep_unchanged(self, connection: sqlite3.Connection, space_id: int) -> None:
        """Remove the rows that were deleted or changed since the last refresh.

        Those that were changed are read again. The id of a deleted row may be that of a new one.
        """
        known = (space_id, self.revision)
        chunks = self.chunks.find(unchanged(connection, "chunk", known))
        triples = self.triples.find(unchanged(connection, "triple", known))
        if min(chunks.min(initial=0), triples.min(initial=0)) < 0:  # another history
            self._clear()
            return
        self.words = self.words.only(np.sort(chunks), np.sort(triples))
        self._unlink(np.setdiff1d(np.arange(self.chunks.rows), chunks))
        row_of = self.chunks.remove_others(np.sort(chunks))
        for column in ("previous", "following"):
            self.chunks[column][:] = row_of[self.chunks[column]]
        self._find_tails()
        row_of = self.triples.remove_others(np.sort(triples))
        self.by_subject.keep(row_of)
        self.by_object.keep(row_of)
        self.evidence = self.evidence.kept(np.sort(triples))
        self.themes, self._themes_revision = Themes(self.vectors, self._few_rows), 0
        self.sessions = SessionNames()  # a new session can have the row id of a deleted one
        self.unsaved = self.chunks.rows + self.triples.rows

    def _unlink(self, rows: Ints) -> None:
        """Take rows out of the NEXT chains of their sessions."""
        previous, following = self.chunks["previous"], self.chunks["following"]
        for row in rows.tolist():
            before, after = int(previous[row]), int(following[row])
            if before >= 0:
                following[before] = after
            if after >= 0:
                previous[after] = before

    def _find_tails(self) -> None:
        last = np.flatnonzero(self.chunks["following"] < 0)
        sessions = self.chunks["session"][last].tolist()
        self._tails = dict(zip(sessions, last.tolist(), strict=True))

    def _read(
        self,
        connection: sqlite3.Connection,
        span: Span,
        another: Callable[[], AbstractContextManager[sqlite3.Connection]] | None,
    ) -> None:
        apart = another if self.revision == 0 else None
        if apart is not None and are_many(connection, "triple_index", span):
            with ThreadPoolExecutor(1, thread_name_prefix="cognigraph-load") as threads:
                triples = threads.submit(self._read_triples_apart, apart, span)
                self._read_chunks(connection, span)
                triples.result()
        else:
            self._read_chunks(connection, span)
            self._read_triples(connection, span)
        self._take_themes(connection, span[0])

    # Files

    @property
    def is_coded(self) -> bool:
        """Whether both layers are so large that they have codes."""
        return self.chunks.codes is not None and self.triples.codes is not None

    def state(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """All that :meth:`restore` takes: plain values, and arrays. Themes are read again."""
        parts = {name: part.arrays() for name, part in self._parts().items()}
        state = {
            "revision": self.revision, "moved": self._moved, "speakers": self.speakers,
            "roles": sorted(self.roles),
        }  # fmt: skip
        return state, joined(parts, " ")

    def restore(self, epoch: int, state: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
        """Take over what :meth:`state` returned; ``epoch`` is that of the space then."""
        self._clear()
        for name, own in self._parts().items():
            own.restore(part_of(arrays, f"{name} "))
        self.epoch, self.revision = epoch, int(state["revision"])
        self._moved, self.speakers = bool(state["moved"]), list(state["speakers"])
        self.roles = set(state["roles"])
        self._speaker_codes = {name: code for code, name in enumerate(self.speakers)}
        self._find_tails()

    def _parts(self) -> dict[str, Layer | Postings | IndexWords | NumberLists]:
        return {
            "chunks": self.chunks, "triples": self.triples, "subject": self.by_subject,
            "object": self.by_object, "words": self.words, "evidence": self.evidence,
        }  # fmt: skip

    # Chunks

    def _read_chunks(self, connection: sqlite3.Connection, span: Span) -> None:
        if not self.chunks.rows:
            self.chunks.reserve(count(connection, "chunk_index", span))
        for row in blocks(connection, CHUNKS, "chunk_index", span):
            self._take_chunks(row)
        self.chunks.words.settle()

    def _take_chunks(self, row: tuple[Any, ...]) -> None:
        ids, sessions, ats, questions, lengths = map(unpack_integers, row[:5])
        self.unsaved += len(ids)
        values: dict[str, Array] = {
            "id": ids,
            "session": sessions,
            "at": ats,
            "question": questions.astype(bool),
            "length": lengths,
            "speaker": np.array([self._speaker(n or None) for n in row[5].split("\0")], np.int32),
            "role": unpack_integers(row[10]),
            "uid": unpack_uids(row[6]),
            "vector": self.vectors.view(row[9]),
        }
        postings, sizes = unpack_terms(row[8], unpack_integers(row[7]))
        self.roles.update(values["role"].tolist())
        first = self.chunks.take(values, postings, sizes, previous=-1, following=-1)
        self._link(first)

    def _speaker(self, name: str | None) -> int:
        code = self._speaker_codes.get(name)
        if code is None:
            code = self._speaker_codes[name] = len(self.speakers)
            self.speakers.append(name)
        return code

    def _link(self, first: int) -> None:
        """Insert the rows from ``first`` on into the NEXT chains of their sessions.

        A chain is ordered by time, then by arrival.
        """
        previous, following = self.chunks["previous"], self.chunks["following"]
        ats, tails = self.chunks["at"], self._tails
        sessions = self.chunks["session"][first:].tolist()
        for row, session in enumerate(sessions, first):
            before, after = tails.get(session, -1), -1
            while before >= 0 and ats[before] > ats[row]:  # for rows that arrive late
                before, after = int(previous[before]), before
            previous[row], following[row] = before, after
            if before >= 0:
                following[before] = row
            if after >= 0:
                previous[after] = row
            else:
                tails[session] = row

    def lexicon(self, terms: Sequence[str]) -> Lexicon:
        """The BM25 statistics of this space for some terms."""
        return self.lexicon_of(terms, self.chunks.words.under_all(term_hashes(terms)))

    def lexicon_of(self, terms: Sequence[str], found: Sequence[Lookup]) -> Lexicon:
        """The BM25 statistics for some terms, from their rows among the chunks."""
        frequencies = {term: len(rows) for term, (rows, _) in zip(terms, found, strict=True)}
        return Lexicon(self.chunks.rows, self.chunks.mean_length, frequencies)

    # Triples

    def _read_triples_apart(
        self, connect: Callable[[], AbstractContextManager[sqlite3.Connection]], span: Span
    ) -> None:
        with connect() as connection:
            self._read_triples(connection, span)

    def _read_triples(self, connection: sqlite3.Connection, span: Span) -> None:
        if not self.triples.rows:
            self.triples.reserve(count(connection, "triple_index", span))
        for row in blocks(connection, TRIPLES, "triple_index", span):
            self._take_triples(row)
        self.triples.words.settle()
        self.by_subject.settle()
        self.by_object.settle()

    def _take_triples(self, row: tuple[Any, ...]) -> None:
        ids, subjects, objects, firsts, lasts, lengths = map(unpack_integers, row[:6])
        self.unsaved += len(ids)
        values: dict[str, Array] = {
            "id": ids,
            "subject": subjects,
            "object": objects,
            "first": firsts,
            "last": lasts,
            "length": lengths,
            "uid": unpack_uids(row[6]),
            "vector": self.vectors.view(row[9]),
        }
        postings, sizes = unpack_terms(row[8], unpack_integers(row[7]))
        rows = self.triples.find(ids)
        moved = rows >= 0
        self.triples["restated"][rows[moved]] = True  # its evidence may have changed
        subject, object = (self.triples[name][rows[moved]] for name in ("subject", "object"))
        moved[moved] = (subject != subjects[moved]) | (object != objects[moved])
        first = self.triples.take(values, postings, sizes, restated=False)
        new = np.arange(first, self.triples.rows)
        self.by_subject.add(self.triples["subject"][first:], new)
        self.by_object.add(self.triples["object"][first:], new)
        if moved.any():
            self._moved = True
            self.by_subject.add(subjects[moved], rows[moved])
            self.by_object.add(objects[moved], rows[moved])

    def around(self, entity: int) -> Ints:
        """The rows of the triples whose subject or object an entity is."""
        subject, object = self.triples["subject"], self.triples["object"]
        as_subject, as_object = self.by_subject.under(entity)[0], self.by_object.under(entity)[0]
        if self._moved:  # the lists also hold where a triple was before
            as_subject = np.unique(as_subject[subject[as_subject] == entity])
            as_object = np.unique(as_object[object[as_object] == entity])
        as_object = as_object[subject[as_object] != entity]
        return np.concatenate([as_subject, as_object]).astype(np.int64)

    # Themes

    def _take_themes(self, connection: sqlite3.Connection, space_id: int) -> None:
        changed = connection.execute(
            "SELECT id, uid, name FROM session WHERE space_id = ? AND changed > ? ORDER BY id",
            (space_id, self._themes_revision),
        ).fetchall()
        self.sessions.take(changed)
        for first in range(0, len(changed), _SESSIONS):
            themes: dict[int, list[ThemeRow]] = {
                id: [] for id, _, _ in changed[first : first + _SESSIONS]
            }
            for session, *row in select_in(connection, _THEMES, [*themes]):
                themes[session].append(tuple(row))
            self.themes.replace(themes)
        self.themes.words.settle()


class SessionNames:
    """Names by the row ids of sessions; those that are not known are read from the file."""

    def __init__(self) -> None:
        self._known: dict[int, Names] = {}

    @property
    def nbytes(self) -> int:
        """Approximate memory held."""
        return len(self._known) * _BYTES

    def take(self, rows: Iterable[tuple[int, str, str]]) -> None:
        """Keep the names of sessions, as (row id, uid, name)."""
        self._known.update((id, (uid, name)) for id, uid, name in rows)

    def names(self, connection: sqlite3.Connection, ids: Sequence[int]) -> dict[int, Names]:
        """The names of sessions of the space."""
        unknown = sorted(set(ids).difference(self._known))
        if unknown:
            statement = "SELECT id, uid, name FROM session WHERE id IN ({})"
            for id, uid, name in select_in(connection, statement, unknown):
                self._known[id] = uid, name
            ids = [id for id in ids if id in self._known]
        return dict(zip(ids, map(self._known.__getitem__, ids), strict=True))


def unchanged(connection: sqlite3.Connection, layer: str, known: tuple[int, int]) -> Ints:
    """The ids of the rows that are as they were in a revision of a space."""
    (ids,) = connection.execute(
        f"SELECT group_concat({layer}_id) FROM {layer}_index INDEXED BY {layer}_index_changed "
        "WHERE space_id = ? AND changed <= ?",
        known,
    ).fetchone()
    return unpack_integers(ids) if ids else np.empty(0, np.int64)


def count(connection: sqlite3.Connection, table: str, span: Span) -> int:
    """The number of rows that were written in a range of revisions."""
    query = f"SELECT count(*) FROM {table} WHERE space_id = ? AND changed > ? AND changed <= ?"
    return int(connection.execute(query, span).fetchone()[0])


def are_many(connection: sqlite3.Connection, table: str, span: Span) -> bool:
    """Whether the rows of a range take several blocks."""
    return count(connection, table, span) > BATCH


def blocks(
    connection: sqlite3.Connection, query: str, table: str, span: Span
) -> Iterator[tuple[Any, ...]]:
    """Blocks of ``BATCH`` rows or a few more, because a revision is never divided."""
    space_id, after, last = span
    boundary = (
        f"SELECT changed FROM {table} INDEXED BY {table}_changed WHERE space_id = ? "
        f"AND changed > ? AND changed <= ? ORDER BY changed LIMIT 1 OFFSET {BATCH - 1}"
    )
    while after < last:
        found = connection.execute(boundary, (space_id, after, last)).fetchone()
        end = last if found is None else found[0]
        row = connection.execute(query, (space_id, after, end)).fetchone()
        if row[0] is not None:
            yield row
        after = end
