"""Enforce the limits on an inspection query, on its parameters and on the rows it returns.

The tokens of a query are counted before anything parses it, so that checking a hostile query takes
linear time. :class:`~cognigraph.settings.QuerySettings` holds the limits, and docs/cypher.md
explains them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from cognigraph.cypher.guard.lexer import QueryToken, error, tokenize
from cognigraph.errors import ConfigurationError, QueryError
from cognigraph.settings import QuerySettings

_CLAUSES = ("MATCH", "WITH", "RETURN", "UNWIND", "UNION", "CALL", "LET", "FILTER")
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


def check_query(query: str, limits: QuerySettings) -> list[QueryToken]:
    """Return the tokens of a query; :class:`QueryError` if it exceeds one of the limits."""
    if len(query) > limits.max_chars:
        raise _over(
            "query", "characters", len(query), "max_chars", limits.max_chars,
            "pass long values as parameters",
        )  # fmt: skip
    tokens = tokenize(query)
    if len(tokens) > limits.max_tokens:
        raise _over(
            "query", "tokens", len(tokens), "max_tokens", limits.max_tokens,
            "pass lists as parameters, or split the query",
        )  # fmt: skip
    for name, unit, found, advice in _counts(tokens):
        most = getattr(limits, name)
        if found > most:
            raise _over("query", unit, found, name, most, advice)
    _check_depth(query, tokens, limits.max_depth)
    return tokens


def _counts(tokens: Sequence[QueryToken]) -> Iterator[tuple[str, str, int, str]]:
    """Count the constructs that take a parser or planner more than linear time.

    Yields the name of the limit, the unit, the count and the advice if there are too many.
    """
    words = sum(token.word("AND", "OR", "XOR", "NOT", "CASE") for token in tokens)
    yield (
        "max_operators", "AND, OR, XOR, NOT and CASE keywords", words,
        "compare with IN $values instead of many conditions",
    )  # fmt: skip
    marks = sum(token.mark("+", "-", "*", "/", "%", "^") for token in tokens)
    yield (
        "max_arithmetic", "arithmetic signs (+ - * / % ^, of which a relationship has two)", marks,
        "shorten the patterns and calculations",
    )  # fmt: skip
    clauses = sum(
        token.word(*_CLAUSES) and not (index and tokens[index - 1].word("STARTS", "ENDS"))
        for index, token in enumerate(tokens)
    )
    yield "max_clauses", "clauses", clauses, "split the query, or pass lists as parameters"
    chained = sum(_chained(tokens, index) for index in range(len(tokens)))
    yield "max_chain", "chained steps (.a.b, [0][0], !)", chained, "shorten the expressions"


def _chained(tokens: Sequence[QueryToken], index: int) -> bool:
    """Whether the token continues a chain of properties or indexes, or negates a label."""
    token = tokens[index]
    if token.mark("!"):
        return True
    if token.mark("["):
        return index > 0 and tokens[index - 1].mark("]")
    return token.mark(".") and index > 1 and tokens[index - 2].mark(".")


def _check_depth(query: str, tokens: Sequence[QueryToken], most: int) -> None:
    depth = 0
    for token in tokens:
        depth += token.mark("(", "[", "{") - token.mark(")", "]", "}")
        if depth > most:
            raise error(
                query,
                token.start,
                f"the query nests more than {most} brackets (query.max_depth); flatten it",
            )


def check_parameters_size(parameters: Mapping[str, Any], limits: QuerySettings) -> None:
    """Refuse parameters with too many values, too much text, or values nested too deeply."""
    values = chars = 0
    # Iterative, because a value that is nested too deeply or contains itself must not exhaust the
    # stack.
    waiting: list[tuple[Any, int]] = [(value, 1) for value in parameters.values()]
    while waiting:
        value, depth = waiting.pop()
        values += 1
        chars += _chars(value)
        if values > limits.max_parameter_values:
            raise _over(
                "parameters", "values", values, "max_parameter_values",
                limits.max_parameter_values, "split them over several queries", at_least=True,
            )  # fmt: skip
        if chars > limits.max_parameter_chars:
            raise _over(
                "parameters", "characters", chars, "max_parameter_chars",
                limits.max_parameter_chars, "pass shorter values", at_least=True,
            )  # fmt: skip
        if depth > limits.max_parameter_depth:
            raise QueryError(
                f"a parameter is nested more than {limits.max_parameter_depth} levels deep "
                "(query.max_parameter_depth); pass a flatter value"
            )
        inner = _parts(value)
        if values + len(waiting) + len(inner) > limits.max_parameter_values:
            raise _over(
                "parameters", "values", values + len(waiting) + len(inner),
                "max_parameter_values", limits.max_parameter_values,
                "split them over several queries",
                at_least=True,
            )  # fmt: skip
        waiting.extend((part, depth + 1) for part in inner)


def check_rows(rows: Iterable[Mapping[str, Any]], limits: QuerySettings) -> Iterator[Any]:
    """Yield the rows; :class:`QueryError` as soon as their total size exceeds the limit."""
    size = 0
    for row in rows:
        waiting: list[Any] = [row]
        while waiting:
            value = waiting.pop()
            size += _chars(value) if isinstance(value, (str, bytes)) else OTHER_SIZE
            if size > limits.max_result_chars:
                raise _over(
                    "rows", "characters", size, "max_result_chars", limits.max_result_chars,
                    "return fewer rows or columns", at_least=True,
                )  # fmt: skip
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


def _over(
    what: str,
    unit: str,
    found: int,
    name: str,
    most: int,
    advice: str,
    *,
    at_least: bool = False,
) -> QueryError:
    verb = "has" if what == "query" else "have"
    some = "at least " if at_least else ""
    return QueryError(
        f"the {what} {verb} {some}{short(found)} {unit}, over the limit of {most:,} "
        f"(query.{name}); {advice}"
    )


def short(number: int) -> str:
    """Format a number with all its digits, or as a power of ten if it has too many to read."""
    if number < 10**15:
        return f"{number:,}"
    # Computed from the bits, because Python refuses to format integers of over 4,300 digits.
    return f"10^{int(number.bit_length() * math.log10(2))}"
