"""The themes of one space in memory: few rows, put together again when one changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from cognigraph.stores.arrays import Floats, Ints, Vector
from cognigraph.stores.sqlite.blobs import VectorFormat, unpack_terms
from cognigraph.stores.sqlite.postings import Postings

ThemeRow = tuple[bytes, bytes, int]
"""Vector, terms and length of a theme, as they are in the file."""


@dataclass(frozen=True, slots=True)
class ThemeTable:
    """All themes: whose each is, its vector, its length in terms, and where each word is."""

    owners: Ints
    vectors: Vector
    length: Floats
    words: Postings


class Themes:
    """Themes by session id."""

    def __init__(self, vectors: VectorFormat) -> None:
        self._format = vectors
        self._rows: dict[int, list[ThemeRow]] = {}
        self._table: ThemeTable | None = None

    def __len__(self) -> int:
        return len(self._rows)

    def take(self, sessions: Iterable[tuple[int, list[ThemeRow]]]) -> None:
        """Replace the themes of some sessions; without any a session has none."""
        for session, rows in sessions:
            self._table = None
            if rows:
                self._rows[session] = rows
            else:
                self._rows.pop(session, None)

    def table(self) -> ThemeTable:
        """Everything, in the order of the sessions' ids."""
        if self._table is None:
            sessions = sorted(self._rows)
            rows = [row for session in sessions for row in self._rows[session]]
            counts = [len(self._rows[session]) for session in sessions]
            sizes = np.array([len(terms) for _, terms, _ in rows], np.int64)
            words = Postings()
            words.append(*unpack_terms(b"".join(terms for _, terms, _ in rows), sizes), 0)
            self._table = ThemeTable(
                owners=np.repeat(np.array(sessions, np.int64), np.array(counts, np.int64)),
                vectors=self._format.unpack([vector for vector, _, _ in rows]),
                length=np.array([length for _, _, length in rows], float),
                words=words,
            )
        return self._table
