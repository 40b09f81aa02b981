"""Translate the values of a query (properties, functions, parameters) to grand-cypher's grammar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cognigraph.cypher.guard.lexer import QueryToken, error
from cognigraph.cypher.local.literals import Constants, moment_of
from cognigraph.cypher.local.match_patterns import closing, plain
from cognigraph.errors import QueryError

SUBSET = (
    "On SQLite a subset of Cypher is supported: MATCH, WHERE (AND, OR, NOT, =, <>, <, >, IN, "
    "CONTAINS, STARTS WITH, ENDS WITH, IS NULL, EXISTS { MATCH ... }), WITH, RETURN, DISTINCT, "
    "ORDER BY, SKIP, LIMIT, and count, collect, sum, avg, min, max, toLower, toUpper, trim, size, "
    "coalesce, type, datetime"
)
ROW, ORDER = "__row", "__order"
AGGREGATES = ("count", "sum", "avg", "min", "max", "collect")
_FUNCTIONS = {
    "tolower": "toLower", "lower": "toLower", "toupper": "toUpper", "upper": "toUpper",
    "trim": "trim", "coalesce": "coalesce", "size": "size", "type": "type",
}  # fmt: skip


@dataclass(slots=True)
class Scope:
    """The names and parameters that are visible in a part of the query.

    ``names`` are those of the patterns. After WITH they are replaced by ``columns``, which maps
    each column to the property of the row node that holds its value.
    """

    query: str
    parameters: Mapping[str, Any]
    names: set[str] = field(default_factory=set)
    columns: dict[str, str] | None = None
    constants: Constants = field(default_factory=Constants)

    def fail(self, token: QueryToken, message: str) -> QueryError:
        """Create an error that points to the token and lists the supported subset."""
        return QueryError(f"{error(self.query, token.start, message)}\n{SUBSET}.")

    def parameter(self, token: QueryToken) -> Any:
        """Return the value of a parameter."""
        if token.value not in self.parameters:
            raise self.fail(token, f"the parameter ${token.value} was not given")
        return self.parameters[token.value]

    def value_of(self, token: QueryToken) -> str:
        """Return the value of a parameter as a literal."""
        return self.constants.literal(self.parameter(token), token.value)

    def variable(self, token: QueryToken) -> str:
        """Translate a bare name, which the query must have introduced."""
        if self.columns is not None:
            if token.value in self.columns:
                return f"{ROW}.{self.columns[token.value]}"
        elif token.value in self.names:
            return plain(token, self.fail)
        raise self.fail(token, f"the name {token.value} is not known here")

    def expression(self, tokens: Sequence[QueryToken], at: QueryToken | None = None) -> Expression:
        """Translate a value; if it is missing, the error points to ``at``."""
        if not tokens:
            assert at is not None
            raise self.fail(at, "a value is missing here")
        return _Writer(self, tokens).write()

    def atom(self, tokens: Sequence[QueryToken]) -> str:
        """Translate a column of RETURN or WITH: a name, property or function, not a calculation."""
        last = closing(tokens, 1) if len(tokens) > 1 else 0
        is_property = len(tokens) == 3 and tokens[1].mark(".")
        is_call = len(tokens) > 2 and tokens[1].mark("(") and last == len(tokens) - 1
        if not tokens[0].named or not (len(tokens) == 1 or is_property or is_call):
            raise self.fail(
                tokens[0], "a column is a name, a property or a function, not a calculation"
            )
        return self.expression(tokens).text


@dataclass(frozen=True, slots=True)
class Expression:
    """A translated value; it is null if any of the properties in ``depends`` is missing."""

    text: str
    depends: tuple[str, ...]


class _Writer:
    """Translates one value, token by token."""

    def __init__(self, scope: Scope, tokens: Sequence[QueryToken]) -> None:
        self.scope, self.tokens = scope, tokens
        self.depends: list[str] = []
        self.parts: list[str] = []

    def write(self) -> Expression:
        here = 0
        while here < len(self.tokens):
            here = self._one(here)
        return Expression(" ".join(self.parts), tuple(dict.fromkeys(self.depends)))

    def _one(self, here: int) -> int:
        token = self.tokens[here]
        following = self.tokens[here + 1] if here + 1 < len(self.tokens) else None
        if token.named and following and following.mark("("):
            return self._call(here)
        if token.named and following and following.mark("."):
            return self._property(here)
        if token.kind == "string":
            self.parts.append(self.scope.constants.text(token.value))
        elif token.kind == "parameter":
            self.parts.append(self.scope.value_of(token))
        elif token.word("TRUE", "FALSE", "NULL"):
            self.parts.append(token.value.upper())
        elif token.named:
            self._bare(token)
        elif token.mark("-") and self._is_sign(here):
            self.parts.append(f"-{self.tokens[here + 1].text}")
            return here + 2
        elif token.kind == "number" or token.mark("+", "-", "*", "/", "%", "(", ")", "[", "]", ","):
            self.parts.append(token.text)
        else:
            raise self.scope.fail(token, f"'{token.text}' is not supported here")
        return here + 1

    def _bare(self, token: QueryToken) -> None:
        text = self.scope.variable(token)
        if "." in text:
            self.depends.append(text)
        self.parts.append(text)

    def _is_sign(self, here: int) -> bool:
        before = self.tokens[here - 1] if here else None
        after = self.tokens[here + 1] if here + 1 < len(self.tokens) else None
        starts = before is None or before.mark("(", "[", ",", "+", "-", "*", "/", "%")
        return starts and after is not None and after.kind == "number"

    def _property(self, here: int) -> int:
        if here + 2 >= len(self.tokens) or not self.tokens[here + 2].named:
            raise self.scope.fail(self.tokens[here], "the name of a property is missing")
        name = plain(self.tokens[here + 2], self.scope.fail)
        owner = self.scope.variable(self.tokens[here])
        # A node passed on by WITH is a value of the row node, which also holds its properties.
        text = f"{owner}__{name}" if "." in owner else f"{owner}.{name}"
        self.depends.append(text)
        self.parts.append(text)
        return here + 3

    def _call(self, here: int) -> int:
        name, end = self.tokens[here], closing(self.tokens, here + 1)
        inside = self.tokens[here + 2 : end]
        lower = name.value.lower()
        if lower == "datetime" and len(inside) == 1:
            self.parts.append(self._datetime(inside[0]))
            return end + 1
        if lower not in _FUNCTIONS:
            advice = ""
            if lower in AGGREGATES:
                advice = "; an aggregate must be a column of WITH or RETURN by itself"
            raise self.scope.fail(name, f"the function {name.value}() is not supported{advice}")
        if lower == "type":
            if len(inside) != 1:
                raise self.scope.fail(name, "type() takes the name of a relationship")
            self.parts.append(f"type({self.scope.variable(inside[0])})")
            return end + 1
        inner = _Writer(self.scope, inside)
        text = inner.write().text
        if lower != "coalesce":
            self.depends += inner.depends
        self.parts.append(f"{_FUNCTIONS[lower]}({text})")
        return end + 1

    def _datetime(self, token: QueryToken) -> str:
        value = token.value if token.kind == "string" else None
        if token.kind == "parameter":
            value = self.scope.parameter(token)
        moment = moment_of(value) if isinstance(value, str) else None
        if moment is None:
            raise self.scope.fail(token, "datetime() takes a text such as 2026-05-20T09:00:00Z")
        return self.scope.constants.text(moment)
