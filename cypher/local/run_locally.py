"""Run Cypher queries on a space that was loaded into memory: inspection for the SQLite store.

A query is a list of steps, each of which makes rows of rows: MATCH adds what its patterns find,
WITH and RETURN compute columns. Queries run in Python in this process, which is fast enough to
inspect a memory but not to serve requests.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from cognigraph.cypher.deadline import check_clock, time_limit
from cognigraph.cypher.guard.confine import confine
from cognigraph.cypher.guard.query_limits import (
    DEFAULT_LIMITS,
    check_call,
    check_parameters_size,
    check_query,
    check_rows,
)
from cognigraph.cypher.guard.readonly import check_parameters, check_read_only
from cognigraph.cypher.local.expressions import AGGREGATES, Expressions
from cognigraph.cypher.local.graph import Chain, Compute, Graph, matches
from cognigraph.cypher.local.values import Row, identity, plain, rank
from cognigraph.errors import QueryError
from cognigraph.settings import QuerySettings

_MOST = 2**63
_UNSUPPORTED = ("OPTIONAL", "UNWIND", "UNION", "CALL", "LET", "FILTER", "FINISH")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of WITH or RETURN; of ``count(*)`` nothing is computed."""

    name: str
    source: str
    compute: Compute | None
    aggregate: str = ""
    distinct: bool = False


@dataclass(slots=True)
class Match:
    """MATCH with the WHERE after it."""

    chains: Sequence[Chain]
    where: Compute | None = None

    def run(self, rows: Iterable[Row], graph: Graph) -> Iterator[Row]:
        """Each row with each match."""
        for row in rows:
            for found in matches(graph, self.chains, row):
                if self.where is None or self.where(found) is True:
                    yield found


@dataclass(slots=True)
class Projection:
    """WITH or RETURN, with what follows it."""

    columns: list[Column] = field(default_factory=list)
    distinct: bool = False
    order: list[tuple[Compute, bool]] = field(default_factory=list)
    skip: int = 0
    limit: int | None = None
    where: Compute | None = None

    @property
    def groups(self) -> bool:
        """Whether any column is an aggregate."""
        return any(column.aggregate for column in self.columns)

    def run(self, rows: Iterable[Row], graph: Graph) -> Iterator[Row]:
        """The columns of the rows. What they are ordered by may be a name from before."""
        made: Iterator[tuple[Row, Row]]
        if self.groups:
            made = ((row, row) for row in self._grouped(rows))
        else:
            made = ((row, {c.name: _value(c, row) for c in self.columns}) for row in rows)
        if self.distinct:
            made = _unique(made)
        if self.order:
            pairs = list(made)
            for compute, descending in reversed(self.order):
                pairs.sort(key=lambda pair: rank(compute(pair[0] | pair[1])), reverse=descending)
            made = iter(pairs)
        end = None if self.limit is None else self.skip + self.limit
        for _, row in islice(made, self.skip, end):
            if self.where is None or self.where(row) is True:
                yield row

    def _grouped(self, rows: Iterable[Row]) -> list[Row]:
        keys = [column for column in self.columns if not column.aggregate]
        groups: dict[Hashable, list[Row]] = {} if keys else {(): []}
        for row in rows:
            groups.setdefault(tuple(identity(_value(c, row)) for c in keys), []).append(row)
        return [
            {c.name: _aggregate(c, group) if c.aggregate else _value(c, group[0])
             for c in self.columns}
            for group in groups.values()
        ]  # fmt: skip


def _value(column: Column, row: Row) -> Any:
    return None if column.compute is None else column.compute(row)


def _unique(pairs: Iterable[tuple[Row, Row]]) -> Iterator[tuple[Row, Row]]:
    known: set[Hashable] = set()
    for pair in pairs:
        key = tuple(map(identity, pair[1].values()))
        if key not in known:
            known.add(key)
            yield pair


def _aggregate(column: Column, group: Sequence[Row]) -> Any:
    if column.compute is None:
        return len(group)
    values = [value for row in group if (value := column.compute(row)) is not None]
    if column.distinct:
        values = list({identity(value): value for value in reversed(values)}.values())[::-1]
    try:
        return _AGGREGATES[column.aggregate](values)
    except TypeError as error:
        raise QueryError(f"{column.aggregate}() takes numbers: {error}") from error


