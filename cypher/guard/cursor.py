"""A position in the tokens of a query, with the steps that a parser takes from there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from cognigraph.cypher.guard.lexer import QueryToken, brackets, error
from cognigraph.errors import QueryError

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
