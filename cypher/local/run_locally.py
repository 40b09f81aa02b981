"""Run Cypher queries on a space exported to a networkx graph: inspection for the SQLite store.

Queries run in Python in this process, which is fast enough to inspect a memory but not to serve
requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from math import prod
from typing import Any

import networkx as nx
from networkx.classes.reportviews import NodeView

from cognigraph.cypher.deadline import Clocked, OutOfTime, check_clock, time_limit
from cognigraph.cypher.guard.query_limits import DEFAULT_LIMITS, check_call, check_rows, short
from cognigraph.cypher.local.expressions import ORDER, ROW, SUBSET
from cognigraph.cypher.local.literals import Moment
from cognigraph.cypher.local.rows import EDGE, Row, finish, plain
from cognigraph.cypher.local.translate import Stage, translate
from cognigraph.errors import ConfigurationError, QueryError
from cognigraph.settings import QuerySettings

MOST_COMBINATIONS = 250_000
"""Largest number of combinations of matches of unconnected patterns."""


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node to export. Times are aware datetimes; properties that are ``None`` are omitted."""

    uid: str
    label: str
    properties: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EdgeRow:
    """A relationship to export, from the node with uid ``start`` to the one with uid ``end``."""

    start: str
    type: str
    end: str
    properties: Mapping[str, Any] = field(default_factory=dict)


class _Graph(nx.MultiDiGraph):  # type: ignore[misc]
    """A graph that checks the deadline of the query whenever its nodes are accessed.

    All of grand-cypher's inner loops access the nodes, so this stops a query that runs too long.
    """

    @property
    def nodes(self) -> NodeView:
        """The nodes; raises ``OutOfTime`` once the deadline of the current query has passed."""
        check_clock()
        return NodeView(self)


def build_graph(nodes: Iterable[NodeRow], edges: Iterable[EdgeRow]) -> nx.MultiDiGraph:
    """Build the graph for :func:`run_on_graph`; ``ValueError`` if a node of an edge is missing."""
    graph = _Graph()
    for node in nodes:
        check_clock()
        values = _values(node.properties)
        graph.add_node(node.uid, **{**values, "uid": node.uid, "__labels__": {node.label}})
    known = graph._node
    for number, edge in enumerate(edges):
        check_clock()
        if edge.start not in known or edge.end not in known:
            raise ValueError(
                f"a {edge.type} relationship starts or ends at a node that is not in the graph"
            )
        values = {**_values(edge.properties), EDGE: number, "__labels__": {edge.type}}
        graph.add_edge(edge.start, edge.end, **values)
    return graph


def run_on_graph(
    graph: nx.MultiDiGraph,
    query: str,
    parameters: Mapping[str, Any],
    limit: int,
    timeout: float,
    limits: QuerySettings = DEFAULT_LIMITS,
) -> list[Row]:
    """Run a read-only query on a graph from :func:`build_graph`; return at most ``limit`` rows.

    ``timeout`` is in seconds. Raises :class:`QueryError` if the query writes, takes too long,
    exceeds ``limits``, or is outside the supported subset, which the message lists. Two
    differences from Neo4j remain: two nodes of one pattern never match the same node, and paths
    are not supported.
    """
    check_call(limit, timeout)
    with time_limit(timeout):
        stages = translate(query, parameters, limits)
        last = stages[-1]
        last.limit = limit if last.limit is None else min(limit, last.limit)
        rows: list[Row] = []
        for number, stage in enumerate(stages):
            source = _as_graph(rows) if number else graph
            rows = finish(stage, _find(source, stage, limits.max_rows, ordered=number > 0))
        plain_rows = ({name: plain(value) for name, value in row.items()} for row in rows)
        return list(check_rows(plain_rows, limits))


def _find(graph: nx.MultiDiGraph, stage: Stage, max_rows: int, *, ordered: bool) -> list[Row]:
    """Return one row per match, with the values under the keys of the stage's columns."""
    _check_combinations(graph, stage)
    # One match more than allowed is enough to detect that there are too many.
    limit = min(_early_limit(stage, max_rows + 1), max_rows + 1)
    hints = any(node.properties for part in stage.components for node in part)
    rows: list[Row] = []
    for query in stage.queries:
        columns = _run(graph, query, stage.constants, limit, hints=hints)
        rows.extend(
            dict(zip(columns, values, strict=True))
            for values in zip(*columns.values(), strict=True)
        )
        if len(rows) > max_rows:
            raise QueryError(
                f"the query has more than {max_rows:,} intermediate rows (query.max_rows); "
                "narrow its patterns"
            )
    if ordered:
        index = {uid: number for number, uid in enumerate(graph._node)}
        rows.sort(key=lambda row: index[row["__c"]])
    return rows