_AGGREGATES: Mapping[str, Callable[[list[Any]], Any]] = {
    "count": len,
    "collect": list,
    "sum": sum,
    "avg": lambda values: sum(values) / len(values) if values else None,
    "min": lambda values: min(values, key=rank, default=None),
    "max": lambda values: max(values, key=rank, default=None),
}


@dataclass(frozen=True, slots=True)
class Needed:
    """What a query can match: nodes with these ``labels`` (``None``: all), and relationships."""

    labels: frozenset[str] | None
    relationships: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """A query that was read: its steps, and what of a space they look at."""

    steps: Sequence[Match | Projection]
    needed: Needed
    reader: Expressions


class _Query(Expressions):
    """Reads the clauses of a query."""

    def plan(self) -> Plan:
        if not self.word("MATCH"):
            raise self.error("a query must start with MATCH")
        steps: list[Match | Projection] = []
        while not self.word("RETURN"):
            if self.take_word("MATCH"):
                steps.append(Match(self.patterns(), self._where()))
            elif self.take_word("WITH"):
                steps.append(self._projection("WITH"))
            elif self.at >= len(self.tokens):
                raise self.error("RETURN is missing")
            elif self.word(*_UNSUPPORTED):
                raise self.error(f"{self.token().value.upper()} is not supported on SQLite")
            else:
                raise self.error("this cannot be parsed here")
        self.at += 1
        steps.append(self._projection("RETURN"))
        if self.at < len(self.tokens):
            is_clause = self.word("MATCH", "WITH", "RETURN")
            raise self.error(
                "RETURN must be the last clause" if is_clause else "this cannot be parsed here"
            )
        labels = None if self.labels is None else frozenset(self.labels)
        return Plan(steps, Needed(labels, self.has_relationships), self)

    def _where(self) -> Compute | None:
        if not self.take_word("WHERE"):
            return None
        if self.at >= len(self.tokens) or self.word("RETURN", "WITH", "MATCH"):
            raise self.error("nothing follows WHERE")
        return self.expression()

    def _projection(self, clause: str) -> Projection:
        made = Projection(distinct=self.take_word("DISTINCT"))
        while True:
            made.columns.append(self._column(clause))
            if not self.take_mark(","):
                break
        names = {column.name for column in made.columns}
        if len(names) < len(made.columns):
            raise self.error("two columns have the same name")
        before = self.names
        self.names = names if made.groups or made.distinct else before | names
        if self.take_word("ORDER"):
            self.expect_word("BY")
            while True:
                made.order.append(self._order(made))
                if not self.take_mark(","):
                    break
        self.names = names
        self.labelled = {c.name for c in made.columns if c.source in self.labelled}
        if self.take_word("SKIP", "OFFSET"):
            made.skip = self._whole_number()
        if self.take_word("LIMIT"):
            made.limit = self._whole_number()
        if clause == "WITH":
            made.where = self._where()
        return made

    def _column(self, clause: str) -> Column:
        if self.mark("*"):
            raise self.error("name the columns instead of *")
        begin, is_alone = self.at, False
        aggregate, distinct = "", False
        compute: Compute | None = None
        token = self.token()
        if token.named and token.value.lower() in AGGREGATES and self.mark("(", ahead=1):
            aggregate = token.value.lower()
            self.at += 1
            distinct, compute = self.enter(self._aggregated)
        else:
            compute = self.expression()
            is_alone = self.at == begin + 1 and token.named
        source = self._source(begin, self.at)
        name = token.value if is_alone else source
        if self.take_word("AS"):
            if not self.token().named:
                raise self.error("a name is expected here")
            name = self.token().value
            self.at += 1
        elif clause == "WITH" and not is_alone:
            raise self.error("a value in WITH needs a name: ... AS name", begin)
        if aggregate and self.mark("+", "-", "*", "/", "%", "=", "<", ">"):
            raise self.error("compute an aggregate in WITH first, then use its name", begin)
        return Column(name, token.value if is_alone else source, compute, aggregate, distinct)

    def _source(self, begin: int, end: int) -> str:
        return self.query[self.tokens[begin].start : self.tokens[end - 1].end]

    def _aggregated(self) -> tuple[bool, Compute | None]:
        """What is inside the parentheses of an aggregate."""
        if self.take_mark("*"):
            return False, None
        return self.take_word("DISTINCT"), self.expression()

    def _order(self, made: Projection) -> tuple[Compute, bool]:
        begin = self.at
        known = {column.source: column.name for column in made.columns}
        known |= {column.name: column.name for column in made.columns}
        # A column may be ordered by as it is written, also an aggregate.
        end = begin
        while end < len(self.tokens) and not self._ends_order(end):
            end = self.pairs[end] + 1 if self.tokens[end].mark("(", "[") else end + 1
        source = (
            self.query[self.tokens[begin].start : self.tokens[end - 1].end] if end > begin else ""
        )
        compute: Compute
        if source in known:
            name, self.at = known[source], end
            compute = lambda row: row[name]  # noqa: E731
        else:
            compute = self.expression()
        descending = self.take_word("DESC", "DESCENDING")
        if not descending:
            self.take_word("ASC", "ASCENDING")
        return compute, descending

    def _ends_order(self, index: int) -> bool:
        token = self.tokens[index]
        if index and self.tokens[index - 1].mark("."):
            return False
        return token.mark(",") or token.word(
            "ASC", "ASCENDING", "DESC", "DESCENDING", "SKIP", "OFFSET", "LIMIT", "WHERE", "MATCH",
            "WITH", "RETURN",
        )  # fmt: skip

    def _whole_number(self) -> int:
        word, token = self.peek(-1).value.upper(), self.token()
        value: Any = None
        if token.kind == "parameter":
            value = self.parameter()
        elif token.kind == "number" and token.text.isdecimal() and len(token.text) < 20:
            value = int(token.text)
        if type(value) is not int or not 0 <= value < _MOST:
            raise self.error(f"{word} takes a whole number below 2^63")
        self.at += 1
        return value


