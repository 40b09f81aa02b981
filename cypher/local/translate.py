"""Translate a subset of Cypher into queries for grand-cypher and operations on their rows.

grand-cypher matches patterns, filters the matches and computes plain values. Grouping, DISTINCT,
ORDER BY, SKIP, LIMIT and WITH are applied to its rows (:mod:`cognigraph.cypher.local.rows`), where
null and ties behave as they do in Neo4j. A query is a list of stages, one for each WITH or RETURN.
Every stage after the first runs on a graph with one node per row of the previous stage.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cognigraph.cypher.deadline import check_clock
from cognigraph.cypher.guard.confine import confine
from cognigraph.cypher.guard.lexer import QueryToken, brackets
from cognigraph.cypher.guard.query_limits import DEFAULT_LIMITS, check_parameters_size, check_query
from cognigraph.cypher.guard.readonly import check_parameters, check_read_only
from cognigraph.cypher.local import conditions as boolean
from cognigraph.cypher.local.expressions import AGGREGATES, ORDER, ROW, Scope
from cognigraph.cypher.local.match_patterns import Node, PatternReader, Patterns, closing, split
from cognigraph.errors import QueryError
from cognigraph.settings import QuerySettings

_MOST_DIGITS = 19
_CLAUSES = ("MATCH", "WHERE", "WITH", "RETURN", "ORDER", "SKIP", "OFFSET", "LIMIT")
_UNSUPPORTED = ("OPTIONAL", "UNWIND", "UNION", "CALL", "CASE", "XOR", "LET", "FILTER", "FINISH")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a stage: the value under ``key`` in the found rows, or an aggregate of it.

    ``key`` is empty for ``count(*)``.
    """

    name: str
    key: str
    aggregate: str = ""
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class Order:
    """One item of ORDER BY: a column (or a property of the node in it), or a found value's key."""

    key: str
    property: str = ""
    descending: bool = False


@dataclass(slots=True)
class Stage:
    """One WITH or RETURN together with the MATCH and WHERE clauses before it.

    grand-cypher runs each of the ``queries``; their rows are concatenated. ``constants`` are the
    values of the placeholders in them.
    """

    queries: list[str] = field(default_factory=list)
    components: list[list[Node]] = field(default_factory=list)
    columns: list[Column] = field(default_factory=list)
    distinct: bool = False
    order: list[Order] = field(default_factory=list)
    skip: int = 0
    limit: int | None = None
    constants: Mapping[str, Any] = field(default_factory=dict)

    @property
    def groups(self) -> bool:
        """Whether any column is an aggregate."""
        return any(column.aggregate for column in self.columns)


@dataclass(frozen=True, slots=True)
class Needed:
    """What a query can match: nodes with these ``labels`` (``None``: all), and relationships."""

    labels: frozenset[str] | None
    relationships: bool


def needed(stages: Sequence[Stage]) -> Needed:
    """What of a graph the first stage of a query reads; later ones read its rows."""
    first = stages[0]
    text = " ".join(first.queries)
    relationships = "-" in text  # or a number below zero: then too much is read
    nodes = [node for component in first.components for node in component]
    passes_others = relationships and "*" in text  # paths of several steps pass any node
    if passes_others or not nodes or not all(node.labels for node in nodes):
        return Needed(None, relationships)
    return Needed(frozenset(label for node in nodes for label in node.labels), relationships)


@dataclass(slots=True)
class _QueryClause:
    word: str
    token: QueryToken
    body: Sequence[QueryToken]


def translate(
    query: str, parameters: Mapping[str, Any], limits: QuerySettings = DEFAULT_LIMITS
) -> list[Stage]:
    """Translate a query into stages; :class:`QueryError` points to what is not supported.

    It is also raised if the query or its parameters exceed ``limits``.
    """
    check_parameters(parameters)
    check_parameters_size(parameters, limits)
    tokens = check_query(query, limits)
    check_read_only(query, tokens)
    brackets(query, tokens)
    try:
        stages = _Translator(query, tokens, parameters).stages()
        # Bounds the values and the work in the same way as for Neo4j.
        confine(query, parameters=parameters, limits=limits)
        return stages
    except RecursionError:
        raise QueryError("the query is nested too deeply; flatten it") from None


