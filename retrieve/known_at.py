"""Facts as they were known at a time: what was current then, with the sources of that time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from cognigraph.model import Triple
from cognigraph.retrieve.timeline import seen_from
from cognigraph.states.succession import Standing
from cognigraph.stores.candidates import NewestSources
from cognigraph.stores.protocols import Store


def known_at(
    store: Store, space: str, triples: Iterable[Triple], as_of: datetime | None
) -> list[Triple]:
    """Return the facts that had been said at ``as_of``, as they were known then.

    What is current is decided again from what had been said by then, so a fact that ended and was
    true again later is shown with its first ending.
    """
    found = list(triples)
    if as_of is None:
        return found
    said = [triple for triple in found if triple.first_observed <= as_of]
    if not said:
        return []
    standings = store.states.standings_at(space, [triple.uid for triple in said], as_of)
    return [
        seen_from(_standing(triple, standings[triple.uid]), as_of)
        if triple.uid in standings
        else seen_from(triple, as_of)
        for triple in said
    ]


def fetched_at(
    store: Store,
    space: str,
    uids: Sequence[str],
    as_of: datetime | None,
    chunks: Sequence[str] = (),
) -> dict[str, Triple]:
    """Fetch the facts with these uids that had been said at ``as_of``, with their newest sources.

    Facts that are said often would otherwise cost a search more than all else. Their sources in
    ``chunks``, which are those of the hits, are read as well: a block leaves out what a message
    in it states.
    """
    found = store.search.triples_by_uid(space, uids, NewestSources(chunks=chunks, until=as_of))
    return {one.uid: one for one in known_at(store, space, found.values(), as_of)}


def _standing(triple: Triple, standing: Standing) -> Triple:
    return replace(
        triple,
        status=standing.status,
        valid_from=standing.valid_from,
        valid_to=standing.valid_to,
        superseded_by=standing.superseded_by,
        superseded_at=standing.superseded_at,
        reason=standing.reason,
        earlier=standing.earlier,
    )
