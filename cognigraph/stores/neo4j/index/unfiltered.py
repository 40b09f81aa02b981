"""Statements without the conditions that an ordinary search does not set.

A condition costs the server for every node that it looks at, also if it is met by all of them.
"""

from __future__ import annotations

import re
from functools import cache

from cognigraph.cypher.catalog import statement
from cognigraph.stores.candidates import CandidateQuery

_FILTER = re.compile(r"// filter$.*?// end of filter$", re.MULTILINE | re.DOTALL)


def is_unfiltered(query: CandidateQuery) -> bool:
    """Whether only roles are a condition, at which the caller looks."""
    return query.as_of is None and not query.where.is_narrow and not query.without


@cache
def without_filter(name: str) -> tuple[tuple[str, str], ...]:
    """What to replace in a statement to leave out the conditions that it marks."""
    blocks = dict.fromkeys(_FILTER.findall(statement(f"neo4j/{name}.cypher")))
    return tuple((block, "") for block in blocks)
