"""Rewrite a Cypher query so that every node pattern in it is restricted to one space.

No relationship joins two spaces, so a query whose every node pattern carries the space can reach
nothing else. The rewriter does not parse Cypher; it finds whatever *could* be a node pattern by its
content and its neighbours. In doubt it restricts (at worst a syntax error) or refuses. Functions
are an allow-list and procedures are refused, so there is no way to a node but a pattern.
:func:`verify_plan` then looks at what the server understood, as a second line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cognigraph.cypher.guard.lexer import Token, brackets, error, render, tokenize
from cognigraph.cypher.guard.readonly import SPACE_PARAMETER, check_read_only
from cognigraph.errors import QueryError

_PATTERN, _EXPRESSION = True, False
_LEAVE_PATTERN = "WHERE RETURN WITH UNWIND ORDER SKIP OFFSET LIMIT UNION CALL".split()
_BEFORE_PARENTHESIS = (
    "MATCH WHERE AND OR XOR NOT RETURN WITH DISTINCT BY THEN ELSE WHEN CASE IN UNWIND CONTAINS "
    "IS SKIP OFFSET LIMIT ANY ALL NONE SINGLE EXISTS"
).split()
_PATH_FUNCTIONS = ("SHORTESTPATH", "ALLSHORTESTPATHS")
_FUNCTIONS = frozenset(
    "abs acos asin atan atan2 avg btrim ceil char_length character_length coalesce collect cos "
    "count date date.truncate datetime datetime.fromepoch datetime.fromepochmillis "
    "datetime.truncate degrees duration duration.between duration.indays duration.inmonths "
    "duration.inseconds e elementid endnode exp floor head id isempty isnan keys labels last left "
    "length localdatetime localtime log log10 lower ltrim max min nodes normalize nullif "
    "percentilecont percentiledisc pi point point.distance properties radians rand range reduce "
    "relationships replace reverse right round rtrim sign sin size split sqrt startnode stdev "
    "stdevp substring sum tail tan time timestamp toboolean tobooleanlist tobooleanornull tofloat "
    "tofloatlist tofloatornull tointeger tointegerlist tointegerornull tolower tostring "
    "tostringlist tostringornull toupper trim type upper valuetype vector.similarity.cosine "
    "vector.similarity.euclidean".split()
)


def confine(query: str, parameter: str = SPACE_PARAMETER) -> str:
    """Return ``query`` with ``space: $parameter`` in every node pattern, without its comments.

    Raises :class:`QueryError`, saying what to do, for everything but a single reading statement.
    """
    tokens = tokenize(query)
    check_read_only(query, tokens)
    return _Confiner(query, tokens, parameter).run()


class _Confiner:
    """One rewrite. Walks the bracket tree knowing, at each level, whether it is in a pattern."""

    def __init__(self, query: str, tokens: Sequence[Token], parameter: str) -> None:
        self.query = query
        self.tokens = tokens
        self.pairs = brackets(query, tokens)
        self.property = f"space: ${parameter}"
        self.inserts: dict[int, str] = {}
        self.scopes: set[int] = set()

    def run(self) -> str:
        self._walk(0, len(self.tokens), _EXPRESSION)
        return render(self.tokens, self.inserts)

    def _walk(self, begin: int, end: int, in_pattern: bool) -> None:
        index = begin
        while index < end:
            token = self.tokens[index]
            if token.mark("("):
                self._parenthesis(index, in_pattern)
                index = self.pairs[index]
            elif token.mark("["):
                self._walk(index + 1, self.pairs[index], _EXPRESSION)
                index = self.pairs[index]
            elif token.mark("{"):
                self._walk(index + 1, self.pairs[index], self._is_subquery(index))
                index = self.pairs[index]
            elif token.word("MATCH") and not (
                self._mark(index - 1, ".") or self._mark(index + 1, ":")
            ):
                in_pattern = _PATTERN
            elif token.word(*_LEAVE_PATTERN) and not self._mark(index - 1, ".", ":", "|", "&"):
                if self._mark(index + 1, "="):
                    raise self._error(index, f"the name {token.value!r} needs backticks")
                in_pattern = _EXPRESSION
            index += 1

    def _parenthesis(self, index: int, in_pattern: bool) -> None:
        close = self.pairs[index]
        before = self.tokens[index - 1] if index else None
        if before and before.word("CALL"):
            if not self._mark(close + 1, "{"):
                raise self._error(index, "after CALL (...) comes a query in braces")
            self.scopes.add(close)
        elif in_pattern:
            self._in_pattern(index, close)
        elif before and before.named and not before.word(*_BEFORE_PARENTHESIS):
            self._function(index, close)
        elif self._may_be_node(index) and (self._after_arrow(index) or self._before_arrow(close)):
            self._restrict(index, close)
        else:
            self._walk(index + 1, close, _EXPRESSION)

    def _in_pattern(self, index: int, close: int) -> None:
        if self._may_be_node(index):
            self._restrict(index, close)
            return
        first, second = self.tokens[index + 1], self.tokens[index + 2]
        nested = first.mark("(") or (first.named and second.mark("="))
        if not nested and not first.word(*_PATH_FUNCTIONS):
            raise self._error(index, "this is not a node pattern such as (n:Label {key: value})")
        self._walk(index + 1, close, _PATTERN)

    def _function(self, index: int, close: int) -> None:
        first = index - 1
        while self._mark(first - 1, ".") and first >= 2 and self.tokens[first - 2].named:
            first -= 2
        name = "".join(token.value for token in self.tokens[first:index])
        if name.upper() in _PATH_FUNCTIONS:
            self._walk(index + 1, close, _PATTERN)
            return
        if name.lower() not in _FUNCTIONS:
            raise self._error(first, f"the function {name!r} is not available in an inspection")
        self._walk(index + 1, close, _EXPRESSION)

    # --- what is a node pattern ---------------------------------------------------------

    def _may_be_node(self, index: int) -> bool:
        """Whether the content of this parenthesis could be that of a node pattern."""
        first = self.tokens[index + 1]
        if _ends_name(first) or first.word("WHERE", "IS"):
            return True
        return first.named and _ends_name(self.tokens[index + 2])

    def _after_arrow(self, index: int) -> bool:
        if self._mark(index - 1, ">"):
            return self._mark(index - 2, "-")
        return self._mark(index - 1, "-") and self._mark(index - 2, "]", "-", "<", ")", "}")

    def _before_arrow(self, close: int) -> bool:
        if self._mark(close + 1, "<"):
            return self._mark(close + 2, "-")
        return self._mark(close + 1, "-") and self._mark(close + 2, "[", "-", ">", "(")

    def _is_subquery(self, index: int) -> bool:
        """Whether these braces hold patterns; a map, projection or quantifier does not."""
        before = self.tokens[index - 1] if index else None
        if before and before.word("EXISTS", "COUNT", "COLLECT", "CALL"):
            return _PATTERN
        if index - 1 in self.scopes:
            return _PATTERN
        first = self.tokens[index + 1]
        if first.named:
            return not self.tokens[index + 2].mark(":", ",", "}")
        return not (first.kind == "number" or first.mark("}", ".", ",", "*"))

    # --- restricting it -----------------------------------------------------------------

    def _restrict(self, index: int, close: int) -> None:
        here = index + 1
        if self.tokens[here].word("WHERE", "IS"):
            raise self._error(here, "name the node first, as in (n:Label WHERE ...)")
        here = self._after_labels(here + 1 if self.tokens[here].named else here, close)
        token = self.tokens[here]
        if token.kind == "parameter":
            raise self._error(here, "write the properties out, as in {name: $name}")
        if not token.mark("{"):
            gap = " " if here < close else ""
            self._insert(here, f" {{{self.property}}}{gap}")
            self._walk(here, close, _EXPRESSION)
            return
        end = self.pairs[here]
        self._check_keys(here, end)
        self._insert(here + 1, self.property if end == here + 1 else f"{self.property}, ")
        self._walk(here + 1, end, _EXPRESSION)
        if end + 1 < close and not self.tokens[end + 1].word("WHERE"):
            raise self._error(end + 1, "nothing but WHERE can follow the properties of a node")
        self._walk(end + 1, close, _EXPRESSION)

    def _after_labels(self, here: int, close: int) -> int:
        """Return the index of the property map, the WHERE or the end of a node pattern."""
        while here < close:
            token = self.tokens[here]
            if token.mark("{") or token.kind == "parameter":
                return here
            if token.word("WHERE") and not self._mark(here - 1, ":", "|", "&", "!"):
                return here
            if token.mark("("):
                here = self.pairs[here]
            elif not (token.named or token.mark(":", "|", "&", "!", "%")):
                raise self._error(here, "this cannot be part of a node pattern")
            here += 1
        return close

    def _check_keys(self, opening: int, end: int) -> None:
        here = opening + 1
        while here < end:
            key = self.tokens[here]
            if not (key.named and self._mark(here + 1, ":")):
                raise self._error(here, "a property is written key: value")
            if key.value == "space":
                raise self._error(here, "leave 'space' out; a query sees its own space only")
            here += 2
            while here < end and not self.tokens[here].mark(","):
                here = self.pairs[here] + 1 if self.tokens[here].mark("(", "[", "{") else here + 1
            here += 1

    def _insert(self, index: int, text: str) -> None:
        if index in self.inserts:
            raise self._error(index, "this pattern is not understood")
        self.inserts[index] = text

    def _mark(self, index: int, *marks: str) -> bool:
        return 0 <= index < len(self.tokens) and self.tokens[index].mark(*marks)

    def _error(self, index: int, message: str) -> QueryError:
        token = self.tokens[min(index, len(self.tokens) - 1)]
        return error(self.query, token.start, message)


def _ends_name(token: Token) -> bool:
    """Whether a node's name, or the lack of one, may be followed by this."""
    return token.mark(")", ":", "{") or token.kind == "parameter" or token.word("WHERE", "IS")


