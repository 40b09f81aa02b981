"""The queries of one search: the question, and what else is asked with it."""

from __future__ import annotations

from collections.abc import Iterable

from cognigraph.errors import ConfigurationError
from cognigraph.text.clean import storable

MOST_QUERIES = 32
"""The largest number of queries of one search, the question included. Each is a search of its own,
and a query gets at least one hit only while there are no more of them than hits."""


def checked_queries(also: Iterable[str]) -> tuple[str, ...]:
    """The additional queries, each a text that is not empty; :class:`ConfigurationError` if not."""
    queries = tuple(also)
    for position, query in enumerate(queries):
        if not isinstance(query, str):
            raise ConfigurationError(
                f"also[{position}] must be a string, not of type {type(query).__name__}"
            )
        if not query.strip():
            raise ConfigurationError(f"also[{position}] is empty; leave empty queries out")
    if len(queries) >= MOST_QUERIES:
        raise ConfigurationError(
            f"also has {len(queries):,} queries, and one search takes at most {MOST_QUERIES - 1}: "
            "give the most promising ones, or search several times"
        )
    return tuple(storable(query) for query in queries)


def distinct(question: str, also: Iterable[str]) -> list[str]:
    """The queries in their order, each once; case and white space do not tell them apart."""
    found: dict[str, str] = {}
    for query in (question, *also):
        found.setdefault(" ".join(query.casefold().split()), query)
    found.pop("", None)
    return list(found.values())
