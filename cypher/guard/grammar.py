"""A recursive-descent parser of Cypher expressions, which finds every pattern in them.

It ignores the precedence of operators and the number of arguments, because it only has to know how
the server interprets each parenthesis, brace and bracket. It refuses what it cannot parse, and
requires backticks for names that the server might read as a keyword. Patterns, subqueries and
clauses are parsed by subclasses (:mod:`cognigraph.cypher.guard.confined_patterns` and
:mod:`cognigraph.cypher.guard.confine`).
"""

from __future__ import annotations

from collections.abc import Sequence

from cognigraph.cypher.guard.lexer import QueryToken, brackets, error
from cognigraph.errors import QueryError

MAX_DEPTH = 40
RESERVED = frozenset(
    "ALL AND AS ASC ASCENDING BY CALL CASE CONTAINS CREATE DELETE DESC DESCENDING DISTINCT ELSE "
    "END ENDS EXISTS FILTER FINISH IN IS LET LIMIT MATCH NEXT NOT OFFSET OPTIONAL OR ORDER RETURN "
    "SHORTEST SHORTESTPATH ALLSHORTESTPATHS SINGLE NONE ANY REDUCE SKIP STARTS THEN UNION UNWIND "
    "WHERE WITH XOR".split()
)
"""Words that this parser or the server could read as a keyword instead of a variable."""

ALIASES = frozenset(("AND", "CASE", "END", "NOT", "OR", "XOR"))
"""Names that AS must not introduce, because they would make a plan's details ambiguous."""

_COMPARED = ("<>", "<=", ">=", "=~", "!=", "||", "=", "<", ">", "+", "-", "*", "/", "%", "^")
_WORDS = ("AND", "OR", "XOR", "IN", "CONTAINS")
_ITERATORS = ("ANY", "ALL", "NONE", "SINGLE", "REDUCE", "SHORTESTPATH", "ALLSHORTESTPATHS")
_FUNCTIONS = frozenset(
    "abs acos asin atan atan2 avg btrim ceil char_length character_length coalesce collect cos "
    "count date date.truncate datetime datetime.fromepoch datetime.fromepochmillis "
    "datetime.truncate degrees duration duration.between duration.indays duration.inmonths "
    "duration.inseconds e elementid endnode exp floor head id isempty isnan keys labels last left "
    "length localdatetime localtime log log10 lower ltrim max min nodes normalize nullif "
    "percentilecont percentiledisc pi point point.distance properties radians rand range "
    "relationships replace reverse right round rtrim sign sin size split sqrt startnode stdev "
    "stdevp substring sum tail tan time timestamp toboolean tobooleanlist tobooleanornull tofloat "
    "tofloatlist tofloatornull tointeger tointegerlist tointegerornull tolower tostring "
    "tostringlist tostringornull toupper trim type upper valuetype vector.similarity.cosine "
    "vector.similarity.euclidean".split()
)
_TYPES = (
    "ANY ARRAY BOOL BOOLEAN DATE DATETIME DURATION EDGE FLOAT INT INTEGER LIST LOCAL MAP NODE "
    "NOTHING NULL NOT PATH POINT PROPERTY RELATIONSHIP SIGNED STRING TIME TIMESTAMP VALUE VARCHAR "
    "VERTEX WITH WITHOUT ZONED TIMEZONE"
).split()


