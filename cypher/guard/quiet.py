"""Recognise *quiet* predicates: those that cannot raise an error, whatever row they are run on.

An error can leak data: its message may quote a value, and the mere fact that it was raised says
something about the row. Before a row is known to belong to the space, the server may therefore
evaluate only predicates that cannot fail: comparisons of properties, parameters and literals, tests
for null and for labels, and combinations of these by AND, OR, XOR and NOT.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from cognigraph.cypher.guard.lexer import QueryToken

_COMPARISONS = (("<", ">"), ("<", "="), (">", "="), ("=",), ("<",), (">",))


def is_quiet(tokens: Sequence[QueryToken], lists: Collection[str] = ()) -> bool:
    """Whether a predicate cannot raise an error, whatever the row contains.

    ``lists`` names the parameters whose values are lists, because ``x IN $p`` fails for any other.
    """
    reader = _ConditionReader(tokens, lists)
    return reader.predicate() and reader.at == len(tokens)


def conjuncts(tokens: Sequence[QueryToken]) -> list[Sequence[QueryToken]]:
    """Split a predicate at its top-level ANDs, and so also within redundant parentheses."""
    tokens = _unwrapped(tokens)
    parts: list[Sequence[QueryToken]] = []
    depth = begin = 0
    for index, token in enumerate(tokens):
        if index and tokens[index - 1].mark(".", ":", "|", "&", "!"):
            continue  # a property or label, even if it is spelled like a keyword
        depth += token.mark("(", "[", "{") or token.word("CASE")
        depth -= token.mark(")", "]", "}") or token.word("END")
        if depth < 0 or (not depth and token.word("OR", "XOR")):
            return [tokens]
        if not depth and token.word("AND"):
            parts.append(tokens[begin:index])
            begin = index + 1
    if not parts:
        return [tokens]
    return [found for part in [*parts, tokens[begin:]] for found in conjuncts(part)]


def _unwrapped(tokens: Sequence[QueryToken]) -> Sequence[QueryToken]:
    while len(tokens) > 2 and tokens[0].mark("(") and _closing(tokens) == len(tokens) - 1:
        tokens = tokens[1:-1]
    return tokens


def _closing(tokens: Sequence[QueryToken]) -> int:
    depth = 0
    for index, token in enumerate(tokens):
        depth += token.mark("(")
        depth -= token.mark(")")
        if not depth:
            return index
    return -1


class _ConditionReader:
    """Parses quiet predicates; each method returns whether the tokens here match its rule."""

    def __init__(self, tokens: Sequence[QueryToken], lists: Collection[str]) -> None:
        self.tokens, self.lists = tokens, lists
        self.at = 0

    def predicate(self) -> bool:
        if not self._factor():
            return False
        while self._word("AND", "OR", "XOR"):
            if not self._factor():
                return False
        return True

    def _factor(self) -> bool:
        while self._word("NOT"):
            pass
        if self._word("TRUE", "FALSE"):
            return True
        if self._is_mark(self.at, "(") and not self._is_value_in_parentheses():
            return self._skip(1) and self.predicate() and self._mark(")")
        return self._value() and self._test()

    def _is_value_in_parentheses(self) -> bool:
        """Whether the parenthesis here encloses a value, which a comparison or test follows."""
        after = self.at + _closing(self.tokens[self.at :]) + 1
        token = self.tokens[after] if after < len(self.tokens) else None
        return token is not None and (
            token.mark("=", "<", ">", ":") or token.word("IS", "IN", "CONTAINS", "STARTS", "ENDS")
        )

    def _test(self) -> bool:
        if self._word("IS"):
            self._word("NOT")
            return self._word("NULL")
        if self._word("CONTAINS"):
            return self._value()
        if self._word("STARTS", "ENDS"):
            return self._word("WITH") and self._value()
        if self._word("IN"):
            return self._list()
        if self._mark(":"):
            return self._labels()
        compared = False
        while self._comparison():
            compared = self._value()
            if not compared:
                return False
        return compared

    def _comparison(self) -> bool:
        return any(
            all(self._is_mark(self.at + i, mark) for i, mark in enumerate(marks))
            and self._skip(len(marks))
            for marks in _COMPARISONS
        )

    def _labels(self) -> bool:
        while self._mark("!"):
            pass
        if self._mark("("):
            if not (self._labels() and self._mark(")")):
                return False
        elif not (self._mark("%") or self._name()):
            return False
        return self._labels() if self._mark("|", "&", ":") else True

    def _list(self) -> bool:
        token = self._token()
        if token and token.kind == "parameter":
            return (token.value in self.lists or token.value.startswith("autolist_")) and (
                self._skip(1)
            )
        return self._literal_list()

    def _literal_list(self) -> bool:
        if not self._mark("["):
            return False
        while not self._mark("]"):
            if not self._value():
                return False
            self._mark(",")
        return True

    def _value(self) -> bool:
        token = self._token()
        if token is None:
            return False
        if token.kind in ("string", "number", "parameter"):
            return self._skip(1)
        if token.mark("-"):
            return self._skip(1) and self._number()
        if token.mark("["):
            return self._literal_list()
        if token.mark("("):
            return self._skip(1) and self._value() and self._mark(")")
        if token.word("CACHE", "CACHEN", "CACHEFROMSTORE") and self._is_mark(self.at + 1, "["):
            return self._skip(2) and self._property() and self._mark("]")
        return self._property()

    def _property(self) -> bool:
        return self._name() and (not self._mark(".") or self._name())

    def _name(self) -> bool:
        token = self._token()
        return token is not None and token.named and self._skip(1)

    def _number(self) -> bool:
        token = self._token()
        return token is not None and token.kind == "number" and self._skip(1)

    def _token(self) -> QueryToken | None:
        return self.tokens[self.at] if self.at < len(self.tokens) else None

    def _is_mark(self, index: int, mark: str) -> bool:
        return index < len(self.tokens) and self.tokens[index].mark(mark)

    def _mark(self, *marks: str) -> bool:
        token = self._token()
        return token is not None and token.mark(*marks) and self._skip(1)

    def _word(self, *words: str) -> bool:
        token = self._token()
        return token is not None and token.word(*words) and self._skip(1)

    def _skip(self, count: int) -> bool:
        self.at += count
        return True
