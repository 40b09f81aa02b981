"""Read the records of a result: with one call if the best messages turn out to be its hits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter

from cognigraph.model import Triple
from cognigraph.retrieve.known_at import fetched_at, known_at
from cognigraph.retrieve.request import SearchRequest
from cognigraph.retrieve.standing import with_superseding
from cognigraph.stores.candidates import NewestSources, ResultQuery, ResultRecords

_FIELDS = [field.name for field in fields(Triple)]
_SCORE = _FIELDS.index("score")
_values_of = attrgetter(*_FIELDS)


@dataclass(frozen=True, slots=True)
class KnownFacts:
    """The facts of a result by uid, with what superseded them, and those that each chunk states."""

    facts: Mapping[str, Triple]
    stated: Mapping[str, tuple[str, ...]]


def read_first(
    request: SearchRequest,
    chunks: Sequence[str],
    stating: Sequence[str],
    triples: Sequence[str],
    sessions: Sequence[str],
) -> ResultRecords:
    """Read the best chunks, the facts of those that are probably hits, other facts, and sessions.

    All are given by uid, sessions by id.
    """
    newest = NewestSources(chunks=stating, until=request.as_of)
    return _read(request, ResultQuery(chunks, stating, triples, sessions, newest))


def facts_of_hits(
    request: SearchRequest,
    read: ResultRecords,
    stating: Sequence[str],
    hits: Sequence[str],
    triples: Iterable[str],
) -> KnownFacts:
    """The facts of the hits, and further ones, as known at ``as_of``; few are still to be read.

    ``read`` is what was read with the facts of the chunks ``stating``. ``hits`` are uids of chunks.
    A fact that is said often lists its sources in the hits and not those in the other chunks.
    """
    newest = NewestSources(chunks=hits, until=request.as_of)
    often = () if set(hits) == set(stating) else sorted(read.often)
    more = _read(
        request,
        ResultQuery(stating=sorted(set(hits).difference(stating)), triples=often, newest=newest),
    )
    stated = {**read.stated, **more.stated}
    stated = {uid: stated[uid] for uid in hits if uid in stated}
    known = {**read.triples, **more.triples}
    wanted = {*triples, *(uid for uids in stated.values() for uid in uids)}

    def fetch(uids: Sequence[str]) -> dict[str, Triple]:
        return fetched_at(request.store, request.space, uids, request.as_of, hits)

    found = [known[uid] for uid in sorted(wanted) if uid in known]
    found = known_at(request.store, request.space, found, request.as_of)
    return KnownFacts(with_superseding({one.uid: one for one in found}, fetch), stated)


def _read(request: SearchRequest, query: ResultQuery) -> ResultRecords:
    return request.store.search.result(request.space, query) if query else ResultRecords()


def scored(triple: Triple, score: float) -> Triple:
    """The fact with a score; ``dataclasses.replace`` takes four times as long."""
    values = list(_values_of(triple))
    values[_SCORE] = score
    return Triple(*values)