class _Translator:
    def __init__(self, query: str, tokens: list[QueryToken], parameters: Mapping[str, Any]) -> None:
        self.tokens, self.counter = tokens, itertools.count(1)
        self.scope = Scope(query, parameters)
        self.fail = self.scope.fail

    def stages(self) -> list[Stage]:
        clauses = self._clauses()
        stages: list[Stage] = []
        while clauses:
            stages.append(self._stage(clauses, first=not stages))
        return stages

    # --- clauses ------------------------------------------------------------------------

    def _clauses(self) -> list[_QueryClause]:
        found: list[tuple[str, int]] = []
        here = 0
        while here < len(self.tokens):
            token, before = self.tokens[here], self.tokens[here - 1] if here else None
            is_name = before is not None and before.mark(".", ":", "|")
            if token.word(*_UNSUPPORTED) and not is_name:
                raise self.fail(token, f"{token.value.upper()} is not supported on SQLite")
            starts = before is not None and before.word("STARTS", "ENDS")
            if token.word(*_CLAUSES) and not is_name and not starts and not self._is_alias(here):
                found.append((token.value.upper(), here))
            here = closing(self.tokens, here) + 1
        if not found or found[0] != ("MATCH", 0):
            raise self.fail(self.tokens[0], "a query must start with MATCH")
        ends = [index for _, index in found[1:]] + [len(self.tokens)]
        clauses = [
            _QueryClause(word, self.tokens[index], self.tokens[index + 1 : end])
            for (word, index), end in zip(found, ends, strict=True)
        ]
        for clause in clauses:
            if not clause.body:
                raise self.fail(clause.token, f"nothing follows {clause.word}")
        return clauses

    def _is_alias(self, index: int) -> bool:
        return index > 0 and self.tokens[index - 1].word("AS")

    def _stage(self, clauses: list[_QueryClause], *, first: bool) -> Stage:
        check_clock()
        stage = Stage(constants=self.scope.constants.values)
        conditions = self._match(clauses, stage) if first else self._rows(clauses)
        if not clauses or clauses[0].word not in ("WITH", "RETURN"):
            at = clauses[0].token if clauses else self.tokens[-1]
            raise self.fail(
                at, "WITH or RETURN is expected here" if clauses else "RETURN is missing"
            )
        projection = clauses.pop(0)
        if projection.word == "RETURN" and any(c.word in ("WITH", "RETURN") for c in clauses):
            raise self.fail(projection.token, "RETURN must be the last clause")
        sources = self._columns(stage, projection)
        self._tail(stage, clauses, sources)
        where = f" WHERE {conditions}" if conditions else ""
        returned = ", ".join(f"{text} AS {key}" for text, key in sources.items())
        stage.queries = [f"{query}{where} RETURN {returned}" for query in stage.queries]
        if not first:
            stage.queries = [f"MATCH ({ROW}){where} RETURN {returned}"]
        self.scope.columns = {column.name: f"v{n}" for n, column in enumerate(stage.columns)}
        return stage

    def _match(self, clauses: list[_QueryClause], stage: Stage) -> str:
        reader = PatternReader(self._literal, self.fail, self.counter)
        conditions: list[Sequence[QueryToken]] = []
        while clauses and clauses[0].word in ("MATCH", "WHERE"):
            clause = clauses.pop(0)
            if clause.word == "MATCH":
                reader.read(clause.body)
            else:
                conditions.append(clause.body)
        found = reader.found
        self.scope.names = found.names
        stage.queries = list(found.texts())
        stage.components = found.components()
        return self._all(found, conditions)

    def _rows(self, clauses: list[_QueryClause]) -> str:
        if clauses[0].word == "WHERE":
            return self._condition(clauses.pop(0).body)
        if clauses[0].word == "MATCH":
            raise self.fail(clauses[0].token, "MATCH after WITH is not supported on SQLite")
        return ""

    def _all(self, found: Patterns, conditions: Sequence[Sequence[QueryToken]]) -> str:
        """Join the conditions of all WHERE clauses and those written inside patterns."""
        texts = [self._condition(tokens) for tokens in (*conditions, *found.inline)]
        return boolean.join("AND", [*texts, *found.conditions])

    # --- projections --------------------------------------------------------------------

    def _columns(self, stage: Stage, clause: _QueryClause) -> dict[str, str]:
        """Add the columns to the stage; return the values to find, each with its key."""
        body, sources = clause.body, dict[str, str]()
        if body[0].word("DISTINCT"):
            stage.distinct, body = True, body[1:]
        for item in split(body, ","):
            if not item:
                raise self.fail(clause.token, "a column is missing")
            if item[0].mark("*"):
                raise self.fail(item[0], "name the columns instead of *")
            stage.columns.append(self._column(item, sources, clause.word))
        if len({column.name for column in stage.columns}) < len(stage.columns):
            raise self.fail(clause.token, "two columns have the same name")
        sources.setdefault(
            f"{ROW}.{ORDER}" if self.scope.columns is not None else self._any(), "__c"
        )
        return sources

    def _any(self) -> str:
        """Return a value that every found row has, so that rows can be counted."""
        return f"{min(self.scope.names - {e for e in self.scope.names if e.startswith('__r')})}.uid"

    def _column(self, item: Sequence[QueryToken], sources: dict[str, str], clause: str) -> Column:
        expression = item
        if len(item) > 2 and item[-2].word("AS") and item[-1].named:
            expression, name = item[:-2], item[-1].value
        elif clause == "WITH" and not (len(item) == 1 and item[0].named):
            raise self.fail(item[0], "a value in WITH needs a name: ... AS name")
        else:
            name = item[0].value if len(item) == 1 else self._source(item)
        aggregate, inner = self._aggregate(expression)
        if not aggregate:
            return Column(name, self._key(expression, sources))
        distinct = bool(inner) and inner[0].word("DISTINCT")
        inner = inner[1:] if distinct else inner
        if not inner:
            raise self.fail(expression[0], f"{aggregate}() needs a value")
        if inner[0].mark("*"):
            return Column(name, "", aggregate)
        return Column(name, self._key(inner, sources), aggregate, distinct)

    def _aggregate(self, tokens: Sequence[QueryToken]) -> tuple[str, Sequence[QueryToken]]:
        for here, token in enumerate(tokens[:-1]):
            if token.kind == "name" and token.value.lower() in AGGREGATES:
                if not tokens[here + 1].mark("(") or (here and tokens[here - 1].mark(".")):
                    continue
                if here or closing(tokens, 1) != len(tokens) - 1:
                    raise self.fail(token, "compute an aggregate in WITH first, then use its name")
                return token.value.lower(), tokens[2:-1]
        return "", ()

    def _key(self, tokens: Sequence[QueryToken], sources: dict[str, str]) -> str:
        text = self.scope.atom(tokens)
        return sources.setdefault(text, f"__c{len(sources)}")

    def _source(self, tokens: Sequence[QueryToken]) -> str:
        return self.scope.query[tokens[0].start : tokens[-1].end]

    def _tail(self, stage: Stage, clauses: list[_QueryClause], sources: dict[str, str]) -> None:
        while clauses and clauses[0].word in ("ORDER", "SKIP", "OFFSET", "LIMIT"):
            clause = clauses.pop(0)
            if clause.word == "ORDER":
                self._order(stage, clause, sources)
            elif clause.word == "LIMIT":
                stage.limit = self._whole_number(clause)
            else:
                stage.skip = self._whole_number(clause)

    def _order(self, stage: Stage, clause: _QueryClause, sources: dict[str, str]) -> None:
        if not clause.body[0].word("BY"):
            raise self.fail(clause.token, "ORDER must be followed by BY")
        for item in split(clause.body[1:], ","):
            descending = bool(item) and item[-1].word("DESC", "DESCENDING")
            given = item and item[-1].word("ASC", "ASCENDING", "DESC", "DESCENDING")
            tokens = item[:-1] if given else item
            if not tokens:
                raise self.fail(clause.token, "ORDER BY needs a value")
            key, property = self._order_key(stage, tokens, sources)
            stage.order.append(Order(key, property, descending))

    def _order_key(
        self, stage: Stage, tokens: Sequence[QueryToken], sources: dict[str, str]
    ) -> tuple[str, str]:
        names = {column.name for column in stage.columns}
        source = self._source(tokens)
        if source in names:
            return source, ""
        if len(tokens) == 1 and tokens[0].value in names:
            return tokens[0].value, ""
        if len(tokens) == 3 and tokens[1].mark(".") and tokens[0].value in names:
            return tokens[0].value, tokens[2].value
        key = self._key(tokens, sources)
        same = [c.name for c in stage.columns if c.key == key and not c.aggregate]
        if not same and (stage.groups or stage.distinct):
            raise self.fail(
                tokens[0], "after an aggregate or DISTINCT, order by one of the columns"
            )
        return (same[0] if same else key), ""

    def _whole_number(self, clause: _QueryClause) -> int:
        token = clause.body[0]
        value: Any = None
        if token.kind == "parameter":
            value = self.scope.parameter(token)
        elif token.kind == "number" and token.text.isdecimal():
            value = int(token.text) if len(token.text) <= _MOST_DIGITS else None
        if len(clause.body) > 1 or type(value) is not int or not 0 <= value < 2**63:
            raise self.fail(token, f"{clause.word} takes a whole number below 2^63")
        return value

    # --- conditions and values ----------------------------------------------------------

    def _condition(self, tokens: Sequence[QueryToken]) -> str:
        return boolean.write(boolean.parse(tokens, self.fail), self._comparison)

    def _comparison(self, tokens: Sequence[QueryToken]) -> boolean.Written:
        check_clock()
        if tokens[0].word("EXISTS") and len(tokens) > 1 and tokens[1].mark("{"):
            if closing(tokens, 1) != len(tokens) - 1:
                raise self.fail(tokens[0], "EXISTS { ... } cannot be part of a comparison")
            return boolean.Written(self._exists(tokens[0], tokens[2:-1]), "", (), is_query=True)
        if _is_pattern(tokens):
            return boolean.Written(self._exists(tokens[0], tokens), "", (), is_query=True)
        begin, end, operator = boolean.operator_of(tokens)
        left = self.scope.expression(tokens[:begin], tokens[0])
        if not operator:
            return boolean.Written(f"{left.text} = TRUE", "=", left.depends)
        right = self.scope.expression(tokens[end:], tokens[-1])
        if operator in ("IS", "IS NOT"):
            if right.text != "NULL":
                raise self.fail(tokens[begin], "IS must be followed by NULL or NOT NULL")
            return boolean.Written(f"{left.text} IS NULL", operator, ())
        if operator not in boolean.OPERATORS:
            raise self.fail(tokens[begin], f"the operator {operator} is not supported on SQLite")
        return boolean.Written(
            f"{left.text} {boolean.OPERATORS[operator]} {right.text}",
            operator,
            (*left.depends, *right.depends),
            has_null="NULL" in (left.text, right.text),
        )

    def _exists(self, at: QueryToken, tokens: Sequence[QueryToken]) -> str:
        if self.scope.columns is not None:
            raise self.fail(at, "EXISTS after WITH is not supported on SQLite")
        if any(token.word("EXISTS") for token in tokens):
            raise self.fail(at, "EXISTS within EXISTS is not supported on SQLite")
        words = [i for i, token in enumerate(tokens) if token.word("WHERE", "RETURN")]
        end = words[0] if words else len(tokens)
        begin = 1 if tokens and tokens[0].word("MATCH") else 0
        reader = PatternReader(self._literal, self.fail, self.counter, frozenset(self.scope.names))
        reader.read(tokens[begin:end])
        if not all(edge.directed for edge in reader.found.edges):
            raise self.fail(at, "give the relationships in EXISTS a direction")
        outer, self.scope.names = self.scope.names, self.scope.names | reader.found.names
        conditions = [tokens[end + 1 :]] if words else []
        where = self._all(reader.found, conditions)
        self.scope.names = outer
        return f"EXISTS {{ {next(reader.found.texts())}{' WHERE ' + where if where else ''} }}"

    def _literal(self, tokens: Sequence[QueryToken]) -> str:
        kinds = [token.kind for token in tokens]
        minus = len(tokens) == 2 and tokens[0].mark("-") and kinds[1] == "number"
        date = len(tokens) == 4 and tokens[0].word("DATETIME")
        constant = len(tokens) == 1 and tokens[0].word("TRUE", "FALSE", "NULL")
        simple = len(tokens) == 1 and kinds[0] in ("string", "number", "parameter")
        if not (minus or date or constant or simple):
            raise self.fail(tokens[0], "a property in a pattern takes a plain value or a parameter")
        text = self.scope.expression(tokens).text
        if text.startswith("["):
            raise self.fail(tokens[0], "a property in a pattern takes a plain value, not a list")
        return text


def _is_pattern(tokens: Sequence[QueryToken]) -> bool:
    """Return whether a condition is a bare pattern such as ``(n)-[:TYPE]->()``."""
    after = tokens[closing(tokens, 0) + 1 :] if tokens[0].mark("(") else ()
    if len(after) < 2:
        return False
    ahead = after[1].mark("[", "-", ">")
    return (after[0].mark("-") and ahead) or (after[0].mark("<") and after[1].mark("-"))
