"""How many chunks of a space contain each term: counted once, then only for new chunks.

To count the words of 100,000 chunks takes half a second, so the counts are cached per space. Those
of large spaces, where it takes seconds, are also kept in the database for other processes: in a
node of its own, ``(:CogniGraph {uid})``, without the property ``space``, so that no query of a user
finds it. It counts as right as long as the space has as many chunks up to its arrival number as
were counted, and none of them was rewritten; whoever forgets or rewrites a chunk deletes it in the
same transaction.

Arrival numbers are assigned under the lock of the space and therefore become visible in order: a
reader that has counted up to the newest number has missed no chunk of any writer.

Lucene's own BM25 would not do: its number of texts and their mean length are those of all spaces,
so that other tenants would change the order of hits.
"""

from __future__ import annotations

import logging
import struct
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from threading import Lock

import numpy as np
import numpy.typing as npt

from cognigraph import ids
from cognigraph.errors import StoreError
from cognigraph.stores.neo4j.connection import Connection, Row, Transaction
from cognigraph.stores.neo4j.deadlines import within
from cognigraph.text.word_book import Lexicon

_HASH, _COUNT = "<u8", "<u4"
_BYTES = 12
_MOST_RECENT = 20_000
"""So many terms may be in the dictionary, which takes a hundred bytes for each."""
_PER_TERM = 8
"""So many terms in arrays take the memory of one in the dictionary."""
logger = logging.getLogger("cognigraph.neo4j")
_HEAD = struct.Struct("<4sqqq")
_FORMAT = b"CGW1"
_PATIENCE = 30.0
"""Seconds for writing the counts, which nobody waits for."""
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
        kept = KeptCounts(counts.seq, counts.chunks, counts.epoch, counts.frequencies.packed())
        counts.kept = kept.chunks  # even if writing fails: it is tried again when there is more
        self._connection.start(keep_counts, self._connection, space, kept)

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
            kept = KeptCounts.from_bytes(value)
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

    def begin_with(self, space: str, kept: KeptCounts) -> None:
        """Take what another process has counted."""
        self.frequencies = Frequencies.from_bytes(space, kept.frequencies)
        self.seq, self.epoch = kept.seq, kept.epoch
        self.chunks = self.kept = kept.chunks
        self.is_from_kept = True

    @property
    def are_worth_keeping(self) -> bool:
        """Whether so much was counted that other processes should not have to."""
        if self.kept is None:
            return True
        return self.chunks - self.kept > max(_LEAST_KEPT, self.chunks // _KEPT_AGAIN)


class Frequencies:
    """The counts: sorted hashes of terms, and a dictionary of what was counted since.

    The hashes have 64 bits and depend on the space.
    """

    def __init__(self, space: str) -> None:
        self._seed = blake2b(space.encode("utf-8", "surrogatepass"), digest_size=8, person=b"count")
        self._hashes: npt.NDArray[np.uint64] = np.zeros(0, _HASH)
        self._counts: npt.NDArray[np.uint32] = np.zeros(0, _COUNT)
        self._recent: dict[str, int] = {}

    @classmethod
    def from_bytes(cls, space: str, value: bytes) -> Frequencies:
        """The counts that :meth:`packed` has returned."""
        own, terms = cls(space), len(value) // _BYTES
        own._hashes = np.frombuffer(value, _HASH, terms)
        own._counts = np.frombuffer(value, _COUNT, terms, 8 * terms)
        return own

    def packed(self) -> bytes:
        """All counts as bytes: the hashes, then the counts."""
        self._fold()
        return self._hashes.tobytes() + self._counts.tobytes()

    @property
    def cost(self) -> int:
        """What the counts take of memory, in terms of the dictionary."""
        return len(self._recent) + len(self._hashes) // _PER_TERM

    def add(self, terms: Sequence[str], counts: Sequence[int]) -> None:
        """Add further chunks, as many with each term."""
        recent = self._recent
        for term, count in zip(terms, counts, strict=True):
            recent[term] = recent.get(term, 0) + count
        if len(recent) > _MOST_RECENT:
            self._fold()

    def among(self, terms: Sequence[str]) -> dict[str, int]:
        """The number of chunks with each of some terms."""
        rows, known = self._rows(self._hashed(terms))
        found = np.zeros(len(terms), np.int64)
        found[known] = self._counts[rows[known]]
        return {
            term: count + self._recent.get(term, 0)
            for term, count in zip(terms, found.tolist(), strict=True)
        }

    def _fold(self) -> None:
        """Move what is in the dictionary to the arrays."""
        if not self._recent:
            return
        hashes = self._hashed(self._recent)
        order = np.argsort(hashes)
        hashes = hashes[order]
        new = np.fromiter(self._recent.values(), _COUNT, len(self._recent))[order]
        rows, known = self._rows(hashes)
        counts = self._counts.copy()
        counts[rows[known]] += new[known]
        self._hashes = np.insert(self._hashes, rows[~known], hashes[~known])
        self._counts = np.insert(counts, rows[~known], new[~known])
        self._recent = {}

    def _rows(
        self, hashes: npt.NDArray[np.uint64]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """Where hashes are in the arrays, or would be, and which of them are there."""
        rows = np.searchsorted(self._hashes, hashes)
        known = rows < len(self._hashes)
        known[known] = self._hashes[rows[known]] == hashes[known]
        return rows, known

    def _hashed(self, terms: Iterable[str]) -> npt.NDArray[np.uint64]:
        digests = []
        for term in terms:
            one = self._seed.copy()
            one.update(b"\0" + term.encode("utf-8", "surrogatepass"))
            digests.append(one.digest())
        return np.frombuffer(b"".join(digests), _HASH)


@dataclass(frozen=True, slots=True)
class KeptCounts:
    """The counts of the chunks of a space up to an arrival number; ``epoch`` counts rewrites."""

    seq: int
    chunks: int
    epoch: int
    frequencies: bytes
    """See :meth:`Frequencies.packed`."""

    @property
    def value(self) -> bytes:
        """What the node has: all in one, since somebody may write between the readings of two."""
        return _HEAD.pack(_FORMAT, self.seq, self.chunks, self.epoch) + self.frequencies

    @classmethod
    def from_bytes(cls, value: bytes) -> KeptCounts | None:
        """The counts of a node; ``None`` if this version does not know their format."""
        if value[: len(_FORMAT)] != _FORMAT:
            return None
        _, seq, chunks, epoch = _HEAD.unpack_from(value)
        return cls(seq, chunks, epoch, value[_HEAD.size :])


def kept_uid(space: str) -> str:
    """The uid of the node with the counts of a space."""
    return ids.uid("Words", space)


def keep_counts(connection: Connection, space: str, kept: KeptCounts) -> None:
    """Write the counts, unless they are wrong by now. What fails is only logged."""
    parameters = {
        "space": space,
        "uid": kept_uid(space),
        "seq": kept.seq,
        "chunks": kept.chunks,
        "epoch": kept.epoch,
        "kept": {"seq": kept.seq, "words": kept.value},
    }
    try:
        with within(_PATIENCE):
            connection.write(lambda tx: tx.rows("words/keep", **parameters))
    except StoreError as error:  # another process, or this one later, tries again
        logger.info("the word counts of space %r were not kept: %s", space, error)


def drop_kept_counts(tx: Transaction, space: str) -> None:
    """Delete the counts, in a transaction that has locked the space and changes its chunks."""
    tx.rows("words/drop", uid=kept_uid(space))