class Expressions:
    """Parses expressions from the current position ``at`` in the tokens of a query."""

    def __init__(self, query: str, tokens: Sequence[QueryToken]) -> None:
        self.query, self.tokens = query, tokens
        self.pairs = brackets(query, tokens)
        self.at = 0
        self.depth = 0

    def expression(self) -> list[tuple[int, int]]:
        """Parse an expression and return the spans of the parts that AND joins.

        If there is also an OR or XOR, the whole expression is one span.
        """
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"expressions are nested more than {MAX_DEPTH} deep")
        begin, ends, whole = self.at, [], False
        while True:
            self._operand()
            word = self._operator()
            if word is None:
                break
            whole = whole or word in ("OR", "XOR")
            if word == "AND":
                ends.append(self.at - 1)
        self.depth -= 1
        if whole:
            return [(begin, self.at)]
        begins = [begin, *(end + 1 for end in ends)]
        return list(zip(begins, [*ends, self.at], strict=True))

    def pattern_operand(self) -> bool:
        """Parse a pattern used as an expression; return False if there is none here."""
        raise NotImplementedError

    def subquery(self) -> None:
        """Parse a subquery in braces."""
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

    def _operand(self) -> None:
        while self.take_word("NOT") or self.take_mark("+", "-"):
            pass
        self._primary()
        while self._postfix():
            pass

    def _primary(self) -> None:
        token = self.token()
        if token.kind in ("string", "number", "parameter"):
            self.at += 1
        elif self.mark("("):
            if not self.pattern_operand():
                self.enter(self.expression)
        elif self.mark("["):
            self.enter(self._list)
        elif self.mark("{"):
            self.enter(self.entries)
        elif self.take_word("CASE"):
            self._case()
        elif self.word("EXISTS", "COUNT", "COLLECT") and self.mark("{", ahead=1):
            self.at += 1
            self.subquery()
        elif token.named and not token.word("MATCH"):
            self._named()
        else:
            raise self.error("an expression is expected here")

    def _named(self) -> None:
        if self.word(*_ITERATORS, "EXISTS") and self.mark("(", ahead=1):
            self.at += 1
            self.enter(self._arguments)
            return
        length = 1
        while self.mark(".", ahead=length) and self.peek(length + 1).named:
            length += 2
        if self.mark("(", ahead=length):
            self._function(length)
            return
        self.name("a variable")
        if self.mark("{"):
            self.enter(self._projection)

    def _function(self, length: int) -> None:
        name = "".join(token.value for token in self.tokens[self.at : self.at + length])
        if name.lower() not in _FUNCTIONS:
            raise self.error(f"the function {name!r} is not available in an inspection query")
        self.at += length
        self.enter(self._arguments)

    def _arguments(self) -> None:
        if self.mark(")"):
            return
        self.take_word("DISTINCT", "ALL")
        if self.word("BOTH", "LEADING", "TRAILING") and not self.mark(")", ",", ahead=1):
            self.at += 1
        if self.take_mark("*"):
            return
        self._list(self.take_word)

    def _list(self, take_from: object = None) -> None:
        """Parse the inside of brackets: items, a comprehension, an index or a slice."""
        while not self.mark("]", ")"):
            if not self.marks("..") and not self.word("FROM"):
                self.expression()
            if self.marks(".."):
                self.at += 2
            elif take_from is not None and self.word("FROM"):
                self.at += 1
            elif not self.take_mark(","):
                break
        if self.take_word("WHERE"):
            self.condition()
        if self.take_mark("|"):
            self.expression()

    def condition(self) -> None:
        """Parse the condition that follows WHERE."""
        self.expression()

    def _case(self) -> None:
        if not self.word("WHEN"):
            self.expression()
        while self.take_word("WHEN"):
            self._alternative()
            self.expect_word("THEN")
            self.expression()
        if self.take_word("ELSE"):
            self.expression()
        self.expect_word("END")

    def _alternative(self) -> None:
        """Parse what follows WHEN: expressions, or partial ones as in ``WHEN < 3, IS NULL``."""
        while True:
            if self.word("IS") or self._operator() is None:
                self.expression() if not self.word("IS") else self._postfix()
            else:
                self.expression()
            if not self.take_mark(","):
                return

    def entries(self) -> None:
        """Parse ``key: value`` pairs, up to the closing brace."""
        while not self.mark("}"):
            if not (self.token().named and self.mark(":", ahead=1)):
                raise self.error("a property is written key: value")
            self.key()
            self.at += 1
            self.expression()
            if not self.take_mark(","):
                return

    def key(self) -> None:
        """Parse the key of an entry."""
        self.at += 1

    def _projection(self) -> None:
        while not self.mark("}"):
            if self.take_mark("."):
                if not self.take_mark("*"):
                    self.name("a property", reserved=())
            elif self.mark(":", ahead=1):
                self.key()
                self.at += 1
                self.expression()
            else:
                self.name("a variable")
            if not self.take_mark(","):
                return

    def _postfix(self) -> bool:
        if self.mark(".") and not self.marks(".."):
            self.at += 1
            self.name("a property", reserved=())
        elif self.mark("["):
            self.enter(self._list)
        elif self.mark(":") and not self.marks("::"):
            self.at += 1
            self.label_expression()
        elif self.marks("::"):
            self._type()
        elif self.take_word("IS"):
            self._is()
        else:
            return False
        return True

    def _is(self) -> None:
        self.take_word("NOT")
        if self.marks("::") or self.word("TYPED"):
            self._type()
        elif self.word("NFC", "NFD", "NFKC", "NFKD") and self.word("NORMALIZED", ahead=1):
            self.at += 2
        elif not self.take_word("NULL", "NORMALIZED"):
            self.label_expression()

    def _type(self) -> None:
        self.at += 1 if self.word("TYPED") else 2
        while self.take_word(*_TYPES) or self.take_mark("|"):
            if self.mark("<") and self.word("LIST", "ARRAY", ahead=-1):
                self.at += 1
                self.at -= 2
                self.at += 1
                self._type()
                if not self.take_mark(">"):
                    raise self.error("this is not a valid type")

    # --- the cursor -------------------------------------------------------------------------

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

    def enter(self, read: object) -> None:
        """Parse everything inside the bracket at the current position with ``read``."""
        close = self.pairs[self.at]
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"brackets are nested more than {MAX_DEPTH} deep")
        self.at += 1
        if not callable(read):
            raise TypeError(read)
        read()
        self.depth -= 1
        if self.at != close:
            raise self.error("this cannot be parsed here")
        self.at += 1

    def error(self, message: str, index: int | None = None) -> QueryError:
        """Return an error that points to the token at ``index`` (default: the current one)."""
        here = self.at if index is None else index
        start = self.tokens[here].start if here < len(self.tokens) else len(self.query)
        return error(self.query, start, message)
