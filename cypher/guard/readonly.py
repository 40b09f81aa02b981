"""What an inspection query may not contain, on either store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cognigraph.cypher.guard.lexer import QueryToken, error
from cognigraph.errors import QueryError

SPACE_PARAMETER = "__space"
"""The parameter that carries the space; a query must not use it."""

_WRITING = frozenset(
    "CREATE MERGE SET DELETE REMOVE DETACH NODETACH FOREACH INSERT DROP ALTER GRANT REVOKE DENY "
    "RENAME ENABLE DEALLOCATE REALLOCATE DRYRUN TERMINATE TRANSACTIONS".split()
)
_ADVICE = {
    "LOAD": "LOAD CSV reads files; an inspection sees the graph only",
    "USE": "an inspection stays in its own database; leave USE out",
    "SHOW": "SHOW tells about the whole database; an inspection sees one space",
    "USING": "leave the USING hint out; the planner decides",
    "YIELD": "procedures cannot be called in an inspection",
    "SEARCH": "vector search is what space.search() does; leave SEARCH out",
    "EXPLAIN": "leave EXPLAIN out; a plan is not an answer",
    "PROFILE": "leave PROFILE out; a plan is not an answer",
    "CYPHER": "leave the CYPHER prefix out",
}


def check_read_only(query: str, tokens: Sequence[QueryToken]) -> None:
    """Refuse everything but reading, with :class:`QueryError` saying what to do instead."""
    for index, token in enumerate(tokens):
        if token.kind == "parameter" and token.value == SPACE_PARAMETER:
            raise error(query, token.start, f"${SPACE_PARAMETER} is taken; name it otherwise")
        if token.kind != "name" or _is_plain_name(tokens, index):
            continue
        word = token.value.upper()
        if word in _WRITING:
            raise error(
                query,
                token.start,
                f"{word} is not allowed: an inspection only reads "
                "(a variable of that name needs backticks)",
            )
        if word in _ADVICE:
            raise error(query, token.start, _ADVICE[word])
        following = tokens[index + 1] if index + 1 < len(tokens) else None
        if word == "CALL" and not (following and following.mark("{", "(")):
            raise error(
                query,
                token.start,
                "procedures cannot be called in an inspection; CALL { ... } with a query is fine",
            )


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Refuse a parameter of the name that carries the space."""
    if SPACE_PARAMETER in parameters:
        raise QueryError(f"the parameter name {SPACE_PARAMETER!r} is taken; choose another")


def _is_plain_name(tokens: Sequence[QueryToken], index: int) -> bool:
    """Whether a keyword here is a property, label, relationship type or map key."""
    if index and tokens[index - 1].mark(".", ":", "|", "&", "!"):
        return True
    return (
        index + 1 < len(tokens)
        and tokens[index + 1].mark(":")
        and index > 0
        and tokens[index - 1].mark("{", ",")
    )