# --- The second line: the plan ------------------------------------------------------------

_REFUSED_OPERATORS = ("ProcedureCall", "LoadCSV", "CountFromCountStore", "Command", "Function")
_IDENTIFIER = r"(?:`(?:[^`]|``)+`|\w+)"
_FIRST_NODE = re.compile(rf"(?:[A-Z]+ )*({_IDENTIFIER})(?=$|:|,| WHERE)")
_ENDS = re.compile(rf"\(({_IDENTIFIER})\)")


def verify_plan(plan: Mapping[str, Any], parameter: str = SPACE_PARAMETER) -> None:
    """Refuse a plan (``summary.plan`` of an EXPLAIN) that reads beyond the space.

    Every operator that starts from the store (a scan or a seek) must bind a node that some
    predicate of the plan, or its own index, compares with the space. Nodes reached from there
    by relationships are in the same space by construction. Raises :class:`QueryError`.
    """
    operators = list(_operators(plan))
    details = [str(operator.get("args", {}).get("Details", "")) for operator in operators]
    everything = "\n".join(details).replace("`", "")
    for operator, detail in zip(operators, details, strict=True):
        name = str(operator["operatorType"]).split("@")[0]
        if any(word in name for word in _REFUSED_OPERATORS):
            raise QueryError(f"the server would run {name}, which is not confined to one space")
        if operator.get("children") or not ("Scan" in name or "Seek" in name):
            continue
        if re.search(rf"(?<![.\w])space = \${parameter}\b", detail):
            continue
        nodes = _nodes_of(name, detail)
        if not nodes or not all(_is_compared(node, everything, parameter) for node in nodes):
            raise QueryError(
                f"the server would read nodes of other spaces ({name} {detail}); "
                "write the patterns in a simpler form"
            )


def _operators(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield plan
    for child in plan.get("children") or ():
        yield from _operators(child)


def _nodes_of(name: str, detail: str) -> list[str]:
    if "Relationship" in name:
        return _ENDS.findall(detail)
    found = _FIRST_NODE.match(detail)
    return [found[1]] if found else []


def _is_compared(node: str, everything: str, parameter: str) -> bool:
    plain = re.escape(node.replace("`", ""))
    pattern = rf"(?<![\w.]){plain}\.space\]? = \${parameter}\b"
    return re.search(pattern, everything) is not None
