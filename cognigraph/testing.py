"""Test doubles for programs that use a memory: they need no model, no network and no waiting.

>>> from cognigraph import Memory
>>> from cognigraph.testing import FrozenClock, HashEmbedder, ScriptedExtractor
>>> extractor = ScriptedExtractor({"m1": [("Ann", "moved to", "Oslo")]})
>>> memory = Memory(
...     path, embedder=HashEmbedder(), clock=FrozenClock(), extractor=extractor, enrich="manual"
... )
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from hashlib import blake2b
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cognigraph.errors import ConfigurationError, ExtractionError, ModelAnswerError, ModelError
from cognigraph.ingest.extraction import Extraction, Extractor, Fact, Window
from cognigraph.llm.parse_answer import read
from cognigraph.llm.protocols import Answer, Prompt, T
from cognigraph.model import Usage
from cognigraph.text.marks import estimate_tokens
from cognigraph.text.terms import terms
from cognigraph.times import to_utc

if TYPE_CHECKING:
    from pydantic import BaseModel

__all__ = [
    "Asked",
    "FactLike",
    "FrozenClock",
    "HashEmbedder",
    "Replies",
    "Script",
    "ScriptedExtractor",
    "ScriptedModel",
]

FactLike = Fact | tuple[str, str, str] | tuple[str, str, str, str | None]
"""A :class:`Fact`, or (subject, relation, object), or (subject, relation, object, when)."""

Script = Mapping[str, Sequence[FactLike]] | Callable[[Window], Extraction]
"""Facts by message id, or a function that extracts from the window itself."""

Replies = Callable[[Prompt], Any] | Sequence[Any]
"""Answers of a :class:`ScriptedModel`: a function of the prompt, or a sequence used in order.

An answer is a text, which is parsed as leniently as that of a real model; a JSON value or a
pydantic model, which is validated; or an exception, which is raised.
"""

_START = datetime(2024, 1, 1, 9, 0, tzinfo=UTC)


class HashEmbedder:
    """Bag-of-words feature hashing: texts that share a word have a cosine above 0.

    Vectors are the same on every machine and Python version. Each word stem adds 1 to the component
    that its hash selects, so no component is negative; a text without words has the zero vector.
    A larger ``dimension`` makes it less likely that different words share a component.
    """

    static = True

    def __init__(self, dimension: int = 64) -> None:
        if dimension < 1:
            raise ConfigurationError(f"dimension must be at least 1, not {dimension}")
        self._dimension = dimension

    @property
    def name(self) -> str:
        """The name, such as ``hash-64`` for 64 dimensions."""
        return f"hash-{self._dimension}"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Counts of word stems by hash (len(texts), dimension), not normalised."""
        vectors = np.zeros((len(texts), self._dimension), np.float32)
        for row, text in enumerate(texts):
            for term in terms(text):
                vectors[row, _hash(term) % self._dimension] += 1.0
        return vectors

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        """Vector of a question, computed as for any other text."""
        return np.asarray(self.embed([text])[0])


@lru_cache(maxsize=65_536)
def _hash(term: str) -> int:
    digest = blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


class FrozenClock:
    """A clock that moves only by :meth:`advance`.

    ``start`` is an aware datetime or an ISO 8601 text with an offset.
    """

    def __init__(self, start: datetime | str = _START) -> None:
        self._lock = Lock()
        self._now = to_utc(start)

    def __call__(self) -> datetime:
        """The current time of this clock, in UTC."""
        with self._lock:
            return self._now

    def advance(self, by: timedelta) -> datetime:
        """Move the clock forward, or back by a negative ``by``, and return the new time."""
        with self._lock:
            self._now += by
            return self._now


