"""Later versions of a message: what its speaker said of the same thing at another time.

"My phone plan is 23 pounds for eight gigs" and "I'm with Lemon now, eleven pounds for twenty
gigs" answer the same question, and only time tells which is true now. An update need not match
the question ("The barn went bust, so it's the boat house"), but it matches what it updates: of
all that people said and the search found, each is one of the nearest to the other, in meaning and
in the words that few of the others have. That holds in any language, without a list of words. How
similar two versions are differs from space to space, so only ranks are compared. The vectors are
those of the wordllama wheel, whichever embedder is used: they take microseconds and need nothing
from the store.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Ints
from cognigraph.embed.word_vectors import token_means
from cognigraph.text.terms import parts, terms, words

COMPARED = 30
"""The number of best messages that are compared with one another."""

BETWEEN = 5 / COMPARED
"""Two messages are versions if at most this share of the messages compared is nearer to one of them
than the other is, counted by vectors and by words together: five of thirty, one of ten."""

VERSION_DEPTH = 20
"""The number of best messages of which later ones move up."""

LEAD = 5
"""A later version moves only before one of the first five messages: those that would be read."""

FEW = 10
"""Among fewer messages of people, any two are near to each other, whatever they are about."""

ANSWERS_HALF_AS_WELL = 0.5
"""Among so few, a later version must have at least this share of the earlier one's score."""

LIKELY, SURE = -1.0, 0.6
"""Log-odds from which a message is taken for a later version of another one: where a question
surely asks how something is, and where it may do so, as in languages that the rules do not read."""

VERSION_WEIGHTS = {
    "bias": -0.28, "messages": -0.81, "few": 0.82, "shared words": 0.84,
    "between": -2.02, "score": -0.37, "days": 1.63, "rank": -2.37,
    "length of the earlier": -0.88,
}  # fmt: skip
"""Learned by bench/fit_versions.py; the order is that of :func:`version_features`."""


@dataclass(frozen=True, slots=True)
class ComparedMessage:
    """A message of a result with its score.

    ``named`` are the name of who said it, and those names and figures of the question that it has.
    Only messages of the same ``speaker`` are versions of one another; ``None`` for one that is
    none, such as an assistant's.
    """

    text: str
    at: datetime
    session: str
    speaker: Hashable | None
    score: float
    named: frozenset[str] = frozenset()


def later_versions_first(found: Sequence[ComparedMessage], *, asks_state: bool = True) -> list[int]:
    """Return the order of messages, best first, in which later versions precede earlier ones.

    A later version is one of the nearest to the earlier one. It may also be one that shares a rare
    word with it, if what was learned of such pairs makes it likely: "The crack won, I've gone over
    to a Kobo" is near to nothing. That must be likelier where the question only may ask how
    something is, and not surely (``asks_state``). One that moves stands directly before the first
    of the ``LEAD`` best messages of which it is a later version, from another session; all others
    keep their order.
    """
    compared = found[:COMPARED]
    similar, shared = _similarities(compared)
    between, most = messages_between(compared, [similar, shared]), BETWEEN * len(compared)
    few = sum(item.speaker is not None for item in compared) < FEW
    score = [item.score for item in compared]
    odds = version_features(compared, between, shared) @ [*VERSION_WEIGHTS.values()]
    is_likely = (shared > 0) & (odds > (LIKELY if asks_state else SURE))
    placed: list[int] = []
    for row in range(min(VERSION_DEPTH, len(compared))):
        position = next(
            (
                position
                for position, before in enumerate(placed[:LEAD])
                if _is_later(compared[row], compared[before])
                and (
                    is_likely[before, row]
                    or (
                        between[before, row] <= most
                        and (not few or score[row] >= ANSWERS_HALF_AS_WELL * score[before])
                    )
                )
            ),
            len(placed),
        )
        placed.insert(position, row)
    return [*placed, *range(len(placed), len(found))]


def _is_later(new: ComparedMessage, old: ComparedMessage) -> bool:
    """Whether somebody said one message after the other, in another session, of what is asked for.

    "Order 13 was shipped" is no later version of "order 3 was shipped" for who asks for order 3.
    """
    return (
        new.speaker == old.speaker
        and new.speaker is not None
        and new.at > old.at
        and new.session != old.session
        and new.named >= old.named
    )


