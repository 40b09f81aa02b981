"""Find what spans a topic in time: its messages, spread over sessions, and its episodes.

The best messages of an ordinary search are often those of the few sessions that say most about the
topic. An overview needs the others as well, so each further message of a session counts less.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from cognigraph.model import Episode, Hit
from cognigraph.retrieve.plan import SearchRequest
from cognigraph.retrieve.search import SearchOutcome, search, search_layer

_WIDE = 3
"""So many times as many messages are searched for as are chosen."""
_HALF_RANK = 10.0
"""The worth of a message falls with its rank r (from 0) as 1 / (1 + r / 10)."""
_NEXT = 0.9
"""Each message of a session counts so much less than the one chosen before it."""
_EPISODES = 12
_MOST_SAMPLED = 2000
"""Of the newest episodes, for an overview of everything."""


def find_overview(request: SearchRequest, subject: str, *, k: int) -> SearchOutcome:
    """The ``k`` messages and the best episodes for an overview of a subject.

    An empty subject is everything: what episodes at even distances in time are about is searched
    for.
    """
    if not subject and (sample := _sample(request)):
        return _of_everything(request, sample, k=k)
    settings = replace(request.settings, time_order=False)  # no state is asked for
    about = replace(request, question=subject or request.question, settings=settings)
    wide = search(about, k=_WIDE * k)
    chosen = spread(wide.result.hits, k)
    episodes = search_layer(replace(about, min_confidence=None), k=_EPISODES, layer="episodes")
    result = replace(
        wide.result,
        hits=tuple(wide.result.hits[place] for place in chosen),
        episodes=episodes.episodes if chosen else (),
    )
    return replace(wide, result=result, given_by=[wide.given_by[place] for place in chosen])


def _sample(request: SearchRequest) -> list[Episode]:
    """Episodes from the first to the last that the request lets through, at even distances."""
    where, as_of = request.where, request.as_of
    since, latest = where.since, where.latest
    found = request.store.graph.episodes(request.space, limit=_MOST_SAMPLED, offset=0)
    wanted = [
        episode
        for episode in found
        if (not where.sessions or episode.session in where.sessions)
        and (as_of is None or episode.ended_at <= as_of)
        and (not isinstance(since, datetime) or episode.ended_at >= since)
        and (latest is None or episode.started_at <= latest)
        and not request.without.has_episode(episode.uid)
    ]
    wanted.sort(key=lambda episode: (episode.started_at, episode.uid))
    if len(wanted) <= _EPISODES:
        return wanted
    step = (len(wanted) - 1) / (_EPISODES - 1)
    even = [wanted[round(place * step)] for place in range(_EPISODES)]
    return [*even[::4], *even[2::4], *even[1::2]]  # those that do not fit are missed evenly


def _of_everything(request: SearchRequest, sample: Sequence[Episode], *, k: int) -> SearchOutcome:
    queries = [episode.title or episode.summary for episode in sample]
    about = replace(request, question=queries[0], also=(*request.also, *queries[1:]))
    found = search(about, k=k)
    shown = {(hit.session, hit.id) for hit in found.result.hits}
    episodes = [one for one in sample if any((one.session, id) in shown for id in one.messages)]
    return replace(found, result=replace(found.result, episodes=tuple(episodes)))


def spread(hits: Sequence[Hit], k: int) -> list[int]:
    """The places of ``k`` of the hits (best first), spread over sessions, in order of choice."""
    taken: Counter[str] = Counter()
    waiting = list(range(len(hits)))
    chosen: list[int] = []
    while waiting and len(chosen) < k:
        best = max(waiting, key=lambda place: _worth(place, taken[hits[place].session]))
        waiting.remove(best)
        chosen.append(best)
        taken[hits[best].session] += 1
    return chosen


def _worth(rank: int, taken: int) -> float:
    worth: float = _NEXT**taken / (1 + rank / _HALF_RANK)
    return worth
