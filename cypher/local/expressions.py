"""Read the expressions and patterns of a query into functions that compute values from a row."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

from cognigraph.cypher.guard.grammar import Cursor
from cognigraph.cypher.guard.lexer import QueryToken
from cognigraph.cypher.local.graph import (
    Chain,
    Compute,
    EdgePattern,
    Graph,
    NodePattern,
    Properties,
    matches,
)
from cognigraph.cypher.local.values import EDGE, LABELS, Row, identity, kind_of
from cognigraph.errors import QueryError

SUBSET = (
    "On SQLite a subset of Cypher is supported: MATCH, WHERE (AND, OR, XOR, NOT, =, <>, <, >, IN, "
    "CONTAINS, STARTS WITH, ENDS WITH, IS NULL, EXISTS { MATCH ... }), WITH, RETURN, DISTINCT, "
    "ORDER BY, SKIP, LIMIT, + - * / %, and count, collect, sum, avg, min, max, toLower, toUpper, "
    "trim, size, coalesce, type, datetime"
)
AGGREGATES = ("count", "sum", "avg", "min", "max", "collect")
MOST_HOPS = 10
_MOST_DIGITS = 19
_LARGEST = 2**63


def _truth(value: Any) -> bool | None:
    return None if value is None else value is True


def _not(value: Any) -> bool | None:
    return None if value is None else value is not True


def equal(left: Any, right: Any) -> bool | None:
    """Whether two values are equal; ``None`` if either is missing."""
    return None if left is None or right is None else identity(left) == identity(right)


def _ordered(is_so: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool | None]:
    """A comparison of order; ``None`` for values of different types, as in Neo4j."""

    def compared(left: Any, right: Any) -> bool | None:
        if kind_of(left) != kind_of(right) or kind_of(left) in (0, 3, 9):
            return None
        return is_so(left, right)

    return compared


def _of_texts(is_so: Callable[[str, str], bool]) -> Callable[[Any, Any], bool | None]:
    def compared(left: Any, right: Any) -> bool | None:
        return is_so(left, right) if isinstance(left, str) and isinstance(right, str) else None

    return compared


def _is_in(value: Any, items: Any) -> bool | None:
    if value is None or not isinstance(items, (list, tuple, _Members)):
        return None
    if isinstance(items, _Members):
        return True if identity(value) in items.known else items.otherwise
    found = [equal(value, item) for item in items]
    return True if True in found else None if None in found else False


class _Members:
    """The values of a parameter that is a list, for fast ``IN``."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.known = frozenset(map(identity, values))
        self.otherwise = None if None in values else False


_COMPARISONS: Mapping[str, Callable[[Any, Any], bool | None]] = {
    "=": equal,
    "<>": lambda left, right: None if (same := equal(left, right)) is None else not same,
    "<": _ordered(operator.lt),
    ">": _ordered(operator.gt),
    "<=": _ordered(operator.le),
    ">=": _ordered(operator.ge),
    "IN": _is_in,
    "CONTAINS": _of_texts(lambda text, part: part in text),
    "STARTS": _of_texts(str.startswith),
    "ENDS": _of_texts(str.endswith),
}


def _calculated(sign: str, left: Any, right: Any) -> Any:
    """The result of a calculation; texts and lists can only be joined.

    Raises:
        QueryError: the values cannot be calculated with, or the result is too large.
    """
    if left is None or right is None:
        return None
    if sign == "+" and {type(left), type(right)} in ({str}, {list}):
        return left + right
    if not all(isinstance(n, (int, float)) and not isinstance(n, bool) for n in (left, right)):
        raise QueryError(f"{sign} takes two numbers, or + two texts or two lists")
    try:
        if sign in "/%" and isinstance(left, int) and isinstance(right, int):
            found: Any = abs(left) // abs(right) if sign == "/" else abs(left) % abs(right)
            is_below = left < 0 if sign == "%" else (left < 0) != (right < 0)
            found = -found if is_below else found
        else:
            found = _SIGNS[sign](left, right)
    except (ArithmeticError, ValueError) as error:
        raise QueryError(f"{left} {sign} {right} has no result: {error}") from error
    if isinstance(found, int) and not -_LARGEST <= found < _LARGEST:
        raise QueryError("a number is too large: whole numbers have 64 bits")
    return found


