"""A space as a graph in memory, and the matches of patterns in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cognigraph.cypher.deadline import check_clock
from cognigraph.cypher.local.values import EDGE, LABELS, Row, identity

Compute = Callable[[Row], Any]
"""Computes a value from the names that a row has."""


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node to load. Times are aware datetimes; properties that are ``None`` are left out."""

    uid: str
    label: str
    properties: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """A relationship to load, from the node with uid ``start`` to the one with uid ``end``."""

    start: str
    type: str
    end: str
    properties: Mapping[str, Any] = field(default_factory=dict)


class Graph:
    """Nodes by label, and the relationships that leave and reach each of them."""

    def __init__(self) -> None:
        self.nodes: dict[str, Row] = {}
        self.by_label: defaultdict[str, list[Row]] = defaultdict(list)
        self.leaving: defaultdict[str, list[tuple[Row, Row]]] = defaultdict(list)
        """By uid: each relationship with the node at its other end."""
        self.reaching: defaultdict[str, list[tuple[Row, Row]]] = defaultdict(list)


def build_graph(nodes: Iterable[NodeRow], edges: Iterable[EdgeRow]) -> Graph:
    """Load a graph; ``ValueError`` if a node of a relationship is missing."""
    graph = Graph()
    for node in nodes:
        check_clock()
        made = _known(node.properties) | {"uid": node.uid, LABELS: {node.label}}
        graph.nodes[node.uid] = made
        graph.by_label[node.label].append(made)
    for number, edge in enumerate(edges):
        check_clock()
        if edge.start not in graph.nodes or edge.end not in graph.nodes:
            raise ValueError(
                f"a {edge.type} relationship starts or ends at a node that is not in the graph"
            )
        made = _known(edge.properties) | {EDGE: number, LABELS: {edge.type}}
        graph.leaving[edge.start].append((made, graph.nodes[edge.end]))
        graph.reaching[edge.end].append((made, graph.nodes[edge.start]))
    return graph


def _known(given: Mapping[str, Any]) -> Row:
    return {name: value for name, value in given.items() if value is not None}


Properties = tuple[tuple[str, Compute], ...]


@dataclass(frozen=True, slots=True)
class NodePattern:
    """A node of a pattern: its name, the labels of which it has one, and what it must be like."""

    name: str
    labels: frozenset[str] = frozenset()
    properties: Properties = ()
    where: Compute | None = None


@dataclass(frozen=True, slots=True)
class EdgePattern:
    """A relationship of a pattern, as written from left to right.

    ``hops`` are the least and the largest number of relationships in a row; without it, it is one.
    """

    name: str
    types: frozenset[str] = frozenset()
    properties: Properties = ()
    hops: tuple[int, int] | None = None
    to_right: bool = True
    to_left: bool = True


@dataclass(frozen=True, slots=True)
class Chain:
    """A node, and any number of relationships that each lead to a further node."""

    nodes: Sequence[NodePattern]
    edges: Sequence[EdgePattern]


_Used = frozenset[int]
"""The numbers of the relationships of a match: none is used twice, as in Neo4j."""


def matches(graph: Graph, chains: Sequence[Chain], row: Row) -> Iterator[Row]:
    """The row with each match of all the chains together."""
    return (found for found, _ in _all(graph, chains, row, frozenset()))


def _all(
    graph: Graph, chains: Sequence[Chain], row: Row, used: _Used
) -> Iterator[tuple[Row, _Used]]:
    if not chains:
        yield row, used
        return
    chain = chains[0]
    start = _start(chain, row)
    last = len(chain.nodes) - 1
    steps = [(number, False) for number in range(start, last)]
    steps += [(number, True) for number in reversed(range(start))]
    node = chain.nodes[start]
    for candidate in _candidates(graph, node, row):
        check_clock()
        begun = row | {node.name: candidate}
        if _fits(candidate, node, begun):
            for found, taken in _walk(graph, chain, steps, begun, used):
                yield from _all(graph, chains[1:], found, taken)


def _start(chain: Chain, row: Row) -> int:
    """The node to begin a match at: one that is bound already, else one with few candidates."""

    def worth(place: int) -> tuple[bool, bool, bool]:
        node = chain.nodes[place]
        return node.name in row, bool(node.labels and node.properties), bool(node.labels)

    return max(range(len(chain.nodes)), key=worth)


def _candidates(graph: Graph, node: NodePattern, row: Row) -> Iterable[Row]:
    if node.name in row:
        known = row[node.name]
        return [known] if isinstance(known, dict) and "uid" in known else []
    if node.labels:
        return (found for label in sorted(node.labels) for found in graph.by_label.get(label, ()))
    return graph.nodes.values()


def _fits(found: Row, pattern: NodePattern, row: Row) -> bool:
    return (
        (not pattern.labels or not pattern.labels.isdisjoint(found[LABELS]))
        and _has(found, pattern.properties, row)
        and (pattern.where is None or pattern.where(row) is True)
    )


def _has(found: Row, properties: Properties, row: Row) -> bool:
    for name, compute in properties:
        wanted = compute(row)
        if wanted is None or identity(found.get(name)) != identity(wanted):
            return False
    return True


def _walk(
    graph: Graph, chain: Chain, steps: Sequence[tuple[int, bool]], row: Row, used: _Used
) -> Iterator[tuple[Row, _Used]]:
    """Go along the relationships that are left, each from a known node; see :func:`_all`."""
    check_clock()
    if not steps:
        yield row, used
        return
    (number, backwards), *rest = steps
    edge = chain.edges[number]
    here, there = chain.nodes[number], chain.nodes[number + 1]
    if backwards:
        here, there = there, here
    for value, node, taken in _across(graph, edge, row[here.name], row, used, backwards=backwards):
        if there.name in row and row[there.name] is not node:
            continue
        further = row | {there.name: node, edge.name: value}
        if _fits(node, there, further):
            yield from _walk(graph, chain, rest, further, taken)


def _across(
    graph: Graph, edge: EdgePattern, node: Row, row: Row, used: _Used, *, backwards: bool
) -> Iterator[tuple[Any, Row, _Used]]:
    """The relationships that lead on from a node, each with its other end and all that are used."""
    if edge.hops is None:
        for found, other in _edges(graph, edge, node, row, used, backwards=backwards):
            yield found, other, used | {found[EDGE]}
        return
    least, most = edge.hops
    paths: list[tuple[list[Row], Row, _Used]] = [([], node, used)]
    while paths:
        check_clock()
        path, end, taken = paths.pop()
        if len(path) >= least:
            yield (path[::-1] if backwards else path), end, taken
        if len(path) < most:
            for found, other in _edges(graph, edge, end, row, taken, backwards=backwards):
                paths.append(([*path, found], other, taken | {found[EDGE]}))


def _edges(
    graph: Graph, edge: EdgePattern, node: Row, row: Row, used: _Used, *, backwards: bool
) -> Iterator[tuple[Row, Row]]:
    leaves, reaches = edge.to_right, edge.to_left
    if backwards:
        leaves, reaches = reaches, leaves
    both = leaves and reaches
    uid = node["uid"]
    found = [*graph.leaving.get(uid, ())] if leaves else []
    if reaches:  # a relationship of a node with itself is in both lists
        others = graph.reaching.get(uid, ())
        found += [item for item in others if not (both and item[1] is node)]
    for relationship, other in found:
        check_clock()
        if (
            relationship[EDGE] not in used
            and (not edge.types or not edge.types.isdisjoint(relationship[LABELS]))
            and _has(relationship, edge.properties, row)
        ):
            yield relationship, other
