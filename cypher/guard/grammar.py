"""A recursive-descent parser of Cypher expressions, which finds every pattern in them.

It ignores the precedence of operators and the number of arguments, because it only has to know how
the server interprets each parenthesis, brace and bracket, and how large each value can be
(:mod:`cognigraph.cypher.guard.costs`). It refuses what it cannot parse, and requires backticks for
names that the server might read as a keyword. Patterns, subqueries and
clauses are parsed by subclasses (:mod:`cognigraph.cypher.guard.confined_patterns` and
:mod:`cognigraph.cypher.guard.confine`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from cognigraph.cypher.guard.bounds import (
    SCALAR,
    STORED,
    Bound,
    collected,
    joined,
    listed,
    repeated,
)
from cognigraph.cypher.guard.costs import Costs
from cognigraph.cypher.guard.lexer import QueryToken, brackets, error
from cognigraph.errors import QueryError
from cognigraph.settings import QuerySettings

_T = TypeVar("_T")

MAX_DEPTH = 40
RESERVED = frozenset(
    "ALL AND AS ASC ASCENDING BY CALL CASE CONTAINS CREATE DELETE DESC DESCENDING DISTINCT ELSE "
    "END ENDS EXISTS FILTER FINISH IN IS LET LIMIT MATCH NEXT NOT OFFSET OPTIONAL OR ORDER RETURN "
    "SHORTEST SHORTESTPATH ALLSHORTESTPATHS SINGLE NONE ANY REDUCE SKIP STARTS THEN UNION UNWIND "
    "WHERE WITH XOR".split()
)
"""Words that this parser or the server could read as a keyword instead of a variable."""


class Cursor:
    """The tokens of a query and the current position ``at`` in them."""

    def __init__(self, query: str, tokens: Sequence[QueryToken]) -> None:
        self.query, self.tokens = query, tokens
        self.pairs = brackets(query, tokens)
        self.at = self.depth = 0

    def peek(self, ahead: int) -> QueryToken:
        """Return the token ``ahead`` positions further on, or an empty one past the end."""
        index = self.at + ahead
        if 0 <= index < len(self.tokens):
            return self.tokens[index]
        end = len(self.query)
        return QueryToken("punctuation", "", "", end, end, False)

    def token(self) -> QueryToken:
        """Return the token at the current position."""
        return self.peek(0)

    def word(self, *words: str, ahead: int = 0) -> bool:
        """Whether the token ``ahead`` positions further on is one of these keywords."""
        return self.peek(ahead).word(*words)

    def mark(self, *marks: str, ahead: int = 0) -> bool:
        """Whether the token ``ahead`` positions further on is one of these punctuation marks."""
        return self.peek(ahead).mark(*marks)

    def marks(self, text: str) -> bool:
        """Whether the next tokens are these punctuation marks, in this order."""
        return all(self.mark(mark, ahead=i) for i, mark in enumerate(text))

    def take_word(self, *words: str) -> bool:
        """Consume the next token if it is one of these keywords; return whether it was."""
        found = self.word(*words)
        self.at += found
        return found

    def take_mark(self, *marks: str) -> bool:
        """Consume the next token if it is one of these marks; return whether it was."""
        found = self.mark(*marks)
        self.at += found
        return found

    def expect_word(self, *words: str) -> None:
        """Consume one of these keywords; raise an error for anything else."""
        if not self.take_word(*words):
            raise self.error(f"{' or '.join(words)} is expected here")

    def name(self, what: str, reserved: Sequence[str] | frozenset[str] = RESERVED) -> str:
        """Consume a name and return it; raise an error if it is one of the ``reserved`` words.

        ``what`` describes the name that is expected, for the error.
        """
        token = self.token()
        if not token.named:
            raise self.error(f"{what} is expected here")
        if token.value.upper() in reserved:
            if token.kind == "quoted":
                raise self.error(f"{token.value!r} is a keyword; choose another name")
            raise self.error(f"put the name {token.value!r} in backticks or choose another")
        self.at += 1
        return token.text

    def enter(self, read: Callable[[], _T]) -> _T:
        """Parse everything inside the bracket at the current position with ``read``."""
        close = self.pairs[self.at]
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"brackets are nested more than {MAX_DEPTH} deep")
        self.at += 1
        found = read()
        self.depth -= 1
        if self.at != close:
            raise self.error("this cannot be parsed here")
        self.at += 1
        return found

    def error(self, message: str, index: int | None = None) -> QueryError:
        """Return an error that points to the token at ``index`` (default: the current one)."""
        here = self.at if index is None else index
        start = self.tokens[here].start if here < len(self.tokens) else len(self.query)
        return error(self.query, start, message)


MAX_LOOPS = 2
"""How deeply list comprehensions and list predicates may be nested."""

ALIASES = frozenset(("AND", "CASE", "END", "NOT", "OR", "XOR"))
"""Names that AS must not introduce, because they would make a plan's details ambiguous."""

