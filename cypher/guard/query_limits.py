"""Limits on an inspection query, its parameters and its rows: checked before and after it runs.

A query is counted token by token before anything parses it, so a hostile one costs no more than
its length. The limits are :class:`~cognigraph.settings.QuerySettings`; see docs/query-limits.md.
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
_OTHER_SIZE = 8
"""What a value that is not text counts for in the size of a result."""


def check_call(limit: int, timeout: float) -> None:
    """Refuse a row limit or a timeout that limits nothing."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 0 <= limit < 2**63:
        raise ConfigurationError(f"limit must be a whole number of 0 or more, not {limit!r}")
    number = isinstance(timeout, (int, float)) and not isinstance(timeout, bool)
    # NaN fails both comparisons.
    if not (number and 0 < timeout <= _MAX_SECONDS):
        raise ConfigurationError(
            f"timeout must be a number of seconds above 0 and at most {_MAX_SECONDS:,.0f}, "
            f"not {timeout!r}"
        )


def check_query(query: str, limits: QuerySettings) -> list[QueryToken]:
    """Return the tokens of a query, or refuse it for its length, its nesting or its operators."""
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
    """Yield what a parser or a planner takes more than linear time for: setting, unit, count."""
    words = sum(token.word("AND", "OR", "XOR", "NOT", "CASE") for token in tokens)
    yield (
        "max_operators", "of the words AND, OR, XOR, NOT, CASE", words,
        "compare with IN $values instead of many conditions",
    )  # fmt: skip
    marks = sum(token.mark("+", "-", "*", "/", "%", "^") for token in tokens)
    yield (
        "max_arithmetic", "of the marks + - * / % ^ (a relationship has two)", marks,
        "shorten its patterns and calculations",
    )  # fmt: skip
    clauses = sum(
        token.word(*_CLAUSES) and not (index and tokens[index - 1].word("STARTS", "ENDS"))
        for index, token in enumerate(tokens)
    )
    yield "max_clauses", "clauses", clauses, "split the query, or give lists as parameters"
    chained = sum(_chained(tokens, index) for index in range(len(tokens)))
    yield "max_chain", "chained steps (.a.b, [0][0], !)", chained, "shorten its expressions"


def _chained(tokens: Sequence[QueryToken], index: int) -> bool:
    """Whether this continues a chain of properties or indexes, or negates a label."""
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
    """Refuse parameters that hold too many values, too much text, or values nested too deep."""
    values = chars = 0
    # Iterative: a value that is nested too deep, or contains itself, must not end the process.
    waiting: list[tuple[Any, int]] = [(value, 1) for value in parameters.values()]
    while waiting:
        value, depth = waiting.pop()
        values += 1
        chars += _chars(value)
        if values > limits.max_parameter_values:
            raise _over(
                "parameters", "values", values, "max_parameter_values",
                limits.max_parameter_values, "ask in several queries", at_least=True,
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
                "max_parameter_values", limits.max_parameter_values, "ask in several queries",
                at_least=True,
            )  # fmt: skip
        waiting.extend((part, depth + 1) for part in inner)


def check_rows(rows: Iterable[Mapping[str, Any]], limits: QuerySettings) -> Iterator[Any]:
    """Pass rows on, and stop with :class:`QueryError` as soon as they are too large together."""
    size = 0
    for row in rows:
        waiting: list[Any] = [row]
        while waiting:
            value = waiting.pop()
            size += _chars(value) if isinstance(value, (str, bytes)) else _OTHER_SIZE
            if size > limits.max_result_chars:
                raise _over(
                    "rows", "characters", size, "max_result_chars", limits.max_result_chars,
                    "return fewer rows or columns", at_least=True,
                )  # fmt: skip
            waiting.extend(_parts(value))
        yield row


def size_of(values: Iterable[Any]) -> int:
    """Count the characters and values in parameters that :func:`check_parameters_size` passed."""
    size, waiting = 0, list(values)
    while waiting:
        value = waiting.pop()
        size += max(_chars(value), 1)
        waiting.extend(_parts(value))
    return size


def _parts(value: Any) -> Sequence[Any]:
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    if isinstance(value, (list, tuple)):
        return value
    return list(value) if isinstance(value, (set, frozenset)) else ()


def _chars(value: Any) -> int:
    if isinstance(value, (str, bytes, bytearray)):
        return len(value)
    # Three bits are about one digit: an integer of a million digits is a long text.
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
    """Write a number with its digits, or its power of ten where there are too many to read."""
    if number < 10**15:
        return f"{number:,}"
    # Of the bits: Python refuses to write integers of more than 4,300 digits.
    return f"10^{int(number.bit_length() * math.log10(2))}"
