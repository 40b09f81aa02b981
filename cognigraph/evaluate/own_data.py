"""Compare search settings on a user's own data, without a model (``cognigraph eval self``)."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import fmean
from typing import Any

from cognigraph.errors import ConfigurationError
from cognigraph.evaluate.known_item import KnownItem, OwnMessage, known_items
from cognigraph.evaluate.metrics import bootstrap
from cognigraph.model import Hit
from cognigraph.settings import SearchSettings
from cognigraph.space import Space

DEFAULT = "default"
BIAS = (
    "Known-item questions are made of words of the message they look for. They favour search by "
    "words, and cannot tell how well questions in other words, or about several messages, are "
    "answered."
)
_DEEP = 1000
_PAGE = 1000
_ENOUGH = 40
"""Messages read for each question, so that a large space is sampled and not read whole."""
_FEW = 30
_PER_SESSION = """
MATCH (s:Session {id: $session})-[:HAS_CHUNK]->(c:Chunk)
RETURN c.message_id AS id, c.speaker AS speaker, c.role AS role, c.text AS text,
       c.at AS at, c.uid AS uid
ORDER BY uid
"""

_VARIANTS: Mapping[str, Mapping[str, Any]] = {
    DEFAULT: {},
    "licomemory": {"ranking": "licomemory"},
    "without windows": {"windows": False},
    "without late interaction": {"late_interaction": False},
    "without cues": {"cues": False},
    "without sessions": {"sessions": False},
    "without triples": {"triples": False},
}
_COSINE, _BOTH = "cosine", "cosine + BM25"


@dataclass(frozen=True, slots=True)
class Compared:
    """How one setting does: the share of messages found, their mean reciprocal rank.

    ``difference`` is the share found minus that of the default, with its 95 % interval from
    ``low`` to ``high``.
    """

    name: str
    found: float
    reciprocal_rank: float
    difference: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class SelfEvaluation:
    """What settings do on a space; ``advice`` and ``bias`` are sentences for people."""

    space: str
    seed: int
    k: int
    questions: int
    settings: tuple[Compared, ...]
    examples: tuple[KnownItem, ...]
    advice: str
    bias: str = BIAS


def evaluate_self(
    space: Space,
    *,
    questions: int = 100,
    k: int = 15,
    seed: int = 0,
    progress: Callable[[int], None] = lambda done: None,
) -> SelfEvaluation:
    """Ask for stored messages by some of their words, with several settings. Nothing is written.

    The same data, settings and ``seed`` give the same result. Raises :class:`ConfigurationError` if
    the space has no message of which a question can be made.
    """
    said, last = _read(space, questions, seed)
    items = known_items(said, questions, seed)
    if not items or last is None:
        raise ConfigurationError(
            f"no question can be made from the messages of {space.name!r}: a statement of at "
            "least four words is needed"
        )
    ranks: dict[str, list[int | None]] = {name: [] for name in (*_VARIANTS, _COSINE, _BOTH)}
    for done, item in enumerate(items, 1):
        for name, rank in _ranks(space, item, last + timedelta(days=1)).items():
            ranks[name].append(rank)
        progress(done)
    compared = tuple(_compared(name, found, ranks[DEFAULT], k) for name, found in ranks.items())
    return SelfEvaluation(
        space.name, seed, k, len(items), compared, tuple(items[:3]), advice(compared, len(items))
    )


def _read(space: Space, questions: int, seed: int) -> tuple[list[OwnMessage], datetime | None]:
    """Read the messages of random sessions until there are enough, and the time of the last."""
    names: list[str] = []
    while page := space.overview.sessions(limit=_PAGE, offset=len(names)):
        names += [session.id for session in page]
    names.sort()
    random.Random(seed).shuffle(names)
    said: list[OwnMessage] = []
    last: datetime | None = None
    for name in names:
        for row in space.cypher(_PER_SESSION, limit=_PAGE, session=name):
            said.append(OwnMessage(name, row["id"], row["speaker"], row["role"], row["text"]))
            last = row["at"] if last is None else max(last, row["at"])
        if len(said) >= questions * _ENOUGH:
            break
    return said, last


def _ranks(space: Space, item: KnownItem, now: datetime) -> dict[str, int | None]:
    """Return the rank of the message of a question by each setting; ``None`` if it is not found."""
    found: dict[str, int | None] = {}
    for name, changes in _VARIANTS.items():
        settings = SearchSettings(**changes)
        hits = space.search(item.question, _DEEP, now, settings=settings).hits
        found[name] = _rank(hits, item)
        if name == DEFAULT:
            found |= _simple(hits, item)
    return found


def _rank(hits: Sequence[Hit], item: KnownItem) -> int | None:
    for rank, hit in enumerate(hits, 1):
        if (hit.session, hit.id) == (item.session, item.id):
            return rank
    return None


def _simple(hits: Sequence[Hit], item: KnownItem) -> dict[str, int | None]:
    """Return the ranks by cosine alone, and by cosine and BM25, each scaled by its range."""
    cosine, words = ([hit.why.signals.get(name, 0.0) for hit in hits] for name in _SIMPLE)
    scores = {
        _COSINE: cosine,
        _BOTH: [a + b for a, b in zip(_scaled(cosine), _scaled(words), strict=True)],
    }
    return {
        name: _rank([hits[row] for row in sorted(range(len(hits)), key=lambda r: -values[r])], item)
        for name, values in scores.items()
    }


_SIMPLE = ("vector", "words")


def _scaled(values: Sequence[float]) -> list[float]:
    low, high = min(values, default=0.0), max(values, default=0.0)
    return [(value - low) / (high - low) if high > low else 0.0 for value in values]


def _compared(
    name: str, ranks: Sequence[int | None], default: Sequence[int | None], k: int
) -> Compared:
    found = [float(rank is not None and rank <= k) for rank in ranks]
    before = [float(rank is not None and rank <= k) for rank in default]
    gains = [a - b for a, b in zip(found, before, strict=True)]
    interval = bootstrap([gains])
    reciprocal = fmean(1 / (rank or math.inf) for rank in ranks)
    values = (fmean(found), reciprocal, fmean(gains), interval.low, interval.high)
    return Compared(name, *(round(value, 4) for value in values))


def advice(compared: Sequence[Compared], questions: int) -> str:
    """Say in a sentence or two what follows from a comparison."""
    best = max(compared, key=lambda each: (each.low, each.found))
    few = f" These are only {questions} questions." if questions < _FEW else ""
    if best.low <= 0:
        return f"No setting is better than the default beyond chance. Keep the default.{few}"
    gain = f"finds {best.difference:.1%} more of the messages than the default"
    if best.name in (_COSINE, _BOTH):
        return (
            f"The {best.name} alone {gain}, as questions made of a message's own words favour. If "
            f"your real questions fare alike, please report it; `cognigraph why` shows the causes."
            f"{few}"
        )
    changes = ", ".join(f"{key}={value!r}" for key, value in _VARIANTS[best.name].items())
    return f"{best.name!r} {gain}: try SearchSettings({changes}) on questions of your own.{few}"
