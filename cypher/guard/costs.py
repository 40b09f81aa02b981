"""Bound the size of each value in a query, and the work to compute it, before the query is sent.

Neo4j checks the time limit and the memory of a query between rows, but not while it evaluates one
expression. A single comparison of two long texts can therefore stop the whole server, and a string
that is doubled forty times fills its memory. So the parser computes for every expression an upper
bound of the size of its value, from the literals, the parameters and the structure of the query,
and counts the *steps* that all expressions need for one row. A query that may need more than
``max_steps``, or that may build a value of more than ``max_result_chars``, is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cognigraph.cypher.guard.bounds import (
    METADATA,
    NAME,
    NAME_PROPERTIES,
    SCALAR,
    SHORT_PROPERTIES,
    STORED,
    Bound,
    collected,
    given,
    joined,
)
from cognigraph.cypher.guard.lexer import QueryToken
from cognigraph.cypher.guard.query_limits import OTHER_SIZE, short
from cognigraph.errors import QueryError
from cognigraph.settings import QuerySettings

_CHARS_PER_STEP = 64
"""How many characters a server compares or copies in the time of one step, at the least."""

_SORTED_CHARS = 10_000
_SORTED_LIST = 2_500
"""The sizes of the largest text and list in ORDER BY, because a sort compares them often."""

_STEPS_PER_ROW = 4
_WRITTEN_CHARS = 32
"""The length of a number or a time when it is written."""

_ARITHMETIC = frozenset(("+", "-", "*", "/", "%", "^", "||"))
_LOGIC = frozenset(("AND", "OR", "XOR"))
_EXPANDING = {"tolower": 3, "lower": 3, "toupper": 3, "upper": 3, "normalize": 18}
"""How many characters one character can become: U+FDFA has 18 in the form NFKD."""

_TEXTUAL = frozenset(
    "tolower lower toupper upper normalize trim ltrim rtrim btrim substring left right tostring "
    "tostringornull".split()
)
_NUMERIC = frozenset(
    "abs acos asin atan atan2 ceil cos count degrees e exp floor isempty isnan log log10 pi "
    "radians rand round sign sin sqrt stdev stdevp sum tan timestamp toboolean tobooleanornull "
    "tofloat tofloatornull tointeger tointegerornull".split()
)
_QUADRATIC = frozenset("tointeger tointegerornull tofloat tofloatornull".split()) | {
    "tolower", "lower", "toupper", "upper",
}  # fmt: skip
"""Functions that take a time that can grow with the square of the length of the text.

