"""What time does to a result: an order asked for, and nothing that was said after ``as_of``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

import numpy as np

from cognigraph.model import Session, SessionHit, Triple
from cognigraph.retrieve.question_time import Order
from cognigraph.stores.candidates import Candidates

BAND = 0.75
"""Items that score at least this share of the best one are states of the same thing."""

DEPTH = 15
"""How many of the best are looked at for them."""

_T = TypeVar("_T")


def in_order(
    items: Sequence[_T],
    order: Order | None,
    score: Callable[[_T], float],
    at: Callable[[_T], datetime],
) -> list[_T]:
    """Items, best first; those of the first ``DEPTH`` in the band put newest or oldest first.

    "Where does she live now" is answered by every place she ever lived in, about equally well:
    which of them is meant only their time tells. The rest keeps its order. ``score`` is how well an
    item answers by itself, which need not be what ranked it.
    """
    if order is None or not items:
        return list(items)
    floor = BAND * max(score(item) for item in items[:DEPTH])
    state = [item for item in items[:DEPTH] if score(item) >= floor]
    chosen = {id(item) for item in state}
    state.sort(key=at, reverse=order == "last")
    return state + [item for item in items if id(item) not in chosen]


def state_time(triple: Triple) -> datetime:
    """When the state a triple tells of began: its valid time, else when it was last said."""
    return triple.when.start if triple.when is not None else triple.last_observed


def seen_from(triple: Triple, as_of: datetime | None) -> Triple:
    """A triple as it was known at ``as_of``: without what was said of it later."""
    if as_of is None or triple.last_observed <= as_of:
        return triple
    sources = tuple(source for source in triple.sources if source.at <= as_of)
    last = max((source.at for source in sources), default=triple.first_observed)
    return replace(triple, sources=sources, last_observed=last)


def is_over(session: Session, as_of: datetime | None) -> bool:
    """Whether a session had ended, so that its summary tells nothing of what came later."""
    return as_of is None or session.ended_at <= as_of


def without_later_summaries(
    candidates: Candidates, sessions: Mapping[str, Session], as_of: datetime
) -> Candidates:
    """Candidates whose sessions that went on after ``as_of`` count as not read yet."""
    pool = candidates.sessions
    later = np.array(
        [id not in sessions or not is_over(sessions[id], as_of) for id in pool.ids], bool
    )
    if not later.any():
        return candidates
    hidden = replace(
        pool,
        theme=np.where(later, np.nan, pool.theme),
        keys=np.where(later[:, None], np.nan, pool.keys),
        matches=np.where(later[:, None], 0.0, pool.matches),
        length=np.where(later, 0.0, pool.length),
    )
    return replace(candidates, sessions=hidden)


def shown_sessions(hits: Sequence[SessionHit], as_of: datetime | None) -> tuple[SessionHit, ...]:
    """Sessions whose summary may be shown."""
    return tuple(hit for hit in hits if is_over(hit.session, as_of))