_SIGNS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "%": math.fmod,
}  # fmt: skip


def _of_text(change: Callable[[str], Any]) -> Callable[..., Any]:
    def changed(value: Any) -> Any:
        if value is not None and not isinstance(value, str):
            raise QueryError(f"a function of texts got a {type(value).__name__}")
        return None if value is None else change(value)

    return changed


def _size(value: Any) -> int | None:
    if value is not None and not isinstance(value, (str, list)):
        raise QueryError(f"size() takes a text or a list, not a {type(value).__name__}")
    return None if value is None else len(value)


def _datetime(value: Any) -> datetime | None:
    if value is None or isinstance(value, datetime):
        return value
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise QueryError("datetime() takes a text such as 2026-05-20T09:00:00Z") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)


def _type(value: Any) -> str | None:
    return next(iter(value[LABELS])) if isinstance(value, Mapping) and EDGE in value else None


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "tolower": _of_text(str.lower), "lower": _of_text(str.lower), "toupper": _of_text(str.upper),
    "upper": _of_text(str.upper), "trim": _of_text(str.strip), "size": _size, "type": _type,
    "datetime": _datetime,
}  # fmt: skip
_ENDS = ("MATCH", "WHERE", "WITH", "RETURN", "ORDER", "SKIP", "OFFSET", "LIMIT")
"""The words with which the next clause begins."""


def given(value: Any, name: str) -> Any:
    """The value of a parameter, as the values in a graph are.

    Raises:
        QueryError: it is of a type that a graph does not have.
    """
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            raise QueryError(f"the time {value} has no timezone; give an aware datetime")
        return value.astimezone(UTC)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        raise QueryError(f"the parameter ${name} is not a finite number")
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return str.__str__(value)  # not of a subclass, whose methods could be anything
    if isinstance(value, (list, tuple, set, frozenset)):
        return [given(item, name) for item in value]
    raise QueryError(
        f"the parameter ${name} is a {type(value).__name__}; the SQLite store takes strings, "
        "numbers, booleans, datetimes and lists of them"
    )