class ScriptedExtractor(Extractor):
    """An extractor that returns scripted results, counts its calls, and fails on request.

    Args:
        script: facts by message id, or a function that extracts from the window itself. Messages
            without a script have no facts.
        name: name of the extractor, recorded with every chunk it has read.

    The chunk indices of a scripted :class:`Fact` count from the first chunk of its message, so
    ``(0,)`` is that message wherever it is in the window; facts given as tuples have this index.
    Thread-safe.
    """

    result: Callable[[Window], Extraction] | None
    """If set, this function's result replaces the facts by message id."""

    session: Callable[[Window], Extraction] | None
    """If set, keys, themes and state are taken from this function's result."""

    def __init__(self, script: Script | None = None, *, name: str = "scripted-1") -> None:
        self.name = name
        self._lock = Lock()
        self._windows: list[Window] = []
        self._failing: dict[str, int] = {}
        self._fail_calls: frozenset[int] = frozenset()
        self._error: Exception | None = None
        self.session = None
        self.script(script or {})

    def script(self, script: Script) -> None:
        """Replace the script."""
        if callable(script):
            self._facts: Mapping[str, Sequence[FactLike]] = {}
            self.result = script
        else:
            self._facts = script
            self.result = None

    def fail_for(self, *ids: str, times: int = 1, error: Exception | None = None) -> None:
        """Make the next ``times`` calls fail whose window has one of these messages.

        They raise ``error``; by default an :class:`ExtractionError` that names the message.
        """
        with self._lock:
            self._failing.update(dict.fromkeys(ids, times))
            self._error = error

    def fail_at(self, *calls: int, error: Exception | None = None) -> None:
        """Make the calls with these numbers fail, counted from 1 since the extractor was made."""
        with self._lock:
            self._fail_calls |= frozenset(calls)
            self._error = error

    @property
    def calls(self) -> int:
        """Number of calls, including those that failed."""
        with self._lock:
            return len(self._windows)

    @property
    def windows(self) -> tuple[Window, ...]:
        """The windows of all calls, in order."""
        with self._lock:
            return tuple(self._windows)

    @property
    def read(self) -> Counter[str]:
        """Number of windows that contained each message, by message id."""
        return Counter(
            id
            for window in self.windows
            for id in dict.fromkeys(chunk.message_id for chunk in window.chunks)
        )

    def extract(self, window: Window) -> Extraction:
        """Return the scripted extraction, or raise the scripted error."""
        self._count(window)
        if self.result is not None:
            return self.result(window)
        facts = tuple(_facts(self._facts, window))
        if self.session is None:
            return Extraction(facts=facts, state=window.notes.state)
        return replace(self.session(window), facts=facts)

    def _count(self, window: Window) -> None:
        """Record the call, and raise the error scripted for it, if any."""
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
    for index, chunk in enumerate(window.chunks):
        if chunk.message_id in seen:
            continue
        seen.add(chunk.message_id)
        for item in script.get(chunk.message_id, ()):
            fact = item if isinstance(item, Fact) else _fact(item)
            yield replace(fact, chunks=tuple(index + own for own in fact.chunks))


def _fact(item: tuple[str, str, str] | tuple[str, str, str, str | None]) -> Fact:
    subject, relation, object, *rest = item
    when = rest[0] if rest else None
    return Fact(subject, "concept", relation, object, "concept", (0,), when=when)


@dataclass(frozen=True, slots=True)
class Asked:
    """One prompt sent to a :class:`ScriptedModel`, with the requested schema."""

    prompt: Prompt
    schema: type[BaseModel]


class ScriptedModel:
    """A language model (:class:`cognigraph.llm.Model`) that returns scripted answers.

    Args:
        replies: a function of the prompt, or answers in the order of the prompts.
        name: name of the model, recorded with everything extracted by it.

    The usage of a prompt is one call and the estimated tokens of its texts; there is no second
    request after an invalid answer. Deterministic and thread-safe. Needs pydantic (the extra
    ``openai``).

    >>> model = ScriptedModel([{"facts": []}, ModelUnavailableError("down")])
    """

    def __init__(self, replies: Replies, *, name: str = "scripted-model") -> None:
        self.name = name
        self._replies = replies
        self._asked: list[Asked] = []
        self._lock = Lock()

    @property
    def asked(self) -> tuple[Asked, ...]:
        """The prompts so far, in order."""
        with self._lock:
            return tuple(self._asked)

    def ask(self, prompt: Prompt, schema: type[T]) -> Answer[T]:
        """Return the scripted answer, or raise the scripted error.

        Raises:
            ModelError: there is no scripted answer left, or it does not match the schema.
        """
        with self._lock:
            index = len(self._asked)
            self._asked.append(Asked(prompt, schema))
        if callable(self._replies):
            reply = self._replies(prompt)
        elif index < len(self._replies):
            reply = self._replies[index]
        else:
            raise ModelError(f"{self.name} has no answer number {index + 1} to {prompt.name!r}")
        if isinstance(reply, BaseException):
            raise reply
        text = reply if isinstance(reply, str) else _as_json(reply)
        usage = Usage(
            calls=1,
            input_tokens=estimate_tokens(prompt.system) + estimate_tokens(prompt.user),
            output_tokens=estimate_tokens(text),
        )
        reading = read(text, schema)
        if reading.value is None:
            raise ModelAnswerError(
                f"{self.name} gave no usable answer to {prompt.name!r}: {reading.problem}",
                usage=usage,
                attempts=1,
            )
        return Answer(
            reading.value, usage, reading.salvaged, reading.dropped, cut_off=reading.cut_off
        )


def _as_json(reply: Any) -> str:
    return json.dumps(reply.model_dump(mode="json") if hasattr(reply, "model_dump") else reply)
