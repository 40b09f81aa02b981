"""Refuse queries that write, call procedures or leave the space, for both stores."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from cognigraph.cypher.guard.lexer import QueryToken, error
from cognigraph.errors import QueryError

SPACE_PARAMETER = "__space"
"""The parameter that holds the name of the space; a query must not use it."""

GENERATED = re.compile(r"\s*anon_\d+\s*", re.IGNORECASE)
"""A name that Neo4j's planner gives to what a query does not name; a query must not use it.

Nor on SQLite, so that the same queries are allowed on both stores.
"""

_WRITING = frozenset(
    "CREATE MERGE SET DELETE REMOVE DETACH NODETACH FOREACH INSERT DROP ALTER GRANT REVOKE DENY "
    "RENAME ENABLE DEALLOCATE REALLOCATE DRYRUN TERMINATE TRANSACTIONS".split()
)
_ADVICE = {
    "LOAD": "LOAD CSV reads files; an inspection query can only read the graph",
    "USE": "an inspection query cannot change the database; leave USE out",
    "SHOW": "SHOW describes the whole database; an inspection query sees only one space",
    "USING": "planner hints are not allowed; leave USING out",
    "YIELD": "an inspection query cannot call procedures",
    "SEARCH": "use space.search() for vector search; leave SEARCH out",
    "EXPLAIN": "an inspection query returns rows, not a plan; leave EXPLAIN out",
    "PROFILE": "an inspection query returns rows, not a plan; leave PROFILE out",
    "CYPHER": "leave the CYPHER prefix out",
}


def check_read_only(query: str, tokens: Sequence[QueryToken]) -> None:
    """Raise :class:`QueryError`, saying what to do instead, if a query does more than read."""
    for index, token in enumerate(tokens):
        if token.kind == "parameter" and token.value == SPACE_PARAMETER:
            raise error(query, token.start, f"${SPACE_PARAMETER} is reserved; rename the parameter")
        if token.named and GENERATED.fullmatch(token.value):
            raise error(
                query,
                token.start,
                f"{token.value!r} is refused: Neo4j calls the parts of a query that have no name "
                "so, and they must not be confused; choose another name",
            )
        if token.kind != "name" or _is_plain_name(tokens, index):
            continue
        word = token.value.upper()
        if word in _WRITING:
            raise error(
                query,
                token.start,
                f"{word} is not allowed: an inspection query only reads "
                "(put a variable of that name in backticks)",
            )
        if word in _ADVICE:
            raise error(query, token.start, _ADVICE[word])
        following = tokens[index + 1] if index + 1 < len(tokens) else None
        if word == "CALL" and not (following and following.mark("{", "(")):
            raise error(
                query,
                token.start,
                "an inspection query cannot call procedures, only subqueries as CALL { ... }",
            )


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Raise :class:`QueryError` if a parameter has the reserved name that holds the space."""
    if SPACE_PARAMETER in parameters:
        raise QueryError(f"the parameter name {SPACE_PARAMETER!r} is reserved; choose another")


def _is_plain_name(tokens: Sequence[QueryToken], index: int) -> bool:
    """Whether the word at ``index`` is a property, label, relationship type or map key."""
    if index and tokens[index - 1].mark(".", ":", "|", "&", "!"):
        return True
    return (
        index + 1 < len(tokens)
        and tokens[index + 1].mark(":")
        and index > 0
        and tokens[index - 1].mark("{", ",")
    )
