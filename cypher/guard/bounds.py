"""Upper bounds of the values in a query, from its literals, its parameters and its structure.

What a query reads is not known beforehand. Stored texts count as :data:`STORED_CHARS` characters,
stored lists and paths as :data:`STORED_ITEMS` items, and lists that are collected from rows as
:data:`COLLECTED_ITEMS`, which the server's limit for the memory of a transaction enforces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cognigraph.cypher.guard.query_limits import OTHER_SIZE

STORED_CHARS = 8_192
"""The length of the longest text of a node, eight times what a chunk has by default."""

STORED_ITEMS = 10_000
COLLECTED_ITEMS = 1_000_000
_USUAL_CHARS = 1_000
"""The size of a stored value among many. The server has all of them in memory anyway."""


@dataclass(frozen=True, slots=True)
class Bound:
    """An upper bound of a value.

    ``chars`` is the length of the longest text in the value, ``length`` the number of items of the
    list or map that it is, ``nested`` the length of the longest list in it, ``item`` the size of
    its largest item, and ``size`` that of the whole; a value other than text counts as 8.
    ``number`` is the largest absolute value, None if it is unknown or no whole number, and
    ``literal`` the text itself, if it is known. ``gathered`` says that the value was collected from
    rows: all such values of a query together are no larger than the bound. ``shared`` is the size
    of what is a parameter, a literal or a range() in it. A row holds a reference to that and no
    copy, so the limit for the memory of a transaction does not bound what is collected of it.
    """

    chars: int = 0
    length: int = 0
    nested: int = 0
    item: int = OTHER_SIZE
    size: int = OTHER_SIZE
    number: int | None = None
    literal: str | None = None
    gathered: bool = False
    shared: int = 0

    @property
    def element(self) -> Bound:
        """The bound of an item of the value, or of the value itself if it is no list."""
        size = self.item if self.length else self.size
        shared = min(self.shared, size)
        return Bound(
            self.chars, self.nested, self.nested, self.item, size, self.number, shared=shared
        )

    @property
    def widest(self) -> int:
        """How much of the value a comparison may have to read."""
        return max(self.chars, self.size)


SCALAR = Bound()
"""A number, a time or a truth value."""

STORED = Bound(STORED_CHARS, STORED_ITEMS, STORED_ITEMS, _USUAL_CHARS, _USUAL_CHARS)
"""What a node, a relationship or a path holds."""

SHORT_PROPERTIES = frozenset(
    "at chunks ended_at first_observed index last_observed messages negated observed_at part parts "
    "score seq started_at superseded_at valid_from valid_to version weight".split()
)
"""Properties of nodes and relationships that are numbers, times or truth values."""

NAME_PROPERTIES = frozenset(
    "id message_id name role session space speaker state status type uid".split()
)
NAME = Bound(512, size=512)
"""A name or an id, whose length is limited when it is stored."""

METADATA = Bound(65_536, size=_USUAL_CHARS)
"""The metadata of a message, which are one text."""


def joined(*bounds: Bound) -> Bound:
    """Return the bound of a value that is any one of several."""
    numbers = [bound.number for bound in bounds if bound.number is not None]
    return Bound(
        max((bound.chars for bound in bounds), default=0),
        max((bound.length for bound in bounds), default=0),
        max((bound.nested for bound in bounds), default=0),
        max((bound.element.size for bound in bounds), default=OTHER_SIZE),
        max((bound.size for bound in bounds), default=OTHER_SIZE),
        max(numbers, default=0) if len(numbers) == len(bounds) else None,
        shared=max((bound.shared for bound in bounds), default=0),
    )


def listed(values: Sequence[Bound]) -> Bound:
    """Return the bound of the list of these values."""
    each = joined(*values)
    total = sum(value.size + OTHER_SIZE for value in values) + OTHER_SIZE
    return Bound(
        each.chars,
        max(len(values), 1),
        max(each.nested, each.length),
        each.size,
        total,
        each.number,
        shared=sum(value.shared for value in values),
    )


def repeated(value: Bound, length: int) -> Bound:
    """Return the bound of a list of ``length`` values."""
    nested = max(value.nested, value.length)
    total = length * (value.size + OTHER_SIZE) + OTHER_SIZE
    shared = length * value.shared
    return Bound(value.chars, length, nested, value.size, total, value.number, shared=shared)


def collected(value: Bound) -> Bound:
    """Return the bound of a list of values from rows, whose memory the server limits."""
    nested = max(value.nested, value.length)
    total = max(COLLECTED_ITEMS * max(OTHER_SIZE, value.shared), value.size)
    return Bound(
        value.chars, COLLECTED_ITEMS, nested, value.size, total, value.number, gathered=True
    )


def given(value: Any) -> Bound:
    """Return the bound of a parameter or literal, whose nesting must have been checked."""
    bound = _given(value)
    return replace(bound, shared=bound.size)


def _given(value: Any) -> Bound:
    if isinstance(value, str):
        return Bound(max(len(value), 1), size=max(len(value), OTHER_SIZE), literal=value)
    if isinstance(value, Mapping):
        return _given(list(value.values()))
    if isinstance(value, (list, tuple, set, frozenset)):
        texts = [len(item) for item in value if isinstance(item, str)]
        rest = [_given(item) for item in value if not isinstance(item, (str, int))]
        whole = [abs(item) for item in value if isinstance(item, int)]
        # One bound stands for all texts and one for all numbers: a list can have 100,000 of them.
        found = [Bound(max(texts), size=max(*texts, OTHER_SIZE))] if texts else []
        found += [replace(SCALAR, number=max(whole))] if whole else []
        size = sum(max(OTHER_SIZE, n) for n in texts) + OTHER_SIZE * len(whole)
        size += OTHER_SIZE * (len(value) + 1) + sum(bound.size for bound in rest)
        return replace(listed([*found, *rest]), length=max(len(value), 1), size=size)
    if isinstance(value, (bytes, bytearray)):
        return Bound(max(len(value), 1), len(value), size=max(len(value), OTHER_SIZE))
    whole_number = isinstance(value, int) and not isinstance(value, bool)
    return replace(SCALAR, number=abs(value)) if whole_number else SCALAR