def version_features(found: Sequence[ComparedMessage], between: Ints, shared: Floats) -> Floats:
    """What tells whether message j is a later version of message i (n, n, f), in any language.

    ``between`` (n, n) is :func:`messages_between`, and ``shared`` (n, n) the similarity by the
    words that few of the messages have. The features, in this order, are all about 1 in size:

    - a constant; how many messages of people there are, and whether they are few;
    - the rare words that the two share, and how many messages are nearer to one of them;
    - the score of the later one as a share of the earlier one's, and its rank;
    - the days between them, and the length of the earlier: who says much says several things.
    """
    n = len(found)
    people = max(sum(item.speaker is not None for item in found), 1)
    score = np.maximum([item.score for item in found], 1e-6)
    at = np.array([item.at.timestamp() for item in found])
    days = np.maximum(at[None, :] - at[:, None], 0.0) / 86_400
    length = np.log1p([len(words(item.text)) for item in found])
    parts = [
        np.ones((n, n)),
        np.full((n, n), np.log(max(people, 2)) / 4),
        np.full((n, n), float(people < FEW)),
        shared,
        np.minimum(between / people, 1.0),
        np.minimum(score[None, :] / score[:, None], 1.5),
        np.log1p(days) / 5,
        np.broadcast_to(np.log1p(np.arange(n)) / 4, (n, n)),
        np.broadcast_to(length[:, None] / 4, (n, n)),
    ]
    return np.stack(parts, axis=2)


def messages_between(
    found: Sequence[ComparedMessage], similarities: Sequence[Floats] | None = None
) -> Ints:
    """How many messages of people are nearer to message i or j than these are to each other (n, n).

    That is the larger number of the two, by each of the ``similarities`` (n, n), added; without
    them, by vectors and by words.
    """
    similarities = _similarities(found) if similarities is None else similarities
    is_person = np.array([item.speaker is not None for item in found], bool)
    total = np.zeros((len(found), len(found)), np.int64)
    for similar in similarities:
        others = np.where(is_person[None, :] & ~np.eye(len(found), dtype=bool), similar, -np.inf)
        nearer = (others[:, None, :] > similar[:, :, None]).sum(axis=2)
        total += np.maximum(nearer, nearer.T)
    return total


def _similarities(found: Sequence[ComparedMessage]) -> list[Floats]:
    """How similar the messages are to one another (n, n), by vectors and by their rare words."""
    texts = [item.text for item in found]
    return [_similarity(token_means().embed(texts)), _similarity(_rare_words(texts))]


def _rare_words(texts: Sequence[str]) -> Floats:
    """What is indexed of each text (n, t), weighted by how few of these texts have it."""
    indexed = [_indexed(text) for text in texts]
    different = dict.fromkeys(term for own in indexed for term in own)
    column = {term: place for place, term in enumerate(different)}
    has = np.zeros((len(texts), len(column)))
    for row, own in enumerate(indexed):
        has[row, [column[term] for term in own]] = 1.0
    return np.asarray(has * np.sqrt(np.log((len(texts) + 1) / np.maximum(has.sum(axis=0), 1.0))))


_MOST_REMEMBERED = 8_192
_remembered: dict[int, tuple[int, ...]] = {}
"""Hashes of the terms of a text, by the hash of the text. Only hashes: a forgotten text is gone."""


def _indexed(text: str) -> tuple[int, ...]:
    """The hashes of the different terms and parts of a text, remembered for the next search."""
    key = hash(text)
    known = _remembered.get(key)
    if known is None:
        if len(_remembered) >= _MOST_REMEMBERED:
            _remembered.clear()
        known = tuple(dict.fromkeys(map(hash, (*terms(text), *parts(text)))))
        _remembered[key] = known
    return known


def _similarity(vectors: npt.NDArray[np.floating]) -> Floats:
    """Cosines (n, n) of some vectors."""
    vectors = vectors.astype(float)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors /= np.where(norms > 0, norms, 1.0)
    # Not by BLAS, whose threads take longer to wake for so little. Rounded because the last bits of
    # a product depend on the order of its terms.
    return np.asarray(np.round(np.einsum("ik,jk->ij", vectors, vectors), 6))
