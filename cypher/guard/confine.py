"""Rewrite a Cypher query so that every node pattern in it is restricted to one space.

No relationship joins two spaces, so a query can only reach nodes of one space if every node pattern
is restricted to it. The isolation rests on four measures:

1. The tokens are written out in one canonical form (:mod:`cognigraph.cypher.guard.lexer`), so the
   server tokenizes the query exactly as this package did.
2. A strict grammar parses the query clause by clause and adds the space to every node pattern. It
   refuses whatever it does not know, all procedures, and all functions that are not on its list, so
   a query can reach nodes through patterns only.
3. A condition that could raise an error is guarded by a test of the space, because the server may
   evaluate it on a node of another space, and an error would say something about that node.
4. :func:`~cognigraph.cypher.guard.check_plan.verify_plan` checks every operator of the server's
   plan for the rewritten query, without relying on the first three measures.

``docs/cypher.md`` describes what the operator of a server can do in addition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cognigraph.cypher.guard.bounds import SCALAR, Bound, joined
from cognigraph.cypher.guard.check_plan import verify_plan
from cognigraph.cypher.guard.confined_patterns import Patterns
from cognigraph.cypher.guard.grammar import ALIASES
from cognigraph.cypher.guard.lexer import QueryToken, error, render, tokenize
from cognigraph.cypher.guard.query_limits import DEFAULT_LIMITS
from cognigraph.cypher.guard.quiet import is_quiet
from cognigraph.cypher.guard.readonly import SPACE_PARAMETER, check_read_only
from cognigraph.settings import QuerySettings

__all__ = ["confine", "verify_plan"]


def confine(
    query: str,
    parameter: str = SPACE_PARAMETER,
    parameters: Mapping[str, Any] | None = None,
    limits: QuerySettings = DEFAULT_LIMITS,
) -> str:
    """Return ``query`` without comments and with ``space: $parameter`` in every node pattern.

    Raises :class:`QueryError`, saying what to change, unless the query is one statement that only
    reads, that the grammar supports, and whose work and values stay within ``limits``
    (:mod:`cognigraph.cypher.guard.costs`).
    """
    tokens = tokenize(query)
    check_read_only(query, tokens)
    _check_names(query, tokens, parameter)
    return _Confiner(query, tokens, parameter, parameters or {}, limits).run()


_AGGREGATES = frozenset(
    "count collect sum avg min max stdev stdevp percentilecont percentiledisc".split()
)


def _check_names(query: str, tokens: Sequence[QueryToken], parameter: str) -> None:
    """Refuse names that could look like a comparison with the space in the details of a plan."""
    for token in tokens:
        if token.kind != "number" and parameter in token.value:
            raise error(query, token.start, f"{parameter!r} is reserved; leave it out of the query")
        if token.kind == "quoted" and any(mark in token.value for mark in "[]{}"):
            raise error(query, token.start, "a name cannot contain brackets or braces")


class _Confiner(Patterns):
    """Rewrites one query: parses its clauses and records the text to insert before each token.

    ``earlier`` are the variables from before the last WITH or RETURN, which its ORDER BY and WHERE
    can still use, and ``returned`` is the bound of what the last RETURN returned.
    """

    earlier: Mapping[str, Bound] = {}
    returned: Bound = SCALAR

    def run(self) -> str:
        """Parse the whole query and return the rewritten text."""
        self._clauses()
        if self.at < len(self.tokens):
            raise self.error("a clause is expected here")
        return render(self.tokens, self.inserts)

    # --- clauses ----------------------------------------------------------------------------

    def _clauses(self) -> None:
        outer, rows = self.names, self.costs.rows
        branches = [(SCALAR, dict[str, Bound]())]
        while self.at < len(self.tokens) and not self.mark("}"):
            if self.word("UNION"):
                branches.append((self.returned, self.names))
                self.names, self.costs.rows = outer, rows
            self._clause()
        for returned, names in branches:
            self.returned = joined(self.returned, returned)
            self.names = {**names, **self.names, **_common(names, self.names)}

    def _clause(self) -> None:
        if self.take_word("OPTIONAL") and not self.word("MATCH", "CALL"):
            raise self.error("MATCH or CALL is expected here")
        if self.take_word("MATCH"):
            self._match()
        elif self.take_word("WITH"):
            self._items()
        elif self.take_word("RETURN"):
            for value in self._items():
                self.costs.returned(value)
        elif self.take_word("UNWIND"):
            element = self.costs.unwound(self.expression())
            self.expect_word("AS")
            self._define(self.name("a variable"), element)
        elif self.take_word("CALL"):
            self._call()
        elif self.take_word("ORDER"):
            self._with_earlier(self._order)
        elif self.take_word("SKIP", "OFFSET", "LIMIT"):
            self.expression()
        elif self.take_word("UNION"):
            self.take_word("ALL", "DISTINCT")
            self.nodes = {}
        elif self.take_word("WHERE"):
            self._with_earlier(self.condition)
        else:
            raise self.error(
                f"the clause {self.token().text!r} is not supported in an inspection query"
            )

    def _define(self, name: str, value: Bound) -> None:
        self.nodes.pop(name, None)
        self.names = {**self.names, name: value}

    def _with_earlier(self, read: Callable[[], None]) -> None:
        names = self.names
        self.names = {**self.earlier, **names}
        read()
        self.names = names

    def _items(self) -> list[Bound]:
        """Parse the columns of WITH or RETURN; return the bounds of their values."""
        self.take_word("DISTINCT")
        kept = self.take_mark("*")
        nodes, names = (dict(self.nodes), dict(self.names)) if kept else ({}, {})
        values = list(names.values())
        alone = not kept
        if not kept or self.take_mark(","):
            while True:
                begin = self.at
                value = self.expression()
                bare = self.at == begin + 1
                alone = alone and self._is_aggregate(begin, self.at)
                name = self.tokens[begin].text
                if self.take_word("AS"):
                    alias = self.name("a name", ALIASES)
                    nodes.pop(alias, None)
                    names[alias] = value
                elif bare:
                    if name in self.nodes:
                        nodes[name] = self.nodes[name]
                    names[name] = value
                values.append(value)
                if not self.take_mark(","):
                    break
        self.earlier, self.names, self.nodes = self.names, names, nodes
        self.returned = joined(*values)
        if alone:
            self.costs.rows = 1
        return values

    def _is_aggregate(self, begin: int, end: int) -> bool:
        """Whether the expression is one aggregate; if all columns are, there is one row."""
        first = self.tokens[begin]
        is_call = end > begin + 2 and self.tokens[begin + 1].mark("(")
        return is_call and self.pairs[begin + 1] == end - 1 and first.value.lower() in _AGGREGATES

    def _order(self) -> None:
        self.expect_word("BY")
        while True:
            self.costs.sorted(self.expression())
            self.take_word("ASC", "ASCENDING", "DESC", "DESCENDING")
            if not self.take_mark(","):
                return

    def _call(self) -> None:
        if self.mark("("):
            opening = self.at
            self.at = self.pairs[opening] + 1
            if not self.mark("{"):
                raise self.error("CALL (...) must be followed by a query in braces", opening)
            if not all(
                token.named or token.mark(",", "*")
                for token in self.tokens[opening + 1 : self.at - 1]
            ):
                raise self.error("the parentheses of CALL can contain only variables", opening)
        known = self.names
        self._subquery()
        self.names = {**self.names, **known}

    def subquery(self) -> Bound:
        """Parse a subquery in an expression: clauses, or patterns with an optional WHERE."""
        names, rows = self.names, self.costs.rows
        self._subquery()
        self.names, self.costs.rows = names, rows
        return self.returned

    def _subquery(self) -> None:
        nodes = dict(self.nodes)
        self.enter(self._subquery_body)
        self.nodes = nodes

    def _subquery_body(self) -> None:
        if self.mark("(") or (self.token().named and self.mark("=", ahead=1)):
            self._match()
        self._clauses()

    # --- patterns ---------------------------------------------------------------------------

    def _match(self) -> None:
        while True:
            self.path()
            if not self.take_mark(","):
                break
        if self.take_word("WHERE"):
            self.condition()

    # --- conditions -------------------------------------------------------------------------

    def condition(self) -> None:
        """Parse what follows WHERE, and guard the parts that could fail on a node elsewhere."""
        self.expression()
        for begin, end in self.parts:
            part = self.tokens[begin:end]
            if not is_quiet(part, self.lists) and not self._has_pattern(begin, end):
                self._guard(begin, end)

    def _has_pattern(self, begin: int, end: int) -> bool:
        subquery = any(
            self.tokens[i].word("EXISTS", "COUNT", "COLLECT") and self.tokens[i + 1].mark("{", "(")
            for i in range(begin, end - 1)
        )
        return subquery or any(begin <= index < end for index in self.inserts)

    def _guard(self, begin: int, end: int) -> None:
        mentioned = [
            name
            for index, token in enumerate(self.tokens[begin:end], begin)
            if token.named and not self.tokens[index - 1].mark(".")
            for name in self.nodes.get(token.text, ())
        ]
        if not mentioned:
            return
        tests = " AND ".join(
            f"{name}.space = ${self.parameter}" for name in dict.fromkeys(mentioned)
        )
        self.insert(begin, f"CASE WHEN {tests} THEN (")
        self.insert(end, ") ELSE false END ")


def _common(one: Mapping[str, Bound], other: Mapping[str, Bound]) -> dict[str, Bound]:
    """Return the variables that both have, each with the bound of either value."""
    return {name: joined(one[name], other[name]) for name in one.keys() & other.keys()}