def translate(
    query: str, parameters: Mapping[str, Any], limits: QuerySettings = DEFAULT_LIMITS
) -> Plan:
    """Read a query; :class:`QueryError` points to what is not supported.

    It is also raised if the query or its parameters exceed ``limits``.
    """
    check_parameters(parameters)
    check_parameters_size(parameters)
    tokens = check_query(query)
    check_read_only(query, tokens)
    try:
        plan = _Query(query, tokens, parameters).plan()
        # Bounds the values and the work in the same way as for Neo4j.
        confine(query, parameters=parameters, limits=limits)
        return plan
    except RecursionError:
        raise QueryError("the query is nested too deeply; flatten it") from None


def run_on_graph(
    graph: Graph,
    query: str,
    parameters: Mapping[str, Any],
    limit: int,
    timeout: float,
    limits: QuerySettings = DEFAULT_LIMITS,
) -> list[Row]:
    """Run a read-only query on a graph; return at most ``limit`` rows.

    ``timeout`` is in seconds. Raises :class:`QueryError` if the query writes, takes too long,
    exceeds ``limits``, or is outside the supported subset, which the message lists.
    """
    check_call(limit, timeout)
    with time_limit(timeout):
        plan = translate(query, parameters, limits)
        plan.reader.graph = graph
        rows: Iterator[Row] = iter([{}])
        for step in plan.steps:
            rows = _bounded(step.run(rows, graph), limits.max_rows)
        found = ({name: plain(value) for name, value in row.items()} for row in rows)
        try:
            return list(check_rows(islice(found, limit), limits))
        except RecursionError:  # each pattern and relationship is a level
            raise QueryError("the query has too many patterns; split it") from None


def _bounded(rows: Iterator[Row], most: int) -> Iterator[Row]:
    for number, row in enumerate(rows):
        check_clock()
        if number >= most:
            raise QueryError(
                f"the query has more than {most:,} intermediate rows (query.max_rows); "
                "narrow its patterns"
            )
        yield row
