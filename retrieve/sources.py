"""Which chunks stand behind the facts and the summaries of a result, as far as they are checked."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator

import numpy as np

from cognigraph.ids import chunk_uid, message_uid
from cognigraph.model import Triple
from cognigraph.retrieve.search import SearchOutcome
from cognigraph.stores.candidates import Candidates
from cognigraph.text.numbers import quantities

_MOST_SOURCES = 8
"""The newest messages of a fact that are read; more of them say the same."""
_MOST_OF_SESSION = 40
_MOST_PARTS = 4
"""Parts of a message that are read where it is not known which one states a fact."""


def sources_of_facts(space: str, found: SearchOutcome) -> dict[str, list[str]]:
    """The uids of the chunks behind each fact of a result that has a date or a number.

    Facts that an application stated are left out. A fact that is no candidate, because it only
    took the place of one, has the messages that it names.
    """
    uids: dict[str, list[str]] = {}
    for triple in _told(found):
        if triple.uid in uids or triple.is_stated or not _is_checked(triple):
            continue
        evidence = [
            uid for query in found.queries for uid in _evidence(query.candidates, triple.uid)
        ]
        uids[triple.uid] = evidence or list(_named(space, triple))
    return uids


def chunks_of_sessions(found: SearchOutcome) -> dict[str, list[str]]:
    """The uids of the chunks of each session whose summary or keys have a number.

    Those are candidates; of many, those most like the question.
    """
    uids: dict[str, list[str]] = {}
    for hit in found.result.sessions:
        session = hit.session
        if not quantities(" ".join((session.summary, *session.keys))):
            continue
        own = [uid for query in found.queries for uid in _of_session(query.candidates, session.id)]
        uids[session.id] = list(dict.fromkeys(own))
    return uids


def chunks_of_episodes(space: str, found: SearchOutcome) -> dict[str, list[str]]:
    """The uids of the chunks that an episode covers, for each whose text has a number."""
    return {
        episode.uid: [
            chunk_uid(message_uid(space, episode.session, id), part)
            for id in episode.messages[:_MOST_OF_SESSION]
            for part in range(_MOST_PARTS)
        ]
        for episode in found.result.episodes
        if quantities(episode.text)
    }


def _told(found: SearchOutcome) -> Iterator[Triple]:
    """The facts of a result, and those that hits state: they may be told at the end of another."""
    yield from found.result.triples
    stated = [triple for hit in found.result.hits for triple in hit.triples]
    superseding = {triple.superseded_by for triple in stated}
    superseding |= {triple.superseded_by for triple in found.result.triples}
    yield from (triple for triple in stated if triple.uid in superseding)


def _is_checked(triple: Triple) -> bool:
    return triple.when is not None or triple.valid_to is not None or bool(quantities(triple.object))


def _evidence(candidates: Candidates, uid: str) -> list[str]:
    triples, chunks = candidates.triples, candidates.chunks
    row = bisect_left(triples.uids, uid)
    if row == len(triples.uids) or triples.uids[row] != uid:
        return []
    newest = sorted(triples.evidence[row], key=lambda chunk: -chunks.at[chunk])
    return [chunks.uids[chunk] for chunk in newest[:_MOST_SOURCES]]


def _named(space: str, triple: Triple) -> Iterable[str]:
    for source in triple.sources[:_MOST_SOURCES]:
        message = message_uid(space, source.session, source.id)
        yield from (chunk_uid(message, part) for part in range(_MOST_PARTS))


def _of_session(candidates: Candidates, session: str) -> list[str]:
    sessions, chunks = candidates.sessions, candidates.chunks
    if session not in sessions.ids:
        return []
    rows = np.flatnonzero(chunks.session == sessions.ids.index(session))
    best = rows[np.argsort(-chunks.cosine[rows], kind="stable")][:_MOST_OF_SESSION]
    return [chunks.uids[row] for row in best.tolist()]
