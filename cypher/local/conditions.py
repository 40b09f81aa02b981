"""Rewrite WHERE conditions for grand-cypher so that they follow Cypher's precedence and null rules.

grand-cypher accepts parentheses only around two conditions, gives AND and OR the same precedence,
and treats a comparison with a missing value as true under NOT and ``<>``. This module therefore
parses a condition into a tree, pushes NOT down to the comparisons, and writes the tree with
explicit pairs and null checks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cognigraph.cypher.guard.lexer import QueryToken
from cognigraph.cypher.local.match_patterns import closing
from cognigraph.errors import QueryError

_FALSE = "1 = 2"
OPERATORS = {
    "=": "=", "<>": "<>", "<": "<", ">": ">", "<=": "<=", ">=": ">=", "IN": "IN",
    "CONTAINS": "CONTAINS", "STARTS WITH": "STARTS WITH", "ENDS WITH": "ENDS WITH",
}  # fmt: skip
_WORD_OPERATORS = ("IN", "CONTAINS", "STARTS", "ENDS", "IS")


@dataclass(frozen=True, slots=True)
class Comparison:
    """A condition without AND, OR and NOT, as tokens not yet translated."""

    tokens: tuple[QueryToken, ...]


@dataclass(frozen=True, slots=True)
class Junction:
    """Several conditions connected by AND or OR."""

    word: str
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Negation:
    """A condition negated by NOT."""

    part: Condition


Condition = Comparison | Junction | Negation


@dataclass(frozen=True, slots=True)
class Written:
    """A translated comparison: its text, its operator and the properties that make it null."""

    text: str
    operator: str
    depends: tuple[str, ...]
    has_null: bool = False
    is_query: bool = False


def parse(tokens: Sequence[QueryToken], fail: Callable[[QueryToken, str], QueryError]) -> Condition:
    """Parse a condition; ``fail`` creates the error for a token and a message."""
    return _BooleanReader(tokens, fail).read()


class _BooleanReader:
    def __init__(
        self, tokens: Sequence[QueryToken], fail: Callable[[QueryToken, str], QueryError]
    ) -> None:
        self.tokens, self.fail, self.at = tuple(tokens), fail, 0

    def read(self) -> Condition:
        condition = self._junction("OR")
        if self.at < len(self.tokens):
            raise self.fail(self.tokens[self.at], "AND, OR or the end of the condition is expected")
        return condition

    def _junction(self, word: str) -> Condition:
        parts = [self._part_of(word)]
        while self._at_word(word):
            self.at += 1
            parts.append(self._part_of(word))
        return parts[0] if len(parts) == 1 else Junction(word, tuple(parts))

    def _part_of(self, word: str) -> Condition:
        return self._junction("AND") if word == "OR" else self._negation()

    def _negation(self) -> Condition:
        if self._at_word("NOT"):
            self.at += 1
            return Negation(self._negation())
        close = self._group_end()
        if close is not None:
            inner = _BooleanReader(self.tokens[self.at + 1 : close], self.fail).read()
            self.at = close + 1
            return inner
        return self._comparison()

    def _group_end(self) -> int | None:
        """Return the closing parenthesis if the one here groups conditions, not a calculation."""
        if not (self.at < len(self.tokens) and self.tokens[self.at].mark("(")):
            return None
        close = closing(self.tokens, self.at)
        after = self.tokens[close + 1] if close + 1 < len(self.tokens) else None
        return close if after is None or after.word("AND", "OR", "XOR") else None

    def _comparison(self) -> Comparison:
        begin = self.at
        while self.at < len(self.tokens) and not self._at_word("AND", "OR"):
            token = self.tokens[self.at]
            if self._at_word("XOR", "NOT") and not self._is_not_null():
                raise self.fail(token, f"{token.value.upper()} is not supported here")
            self.at = closing(self.tokens, self.at) + 1
        if begin == self.at:
            where = min(begin, len(self.tokens) - 1)
            raise self.fail(self.tokens[where], "a condition is missing here")
        return Comparison(self.tokens[begin : self.at])

    def _is_not_null(self) -> bool:
        return self.at > 0 and self.tokens[self.at - 1].word("IS")

    def _at_word(self, *words: str) -> bool:
        if self.at >= len(self.tokens) or not self.tokens[self.at].word(*words):
            return False
        return not (self.at and self.tokens[self.at - 1].mark("."))


def operator_of(tokens: Sequence[QueryToken]) -> tuple[int, int, str]:
    """Return start, end and name of a comparison's operator; the name is "" for a bare value."""
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.word(*_WORD_OPERATORS) and not (index and tokens[index - 1].mark(".")):
            length = 1
            if token.word("STARTS", "ENDS") or (
                token.word("IS") and index + 1 < len(tokens) and tokens[index + 1].word("NOT")
            ):
                length = 2
            words = [part.value.upper() for part in tokens[index : index + length]]
            return index, index + length, " ".join(words)
        if token.mark("<", ">", "="):
            end = index + 1
            while end < len(tokens) and tokens[end].mark("<", ">", "=", "~"):
                end += 1
            return index, end, "".join(part.text for part in tokens[index:end])
        index = closing(tokens, index) + 1
    return len(tokens), len(tokens), ""


def write(condition: Condition, translate: Callable[[Sequence[QueryToken]], Written]) -> str:
    """Write a condition in grand-cypher's grammar; ``translate`` handles a single comparison."""
    return _write(condition, translate, negated=False)


def _write(
    condition: Condition, translate: Callable[[Sequence[QueryToken]], Written], *, negated: bool
) -> str:
    if isinstance(condition, Negation):
        return _write(condition.part, translate, negated=not negated)
    if isinstance(condition, Junction):
        flipped = {"AND": "OR", "OR": "AND"}[condition.word]
        parts = [_write(part, translate, negated=negated) for part in condition.parts]
        return join(flipped if negated else condition.word, parts)
    return _guarded(translate(condition.tokens), negated=negated)


def _guarded(written: Written, *, negated: bool) -> str:
    if written.is_query or written.operator in ("IS", "IS NOT"):
        flip = negated != (written.operator == "IS NOT")
        return f"NOT {written.text}" if flip else written.text
    if written.has_null:
        return _FALSE
    text = f"NOT {written.text}" if negated else written.text
    both_missing = written.operator == "=" and len(written.depends) > 1
    if negated or written.operator == "<>" or both_missing:
        return join("AND", [text, *(f"NOT {name} IS NULL" for name in written.depends)])
    return text


def join(word: str, parts: Sequence[str]) -> str:
    """Nest conditions in pairs, to the right: grand-cypher accepts no other parentheses."""
    if not parts:
        return ""
    text = parts[-1]
    for part in reversed(parts[:-1]):
        text = f"({part} {word} {text})"
    return text
