"""Enforce the limits on an inspection query, on its parameters and on the rows it returns.

The tokens of a query are counted before anything parses it, so that checking a hostile query takes
linear time: beyond these limits a planner can take minutes. docs/cypher.md explains them, and
:class:`~cognigraph.settings.QuerySettings` those that depend on the data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from cognigraph.cypher.guard.lexer import QueryToken, error, tokenize
from cognigraph.errors import ConfigurationError, QueryError
from cognigraph.settings import QuerySettings

_MOST_CHARS, _MOST_TOKENS, _MOST_DEPTH = 100_000, 3_000, 30
_MOST_OPERATORS, _MOST_ARITHMETIC, _MOST_CLAUSES, _MOST_CHAINED = 200, 60, 50, 50
_MOST_VALUES, _MOST_VALUE_CHARS, _MOST_VALUE_DEPTH = 250_000, 10_000_000, 20
"""Of all parameters together."""
_CLAUSES = ("MATCH", "WITH", "RETURN", "UNWIND", "UNION", "CALL")
DEFAULT_LIMITS = QuerySettings()
_MAX_SECONDS = 86_400.0
OTHER_SIZE = 8
"""The number of characters that a value other than text counts as in the size of a result."""


def check_call(limit: int, timeout: float) -> None:
    """Raise :class:`ConfigurationError` for an invalid row limit or timeout."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 0 <= limit < 2**63:
        raise ConfigurationError(f"limit must be a whole number of 0 or more, not {limit!r}")
    number = isinstance(timeout, (int, float)) and not isinstance(timeout, bool)
    # Both comparisons are false for NaN.
    if not (number and 0 < timeout <= _MAX_SECONDS):
        raise ConfigurationError(
            f"timeout must be a number of seconds above 0 and at most {_MAX_SECONDS:,.0f}, "
            f"not {timeout!r}"
        )


def check_query(query: str) -> list[QueryToken]:
    """Return the tokens of a query; :class:`QueryError` if it exceeds one of the limits."""
    _check("query", "characters", len(query), _MOST_CHARS, "pass long values as parameters")
    tokens = tokenize(query)
    advice = "pass lists as parameters, or split the query"
    _check("query", "tokens", len(tokens), _MOST_TOKENS, advice)
    words = sum(token.word("AND", "OR", "XOR", "NOT", "CASE") for token in tokens)
    _check("query", "AND, OR, XOR, NOT and CASE keywords", words, _MOST_OPERATORS,
           "compare with IN $values instead of many conditions")  # fmt: skip
    signs = sum(token.mark("+", "-", "*", "/", "%", "^") for token in tokens)
    _check("query", "arithmetic signs (+ - * / % ^, of which a relationship has two)", signs,
           _MOST_ARITHMETIC, "shorten the patterns and calculations")  # fmt: skip
    clauses = sum(
        token.word(*_CLAUSES) and not (index and tokens[index - 1].word("STARTS", "ENDS"))
        for index, token in enumerate(tokens)
    )
    _check("query", "clauses", clauses, _MOST_CLAUSES, advice)
    chained = sum(_chained(tokens, index) for index in range(len(tokens)))
    _check("query", "chained steps (.a.b, [0][0], !)", chained, _MOST_CHAINED,
           "shorten the expressions")  # fmt: skip
    _check_depth(query, tokens)
    return tokens


def _chained(tokens: Sequence[QueryToken], index: int) -> bool:
    """Whether the token continues a chain of properties or indexes, or negates a label."""
    token = tokens[index]
    if token.mark("!"):
        return True
    if token.mark("["):
        return index > 0 and tokens[index - 1].mark("]")
    return token.mark(".") and index > 1 and tokens[index - 2].mark(".")


def _check_depth(query: str, tokens: Sequence[QueryToken]) -> None:
    depth = 0
    for token in tokens:
        depth += token.mark("(", "[", "{") - token.mark(")", "]", "}")
        if depth > _MOST_DEPTH:
            problem = f"the query nests more than {_MOST_DEPTH} brackets; flatten it"
            raise error(query, token.start, problem)


def check_parameters_size(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters with too many values, too much text, or values nested too deeply."""
    values = chars = 0
    # Iterative, because a value that is nested too deeply or contains itself must not exhaust the
    # stack.
    waiting: list[tuple[Any, int]] = [(value, 1) for value in parameters.values()]
    while waiting:
        value, depth = waiting.pop()
        values += 1
        chars += _chars(value)
        inner = _parts(value)
        known = values + len(waiting) + len(inner)
        _check("parameters", "values", known, _MOST_VALUES, "split them over several queries")
        _check("parameters", "characters", chars, _MOST_VALUE_CHARS, "pass shorter values")
        if depth > _MOST_VALUE_DEPTH:
            raise QueryError(
                f"a parameter is nested more than {_MOST_VALUE_DEPTH} levels deep; pass a flatter "
                "value"
            )
        waiting.extend((part, depth + 1) for part in inner)


def check_rows(rows: Iterable[Mapping[str, Any]], limits: QuerySettings) -> Iterator[Any]:
    """Yield the rows; :class:`QueryError` as soon as their total size exceeds the limit."""
    size = 0
    for row in rows:
        waiting: list[Any] = [row]
        while waiting:
            value = waiting.pop()
            size += _chars(value) if isinstance(value, (str, bytes)) else OTHER_SIZE
            _check("rows", "characters (query.max_result_chars)", size, limits.max_result_chars,
                   "return fewer rows or columns")  # fmt: skip
            waiting.extend(_parts(value))
        yield row


def _parts(value: Any) -> Sequence[Any]:
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    if isinstance(value, (list, tuple)):
        return value
    return list(value) if isinstance(value, (set, frozenset)) else ()


def _chars(value: Any) -> int:
    if isinstance(value, (str, bytes, bytearray)):
        return len(value)
    # An integer of a million digits is as long as a text: three bits make about one digit.
    return value.bit_length() // 3 if isinstance(value, int) else 0


def _check(what: str, unit: str, found: int, most: int, advice: str) -> None:
    """Refuse what is over a limit. All but a query is counted until it is."""
    if found <= most:
        return
    has = "has" if what == "query" else "have at least"
    raise QueryError(
        f"the {what} {has} {short(found)} {unit}, over the limit of {most:,}; {advice}"
    )


def short(number: int) -> str:
    """Format a number with all its digits, or as a power of ten if it has too many to read."""
    if number < 10**15:
        return f"{number:,}"
    # Computed from the bits, because Python refuses to format integers of over 4,300 digits.
    return f"10^{int(number.bit_length() * math.log10(2))}"
