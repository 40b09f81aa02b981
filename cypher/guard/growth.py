"""Bound how much the expressions of a query can multiply values, before it is sent to Neo4j.

The server limits the memory of rows, but not of a value that an expression is building: a list of a
billion numbers, or a string doubled forty times, fills the heap before the timeout is checked. Each
construct that multiplies values is therefore given a factor, and the product of the factors must
stay below a limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cognigraph.cypher.guard.lexer import QueryToken, brackets, error
from cognigraph.cypher.guard.query_limits import short, size_of
from cognigraph.errors import QueryError
from cognigraph.settings import QuerySettings

MAX_NESTED_ITERATIONS = 2
"""How deeply list comprehensions, ``reduce`` and list predicates may be nested."""

_CLAUSES = (
    "MATCH OPTIONAL WHERE WITH RETURN UNWIND ORDER SKIP OFFSET LIMIT UNION CALL LET FILTER".split()
)
_ITERATING = frozenset({"reduce", "any", "all", "none", "single"})
_REPEATED = 1000
"""The assumed length of a list of unknown size if a loop over it repeats another value."""

_WORDS = (
    "CASE WHEN THEN ELSE END AND OR NOT XOR IN IS NULL TRUE FALSE AS DISTINCT CONTAINS STARTS ENDS "
    "WITH"
).split()
_REPEATING = _ITERATING | {"replace", "range", "in", "collect"}
_NUMBER_WORDS = {"x": 16, "o": 8}


def check_growth(
    query: str, tokens: Sequence[QueryToken], parameters: Mapping[str, Any], limits: QuerySettings
) -> None:
    """Refuse a query whose expressions could multiply values more than ``max_growth`` times."""
    _Growth(query, tokens, parameters, limits).check()


class _Growth:
    def __init__(
        self,
        query: str,
        tokens: Sequence[QueryToken],
        parameters: Mapping[str, Any],
        limits: QuerySettings,
    ) -> None:
        self.query, self.tokens, self.parameters = query, tokens, parameters
        self.limits, self.most = limits, limits.max_growth
        self.pairs = brackets(query, tokens)
        self.grown = 1

    def check(self) -> None:
        for index, name in self._calls():
            if name == "range":
                self._multiply(index, self._range(index), "range()")
            elif name == "replace":
                self._multiply(index, self._replacement(index), "replace()")
            elif name == "reduce":
                self._check_reduce(index)
        self._check_projections()
        self._check_nesting()
        self._check_size()

    def _calls(self) -> Iterator[tuple[int, str]]:
        """Yield each function call: the index of its name, and the name in lower case."""
        for index, token in enumerate(self.tokens[:-1]):
            if token.named and self.tokens[index + 1].mark("("):
                yield index, token.value.lower()

    def _multiply(self, index: int, factor: int, what: str) -> None:
        self.grown *= max(factor, 1)
        if self.grown > self.most:
            raise self._fail(
                index,
                f"with this {what} the query could turn one value into {short(self.grown)}, "
                f"over the limit of {self.most:,} (query.max_growth); use smaller ranges and "
                "combine fewer values",
            )

    # --- range() ------------------------------------------------------------------------

    def _range(self, index: int) -> int:
        """Return the largest number of values that a ``range()`` can have."""
        arguments = self._arguments(index)
        if not 2 <= len(arguments) <= 3:
            raise self._fail(index, "range() takes two or three arguments")
        low, high = (self._bounds(index, argument) for argument in arguments[:2])
        step = 1
        if len(arguments) == 3:
            steps = self._bounds(index, arguments[2])
            # A step that can be 0 or have either sign does not reduce the number of values.
            step = min(map(abs, steps)) if steps[0] > 0 or steps[1] < 0 else 1
        widest = max(high[1] - low[0], low[1] - high[0])
        return max(widest, 0) // max(step, 1) + 1

    def _bounds(self, index: int, tokens: Sequence[QueryToken]) -> tuple[int, int]:
        """Return the least and greatest value of an argument, which is a sum of bounded terms."""
        low = high = 0
        here, sign, expects_value = 0, 1, True
        while here < len(tokens):
            token = tokens[here]
            if token.mark("+", "-"):
                sign = -sign if token.mark("-") else sign
                expects_value, here = True, here + 1
                continue
            if not expects_value:
                raise self._unbounded(index)
            (least, most), here = self._term(index, tokens, here)
            low, high = (low + least, high + most) if sign > 0 else (low - most, high - least)
            sign, expects_value = 1, False
        if expects_value:
            raise self._unbounded(index)
        return low, high

    def _term(
        self, index: int, tokens: Sequence[QueryToken], here: int
    ) -> tuple[tuple[int, int], int]:
        token = tokens[here]
        if token.kind == "number":
            value = self._whole(index, token)
            return (value, value), here + 1
        if token.kind == "parameter":
            given = self.parameters.get(token.value)
            if isinstance(given, bool) or not isinstance(given, int):
                raise self._unbounded(index)
            return (given, given), here + 1
        sized = token.kind == "name" and token.value.lower() in ("size", "length")
        if sized and here + 1 < len(tokens) and tokens[here + 1].mark("("):
            # An assumption: a list that is longer exists already and has passed its own limit.
            return (0, max(self.most // 100, 1)), _closing(tokens, here + 1) + 1
        raise self._unbounded(index)

    def _whole(self, index: int, token: QueryToken) -> int:
        text = token.text.lower()
        base = _NUMBER_WORDS.get(text[1:2], 10)
        try:
            return int(text, base)
        except ValueError:
            raise self._unbounded(index) from None

    def _unbounded(self, index: int) -> QueryError:
        return self._fail(
            index,
            "the bounds of range() must be whole numbers, parameters with whole numbers, size(...) "
            "or length(...), or sums of these, so that its size is known before the query runs",
        )

    # --- replace() and reduce() ---------------------------------------------------------

    def _replacement(self, index: int) -> int:
        """Return by which factor ``replace()`` can lengthen a text."""
        arguments = self._arguments(index)
        if len(arguments) < 3:
            raise self._fail(index, "replace() takes three arguments")
        found = [self._text(argument) for argument in arguments[1:3]]
        old, new = found
        if new is None:
            raise self._fail(
                index, "the replacement in replace() must be a literal string or a parameter"
            )
        if old == "":
            return len(new) + 1
        return math.ceil(len(new) / len(old or "1"))

    def _text(self, tokens: Sequence[QueryToken]) -> str | None:
        if len(tokens) != 1:
            return None
        token = tokens[0]
        value = token.value if token.kind == "string" else None
        if token.kind == "parameter":
            value = self.parameters.get(token.value)
        return value if isinstance(value, str) else None

    def _check_reduce(self, index: int) -> None:
        """Refuse a ``reduce()`` whose accumulator could grow by a factor in each iteration."""
        inside = self.tokens[index + 2 : self.pairs[index + 1]]
        bars = [here for here, token in enumerate(inside) if token.mark("|")]
        if not bars or not inside[0].named:
            raise self._fail(index, "write reduce() as in reduce(total = 0, x IN list | total + x)")
        accumulator, body = inside[0].value, inside[bars[0] + 1 :]
        uses = sum(token.named and token.value == accumulator for token in body)
        loops = any(token.named and token.value.lower() in _REPEATING for token in body)
        if uses > 1 or (uses and loops) or len(bars) > 1:
            raise self._fail(
                index,
                f"the body of reduce() may use {accumulator!r} only once, and not together with a "
                "loop, range() or replace(), because it could double in each iteration",
            )

    # --- combined values ----------------------------------------------------------------

    def _check_projections(self) -> None:
        """Multiply by the number of values that each WITH, RETURN, UNWIND and LET combines."""
        for index, token in enumerate(self.tokens):
            if token.word("WITH", "RETURN", "UNWIND", "LET") and not self._is_name(index):
                items = self._items(index + 1)
                factor = max((self._combined(item) for item in items), default=1)
                self._multiply(index, factor, f"{token.value.upper()}")

    def _is_name(self, index: int) -> bool:
        """Whether the word here is a name, or the WITH of ``STARTS WITH`` or ``ENDS WITH``."""
        if not index:
            return False
        before = self.tokens[index - 1]
        return before.mark(".", ":", "|", "&") or before.word("STARTS", "ENDS", "AS")

    def _items(self, begin: int) -> list[Sequence[QueryToken]]:
        """Return the comma-separated items of the clause that begins at this index."""
        found: list[Sequence[QueryToken]] = []
        here = begin
        while here < len(self.tokens):
            token = self.tokens[here]
            if token.mark(")", "]", "}") or (token.word(*_CLAUSES) and not self._is_name(here)):
                break
            if token.mark(","):
                found.append(self.tokens[begin:here])
                begin = here + 1
            here = self.pairs[here] + 1 if token.mark("(", "[", "{") else here + 1
        return [*found, self.tokens[begin:here]]

    def _combined(self, item: Sequence[QueryToken]) -> int:
        """Return how many values an item combines: 2 for ``a + b``, 3 for ``[a, a, a]``."""
        if not any(token.mark("+", "[", "{") for token in item):
            return 1
        if len(item) > 2 and item[-2].word("AS"):
            item = item[:-2]
        uses = sum(_is_value(item, here) for here in range(len(item)))
        return max(uses, 1) * (_REPEATED if self._repeats(item) else 1)

    def _repeats(self, item: Sequence[QueryToken]) -> bool:
        """Whether a list comprehension repeats a value from outside it for each element."""
        for here, token in enumerate(item):
            if not (token.mark("[") and _iterates(item, here)):
                continue
            inside = item[here + 3 : _closing(item, here)]
            bar = next((n for n, inner in enumerate(inside) if inner.mark("|")), len(inside))
            body, own = inside[bar + 1 :], item[here + 1].value
            if any(_is_value(body, n) and body[n].value != own for n in range(len(body))):
                return True
        return False

    def _check_nesting(self) -> None:
        """Refuse deeply nested loops, because each of them may run over a list of any size."""
        ends: list[int] = []
        for index in range(len(self.tokens)):
            while ends and index > ends[-1]:
                ends.pop()
            if _iterates(self.tokens, index):
                ends.append(self.pairs[index])
            if len(ends) > MAX_NESTED_ITERATIONS:
                raise self._fail(
                    index,
                    f"more than {MAX_NESTED_ITERATIONS} nested loops (list comprehensions, reduce, "
                    "any, all, none, single); use UNWIND, whose rows are not kept in memory",
                )

    def _check_size(self) -> None:
        """Refuse a query that multiplies a string or a parameter that is already large."""
        texts = (len(token.value) for token in self.tokens if token.kind == "string")
        used = {token.value for token in self.tokens if token.kind == "parameter"}
        given = size_of(value for name, value in self.parameters.items() if name in used)
        size = self.grown * max(max(texts, default=0), given)
        if self.grown > 1 and size > self.limits.max_result_chars:
            raise QueryError(
                f"the query could make a value of {short(size)} characters from its strings and "
                f"parameters, over the limit of {self.limits.max_result_chars:,} "
                "(query.max_result_chars); pass shorter values or combine fewer of them"
            )

    # --- parsing ------------------------------------------------------------------------

    def _arguments(self, index: int) -> list[Sequence[QueryToken]]:
        """Return the arguments of the call whose name is at ``index``."""
        begin, end = index + 2, self.pairs[index + 1]
        found: list[Sequence[QueryToken]] = []
        here = begin
        while here < end:
            if self.tokens[here].mark(","):
                found.append(self.tokens[begin:here])
                begin = here + 1
            here = self.pairs[here] + 1 if self.tokens[here].mark("(", "[", "{") else here + 1
        return [*found, self.tokens[begin:end]]

    def _fail(self, index: int, message: str) -> QueryError:
        return error(self.query, self.tokens[index].start, message)


def _is_value(tokens: Sequence[QueryToken], here: int) -> bool:
    """Whether this token is a variable or a parameter, whose value may be large."""
    token = tokens[here]
    if token.kind == "parameter":
        return True
    if not token.named or token.word(*_WORDS) or (here and tokens[here - 1].mark(".")):
        return False
    return not (here + 1 < len(tokens) and tokens[here + 1].mark("(", ":"))


def _iterates(tokens: Sequence[QueryToken], index: int) -> bool:
    """Whether this bracket opens a loop over a list, such as ``[x IN`` or ``reduce(``."""
    token = tokens[index]
    if token.mark("("):
        before = tokens[index - 1] if index else None
        return before is not None and before.named and before.value.lower() in _ITERATING
    following = tokens[index + 1 : index + 3]
    return (
        token.mark("[") and len(following) == 2 and following[0].named and following[1].word("IN")
    )


def _closing(tokens: Sequence[QueryToken], index: int) -> int:
    depth = 0
    for here in range(index, len(tokens)):
        depth += tokens[here].mark("(", "[", "{") - tokens[here].mark(")", "]", "}")
        if depth <= 0:
            return here
    return len(tokens) - 1
