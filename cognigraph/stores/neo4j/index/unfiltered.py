"""Statements without the conditions that an ordinary search does not set.

A condition costs the server for every node that it looks at, also if it is met by all of them.
"""

from __future__ import annotations

import re
from functools import cache

from cognigraph.cypher.catalog import statement
from cognigraph.stores.candidates import CandidateQuery
from cognigraph.stores.neo4j.connection import cypher

_FILTER = re.compile(r"// filter$.*?// end of filter$", re.MULTILINE | re.DOTALL)
_KEYS = re.compile(r"// keys$.*?// end of keys$", re.MULTILINE | re.DOTALL)


def is_unfiltered(query: CandidateQuery) -> bool:
    """Whether only roles are a condition, at which the caller looks."""
    return query.as_of is None and not query.where.is_narrow and not query.without


@cache
def without_filter(name: str) -> tuple[tuple[str, str], ...]:
    """What to replace in a statement to leave out the conditions that it marks."""
    return _without(_FILTER, statement(f"neo4j/{name}.cypher"))


@cache
def without_keys(name: str, embedding: str) -> tuple[tuple[str, str], ...]:
    """What to replace in a statement to leave out the keys of sessions, with these vectors."""
    return _without(_KEYS, cypher(name, embedding=embedding))


def _without(marked: re.Pattern[str], text: str) -> tuple[tuple[str, str], ...]:
    return tuple((block, "") for block in dict.fromkeys(marked.findall(text)))