Java copies the text anew at each character that becomes longer in upper or lower case.
"""

_CONVERTING = frozenset(
    "tointeger tointegerornull tointegerlist tofloat tofloatornull tofloatlist".split()
)
_FAILED_CONVERSION, _FAILED_PER_CHAR = 2_000, 150
"""Steps for a text that is no number, and for each character of it: Java makes an exception of it,
with all its callers, which takes 10 microseconds for each character if one is not ASCII."""


class Costs:
    """Computes the bounds of operators and functions, and counts the steps that they take."""

    def __init__(
        self,
        parameters: Mapping[str, Any],
        limits: QuerySettings,
        fail: Callable[[str], QueryError],
    ) -> None:
        self.parameters, self.limits, self.fail = parameters, limits, fail
        self.steps, self.rows = 0, 1
        self._given: dict[str, Bound] = {}

    def plain(self, token: QueryToken) -> Bound:
        """Return the bound of a literal or a parameter."""
        if token.kind == "parameter":
            return self._parameter(token.value)
        if token.kind == "string":
            return given(token.value)
        return replace(SCALAR, number=_whole(token.text))

    def _parameter(self, name: str) -> Bound:
        # The server refuses a parameter that was not given.
        if name not in self.parameters:
            return STORED
        if name not in self._given:
            self._given[name] = given(self.parameters[name])
        return self._given[name]

    def spend(self, steps: int) -> None:
        """Count steps for each row; raise the error if they are too many."""
        self._add(max(steps, 1) * self.rows)

    def _add(self, steps: int) -> None:
        self.steps += steps
        if self.steps > self.limits.max_steps:
            raise self.fail(
                f"up to here the query may take {short(self.steps)} steps that the server does not "
                f"interrupt, over the limit of {self.limits.max_steps:,} (query.max_steps); "
                "compare shorter texts, pass shorter lists, nest fewer loops and UNWINDs, or "
                "find the nodes with MATCH and WHERE instead of collecting them first"
            )

    def read(self, chars: int) -> None:
        """Count the steps to read, write or compare this many characters."""
        self.spend(chars // _CHARS_PER_STEP + 1)

    def checked(self, value: Bound) -> Bound:
        """Return the bound; raise the error if the value may be too large."""
        size, most = value.widest, self.limits.max_result_chars
        if size > most:
            raise self.fail(
                f"the query could make a value of {short(size)} characters here, over the limit of "
                f"{most:,} (query.max_result_chars); pass shorter values or combine fewer of them"
            )
        return value

    # --- operators --------------------------------------------------------------------------

    def combined(self, values: Sequence[Bound], operators: Sequence[str]) -> Bound:
        """Return the bound of values joined by operators, without regard to most precedence.

        Only AND, OR and XOR bind less closely than comparisons, and these less than arithmetic.
        """
        left, comparison, right = SCALAR, "", values[0]
        for operator, value in zip(operators, values[1:], strict=True):
            if operator in _ARITHMETIC:
                right = self._sum(operator, right, value)
                continue
            if comparison:
                self.compare(comparison, left, right)
            left, right = right, value
            comparison = "" if operator in _LOGIC else operator
        if comparison:
            self.compare(comparison, left, right)
        return right if _ARITHMETIC.issuperset(operators) else SCALAR

    def _sum(self, operator: str, left: Bound, right: Bound) -> Bound:
        """Return the bound of ``left + right``, which is larger than that of any other operator."""
        number = None
        if left.number is not None and right.number is not None and operator != "^":
            times = max(left.number, 1) * max(right.number, 1)
            number = times if operator == "*" else left.number + right.number
        left_text, right_text = left.chars > 0, right.chars > 0
        in_list = left.length > 0 or right.length > 0
        if not (left_text or right_text or in_list):
            return replace(SCALAR, number=number)
        written = 0 if left_text and right_text else _WRITTEN_CHARS
        value = Bound(
            left.chars + right.chars + written,
            left.length + right.length + 1 if in_list else 0,
            max(left.nested, right.nested),
            max(left.element.size, right.element.size) if in_list else OTHER_SIZE,
            left.size + right.size + OTHER_SIZE,
            number,
            shared=left.shared + right.shared,
        )
        self.read(value.widest)
        return self.checked(value)

    def compare(self, operator: str, left: Bound, right: Bound) -> None:
        """Count the steps of a comparison."""
        if operator == "CONTAINS":
            self.read(_searching(left.chars, right.chars))
        elif operator == "IN":
            self.spend(right.length + 1)
            self.read(right.length * min(left.widest, right.element.widest))
        else:
            self.read(min(left.widest, right.widest))

    def property(self, value: Bound, name: str) -> Bound:
        """Return the bound of a property of a node, a relationship or a map."""
        if value == STORED and name in SHORT_PROPERTIES | NAME_PROPERTIES:
            return SCALAR if name in SHORT_PROPERTIES else NAME
        return joined(value.element, METADATA) if name == "metadata" else value.element

    # --- functions --------------------------------------------------------------------------

    def called(self, name: str, values: Sequence[Bound]) -> Bound:
        """Return the bound of a function of these arguments."""
        first = values[0] if values else SCALAR
        if name in ("size", "length", "char_length", "character_length", "head", "last"):
            self.spend(1)
        else:
            self.read(sum(value.widest for value in values))
        if name == "range":
            return self._range(values)
        if name in ("replace", "split", "btrim", "trim", "ltrim", "rtrim") and len(values) > 1:
            return self._searched(name, values)
        if name in ("size", "length", "char_length", "character_length"):
            return replace(SCALAR, number=max(first.chars, first.length))
        if name == "collect":
            return collected(first)
        if name in _QUADRATIC:
            self.read(first.chars**2 // 4)
        if name in _CONVERTING and first.chars:
            each = _FAILED_CONVERSION + _FAILED_PER_CHAR * first.chars
            self.spend(each * max(first.length, 1))
        if name in ("nodes", "relationships", "properties", "keys", "labels"):
            return joined(STORED, first)
        if name in _NUMERIC:
            return SCALAR
        times = _EXPANDING.get(name, 1)
        any_of = joined(*values, *(value.element for value in values))
        chars = max(any_of.chars * times, _WRITTEN_CHARS)
        size = max(any_of.size * times, _WRITTEN_CHARS)
        if name in _TEXTUAL:
            return self.checked(Bound(chars, size=size))
        return self.checked(replace(any_of, chars=chars, size=size))

    def _range(self, values: Sequence[Bound]) -> Bound:
        bounds = [value.number for value in values[:2]]
        known = [number for number in bounds if number is not None]
        if len(known) < 2:
            raise self.fail(
                "the bounds of range() must be whole numbers, parameters with whole numbers, "
                "size(...) or length(...), or calculated from these, so that its size is known "
                "before the query runs"
            )
        length = sum(known) + 1
        if length * OTHER_SIZE > self.limits.max_result_chars:
            raise self.fail(
                f"this range() could have {short(length)} numbers; use one of at most "
                f"{self.limits.max_result_chars // OTHER_SIZE:,} (query.max_result_chars)"
            )
        size = length * OTHER_SIZE
        return Bound(0, length, 0, OTHER_SIZE, size, max(known), shared=size)

    def _searched(self, name: str, values: Sequence[Bound]) -> Bound:
        """Return the bound of a function that searches its first text for another one."""
        first, sought = values[0], values[1]
        if name == "replace":
            self.read(_searching(first.chars, sought.chars))
            least = len(sought.literal) if sought.literal else 1
            places = first.chars // least + (0 if sought.literal else 1)
            chars = first.chars + places * (values[2].chars if len(values) > 2 else 0)
            self.read(chars)
            return self.checked(Bound(chars, size=max(chars, OTHER_SIZE)))
        if name == "split":
            self.read(_searching(first.chars, sought.chars))
            self.spend(first.chars)
            total = first.chars * (1 + OTHER_SIZE) + OTHER_SIZE
            return self.checked(Bound(first.chars, first.chars + 1, 0, first.chars, total))
        self.read(first.chars * sought.chars)
        return joined(first, sought)

    # --- loops and rows ---------------------------------------------------------------------

    def loop(self, steps: int, times: int) -> None:
        """Count a loop, whose body takes ``steps`` for all rows."""
        self._add((steps + 2 * self.rows) * max(times, 1))

    def unwound(self, value: Bound) -> Bound:
        """Count the rows of an UNWIND, for each of which what follows is done."""
        self.rows *= max(value.length, 1)
        self.spend(_STEPS_PER_ROW)
        return value.element

    def sorted(self, key: Bound) -> None:
        """Check a key of ORDER BY. Rows with stored keys count as memory of the transaction."""
        if key.size > (_SORTED_LIST if key.length else _SORTED_CHARS):
            raise self.fail(
                f"ORDER BY takes texts of up to {_SORTED_CHARS:,} characters and short lists; "
                "order by a shorter value, such as a property or size(...)"
            )

    def returned(self, value: Bound) -> None:
        """Count the steps to send a value, of which every part is written."""
        parts = value.size // OTHER_SIZE if value.length else value.chars // _CHARS_PER_STEP
        self._add(parts if value.gathered else parts * self.rows)


def _whole(text: str) -> int | None:
    """Return the value of a literal if it is a whole number."""
    try:
        return int(text, {"x": 16, "o": 8}.get(text[1:2], 10))
    except ValueError:
        return None


def _searching(chars: int, sought: int) -> int:
    """Return how many comparisons a search takes at most that begins anew at each character."""
    most = min(sought, chars // 2)
    return (chars - most + 1) * max(most, 1)
