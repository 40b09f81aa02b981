"""Parse the patterns of MATCH from tokens and write them in grand-cypher's grammar.

grand-cypher accepts one chain per MATCH, loses a node's label where the node is named again without
it, and matches ``--`` only if there are relationships in both directions. Every relationship is
therefore written as a MATCH of its own with complete nodes, and an undirected relationship becomes
two queries.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from cognigraph.cypher.guard.lexer import QueryToken
from cognigraph.errors import QueryError

MOST_HOPS = 10
MOST_UNDIRECTED = 4
_MOST_DIGITS = 9
_PLAIN = re.compile(r"[A-Za-z]\w*|_[A-Za-z]\w*", re.ASCII)

Fail = Callable[[QueryToken, str], QueryError]


@dataclass(slots=True)
class Node:
    """A node of the patterns, with the labels and properties from all its occurrences."""

    name: str
    labels: tuple[str, ...] = ()
    properties: dict[str, str] = field(default_factory=dict)

    def text(self) -> str:
        """Write the complete node."""
        labels = ":" + "|".join(self.labels) if self.labels else ""
        pairs = ", ".join(f"{key}: {value}" for key, value in self.properties.items())
        return f"({self.name}{labels}{' {' + pairs + '}' if pairs else ''})"


@dataclass(frozen=True, slots=True)
class Edge:
    """A relationship between two named nodes. ``hops`` is empty unless its length is variable."""

    name: str
    types: tuple[str, ...]
    hops: str
    start: str
    end: str
    directed: bool

    def text(self, nodes: dict[str, Node]) -> str:
        """Write the relationship with both nodes, directed from start to end."""
        types = ":" + "|".join(self.types) if self.types else ""
        inside = f"{self.name}{types}{self.hops}"
        return f"{nodes[self.start].text()}-[{inside}]->{nodes[self.end].text()}"


@dataclass(slots=True)
class Patterns:
    """All patterns of one MATCH part."""

    nodes: dict[str, Node] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    inline: list[Sequence[QueryToken]] = field(default_factory=list)

    @property
    def names(self) -> set[str]:
        """Names of nodes and relationships."""
        return {*self.nodes, *(edge.name for edge in self.edges)}

    def texts(self) -> Iterator[str]:
        """Yield the MATCH clauses, once per combination of directions of undirected edges."""
        open_ones = [edge for edge in self.edges if not edge.directed]
        for turned in itertools.product((False, True), repeat=len(open_ones)):
            turn = {edge.name for edge, turns in zip(open_ones, turned, strict=True) if turns}
            edges = [
                replace(edge, start=edge.end, end=edge.start) if edge.name in turn else edge
                for edge in self.edges
            ]
            linked = {name for edge in edges for name in (edge.start, edge.end)}
            lonely = [node.text() for name, node in self.nodes.items() if name not in linked]
            clauses = [*(edge.text(self.nodes) for edge in edges), *lonely]
            yield " ".join(f"MATCH {clause}" for clause in clauses)

    def components(self) -> list[list[Node]]:
        """Return the connected components, as lists of nodes."""
        groups = {name: {name} for name in self.nodes}
        for edge in self.edges:
            if groups[edge.start] is not groups[edge.end]:
                groups[edge.start] |= groups[edge.end]
                for name in groups[edge.start]:
                    groups[name] = groups[edge.start]
        distinct = {id(group): group for group in groups.values()}
        return [[self.nodes[name] for name in sorted(group)] for group in distinct.values()]


class PatternReader:
    """Parses the comma-separated patterns of MATCH clauses into one :class:`Patterns`."""

    def __init__(
        self,
        value: Callable[[Sequence[QueryToken]], str],
        fail: Fail,
        counter: Iterator[int],
        known: frozenset[str] = frozenset(),
    ) -> None:
        self.value, self.fail, self.counter, self.known = value, fail, counter, known
        self.found = Patterns()

    def read(self, tokens: Sequence[QueryToken]) -> None:
        """Add the patterns of one MATCH clause."""
        if len(tokens) > 1 and tokens[0].named and tokens[1].mark("="):
            raise self.fail(tokens[0], "named paths are not supported on SQLite")
        for chain in split(tokens, ","):
            self._chain(chain)
        undirected = sum(not edge.directed for edge in self.found.edges)
        if undirected > MOST_UNDIRECTED:
            raise self.fail(tokens[0], "give the relationships a direction (-> or <-)")

    def _chain(self, tokens: Sequence[QueryToken]) -> None:
        if not tokens or not tokens[0].mark("("):
            at = tokens[0] if tokens else None
            raise self._fail(at, "a pattern must start with a node such as (n:Label)")
        end = closing(tokens, 0)
        left = self._node(tokens[1:end])
        here = end + 1
        while here < len(tokens):
            node = here
            while node < len(tokens) and not tokens[node].mark("("):
                node = closing(tokens, node) + 1
            if node >= len(tokens):
                raise self.fail(
                    tokens[here], "a relationship must be followed by a node such as (m)"
                )
            end = closing(tokens, node)
            right = self._node(tokens[node + 1 : end])
            self._edge(tokens[here:node], left, right)
            left, here = right, end + 1

    def _fail(self, token: QueryToken | None, message: str) -> QueryError:
        return self.fail(token, message) if token else QueryError(message)

    def _node(self, tokens: Sequence[QueryToken]) -> str:
        here = 0
        if tokens and tokens[0].named:
            name, here = plain(tokens[0], self.fail), 1
        else:
            name = f"__n{next(self.counter)}"
        node = self.found.nodes.setdefault(name, Node(name))
        labels, here = self._labels(tokens, here)
        if labels and node.labels and set(labels) != set(node.labels):
            raise self.fail(tokens[0], f"give the labels of {name} once")
        node.labels = labels or node.labels
        if here < len(tokens) and tokens[here].mark("{"):
            end = closing(tokens, here)
            node.properties |= self._properties(tokens[here + 1 : end])
            here = end + 1
        if here < len(tokens) and tokens[here].word("WHERE"):
            self.found.inline.append(tokens[here + 1 :])
        elif here < len(tokens):
            raise self.fail(tokens[here], "a node is written (name:Label {key: value})")
        return name

    def _labels(self, tokens: Sequence[QueryToken], here: int) -> tuple[tuple[str, ...], int]:
        labels: list[str] = []
        while (
            here < len(tokens)
            and tokens[here].mark(":", "|")
            and bool(labels) == tokens[here].mark("|")
        ):
            here += 2 if here + 2 < len(tokens) and tokens[here + 1].mark(":") else 1
            if here >= len(tokens) or not tokens[here].named:
                raise self.fail(tokens[min(here, len(tokens) - 1)], "a label is missing here")
            labels.append(plain(tokens[here], self.fail))
            here += 1
        return tuple(labels), here

    def _properties(self, tokens: Sequence[QueryToken]) -> dict[str, str]:
        found: dict[str, str] = {}
        for pair in split(tokens, ","):
            if len(pair) < 3 or not pair[0].named or not pair[1].mark(":"):
                raise self._fail(pair[0] if pair else None, "a property is written key: value")
            if pair[0].value == "space":
                raise self.fail(pair[0], "leave 'space' out; a query can only read its own space")
            value = self.value(pair[2:])
            if value == "NULL":
                self.found.conditions.append("1 = 2")
            else:
                found[plain(pair[0], self.fail)] = value
        return found

    def _edge(self, tokens: Sequence[QueryToken], left: str, right: str) -> None:
        marks = "".join(token.text for token in tokens)
        opening = next((i for i, token in enumerate(tokens) if token.mark("[")), None)
        inside: Sequence[QueryToken] = ()
        if opening is not None:
            end = closing(tokens, opening)
            inside = tokens[opening + 1 : end]
            outside = [*tokens[:opening], *tokens[end + 1 :]]
            marks = "".join(token.text for token in outside)
        if marks not in ("--", "-->", "<--", "<-->"):
            raise self.fail(tokens[0], "a relationship is written -[:TYPE]-> or <-[:TYPE]-")
        if marks == "<--":
            left, right = right, left
        edge = self._inside(tokens[0], inside, left, right, directed=marks in ("-->", "<--"))
        for other in self.found.edges:
            if {other.start, other.end} == {left, right}:
                raise self.fail(
                    tokens[0], "two relationships between the same two nodes are not supported"
                )
        self.found.edges.append(edge)

    def _inside(
        self, at: QueryToken, tokens: Sequence[QueryToken], left: str, right: str, *, directed: bool
    ) -> Edge:
        here, name = 0, f"__r{next(self.counter)}"
        if tokens and tokens[0].named:
            name, here = plain(tokens[0], self.fail), 1
            if name in self.found.names or name in self.known:
                raise self.fail(tokens[0], f"the name {name} is already in use")
        types, here = self._labels(tokens, here)
        hops, here = self._hops(tokens, here)
        if here < len(tokens) and tokens[here].mark("{"):
            end = closing(tokens, here)
            pairs = self._properties(tokens[here + 1 : end])
            if hops and pairs:
                raise self.fail(tokens[here], "properties of a variable length are not supported")
            self.found.conditions += [f"{name}.{key} = {value}" for key, value in pairs.items()]
            here = end + 1
        if here < len(tokens):
            raise self.fail(tokens[here], "a relationship is written [name:TYPE {key: value}]")
        if left == right and not directed:
            raise self.fail(at, "give a relationship of a node to itself a direction")
        return Edge(name, types, hops, left, right, directed)

    def _hops(self, tokens: Sequence[QueryToken], here: int) -> tuple[str, int]:
        if here >= len(tokens) or not tokens[here].mark("*"):
            return "", here
        found = re.match(r"\*(\d*)(\.\.)?(\d*)", "".join(token.text for token in tokens[here:]))
        assert found is not None
        if max(map(len, (found[1], found[3]))) > _MOST_DIGITS:
            raise self.fail(tokens[here], f"a variable length goes up to {MOST_HOPS}")
        least = int(found[1] or 1)
        most = int(found[3]) if found[2] and found[3] else None if found[2] else int(found[1] or 0)
        if not most or most > MOST_HOPS or least > most:
            raise self.fail(
                tokens[here], f"give a variable length bounds, as in *1..3, up to {MOST_HOPS}"
            )
        used = 1 + bool(found[1]) + (2 if found[2] else 0) + bool(found[3])
        return f"*{least}..{most}", here + used


def split(tokens: Sequence[QueryToken], mark: str) -> list[Sequence[QueryToken]]:
    """Split at a punctuation mark outside brackets; no tokens give no parts."""
    parts: list[Sequence[QueryToken]] = []
    begin = here = 0
    while here < len(tokens):
        if tokens[here].mark(mark):
            parts.append(tokens[begin:here])
            begin = here + 1
        here = closing(tokens, here) + 1
    return [*parts, tokens[begin:]] if tokens else []


def closing(tokens: Sequence[QueryToken], index: int) -> int:
    """Return the index of the bracket that closes the one at ``index``.

    ``index`` itself if no bracket opens there.
    """
    depth = 0
    for here in range(index, len(tokens)):
        depth += tokens[here].mark("(", "[", "{") - tokens[here].mark(")", "]", "}")
        if depth <= 0:
            return here
    return len(tokens) - 1


def plain(token: QueryToken, fail: Fail) -> str:
    """Return the token's name if grand-cypher accepts it; raise the error of ``fail`` otherwise."""
    if not _PLAIN.fullmatch(token.value):
        raise fail(
            token,
            f"the name {token.value!r} is not supported on SQLite (letters, digits and _ are)",
        )
    return token.value
