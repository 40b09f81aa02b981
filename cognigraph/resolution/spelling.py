"""Choose the canonical spelling of a name, independently of the order of arrival."""

from __future__ import annotations

import unicodedata
from datetime import datetime

from cognigraph.times import to_micros

_BEFORE_ALL = 1 << 62


def order(at: datetime, *names: str) -> str:
    """Return a sort key for spellings: the earliest first, then the plainest, then A to Z.

    A spelling is plainer with fewer capitals inside words and less punctuation at its ends.
    """
    fuss = min(sum(map(_fuss, names)), 9999)
    return f"{to_micros(at) + _BEFORE_ALL:019d} {fuss:04d} " + "\x1f".join(names)


def _fuss(name: str) -> int:
    capitals = 0
    if not name.islower():
        capitals = sum(character.isupper() for word in name.split() for character in word[1:])
    ends = sum(unicodedata.category(character)[0] == "P" for character in {name[0], name[-1]})
    return capitals + ends