_COMPARED = ("<>", "<=", ">=", "!=", "||", "=", "<", ">", "+", "-", "*", "/", "%", "^")
_WORDS = ("AND", "OR", "XOR", "IN", "CONTAINS")
_PREDICATES = ("ANY", "ALL", "NONE", "SINGLE")
_FUNCTIONS = frozenset(
    "abs acos asin atan atan2 avg btrim ceil char_length character_length coalesce collect cos "
    "count date date.truncate datetime datetime.fromepoch datetime.fromepochmillis "
    "datetime.truncate degrees duration duration.between duration.indays duration.inmonths "
    "duration.inseconds e endnode exp floor head isempty isnan keys labels last left "
    "length localdatetime localtime log log10 lower ltrim max min nodes normalize nullif "
    "percentilecont percentiledisc pi point point.distance properties radians rand range "
    "relationships replace reverse right round rtrim sign sin size split sqrt startnode stdev "
    "stdevp substring sum tail tan time timestamp toboolean tobooleanlist tobooleanornull tofloat "
    "tofloatlist tofloatornull tointeger tointegerlist tointegerornull tolower tostring "
    "tostringlist tostringornull toupper trim type upper valuetype vector.similarity.cosine "
    "vector.similarity.euclidean".split()
)


class Expressions(Cursor):
    """Parses expressions from the current position ``at`` in the tokens of a query."""

    def __init__(
        self,
        query: str,
        tokens: Sequence[QueryToken],
        parameters: Mapping[str, Any],
        limits: QuerySettings,
    ) -> None:
        super().__init__(query, tokens)
        self.loops = 0
        self.costs = Costs(parameters, limits, self.error)
        self.names: dict[str, Bound] = {}
        """The bounds of the variables. Those that are missing hold what the store contains."""
        self.parts: list[tuple[int, int]] = []
        """The spans of the parts that AND joins in the last expression; one if it has OR or XOR."""
        self.inserts: dict[int, str] = {}
        """The text to insert before each token."""

    def expression(self) -> Bound:
        """Parse an expression; return the bound of its value, and leave its parts in ``parts``."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"expressions are nested more than {MAX_DEPTH} deep")
        begin, ends = self.at, list[int]()
        values, operators = [self._operand()], list[str]()
        while (operator := self._operator()) is not None:
            operators.append(operator)
            if operator == "AND":
                ends.append(self.at - 1)
            values.append(self._operand())
        self.depth -= 1
        if "OR" in operators or "XOR" in operators:
            ends = []
        begins = [begin, *(end + 1 for end in ends)]
        self.parts = list(zip(begins, [*ends, self.at], strict=True))
        return self.costs.combined(values, operators)

    def pattern_operand(self) -> bool:
        """Parse a pattern used as an expression; return False if there is none here."""
        raise NotImplementedError

    def subquery(self) -> Bound:
        """Parse a subquery in braces; return the bound of the values that it returns."""
        raise NotImplementedError

    def label_expression(self) -> None:
        """Parse a label expression, which follows a colon or IS."""
        while self.take_mark("!"):
            pass
        token = self.token()
        if self.mark("("):
            self.enter(self.label_expression)
        elif token.kind == "parameter":
            raise self.error("write labels and relationship types out, as in (n:Label)")
        elif not self.take_mark("%"):
            self.name("a label or relationship type", reserved=())
        if self.take_mark("|", "&", ":"):
            self.take_mark(":")
            self.label_expression()

    # --- operands ---------------------------------------------------------------------------

    def _operator(self) -> str | None:
        if self.marks("=~"):
            raise self.error("regular expressions are refused; use CONTAINS or STARTS WITH")
        for text in _COMPARED:
            if self.marks(text):
                self.at += len(text)
                return text
        if self.word("STARTS", "ENDS"):
            self.at += 1
            self.expect_word("WITH")
            return "STARTS"
        token = self.token()
        return token.value.upper() if self.take_word(*_WORDS) else None

    def _operand(self) -> Bound:
        while self.take_word("NOT") or self.take_mark("+", "-"):
            pass
        value = self._primary()
        self.costs.spend(1)
        while (found := self._postfix(value)) is not None:
            value = found
        return value

    def _primary(self) -> Bound:
        token = self.token()
        if token.kind in ("string", "number", "parameter"):
            self.at += 1
            return self.costs.plain(token)
        if self.mark("("):
            return STORED if self.pattern_operand() else self.enter(self.expression)
        if self.mark("["):
            return self.enter(self._list)
        if self.mark("{"):
            return self.enter(self.entries)
        if self.take_word("CASE"):
            return self._case()
        if self.word("EXISTS", "COUNT", "COLLECT") and self.mark("{", ahead=1):
            self.at += 1
            returned = self.subquery()
            return collected(returned) if token.word("COLLECT") else SCALAR
        if token.named and not token.word("MATCH"):
            return self._named()
        raise self.error("an expression is expected here")

    def _named(self) -> Bound:
        if self.mark("(", ahead=1):
            if self.take_word(*_PREDICATES):
                self.enter(self._comprehension)
                return SCALAR
            if self.word("REDUCE"):
                raise self.error("reduce() is refused; use UNWIND and sum() or collect()")
            if self.take_word("EXISTS"):
                self.enter(self._arguments)
                return STORED
        length = 1
        while self.mark(".", ahead=length) and self.peek(length + 1).named:
            length += 2
        if self.mark("(", ahead=length):
            return self._function(length)
        value = self.names.get(self.name("a variable"), STORED)
        return self.enter(self._projection) if self.mark("{") else value

    def _function(self, length: int) -> Bound:
        name = "".join(token.value for token in self.tokens[self.at : self.at + length]).lower()
        if name not in _FUNCTIONS:
            advice = "; use the property uid" if name in ("id", "elementid") else ""
            raise self.error(
                f"the function {name!r} is not available in an inspection query{advice}"
            )
        self.at += length
        return self.costs.called(name, self.enter(self._arguments))

    def _arguments(self) -> list[Bound]:
        if self.mark(")"):
            return []
        self.take_word("DISTINCT", "ALL")
        if self.take_mark("*"):
            return []
        return self._values()

    def _values(self) -> list[Bound]:
        """Parse the expressions in brackets, separated by commas or ``..``."""
        found: list[Bound] = []
        while not self.mark("]", ")"):
            if not self.marks(".."):
                found.append(self.expression())
            if self.marks(".."):
                self.at += 2
            elif not self.take_mark(","):
                break
        return found

    def _list(self) -> Bound:
        """Parse the inside of brackets: items, a comprehension, an index or a slice."""
        if self.token().named and self.word("IN", ahead=1):
            return self._comprehension()
        values = self._values()
        if self.take_word("WHERE"):
            self.condition()
        # [(a)-->(b) | b.name]
        return collected(self.expression()) if self.take_mark("|") else self._listed(values)

    def _listed(self, values: Sequence[Bound]) -> Bound:
        value = self.costs.checked(listed(values))
        # The server estimates the memory of each row, through all that is nested in it.
        self.costs.read(value.size)
        return value

    def _comprehension(self) -> Bound:
        """Parse ``x IN list WHERE condition | value``, of which only the first part is needed."""
        known = self.names
        self._begin_loop()
        name, source = self._source()
        self.names = {**known, name: source.element}
        before, self.costs.steps = self.costs.steps, 0
        if self.take_word("WHERE"):
            self.condition()
        value = source
        if self.take_mark("|"):
            value = self.costs.checked(repeated(self.expression(), source.length))
        self._end_loop(before, source.length)
        self.names = known
        return value

    def _source(self) -> tuple[str, Bound]:
        name = self.name("a variable")
        self.expect_word("IN")
        return name, self.expression()

    def _begin_loop(self) -> None:
        self.loops += 1
        if self.loops > MAX_LOOPS:
            raise self.error(
                f"more than {MAX_LOOPS} nested loops (list comprehensions, any, all, none, "
                "single); use UNWIND"
            )

    def _end_loop(self, before: int, times: int) -> None:
        body, self.costs.steps = self.costs.steps, before
        self.costs.loop(body, times)
        self.loops -= 1

    def condition(self) -> None:
        """Parse the condition that follows WHERE."""
        self.expression()

    def _case(self) -> Bound:
        compared = SCALAR if self.word("WHEN") else self.expression()
        values = [SCALAR]
        while self.take_word("WHEN"):
            self.costs.compare("=", compared, self.expression())
            self.expect_word("THEN")
            values.append(self.expression())
        if self.take_word("ELSE"):
            values.append(self.expression())
        self.expect_word("END")
        return joined(*values)

    def entries(self) -> Bound:
        """Parse ``key: value`` pairs, up to the closing brace."""
        values: list[Bound] = []
        while not self.mark("}"):
            if not (self.token().named and self.mark(":", ahead=1)):
                raise self.error("a property is written key: value")
            self.key()
            self.at += 1
            values.append(self.expression())
            if not self.take_mark(","):
                break
        return self._listed(values)

    def key(self) -> None:
        """Parse the key of an entry."""
        self.at += 1

    def _projection(self) -> Bound:
        values = [STORED]
        while not self.mark("}"):
            if self.take_mark("."):
                if not self.take_mark("*"):
                    self.name("a property", reserved=())
            elif self.mark(":", ahead=1):
                self.key()
                self.at += 1
                values.append(self.expression())
            else:
                values.append(self.names.get(self.name("a variable"), STORED))
            if not self.take_mark(","):
                break
        return self._listed(values)

    def _postfix(self, value: Bound) -> Bound | None:
        """Parse what can follow a value; return the bound of the result, None if nothing does."""
        if self.mark(".") and not self.marks(".."):
            self.at += 1
            return self.costs.property(value, self.name("a property", reserved=()))
        if self.mark("["):
            self.enter(self._values)
            return replace(joined(value, value.element), gathered=value.gathered)
        if self.mark(":"):
            self.at += 1
            self.label_expression()
        elif self.take_word("IS"):
            self._is()
        else:
            return None
        return SCALAR

    def _is(self) -> None:
        self.take_word("NOT")
        if not self.take_word("NULL"):
            self.label_expression()
