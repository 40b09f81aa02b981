"""Lists the facts of a space, also as they were known at an earlier time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from cognigraph.model import Triple
from cognigraph.model.listing import TripleQuery
from cognigraph.retrieve.known_at import known_at
from cognigraph.stores.protocols import Store

_PAGE = 500


def listed(store: Store, space: str, query: TripleQuery) -> list[Triple]:
    """The facts that a query asks for; see :meth:`cognigraph.Space.triples`."""
    if query.as_of is None:
        return store.graph.triples(space, query)
    if query.status is None and query.valid_at is None:
        found = known_at(store, space, store.graph.triples(space, query), query.as_of)
        return sorted(found, key=lambda triple: triple.last_observed, reverse=True)
    end = query.offset + query.limit
    return list(islice(_known(store, space, query), query.offset, end))


def _known(store: Store, space: str, query: TripleQuery) -> Iterator[Triple]:
    """Facts by what was known of them at ``as_of``, which the store does not hold."""
    page = replace(query, status=None, valid_at=None, limit=_PAGE, offset=0)
    while found := store.graph.triples(space, page):
        for triple in known_at(store, space, found, query.as_of):
            if query.status in (None, triple.status) and (
                query.valid_at is None or triple.is_true_at(query.valid_at)
            ):
                yield triple
        page = replace(page, offset=page.offset + _PAGE)
