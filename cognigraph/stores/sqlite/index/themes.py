"""The themes of one space in memory: vectors and terms, grouped by session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat

import numpy as np

from cognigraph.arrays import Ints, Vector, product
from cognigraph.stores.sqlite.index.codes import Codes
from cognigraph.stores.sqlite.index.layer import FEW_ROWS
from cognigraph.stores.sqlite.index.postings import Postings
from cognigraph.stores.sqlite.index.scan import CodedScan, ExactScan, Scan
from cognigraph.stores.sqlite.index.table import Array, Table
from cognigraph.stores.sqlite.vector_format import VectorFormat, unpack_terms

ThemeRow = tuple[bytes, bytes, int]
"""Vector, terms and length of a theme, as stored in the file."""

_THEME_BYTES, _SESSION_BYTES = 48, 200
"""Memory of the Python objects for the terms of a theme, and for the rows of a session."""

NOBODY = -1
"""The owner of a row that was replaced."""


class Themes:
    """One row for each theme: its session (``owner``), vector and length; and an index of words.

    A session's themes change as the session grows. The old rows are then marked with the owner
    ``NOBODY`` and removed once they outnumber the others, so that the amortised cost of a change
    depends only on its own rows. Many themes have codes, and their vectors in the precision of
    the file.
    """

    def __init__(self, vectors: VectorFormat, few_rows: int = FEW_ROWS) -> None:
        self._format = vectors
        self._few_rows = few_rows
        self._clear()

    def _clear(self) -> None:
        self._table = Table(
            {
                "id": (np.int64, ()),
                "owner": (np.int64, ()),
                "length": (np.int32, ()),
                "vector": (np.float32, (self._format.dimension,)),
            }
        )
        self._codes: Codes | None = None
        self.words = Postings()
        self._rows: dict[int, list[int]] = {}
        self._terms: list[bytes] = []
        self._terms_bytes = 0

    def __len__(self) -> int:
        return self._table.rows

    @property
    def nbytes(self) -> int:
        """Approximate memory held."""
        objects = len(self._terms) * _THEME_BYTES + len(self._rows) * _SESSION_BYTES
        codes = 0 if self._codes is None else self._codes.nbytes
        return self._table.nbytes + codes + self.words.nbytes + self._terms_bytes + objects

    def __getitem__(self, column: str) -> Array:
        return self._table[column]

    def cosines(self, vector: Vector) -> dict[tuple[int, int], float]:
        """The cosine of each theme with a vector, by its session and its position in that."""
        found = product(self._exact(np.arange(len(self))), vector).tolist()
        return {
            (session, place): max(0.0, found[row])
            for session, rows in self._rows.items()
            for place, row in enumerate(rows)
        }

    def scan(self, vector: Vector) -> Scan:
        """Compare the themes with a vector, also those of nobody."""
        if self._codes is None:
            return ExactScan(self["vector"], vector)
        return CodedScan(self._codes, vector)

    def _exact(self, rows: Ints) -> Vector:
        return np.asarray(self["vector"][rows], np.float32)

    def rows_of(self, sessions: Iterable[int]) -> Ints:
        """The rows of the themes of some sessions."""
        own = map(self._rows.get, sessions, repeat(()))
        return np.array([*chain.from_iterable(own)], np.int64)

    def take(self, sessions: Mapping[int, Sequence[ThemeRow]]) -> None:
        """Replace the themes of some sessions; an empty sequence removes them."""
        for session in sessions:
            self._table["owner"][self._rows.pop(session, [])] = NOBODY
        new = [(session, row) for session, rows in sessions.items() for row in rows]
        if new:
            self._append(
                np.array([session for session, _ in new], np.int64),
                self._format.unpack([vector for _, (vector, _, _) in new]),
                np.array([length for _, (_, _, length) in new], np.int32),
                [terms for _, (_, terms, _) in new],
            )
        self._compact()

    def _append(self, owners: Ints, vectors: Vector, lengths: Array, terms: list[bytes]) -> None:
        first = len(self)
        ids = np.arange(first, first + len(owners))
        self._table.append({"id": ids, "owner": owners, "length": lengths, "vector": vectors})
        if self._codes is not None:
            self._codes.append(vectors)
        elif len(self) > self._few_rows:
            self._codes = Codes(self._format.dimension)
            self._codes.append(self["vector"])
            self._table.convert("vector", self._format.dtype)
        sizes = np.array([len(blob) for blob in terms], np.int64)
        self.words.append(*unpack_terms(b"".join(terms), sizes), first)
        self._terms += terms
        self._terms_bytes += int(sizes.sum())
        for row, owner in zip(ids.tolist(), owners.tolist(), strict=True):
            self._rows.setdefault(owner, []).append(row)

    def _compact(self) -> None:
        owned = np.flatnonzero(self["owner"] != NOBODY)
        if len(self) <= 2 * len(owned):
            return
        owners, vectors, lengths = (self[name][owned] for name in ("owner", "vector", "length"))
        terms = [self._terms[row] for row in owned.tolist()]
        self._clear()
        self._append(owners, vectors, lengths, terms)
