"""Listing the messages of a space in order of time, page by page."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from cognigraph.ids import session_uid
from cognigraph.model.listing import MessageQuery, Position
from cognigraph.stores.listing import Placed
from cognigraph.stores.neo4j.connection import Connection, Row
from cognigraph.stores.neo4j.index.allowed import allowed
from cognigraph.stores.neo4j.row_values import message_of
from cognigraph.times import from_micros

_FIRST, _LAST = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999999, UTC)


def messages(connection: Connection, space: str, query: MessageQuery) -> list[Placed]:
    """Messages that match, each with its position."""
    if not query.limit:
        return []
    replace: list[tuple[str, str]] = []
    parameters: dict[str, Any] = {"space": space}
    if query.session is not None:
        replace = [("Chunk(space, at, seq)", "Chunk(session_uid, at, seq)"),
                   ("chunk.space = $space", "chunk.session_uid = $space"),
                   ("chunk.space ASC", "chunk.session_uid ASC")]  # fmt: skip
        parameters = {"space": session_uid(space, query.session)}
    if query.newest_first:
        replace += [("ASC", "DESC"), ("> $arrival", "< $arrival"), ("> $at", "< $at")]
    rows = connection.rows(
        "listing/messages", *replace, **parameters, **_range(query), speaker=query.speaker,
        limit=query.limit, where=None if query.where is None else allowed(query.where),
    )  # fmt: skip
    return [_placed(row) for row in rows]


def _range(query: MessageQuery) -> dict[str, Any]:
    """Bounds of the time, and the position to go on from, beyond which nothing is without one."""
    low, high = query.since or _FIRST, query.until or _LAST
    at, arrival = (high, 1 << 62) if query.newest_first else (low, -1)
    if query.after is not None:
        at, arrival = from_micros(query.after.at), query.after.arrival
        low, high = (low, min(high, at)) if query.newest_first else (max(low, at), high)
    return {
        "since": low,
        "until": high,
        "excluded": query.until or _LAST,
        "at": at,
        "arrival": arrival,
    }


def _placed(row: Row) -> Placed:
    arrival, uid, id, *rest = row
    return Placed(Position(rest[2], arrival), message_of(id, rest), uid)
