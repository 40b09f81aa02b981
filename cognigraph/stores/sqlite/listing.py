"""Whole messages: one by its id, and those of a space in order of time, page by page."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cognigraph.model import StoredMessage
from cognigraph.model.listing import MessageQuery, Position
from cognigraph.stores.listing import Placed
from cognigraph.stores.sqlite.fact_listing import of_source
from cognigraph.stores.sqlite.message_data import JOIN, metadata_of, tags_of
from cognigraph.stores.sqlite.sealed import seal, unseal
from cognigraph.stores.sqlite.work import DONE
from cognigraph.times import from_micros, to_micros

_FIRSTS = """
SELECT c.id, c.at, c.uid FROM chunk c {index} {joined}
WHERE c.space_id = :space AND c.part = 0 {conditions}
ORDER BY c.at {order}, c.id {order} LIMIT :limit"""

_OF_SOURCE = """
CROSS JOIN session n ON n.id = c.session_id LEFT JOIN message_data d ON d.chunk_id = c.id"""

_PARTS = f"""
SELECT f.id, c.message_id, s.name, c.speaker, c.at, c.text, c.session_id, w.state, c.role,
       d.metadata, d.tags, d.raw, d.expires
FROM json_each(?) j JOIN chunk f ON f.id = j.value
JOIN session s ON s.id = f.session_id
JOIN chunk c ON c.space_id = f.space_id AND c.message_id = f.message_id
  AND c.session_id = f.session_id
JOIN work w ON w.chunk_id = c.id {JOIN}
ORDER BY j.key, c.part"""


def messages(
    connection: sqlite3.Connection, space: int, query: MessageQuery, key: bytes
) -> list[Placed]:
    """Messages that match, each with its position, whose arrival number is sealed with the key."""
    if query.after is not None:
        at = query.after.at
        query = replace(query, after=Position(at, unseal(query.after.arrival, key, at)))
    conditions, parameters = _conditions(query)
    statement = _FIRSTS.format(
        conditions=conditions,
        joined="" if query.where is None else _OF_SOURCE,
        order="DESC" if query.newest_first else "ASC",
        index="INDEXED BY chunk_time" if query.session is None else "INDEXED BY chunk_order",
    )
    firsts = connection.execute(
        statement, {"space": space, "limit": query.limit, **parameters}
    ).fetchall()
    found = _whole(connection, [row[0] for row in firsts])
    return [Placed(Position(at, seal(id, key, at)), found[id], uid) for id, at, uid in firsts]


def _conditions(query: MessageQuery) -> tuple[str, dict[str, Any]]:
    after = query.after
    possible: list[tuple[str, dict[str, Any] | None]] = [
        (
            "c.session_id = (SELECT id FROM session WHERE space_id = :space AND name = :session)",
            None if query.session is None else {"session": query.session},
        ),
        ("c.speaker = :speaker", None if query.speaker is None else {"speaker": query.speaker}),
        ("c.at >= :since", None if query.since is None else {"since": to_micros(query.since)}),
        ("c.at < :until", None if query.until is None else {"until": to_micros(query.until)}),
        (
            f"(c.at, c.id) {'<' if query.newest_first else '>'} (:after_at, :after_id)",
            None if after is None else {"after_at": after.at, "after_id": after.arrival},
        ),
    ]
    chosen = [(text, values) for text, values in possible if values is not None]
    parameters = {name: value for _, values in chosen for name, value in values.items()}
    texts = [text for text, _ in chosen]
    for text, given in of_source(query.where) if query.where is not None else ():
        names = [f"given{len(parameters) + number}" for number in range(len(given))]
        texts.append(f"({_named(text, names)})")
        parameters |= dict(zip(names, given, strict=True))
    return "".join(f" AND {text}" for text in texts), parameters


def _named(condition: str, names: Sequence[str]) -> str:
    """A condition with names in place of its question marks."""
    first, *rest = condition.split("?")
    return first + "".join(f":{name}{text}" for name, text in zip(names, rest, strict=True))


def _whole(connection: sqlite3.Connection, firsts: list[int]) -> dict[int, StoredMessage]:
    """Whole messages by the id of their first chunk."""
    parts: dict[int, list[tuple[Any, ...]]] = {}
    for row in connection.execute(_PARTS, (json.dumps(firsts),)):
        parts.setdefault(row[0], []).append(row[1:])
    return {
        first: message_of(rows[0][0], [row[1:] for row in rows]) for first, rows in parts.items()
    }


def message(
    connection: sqlite3.Connection, space: int, id: str, session: str | None
) -> StoredMessage | None:
    """A whole message."""
    rows = connection.execute(
        f"""SELECT s.name, c.speaker, c.at, c.text, c.session_id, w.state, c.role,
                  d.metadata, d.tags, d.raw, d.expires
           FROM chunk c JOIN session s ON s.id = c.session_id JOIN work w ON w.chunk_id = c.id
           {JOIN}
           WHERE c.space_id = ? AND c.message_id = ? AND (? IS NULL OR s.name = ?)
           ORDER BY c.at DESC, c.session_id DESC, c.part""",
        (space, id, session, session),
    ).fetchall()
    rows = [row for row in rows if row[4] == rows[0][4]]
    return message_of(id, rows) if rows else None


def message_of(id: str, rows: Sequence[tuple[Any, ...]]) -> StoredMessage:
    """A whole message, of rows of its chunks.

    A row holds session, speaker, time, text, session id, state, role, metadata, tags, raw and
    expires.
    """
    name, speaker, at = rows[0][:3]
    text = "".join(row[3] for row in rows)
    role, metadata, tags, raw, expires = rows[0][6:]
    return StoredMessage(
        id=id,
        session=name,
        speaker=speaker,
        at=from_micros(at),
        text=text,
        chunks=len(rows),
        is_enriched=all(row[5] == DONE for row in rows),
        role=role,
        metadata=metadata_of(metadata),
        tags=tags_of(tags),
        raw=None if raw is None else json.loads(raw),
        expires=None if expires is None else from_micros(expires),
    )
