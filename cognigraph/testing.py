"""Doubles for tests of programs that use a memory: no model, no network, no waiting.

>>> from cognigraph import Memory
>>> from cognigraph.testing import FrozenClock, HashEmbedder, ScriptedExtractor
>>> extractor = ScriptedExtractor({"m1": [("Ann", "moved to", "Oslo")]})
>>> memory = Memory(
...     path, embedder=HashEmbedder(), clock=FrozenClock(), extractor=extractor, enrich="manual"
... )
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from threading import Lock

import numpy as np
import numpy.typing as npt

from cognigraph.errors import ConfigurationError, ExtractionError
from cognigraph.ingest.extraction import Extraction, Fact, Window
from cognigraph.lexical import terms
from cognigraph.times import to_utc

__all__ = ["FactLike", "FrozenClock", "HashEmbedder", "Script", "ScriptedExtractor"]

FactLike = Fact | tuple[str, str, str] | tuple[str, str, str, str | None]
"""A :class:`Fact`, or (subject, relation, object), or (subject, relation, object, when)."""

Script = Mapping[str, Sequence[FactLike]] | Callable[[Window], Extraction]
"""Facts by message id, or a function that reads the window itself."""

_START = datetime(2024, 1, 1, 9, 0, tzinfo=UTC)


class HashEmbedder:
    """Bag-of-words feature hashing: texts that share a word have a cosine above 0.

    Deterministic on every machine and Python. Each word stem adds 1 at a place of its own hash, so
    no component is negative; a text without words gets the zero vector. Words that fall on one
    place are told apart by a larger ``dimension`` only.
    """

    def __init__(self, dimension: int = 64) -> None:
        if dimension < 1:
            raise ConfigurationError(f"dimension must be at least 1, not {dimension}")
        self._dimension = dimension

    @property
    def name(self) -> str:
        """``hash-64`` for 64 dimensions."""
        return f"hash-{self._dimension}"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Word counts by hash, (len(texts), dimension), not normalised."""
        vectors = np.zeros((len(texts), self._dimension), np.float32)
        for row, text in enumerate(texts):
            for term in terms(text):
                vectors[row, _hash(term) % self._dimension] += 1.0
        return vectors

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        """The same as for any text."""
        return np.asarray(self.embed([text])[0])


@lru_cache(maxsize=65_536)
def _hash(term: str) -> int:
    digest = blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


class FrozenClock:
    """A clock that moves only when told to. ``start`` is aware, or ISO 8601 text with an offset."""

    def __init__(self, start: datetime | str = _START) -> None:
        self._lock = Lock()
        self._now = to_utc(start)

    def __call__(self) -> datetime:
        """The time it stands at, in UTC."""
        with self._lock:
            return self._now

    def advance(self, by: timedelta) -> datetime:
        """Move on (or back, by a negative ``by``) and return the new time."""
        with self._lock:
            self._now += by
            return self._now


class ScriptedExtractor:
    """Answers what a test says, counts the calls, and fails where a test wants a failure.

    Args:
        script: facts by message id, or a function that reads the window itself. Messages without
            a script have no facts.
        name: recorded with every chunk read.

    The places in a scripted :class:`Fact` count from its message's first chunk, so ``(0,)`` is
    that message wherever it stands in the window; a tuple of words has that place. Thread-safe.
    """

    result: Callable[[Window], Extraction] | None
    """If set, it answers instead of the facts by message id."""

    session: Callable[[Window], Extraction] | None
    """If set, keys, themes and state are taken from its answer."""

    def __init__(self, script: Script | None = None, *, name: str = "scripted-1") -> None:
        self._name = name
        self._lock = Lock()
        self._windows: list[Window] = []
        self._failing: dict[str, int] = {}
        self._fail_calls: frozenset[int] = frozenset()
        self._error: Exception | None = None
        self.session = None
        self.script(script or {})

    @property
    def name(self) -> str:
        """``scripted-1`` unless another was given."""
        return self._name

    def script(self, script: Script) -> None:
        """Replace what it answers from now on."""
        if callable(script):
            self._facts: Mapping[str, Sequence[FactLike]] = {}
            self.result = script
        else:
            self._facts = script
            self.result = None

    def fail_for(self, *ids: str, times: int = 1, error: Exception | None = None) -> None:
        """Fail the next ``times`` calls whose window has one of these messages.

        ``error`` is what is raised; an :class:`ExtractionError` that names the message by default.
        """
        with self._lock:
            self._failing.update(dict.fromkeys(ids, times))
            self._error = error

    def fail_at(self, *calls: int, error: Exception | None = None) -> None:
        """Fail the calls with these numbers, counted from 1 since the beginning."""
        with self._lock:
            self._fail_calls |= frozenset(calls)
            self._error = error

    @property
    def calls(self) -> int:
        """How often it was asked, failures included."""
        with self._lock:
            return len(self._windows)

    @property
    def windows(self) -> tuple[Window, ...]:
        """What it was asked to read, in order."""
        with self._lock:
            return tuple(self._windows)

    @property
    def read(self) -> Counter[str]:
        """How often each message was in a window."""
        return Counter(
            id
            for window in self.windows
            for id in dict.fromkeys(chunk.message_id for chunk in window.chunks)
        )

    def extract(self, window: Window) -> Extraction:
        """The scripted extraction, or the scripted failure."""
        self._count(window)
        if self.result is not None:
            return self.result(window)
        facts = tuple(_facts(self._facts, window))
        if self.session is None:
            return Extraction(facts=facts, state=window.notes.state)
        return replace(self.session(window), facts=facts)

    def _count(self, window: Window) -> None:
        """Note the call and raise what is due."""
        ids = dict.fromkeys(chunk.message_id for chunk in window.chunks)
        with self._lock:
            self._windows.append(window)
            call = len(self._windows)
            failing = [id for id in ids if self._failing.get(id, 0) > 0]
            for id in failing:
                self._failing[id] -= 1
            if not failing and call not in self._fail_calls:
                return
            error = self._error
        if error is not None:
            raise error
        what = f"message {failing[0]!r}" if failing else f"call {call}"
        raise ExtractionError(
            f"scripted failure of {what}", chunks=tuple(chunk.uid for chunk in window.chunks)
        )


def _facts(script: Mapping[str, Sequence[FactLike]], window: Window) -> Iterator[Fact]:
    seen: set[str] = set()
    for place, chunk in enumerate(window.chunks):
        if chunk.message_id in seen:
            continue
        seen.add(chunk.message_id)
        for item in script.get(chunk.message_id, ()):
            fact = item if isinstance(item, Fact) else _fact(item)
            yield replace(fact, chunks=tuple(place + own for own in fact.chunks))


def _fact(item: tuple[str, str, str] | tuple[str, str, str, str | None]) -> Fact:
    subject, relation, object, *rest = item
    when = rest[0] if rest else None
    return Fact(subject, "concept", relation, object, "concept", (0,), when=when)
