"""Word statistics of each space: the server counts all words once, then only those of new chunks.

To count the words of 100,000 chunks takes half a second, so the counts are cached per space, and
those of large spaces are kept in the database for other processes (``kept_words.py``).
Arrival numbers are assigned under the lock of the space and therefore become visible in order: a
reader that has counted up to the newest number has missed no chunk of any writer.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock

from cognigraph.stores.neo4j.connection import Connection, Row
from cognigraph.stores.neo4j.index.frequencies import Frequencies
from cognigraph.stores.neo4j.index.kept_words import KeptWords, keep, kept_uid
from cognigraph.text.bm25 import Lexicon

_AT_ONCE = 50_000
"""Chunks whose words one statement counts. What is counted stays, also if a search fails later."""
_SPACE_TERMS = 10
"""Cost of an entry in addition to its terms, in terms (about 100 bytes each)."""
_LEAST_KEPT = 20_000
"""So many chunks are counted in a tenth of a second: not worth keeping."""
_KEPT_AGAIN = 20
"""Counts are kept anew when a twentieth of the chunks is missing in what is kept."""


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


@dataclass
class _Counts:
    frequencies: Frequencies
    lock: Lock = field(default_factory=Lock)
    seq: int = 0
    epoch: int | None = None
    is_outdated: bool = False
    chunks: int = 0
    uses_kept: bool = True
    """Whether to begin with what is kept in the database."""
    is_from_kept: bool = False
    """Whether the counts began with what was just read."""
    kept: int | None = 0
    """How many chunks are counted in what is kept; ``None`` if that is wrong."""
    charged: int = 0
    totals: Row | None = None
    """What the space recorded of itself when it was last read."""
    is_quiet: bool = False
    """Whether nothing new was found then."""
    written: int = 0
    """How often this process had written to the database by then."""

    def agree(self, view: SpaceView) -> bool:
        """Whether the counts are of what the space records; if not, chunks were changed."""
        return self.chunks == view.chunks and not self.is_outdated

    def restart(self, space: str, *, uses_kept: bool) -> None:
        """Discard the counts."""
        self.frequencies = Frequencies(space)
        self.seq, self.chunks, self.epoch, self.is_outdated = 0, 0, None, False
        self.kept = None if self.is_from_kept else 0
        self.uses_kept, self.is_from_kept = uses_kept, False

    def begin_with(self, space: str, kept: KeptWords) -> None:
        """Take what another process has counted."""
        self.frequencies = Frequencies.of(space, kept.frequencies)
        self.seq, self.epoch = kept.seq, kept.epoch
        self.chunks = self.kept = kept.chunks
        self.is_from_kept = True

    @property
    def are_worth_keeping(self) -> bool:
        """Whether so much was counted that other processes should not have to."""
        if self.kept is None:
            return True
        return self.chunks - self.kept > max(_LEAST_KEPT, self.chunks // _KEPT_AGAIN)


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
            counts = self._spaces.get(space) or _Counts(Frequencies(space))
        with counts.lock:
            try:
                view = self._agreed(space, counts, terms)
            finally:
                if counts.seq:
                    self._cache(space, counts)
        return view

    def _agreed(self, space: str, counts: _Counts, terms: Sequence[str]) -> SpaceView | None:
        """Bring the counts up to date; if chunks were changed, begin with what is kept, or anew."""
        counts.is_from_kept, counts.uses_kept = False, True
        view = self._refresh(space, counts, terms)
        for uses_kept in (True, False):
            if view is None or counts.agree(view):
                break
            if not (uses_kept and counts.is_from_kept):
                counts.restart(space, uses_kept=uses_kept)
                view = self._refresh(space, counts, terms)
        if view is not None and counts.agree(view) and counts.are_worth_keeping:
            self._share(space, counts)
        return view

    def _share(self, space: str, counts: _Counts) -> None:
        """Keep the counts in the database, in a thread that no search waits for."""
        assert counts.epoch is not None
        kept = KeptWords(counts.seq, counts.chunks, counts.epoch, counts.frequencies.packed())
        counts.kept = kept.chunks  # even if writing fails: it is tried again when there is more
        self._connection.start(keep, self._connection, space, kept)

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
            return _view(totals, counts.frequencies, terms)

    def _refresh(self, space: str, counts: _Counts, terms: Sequence[str]) -> SpaceView | None:
        written = self._connection.written
        row = self._count_next(space, counts)
        while row is not None and row[9] == _AT_ONCE:
            row = self._count_next(space, counts)
        if row is None:
            return None
        # A first look says nothing about how often the space changes; mostly nobody writes.
        totals = [*row[:9], counts.epoch]
        counts.is_quiet = counts.totals in (None, totals)
        counts.totals, counts.written = totals, written
        return _view(totals, counts.frequencies, terms)

    def _count_next(self, space: str, counts: _Counts) -> Row | None:
        """Count the words of the next chunks; return the row of the statement."""
        uid = kept_uid(space) if counts.uses_kept and not counts.seq else None
        row = self._connection.row(
            "search/space", space=space, since=counts.seq, most=_AT_ONCE, kept=uid
        )
        if row is None:
            return None
        fresh, new_terms, new_counts, generation, embedder, dimension, epoch = row[9:16]
        self._connection.check_generation(generation, embedder, dimension)
        value, since = row[16:]
        if value is not None:
            kept = KeptWords.of(value)
            if kept is None or kept.seq != since:
                counts.uses_kept, counts.kept = False, None
                return self._count_next(space, counts)
            counts.begin_with(space, kept)
        counts.frequencies.add(new_terms, new_counts)
        counts.chunks += fresh
        counts.seq = max(row[0], counts.seq)
        counts.is_outdated |= counts.epoch not in (None, epoch)
        counts.epoch = epoch
        return row

    def _cache(self, space: str, counts: _Counts) -> None:
        """Store the counts of a space as the most recently used, and drop the oldest counts."""
        size = _SPACE_TERMS + counts.frequencies.cost
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


def _view(totals: Row, frequencies: Frequencies, terms: Sequence[str]) -> SpaceView:
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
        lexicon=Lexicon(chunks, mean, frequencies.among(terms)),
    )
