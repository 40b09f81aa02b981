"""Order results by time where the question asks for it, and hide what ``as_of`` excludes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

import numpy as np

from cognigraph.english.words import PLEASANTRIES
from cognigraph.model import Session, SessionHit, Triple
from cognigraph.retrieve.question.temporal import Order
from cognigraph.stores.candidates import Candidates, ChunkRecord
from cognigraph.text.terms import STOP_WORDS, words

BAND = 0.75
"""Items that score at least this share of the best score count as states of the same thing."""

DEPTH = 15
"""The number of best items among which such states are sought."""

CLOSE = 0.12
"""A newer message moves before an older one whose score is higher by at most this share of the
best score."""

CLOSE_IF_CHANGED = 0.15
"""Added to ``CLOSE`` for a message that tells of a change, in proportion to how much it does."""

ANSWERS_AS_WELL = 0.6
"""With few candidates, so does one whose own answer is at least this share of the older one's."""

STATE_DEPTH = 20
"""The number of best messages among which newer ones move before older ones."""

_TELLS_NOTHING = STOP_WORDS | PLEASANTRIES
_T = TypeVar("_T")


def in_order(
    items: Sequence[_T], order: Order | None, scores: Sequence[float], times: Sequence[datetime]
) -> list[_T]:
    """Put the newest (or oldest) of the best items first, and leave the others in their order.

    Every message about a place where she ever lived matches "Where does she live now?" about
    equally well; only their times tell which place is meant. ``items`` are sorted best first. The
    items that move are among the first ``DEPTH`` and score at least ``BAND`` times the highest.
    ``scores`` and ``times`` belong to the items at the same positions; a score says how well the
    item answers the question by itself, which may differ from the score that ranked it. Without an
    ``order`` nothing moves.
    """
    if order is None or not items:
        return list(items)
    head = range(min(DEPTH, len(items)))
    floor = BAND * max(scores[position] for position in head)
    states = [position for position in head if scores[position] >= floor]
    first = sorted(states, key=times.__getitem__, reverse=order == "last")
    rest = sorted(set(range(len(items))).difference(first))
    return [items[position] for position in (*first, *rest)]


@dataclass(frozen=True, slots=True)
class Statement:
    """What decides whether a message moves before older ones.

    ``score`` ranks it, and ``own`` says how well it answers by itself. ``change`` in [0, 1] says
    how much it tells of a change. Only one that ``may_move`` moves, past others that may.
    """

    at: datetime
    score: float
    own: float
    change: float = 0.0
    may_move: bool = True


def may_tell_a_state(record: ChunkRecord) -> bool:
    """Whether a message may tell how things are: a user said it, and more than thanks or assent."""
    return record.role == "user" and not _TELLS_NOTHING.issuperset(words(record.text))


def newer_before_older(found: Sequence[Statement]) -> list[int]:
    """Return the order of messages, best first, in which newer ones precede older ones.

    What the user said about a thing in March and in May matches "What do I pay?" about equally
    well; only the newer message tells how things are. So among the first ``STATE_DEPTH`` a message
    moves up past each older one that matches little better, up to the first that is newer or
    matches much better. Those that may move share their positions; all others keep theirs.
    """
    best = max((one.score for one in found), default=0.0)
    few = len(found) < STATE_DEPTH
    moving = [row for row, one in enumerate(found[:STATE_DEPTH]) if one.may_move]
    placed: list[int] = []
    for row in moving:
        at = len(placed)
        while at and _replaces(found[row], found[placed[at - 1]], best, few=few):
            at -= 1
        placed.insert(at, row)
    order = list(range(len(found)))
    for position, row in zip(moving, placed, strict=True):
        order[position] = row
    return order


def _replaces(new: Statement, old: Statement, best: float, *, few: bool) -> bool:
    """Whether a message is newer than another one and matches about as well.

    That is by its score, compared with the ``best`` one. With ``few`` candidates, for which scaling
    stretches small differences of the scores, it may also be by its own answer.
    """
    if new.at <= old.at:
        return False
    reach = new.score + best * (CLOSE + CLOSE_IF_CHANGED * new.change)
    return reach >= old.score or (few and new.own >= ANSWERS_AS_WELL * old.own)


def state_time(triple: Triple) -> datetime:
    """Return when the state that a triple describes began, or else when it was last mentioned."""
    return triple.when.start if triple.when is not None else triple.last_observed


def seen_from(triple: Triple, as_of: datetime | None) -> Triple:
    """Return a triple as it was known at ``as_of``, without the sources that came later."""
    if as_of is None:
        return triple
    if triple.superseded_at is not None and triple.superseded_at > as_of:
        triple = replace(
            triple, status="current", valid_to=None, superseded_by=None, superseded_at=None,
            reason=None,
        )  # fmt: skip
    if triple.last_observed <= as_of:
        return triple
    sources = tuple(source for source in triple.sources if source.at <= as_of)
    last = max((source.at for source in sources), default=triple.first_observed)
    return replace(triple, sources=sources, last_observed=last)


def is_over(session: Session, as_of: datetime | None) -> bool:
    """Whether a session had ended at ``as_of``, so that its summary covers nothing later."""
    return as_of is None or session.ended_at <= as_of


def without_later_summaries(
    candidates: Candidates, sessions: Mapping[str, Session], as_of: datetime
) -> Candidates:
    """Remove the themes and keys of sessions that continued after ``as_of``."""
    found = candidates.sessions
    later = np.array(
        [id not in sessions or not is_over(sessions[id], as_of) for id in found.ids], bool
    )
    if not later.any():
        return candidates
    hidden = replace(
        found,
        theme=np.where(later, np.nan, found.theme),
        keys=np.where(later[:, None], np.nan, found.keys),
        matches=np.where(later[:, None], 0.0, found.matches),
        length=np.where(later, 0.0, found.length),
    )
    return replace(candidates, sessions=hidden)


def sessions_known_at(hits: Sequence[SessionHit], as_of: datetime | None) -> tuple[SessionHit, ...]:
    """Keep the sessions that had ended at ``as_of``; other summaries cover later messages."""
    return tuple(hit for hit in hits if is_over(hit.session, as_of))
