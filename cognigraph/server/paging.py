"""Cursors of listings that the library counts by an offset."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from cognigraph.errors import ConfigurationError

MOST = 1000
"""The largest page."""
_T = TypeVar("_T")


def paged(listing: Callable[[int, int], Sequence[_T]], limit: int, cursor: str | None) -> Any:
    """One page of a listing that takes a limit and an offset, with the cursor of the next."""
    offset = 0 if cursor is None else _offset(cursor)
    found = listing(limit + 1, offset)
    return {
        "items": found[:limit],
        "next": _cursor(offset + limit) if len(found) > limit else None,
    }


def _cursor(offset: int) -> str:
    return base64.urlsafe_b64encode(f"at {offset}".encode()).decode().rstrip("=")


def _offset(cursor: str) -> int:
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
    except (binascii.Error, ValueError):
        text = ""
    word, _, number = text.partition(" ")
    if word != "at" or not (number.isascii() and number.isdecimal() and len(number) < 10):
        raise ConfigurationError(
            f"the cursor {cursor[:40]!r} is not one of this listing; give the `next` of a page"
        )
    return int(number)
