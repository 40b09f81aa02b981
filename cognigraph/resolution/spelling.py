"""Choose the canonical spelling of a name, independently of the order of arrival.

Every chunk keeps how it spells what it mentions, so that the canonical spelling can be found again
when the chunk that gave it is read anew and no longer does.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from datetime import datetime

from cognigraph.ids import normalise
from cognigraph.times import to_micros

_BEFORE_ALL = 1 << 62
_SEPARATOR = "\x1f"
UNSPELLED = "\U0010ffff"
"""Sorts after the spelling of anything that was said."""


def order(at: datetime, *names: str) -> str:
    """Return a sort key for spellings: the earliest first, then the plainest, then A to Z.

    A spelling is plainer with fewer capitals inside words and less punctuation at its ends.
    """
    return _order(to_micros(at), *names)


def order_fact(at: datetime, subject: str, relation: str, object: str) -> str:
    """As :func:`order`, for the names of a triple."""
    return order(at, *_sorted_by((subject, relation, object)))


def rank(spelled: str) -> str:
    """What orders the spellings of one moment, out of what :func:`order` returned."""
    return spelled[20:]


def instant(at: datetime) -> str:
    """What every spelling said at a time begins with."""
    return f"{to_micros(at) + _BEFORE_ALL:019d}"


def kept(*names: str) -> str:
    """Spellings as a chunk keeps them: nothing for a name that equals its normalised form."""
    return _SEPARATOR.join("" if name == normalise(name) else name for name in names)


def given(said: str | None, normal: Sequence[str], canonical: Sequence[str]) -> tuple[str, ...]:
    """The names that :func:`kept` was called with, given their normalised forms.

    Chunks that were read by older versions keep nothing (None); they agree with what is canonical.
    """
    if said is None:
        return tuple(canonical)
    parts = said.split(_SEPARATOR)
    return tuple(part or plain for part, plain in zip(parts, normal, strict=True))


def first(said: Iterable[tuple[int, tuple[str, ...]]]) -> tuple[str, tuple[str, ...]]:
    """The smallest of some spellings, each with its time in microseconds, and its names.

    One name is that of an entity or an alias; three are a triple's subject, relation and object.
    """
    return min((_order(at, *_sorted_by(names)), names) for at, names in said)


def _sorted_by(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(names) == 1:
        return names
    subject, relation, object = names
    return subject, object, relation.casefold(), relation


def _order(at: int, *names: str) -> str:
    fuss = min(sum(map(_fuss, names)), 9999)
    return f"{at + _BEFORE_ALL:019d} {fuss:04d} " + _SEPARATOR.join(names)


def _fuss(name: str) -> int:
    capitals = 0
    if not name.islower():
        capitals = sum(character.isupper() for word in name.split() for character in word[1:])
    ends = sum(unicodedata.category(character)[0] == "P" for character in {name[0], name[-1]})
    return capitals + ends
