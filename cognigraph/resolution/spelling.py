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
"""The sort key of a row that no chunk mentions; it sorts after every other."""


def order(at: datetime, *names: str) -> str:
    """Return a sort key for spellings: the earliest first, then the plainest, then A to Z.

    A spelling is plainer with fewer capitals inside words and less punctuation at its ends.
    """
    return _order(to_micros(at), *names)


def order_fact(at: datetime, subject: str, relation: str, object: str) -> str:
    """Return a sort key as :func:`order` does, for the names of a triple."""
    return order(at, *_sorted_by((subject, relation, object)))


def rank(spelled: str) -> str:
    """Return the part of a sort key after the time, which orders spellings of the same time."""
    return spelled[20:]


def instant(at: datetime) -> str:
    """Return the prefix of the sort keys of all spellings of this time."""
    return f"{to_micros(at) + _BEFORE_ALL:019d}"


def kept(*names: str) -> str:
    """Encode spellings for storage; a name that equals its normalised form becomes empty."""
    return _SEPARATOR.join("" if name == normalise(name) else name for name in names)


def given(stored: str | None, normal: Sequence[str], canonical: Sequence[str]) -> tuple[str, ...]:
    """Decode what :func:`kept` returned, given the normalised forms of the names.

    Older versions stored no spellings (``None``), which stands for the canonical ones.
    """
    if stored is None:
        return tuple(canonical)
    parts = stored.split(_SEPARATOR)
    return tuple(part or plain for part, plain in zip(parts, normal, strict=True))


def first(spellings: Iterable[tuple[int, tuple[str, ...]]]) -> tuple[str, tuple[str, ...]]:
    """Return the sort key and the names of the spelling that sorts first.

    Each spelling has a time in microseconds and its names: one for an entity or alias; subject,
    relation and object for a triple.
    """
    return min((_order(at, *_sorted_by(names)), names) for at, names in spellings)


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
