"""How many chunks of a space contain each term: counted once, then only for new chunks.

Of a large space only the newest chunks are counted, which takes a tenth of a second however many
there are; the frequencies of terms are estimated from them. The counts are cached per space.

Arrival numbers are assigned under the lock of the space and therefore become visible in order: a
reader that has counted up to the newest number has missed no chunk of any writer.

Lucene's own BM25 would not do: its number of texts and their mean length are those of all spaces,
so that other tenants would change the order of hits.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock

from cognigraph.stores.neo4j.connection import Connection, Row
from cognigraph.text.word_book import Lexicon

_MOST_COUNTED = 20_000
"""So many of the newest chunks are counted."""
_SPACE_TERMS = 10
"""Cost of an entry in addition to its terms, in terms (about 100 bytes each)."""


@dataclass(frozen=True, slots=True)
class SpaceView:
    """Totals and word statistics of a space at one moment."""

    chunks: int
    mean_length: float
    triples: int
    mean_triple_length: float
    chunk_indexed: bool
    covered: int | None
    triple_indexed: bool
    theme_indexed: bool
    lexicon: Lexicon


class Lexicons:
    """A least-recently-used cache of word counts by space, of at most ``most_terms`` terms."""

    def __init__(self, connection: Connection, most_terms: int) -> None:
        self._connection = connection
        self._most_terms = most_terms
        self._spaces: OrderedDict[str, _Counts] = OrderedDict()
        self._total = 0
        self._lock = Lock()

    def view(self, space: str, terms: Sequence[str]) -> SpaceView | None:
        """Current statistics; ``None`` for an empty space."""
        with self._lock:
            counts = self._spaces.get(space) or _Counts()
        with counts.lock:
            try:
                view = self._refresh(space, counts, terms)
                if view is None and counts.seq:
                    counts.restart()
                    view = self._refresh(space, counts, terms)
            finally:
                if counts.seq:
                    self._cache(space, counts)
        return view

    def expected(self, space: str, terms: Sequence[str]) -> SpaceView | None:
        """What :meth:`view` will say if nothing was written, without asking the server.

        ``None`` if that is unlikely: this process has written since, or the last look at the space
        found something new.
        """
        with self._lock:
            counts = self._spaces.get(space)
        if counts is None:
            return None
        with counts.lock:
            totals = counts.totals
            if totals is None or not counts.is_quiet or counts.written != self._connection.written:
                return None
            return _view(totals, counts, terms)

    def _refresh(self, space: str, counts: _Counts, terms: Sequence[str]) -> SpaceView | None:
        """Count new chunks; ``None`` if the space is empty, or counts are of what was changed."""
        written = self._connection.written
        row = self._connection.row(
            "search/space", space=space, since=counts.seq, most=_MOST_COUNTED
        )
        if row is None:
            return None
        totals, (fresh, new_terms, frequencies, epoch) = row[:9], row[9:13]
        self._connection.check_generation(*row[13:])
        if counts.seq and fresh == _MOST_COUNTED:
            return None  # so many are new that the older ones are not needed
        counts.add(fresh, new_terms, frequencies)
        seq, chunks = totals[:2]
        state = epoch, chunks - counts.chunks
        if counts.state not in (None, state):
            return None
        # A first look says nothing about how often the space changes; mostly nobody writes.
        counts.is_quiet = counts.totals in (None, totals)
        counts.seq, counts.state, counts.totals, counts.written = seq, state, totals, written
        return _view(totals, counts, terms)

    def _cache(self, space: str, counts: _Counts) -> None:
        """Store the counts of a space as the most recently used, and drop the oldest counts."""
        size = _SPACE_TERMS + len(counts.frequencies)
        with self._lock:
            if self._spaces.setdefault(space, counts) is not counts:
                return  # another thread has stored its counts; these are freed after this search
            self._spaces.move_to_end(space)
            self._total += size - counts.charged
            counts.charged = size
            while self._total > self._most_terms and len(self._spaces) > 1:
                _, dropped = self._spaces.popitem(last=False)
                self._total -= dropped.charged
                dropped.charged = 0

    def clear(self) -> None:
        """Discard all counts."""
        with self._lock:
            self._spaces.clear()
            self._total = 0


def _view(totals: Row, counts: _Counts, terms: Sequence[str]) -> SpaceView:
    seq, chunks, length, chunk_indexed, covered = totals[:5]
    triples, triple_length, triple_indexed, theme_indexed = totals[5:9]
    mean = length / chunks if chunks else 0.0
    return SpaceView(
        chunks=chunks,
        mean_length=mean,
        triples=triples,
        mean_triple_length=triple_length / triples if triples else 0.0,
        chunk_indexed=chunk_indexed,
        covered=covered if covered < seq else None,
        triple_indexed=triple_indexed,
        theme_indexed=theme_indexed,
        lexicon=Lexicon(chunks, mean, counts.among(terms, chunks)),
    )


@dataclass
class _Counts:
    """How many chunks contain each term, of those that were counted."""

    frequencies: dict[str, int] = field(default_factory=dict)
    chunks: int = 0
    seq: int = 0
    """The arrival number of the newest of them."""
    state: tuple[int, int] | None = None
    """How often chunks of the space were rewritten, and how many were not counted. If one of them
    changes, so may have what was counted."""
    totals: Row | None = None
    """What the space recorded of itself when it was last read."""
    is_quiet: bool = False
    """Whether nothing new was found then."""
    written: int = 0
    """How often this process had written to the database by then."""
    charged: int = 0
    lock: Lock = field(default_factory=Lock)

    def add(self, chunks: int, terms: Sequence[str], counts: Sequence[int]) -> None:
        """Add further chunks, as many with each term."""
        self.chunks += chunks
        for term, count in zip(terms, counts, strict=True):
            self.frequencies[term] = self.frequencies.get(term, 0) + count

    def restart(self) -> None:
        """Discard what was counted."""
        self.frequencies, self.chunks, self.seq, self.state = {}, 0, 0, None

    def among(self, terms: Sequence[str], chunks: int) -> dict[str, int]:
        """The number of chunks with each of some terms, of all ``chunks`` of the space.

        If not all were counted, it is estimated, and no term is without a chunk.
        """
        if self.chunks >= chunks:
            return {term: self.frequencies.get(term, 0) for term in terms}
        scale = chunks / max(self.chunks, 1)
        return {term: max(1, round(scale * self.frequencies.get(term, 0))) for term in terms}
