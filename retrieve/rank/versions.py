"""Later versions of a message: what its speaker said of the same thing at another time.

"My phone plan is 23 pounds for eight gigs" and "I'm with Lemon now, eleven pounds for twenty gigs"
answer the same question. Among all that Teo said and the search found, each is one of the nearest
to the other, and only time tells which is true now: in any language, without a list of words. How
similar two versions are differs from space to space, so they are compared with the other messages
of the result. The vectors are those of the wordllama wheel, whichever embedder is used: they take
microseconds and need nothing from the store.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from cognigraph.arrays import Floats, Ints
from cognigraph.embed.models import token_means

NEAREST = 2
"""A version of a message is among this many messages of the speaker that are nearest to it."""

COMPARED = 20
"""The number of best messages that are compared with one another."""

DEPTH = 15
"""The number of best messages of which later ones move up."""

LEAD = 3
"""A later version moves only before one of this many first messages: those that would be read."""

ANSWERS_AS_WELL = 0.5
"""A later version moves only if its score is at least this share of the earlier one's. In a small
memory any two messages are near, whatever they are about."""


@dataclass(frozen=True, slots=True)
class Said:
    """A message of a result with its score.

    ``named`` are those names and figures of the question that it has. Only messages of the same
    ``speaker`` are versions of one another; ``None`` for one that is none, such as an assistant's.
    """

    text: str
    at: datetime
    session: str
    speaker: Hashable | None
    score: float
    named: frozenset[str] = frozenset()


def later_versions_first(found: Sequence[Said]) -> list[int]:
    """Return the order of messages, best first, in which later versions precede earlier ones.

    One that moves stands directly before the first of the ``LEAD`` best messages of which it is a
    later version, from another session; all others keep their order.
    """
    compared = found[:COMPARED]
    ranks = nearness_ranks(compared, {one.speaker for one in compared[:LEAD]})
    placed: list[int] = []
    for row in range(min(DEPTH, len(compared))):
        position = next(
            (
                position
                for position, before in enumerate(placed[:LEAD])
                if max(ranks[before, row], ranks[row, before]) < NEAREST
                and _is_later(compared[row], compared[before])
            ),
            len(placed),
        )
        placed.insert(position, row)
    return [*placed, *range(len(placed), len(found))]


def _is_later(new: Said, old: Said) -> bool:
    """Whether one message was said after the other in another session, and answers as well.

    "Order 13 was shipped" is no later version of "order 3 was shipped" for who asks for order 3.
    """
    return (
        new.at > old.at
        and new.session != old.session
        and new.score >= ANSWERS_AS_WELL * old.score
        and new.named >= old.named
    )


def nearness_ranks(found: Sequence[Said], speakers: Set[Hashable | None]) -> Ints:
    """How many messages of its speaker are nearer to message i than message j is (n, n).

    It is n for a message and itself, for those of different speakers, and for those of anyone who
    is not among ``speakers``.
    """
    n = len(found)
    ranks = np.full((n, n), n, np.int64)
    for speaker in speakers - {None}:
        rows = np.array([row for row, one in enumerate(found) if one.speaker == speaker], np.int64)
        similar = _similarity([found[row].text for row in rows])
        nearer = (similar[:, None, :] > similar[:, :, None]).sum(axis=2)
        np.fill_diagonal(nearer, n)
        ranks[np.ix_(rows, rows)] = nearer
    return ranks


def _similarity(texts: Sequence[str]) -> Floats:
    """Cosines (n, n) of the mean word vectors of some texts; -1 for a text and itself."""
    vectors = token_means().embed(texts).astype(float)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors /= np.where(norms > 0, norms, 1.0)
    # Rounded because the last bits of a product depend on the other rows of the matrix.
    similar = np.round(vectors @ vectors.T, 6)
    np.fill_diagonal(similar, -1.0)
    return np.asarray(similar)