class Expressions(Cursor):
    """Reads expressions and patterns from the current position in the tokens of a query."""

    def __init__(
        self, query: str, tokens: Sequence[QueryToken], parameters: Mapping[str, Any]
    ) -> None:
        super().__init__(query, tokens)
        self.parameters = parameters
        self.graph = Graph()
        """The graph in which EXISTS looks for a match; set when the query runs."""
        self.names: set[str] = set()
        """The variables that are defined at this point of the query."""
        self.labelled: set[str] = set()
        """The variables that stand for nodes with a known label."""
        self.labels: set[str] | None = set()
        """The labels of all nodes that patterns name; ``None`` if one can have any label."""
        self.has_relationships = False
        self._unnamed = itertools.count(1)

    def error(self, message: str, index: int | None = None) -> QueryError:
        """An error that points to the token at ``index``, and says what is supported."""
        return QueryError(f"{super().error(message, index)}\n{SUBSET}.")

    # Conditions

    def expression(self) -> Compute:
        """Read an expression."""
        return _joined(self._separated("OR", self._exclusive), decides=True)

    def _exclusive(self) -> Compute:
        parts = self._separated("XOR", self._all_of)
        if len(parts) == 1:
            return parts[0]

        def odd(row: Row) -> bool | None:
            values = [part(row) for part in parts]
            return None if None in values else sum(value is True for value in values) % 2 == 1

        return odd

    def _all_of(self) -> Compute:
        return _joined(self._separated("AND", self._negation), decides=False)

    def _separated(self, word: str, read: Callable[[], Compute]) -> list[Compute]:
        parts = [read()]
        while self.take_word(word):
            parts.append(read())
        return parts

    def _negation(self) -> Compute:
        count = 0
        while self.take_word("NOT"):
            count += 1
        inner = self._comparison()
        return (lambda row: _not(inner(row))) if count % 2 else inner

    def _comparison(self) -> Compute:
        left = self._sum()
        while self.take_word("IS"):
            is_missing = not self.take_word("NOT")
            self.expect_word("NULL")
            left = _tested(left, is_missing)
        word = next((word for word in ("IN", "CONTAINS", "STARTS", "ENDS") if self.word(word)), "")
        sign = word or self._sign()
        if not sign:
            return left
        if sign not in _COMPARISONS:
            raise self.error(f"the operator {sign} is not supported on SQLite")
        self.at += 1 if word else len(sign)
        if word in ("STARTS", "ENDS"):
            self.expect_word("WITH")
        right = self._members() if word == "IN" else self._sum()
        compared = _COMPARISONS[sign]
        return lambda row: compared(left(row), right(row))

    def _sign(self) -> str:
        """The operator of comparison here, as it is written; empty if there is none."""
        sign = ""
        while len(sign) < 2 and self.mark("<", ">", "=", "~", ahead=len(sign)):
            if sign == "=" and not self.mark("~", ahead=1):
                break
            sign += self.peek(len(sign)).text
        return sign

    def _members(self) -> Compute:
        """What is right of IN."""
        token = self.token()
        value = self.parameters.get(token.value) if token.kind == "parameter" else None
        if isinstance(value, (list, tuple, set, frozenset)):
            self.at += 1
            members = _Members(given(value, token.value))
            return lambda row: members
        return self._sum()

    # Values

    def _sum(self) -> Compute:
        return self._calculation(("+", "-"), self._product)

    def _product(self) -> Compute:
        return self._calculation(("*", "/", "%"), self._operand)

    def _calculation(self, signs: tuple[str, ...], read: Callable[[], Compute]) -> Compute:
        left = read()
        while self.mark(*signs):
            sign = self.token().text
            self.at += 1
            left = _combined(sign, left, read())
        return left

    def _operand(self) -> Compute:
        if self.take_mark("-"):
            inner = self._operand()
            return lambda row: _calculated("-", 0, inner(row))
        token = self.token()
        if self.at >= len(self.tokens) or token.word(*_ENDS):
            raise self.error("a value is missing here")
        if self._is_pattern():
            return self._exists(self.pattern)
        if token.word("EXISTS") and self.mark("{", ahead=1):
            self.at += 1
            return self._exists(lambda: self.enter(self._subquery))
        if token.mark("("):
            return self.enter(self.expression)
        if token.mark("["):
            items = self.enter(self._items)
            return lambda row: [item(row) for item in items]
        if token.kind == "parameter":
            return self._constant(self.parameter())
        if token.kind == "string":
            return self._constant(token.value)
        if token.kind == "number":
            return self._constant(self._number(token))
        if token.word("TRUE", "FALSE", "NULL"):
            return self._constant({"TRUE": True, "FALSE": False}.get(token.value.upper()))
        if token.word("CASE"):
            raise self.error("CASE is not supported on SQLite")
        if token.named:
            return self._call() if self.mark("(", ahead=1) else self._property()
        raise self.error(f"'{token.text}' is not supported here")

    def _constant(self, value: Any) -> Compute:
        self.at += 1
        return lambda row: value

    def parameter(self) -> Any:
        """The value of the parameter here."""
        name = self.token().value
        if name not in self.parameters:
            raise self.error(f"the parameter ${name} was not given")
        return given(self.parameters[name], name)

    def _number(self, token: QueryToken) -> int | float:
        text = token.text.replace("_", "")
        try:
            return int(text, 0) if text[:2].lower() in ("0x", "0o") else int(text)
        except ValueError:
            if len(text) > 1000:
                raise self.error("the number has too many digits") from None
            return float(text)

    def _items(self) -> list[Compute]:
        items: list[Compute] = []
        while not self.mark("]", ")"):
            items.append(self.expression())
            if not self.take_mark(","):
                break
        return items

    def _call(self) -> Compute:
        name = self.token().value
        lower = name.lower()
        if lower in AGGREGATES:
            raise self.error("compute an aggregate in WITH first, then use its name")
        if lower != "coalesce" and lower not in _FUNCTIONS:
            raise self.error(f"the function {name}() is not supported")
        self.at += 1
        start = self.at
        arguments = self.enter(self._items)
        if lower == "coalesce":
            return lambda row: next(
                (value for argument in arguments if (value := argument(row)) is not None), None
            )
        if len(arguments) != 1:
            raise self.error(f"{name}() takes one value", start)
        (argument,), function = arguments, _FUNCTIONS[lower]
        return lambda row: function(argument(row))

    def _property(self) -> Compute:
        name = self.token().value
        if name not in self.names:
            raise self.error(f"the name {name} is not known here")
        self.at += 1
        if not self.take_mark("."):
            return lambda row: row[name]
        key = self._key()
        if key.startswith("__"):  # our own
            return lambda row: None
        return lambda row: row[name].get(key) if isinstance(row[name], Mapping) else None

    def _key(self) -> str:
        token = self.token()
        if not token.named:
            raise self.error("the name of a property is missing")
        self.at += 1
        return token.value

    # Patterns

    def _is_pattern(self) -> bool:
        """Whether a pattern such as ``(n)-[:TYPE]->()`` begins here, and no calculation."""
        if not self.mark("("):
            return False
        after = self.pairs[self.at] + 1 - self.at
        if self.mark("-", ahead=after):
            return self.mark("[", "-", ahead=after + 1)
        return self.mark("<", ahead=after) and self.mark("-", ahead=after + 1)

    def _exists(self, read: Callable[[], Chain | tuple[list[Chain], Compute | None]]) -> Compute:
        """Whether there is a match, for names that are known only inside."""
        names, labelled = set(self.names), set(self.labelled)
        found = read()
        chains, where = found if isinstance(found, tuple) else ([found], None)
        if not isinstance(found, tuple):
            self.learn(chains)
        self.names, self.labelled = names, labelled

        def exists(row: Row) -> bool:
            inner = matches(self.graph, chains, row)
            return any(where is None or where(match) is True for match in inner)

        return exists

    def _subquery(self) -> tuple[list[Chain], Compute | None]:
        self.take_word("MATCH")
        chains = self.patterns()
        where = self.expression() if self.take_word("WHERE") else None
        return chains, where

    def patterns(self) -> list[Chain]:
        """Read the patterns of a MATCH, whose names are known afterwards."""
        chains = [self.pattern()]
        while self.take_mark(","):
            chains.append(self.pattern())
        self.learn(chains)
        return chains

    def learn(self, chains: Sequence[Chain]) -> None:
        """Note what labels the nodes of some patterns can have."""
        nodes = [node for chain in chains for node in chain.nodes]
        edges = [edge for chain in chains for edge in chain.edges]
        self.labelled |= {node.name for node in nodes if node.labels}
        self.has_relationships = self.has_relationships or bool(edges)
        passes_others = any(edge.hops for edge in edges)
        if passes_others or any(node.name not in self.labelled for node in nodes):
            self.labels = None
        if self.labels is not None:
            self.labels |= {label for node in nodes for label in node.labels}

    def pattern(self) -> Chain:
        """Read one pattern."""
        if self.token().named and self.mark("=", ahead=1):
            raise self.error("named paths are not supported on SQLite")
        if not self.mark("("):
            raise self.error("a pattern must start with a node such as (n:Label)")
        nodes, edges = [self.enter(self._node)], list[EdgePattern]()
        while self.mark("-", "<"):
            edges.append(self._edge())
            if not self.mark("("):
                raise self.error("a relationship must be followed by a node such as (m)")
            nodes.append(self.enter(self._node))
        return Chain(nodes, edges)

    def _node(self) -> NodePattern:
        name = self._new_name()
        self.names.add(name)
        labels = self._alternatives()
        properties = self.enter(self._pairs) if self.mark("{") else ()
        where = self.expression() if self.take_word("WHERE") else None
        if not self.mark(")"):
            raise self.error("a node is written (name:Label {key: value})")
        return NodePattern(name, labels, properties, where)

    def _new_name(self) -> str:
        if self.token().named and not self.word("WHERE"):
            self.at += 1
            return self.peek(-1).value
        return f"__unnamed{next(self._unnamed)}"

    def _alternatives(self) -> frozenset[str]:
        """The labels or types after a colon."""
        found: set[str] = set()
        while self.take_mark("|" if found else ":"):
            self.take_mark(":")
            if not self.token().named:
                raise self.error("a label is missing here")
            found.add(self.token().value)
            self.at += 1
        return frozenset(found)

    def _pairs(self) -> Properties:
        pairs: list[tuple[str, Compute]] = []
        while not self.mark("}"):
            if self.token().value == "space":
                raise self.error("leave 'space' out; a query can only read its own space")
            key = self._key()
            if not self.take_mark(":"):
                raise self.error("a property is written key: value")
            pairs.append((key, self.expression()))
            if not self.take_mark(","):
                break
        return tuple(pairs)

    def _edge(self) -> EdgePattern:
        begin = self.at
        to_left = self.take_mark("<")
        inside = None
        if self.take_mark("-") and self.mark("["):
            inside = self.enter(self._inside)
        if not self.take_mark("-"):
            raise self.error("a relationship is written -[:TYPE]-> or <-[:TYPE]-", begin)
        to_right = self.take_mark(">")
        name, types, hops, properties = inside or (self._new_name_of_edge(), frozenset(), None, ())
        either = to_left == to_right
        return EdgePattern(name, types, properties, hops, to_right or either, to_left or either)

    def _new_name_of_edge(self) -> str:
        return f"__unnamed{next(self._unnamed)}"

    def _inside(self) -> tuple[str, frozenset[str], tuple[int, int] | None, Properties]:
        begin = self.at
        name = self._new_name()
        if name in self.names:
            raise self.error(f"the name {name} is already in use", begin)
        self.names.add(name)
        types, hops = self._alternatives(), self._hops()
        if hops and self.mark("{"):
            raise self.error("properties of a variable length are not supported")
        properties = self.enter(self._pairs) if self.mark("{") else ()
        if not self.mark("]"):
            raise self.error("a relationship is written [name:TYPE {key: value}]")
        return name, types, hops, properties

    def _hops(self) -> tuple[int, int] | None:
        begin = self.at
        if not self.take_mark("*"):
            return None
        least = self._bound()
        is_range = self.marks("..")
        self.at += 2 if is_range else 0
        most = self._bound() if is_range else least
        if (least or 0) > MOST_HOPS or (most or 0) > MOST_HOPS:
            raise self.error(f"a variable length goes up to {MOST_HOPS}", begin)
        least = 1 if least is None else least
        if most is None or least > most:
            bounds = f"give a variable length bounds, as in *1..3, up to {MOST_HOPS}"
            raise self.error(bounds, begin)
        return least, most

    def _bound(self) -> int | None:
        token = self.token()
        if token.kind != "number":
            return None
        self.at += 1
        is_short = token.text.isdecimal() and len(token.text) <= _MOST_DIGITS
        return int(token.text) if is_short else MOST_HOPS + 1


def _joined(parts: Sequence[Compute], *, decides: bool) -> Compute:
    """Conditions of which one alone decides if it is true (OR), or if it is false (AND)."""
    if len(parts) == 1:
        return parts[0]

    def joined(row: Row) -> bool | None:
        found: bool | None = not decides
        for part in parts:
            value = _truth(part(row))
            if value is decides:
                return decides
            found = None if value is None else found
        return found

    return joined


def _tested(value: Compute, is_missing: bool) -> Compute:
    return lambda row: (value(row) is None) == is_missing


def _combined(sign: str, left: Compute, right: Compute) -> Compute:
    return lambda row: _calculated(sign, left(row), right(row))