def _run(
    graph: nx.MultiDiGraph,
    query: str,
    constants: Mapping[str, Any],
    limit: int,
    *,
    hints: bool,
) -> dict[str, list[Any]]:
    # Imported here because building grand-cypher's parser is slow and few callers need it.
    import grandcypher
    from lark.exceptions import LarkError

    transformer = _transformer()
    try:
        runner = grandcypher.GrandCypher(graph, limit)
        runner._transformer = transformer(graph, limit, constants)
        # Rewriting WHERE into index lookups is experimental; lookups from patterns are enough.
        runner.auto_where_hints = False
        runner.auto_node_jsondata_hints = hints
        found = runner.run(Clocked(query))
    except LarkError as problem:
        if isinstance(problem.__context__, OutOfTime):
            raise OutOfTime from None
        first = str(problem).strip().splitlines()[0]
        raise QueryError(f"the query cannot be parsed: {first}. {SUBSET}.") from problem
    except (
        ArithmeticError, AssertionError, AttributeError, LookupError, NotImplementedError,
        RecursionError, SyntaxError, TypeError, ValueError,
    ) as problem:  # fmt: skip
        raise QueryError(f"the query cannot be run: {problem}. {SUBSET}.") from problem
    finally:
        # grand-cypher's module-level caches would keep the graph alive.
        for name in ("_is_node_attr_match", "_is_edge_attr_match"):
            getattr(grandcypher, name).cache_clear()
    return {str(key): list(values) for key, values in found.items()}


_INTERNALS = {
    "GrandCypherExecutor": "_matches_iter",
    "GrandCypherTransformer": "arith_mul",
    "_is_node_attr_match": "cache_clear",
    "_is_edge_attr_match": "cache_clear",
}
"""What is used of grand-cypher beyond its documented interface, which has no deadline."""


@cache
def _transformer() -> Any:
    """Return grand-cypher's syntax tree transformer, extended to insert placeholder values."""
    import grandcypher

    missing = [
        f"{owner}.{name}"
        for owner, name in _INTERNALS.items()
        if not hasattr(getattr(grandcypher, owner, None), name)
    ]
    if missing:
        raise ConfigurationError(
            f"this version of grand-cypher lacks {', '.join(missing)}, so Cypher on SQLite does "
            "not work with it; pip install 'grand-cypher>=1.2,<1.3'"
        )

    class _Executor(grandcypher.GrandCypherExecutor):  # type: ignore[misc]
        def _matches_iter(self, motif: nx.MultiDiGraph) -> Iterator[dict[Any, Any]]:
            """Matches of a pattern; the nodes of one without relationships are compared at once.

            The search for motifs would take most of the time of a query such as a count of nodes.
            """
            if len(motif) > 1 or motif.number_of_edges() or self._hints:
                yield from super()._matches_iter(motif)
                return
            (name,) = motif._node
            graph = self._target_graph
            for uid in graph._node:
                check_clock()
                if grandcypher._is_node_attr_match(name, uid, motif, graph):
                    yield {name: uid}

    class _Number(grandcypher.ExpressionBase):  # type: ignore[misc]
        """An operand of ``*`` or ``%``, with which Python would repeat and format texts."""

        def __init__(self, operand: Any) -> None:
            self.operand = operand

        def evaluate(self, *context: Any) -> Any:
            value = self.operand
            if isinstance(value, grandcypher.ExpressionBase):
                value = value.evaluate(*context)
            return value if isinstance(value, (int, float)) else None

        def __str__(self) -> str:
            return str(self.operand)

    class _Transformer(grandcypher.GrandCypherTransformer):  # type: ignore[misc]
        def __init__(
            self, graph: nx.MultiDiGraph, limit: int, constants: Mapping[str, Any]
        ) -> None:
            super().__init__(graph, limit)
            self._executors = [_Executor(graph, limit)]
            self._constants = constants

        def ESTRING(self, token: str) -> Any:
            check_clock()
            return self._constants[token[1:-1]]

        def arith_mul(self, items: list[Any]) -> Any:
            return super().arith_mul([_Number(item) for item in items])

        def arith_mod(self, items: list[Any]) -> Any:
            return super().arith_mod([_Number(item) for item in items])

        def value_list(self, items: list[Any]) -> Any:
            if len(items) == 1 and isinstance(items[0], frozenset):
                return items[0]
            return list(items)

    return _Transformer


def _early_limit(stage: Stage, otherwise: int) -> int:
    """Return how many matches suffice; ``otherwise`` if later steps (grouping, ...) need all."""
    if stage.groups or stage.distinct or stage.order or stage.limit is None:
        return otherwise
    return stage.skip + stage.limit if len(stage.components) == 1 else otherwise


def _check_combinations(graph: nx.MultiDiGraph, stage: Stage) -> None:
    if len(stage.components) < 2:
        return
    counts: dict[str, int] = {}
    for _, labels in graph.nodes(data="__labels__"):
        for label in labels:
            counts[label] = counts.get(label, 0) + 1
    sizes = [
        min(
            sum(counts.get(label, 0) for label in node.labels) if node.labels else len(graph)
            for node in component
        )
        for component in stage.components
    ]
    if prod(sizes) > MOST_COMBINATIONS:
        raise QueryError(
            f"the patterns are not connected and would be combined in {short(prod(sizes))} ways; "
            "connect them by relationships, or group by the common value with WITH"
        )


def _as_graph(rows: Iterable[Row]) -> nx.MultiDiGraph:
    """Build a graph with one node per row, on which the next stage runs."""
    graph = _Graph()
    for number, row in enumerate(rows):
        values: Row = {"uid": number, ORDER: number, "__labels__": {ROW}}
        for index, value in enumerate(row.values()):
            values[f"v{index}"] = value
            if isinstance(value, Mapping):
                values |= {f"v{index}__{name}": item for name, item in value.items()}
        graph.add_node(number, **values)
    return graph


def _values(given: Mapping[str, Any]) -> Row:
    return {
        name: Moment.of(value) if isinstance(value, datetime) else value
        for name, value in given.items()
        if value is not None and not name.startswith("__")
    }
