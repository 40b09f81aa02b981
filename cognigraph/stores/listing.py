"""Cursors of listings: the position of the last message of a page as text."""

from __future__ import annotations

import re
from typing import NamedTuple

from cognigraph.errors import ConfigurationError
from cognigraph.model import StoredMessage
from cognigraph.model.filters import MessagePage, Position
from cognigraph.times import from_micros

_CURSOR = re.compile(r"(-?\d{1,18})\.(\d{1,18})", re.ASCII)


class Placed(NamedTuple):
    """A message, its position in the order of all messages, and the uid of its first chunk."""

    position: Position
    message: StoredMessage
    uid: str


def position_of(cursor: str) -> Position:
    """The position that a cursor stands for.

    Raises:
        ConfigurationError: the text is not a cursor.
    """
    found = _CURSOR.fullmatch(cursor)
    if found is None:
        raise ConfigurationError(
            f"after must be the cursor of a page of messages, not {cursor[:40]!r}"
        )
    position = Position(int(found[1]), int(found[2]))
    try:
        from_micros(position.at)
    except OverflowError:
        raise ConfigurationError(f"after names no time: {cursor[:40]!r}") from None
    return position


def page_of(placed: list[Placed], after: str | None) -> MessagePage:
    """A page; an empty one keeps the cursor that it was asked for with."""
    if not placed:
        return MessagePage((), after)
    last = placed[-1].position
    return MessagePage(tuple(one.message for one in placed), f"{last.at}.{last.arrival}")
