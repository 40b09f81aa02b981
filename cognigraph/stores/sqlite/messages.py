"""Messages: inserting them, and listing whole ones page by page.

Each message is stored as chunks; what is kept of it beside the text is with its first chunk.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from cognigraph.errors import StoreError
from cognigraph.model import StoredMessage
from cognigraph.model.filters import MessageQuery, Position
from cognigraph.stores import model_rows
from cognigraph.stores.protocols import import_runs
from cognigraph.stores.records import (
    InsertStatus,
    MessageData,
    MessageRow,
    Placed,
    insert_statuses,
)
from cognigraph.stores.sqlite.file import MemoryFile
from cognigraph.stores.sqlite.rows import (
    DONE,
    JOIN_DATA,
    Condition,
    VectorFormat,
    all_of,
    pack_terms,
    pack_uid,
    role_number,
    select_in,
    source_conditions,
    tags_of,
)
from cognigraph.text.terms import is_question
from cognigraph.times import micros, system_clock, to_micros


class SQLiteMessages:
    """See :class:`cognigraph.stores.protocols.MessageStore`."""

    def __init__(self, file: MemoryFile) -> None:
        self._file = file

    def insert(
        self, space: str, messages: Sequence[MessageRow], importer: str = ""
    ) -> list[InsertStatus]:
        # The same messages often arrive again; that must not wait for the write lock.
        with self._file.read() as connection:
            statuses = statuses_of(connection, messages)
        if "new" not in statuses:
            return statuses
        with self._file.write_vectors() as connection:
            return insert_messages(connection, self._file.vectors, space, messages, importer)


def statuses_of(
    connection: sqlite3.Connection, messages: Sequence[MessageRow]
) -> list[InsertStatus]:
    """The status that each message would have."""
    uids = [message.chunks[0].uid for message in messages]
    stored = select_in(connection, "SELECT uid, digest FROM chunk WHERE uid IN ({})", uids)
    digests = {uid: [digest] for uid, digest in stored}
    changed = {
        uid
        for uid, message in zip(uids, messages, strict=True)
        if uid in digests and message.digest != digests[uid][0]
    }
    versions = "SELECT uid, digest FROM version WHERE uid IN ({})"
    earlier = select_in(connection, versions, sorted(changed))
    for uid, digest in earlier:
        digests[uid].append(digest)
    missing = [uid for uid in uids if uid not in digests]
    gone = select_in(connection, "SELECT uid FROM forgotten WHERE uid IN ({})", missing)
    return insert_statuses(messages, digests, {uid for (uid,) in gone})


def bump(connection: sqlite3.Connection, space: str) -> tuple[int, int]:
    """Create the space if needed, increment its revision, and return (id, revision)."""
    # A random epoch: an index in memory of a removed space of this name must not seem current.
    row = connection.execute(
        "INSERT INTO space (name, revision, epoch) VALUES (?, 1, random()) "
        "ON CONFLICT (name) DO UPDATE SET revision = revision + 1 RETURNING id, revision",
        (space,),
    ).fetchone()
    return int(row[0]), int(row[1])


@dataclass(frozen=True, slots=True)
class Owner:
    """Row ids of the space and session of new chunks, and the space's revision."""

    space_id: int
    session_id: int
    revision: int


def insert_messages(
    connection: sqlite3.Connection,
    vectors: VectorFormat,
    space: str,
    messages: Sequence[MessageRow],
    importer: str,
) -> list[InsertStatus]:
    """Write the messages that are new and return the status of each."""
    if importer_of(connection, space) != importer:
        raise StoreError(import_runs(space, importer))
    space_id, revision = bump(connection, space)
    statuses = statuses_of(connection, messages)
    new = [message for message, status in zip(messages, statuses, strict=True) if status == "new"]
    sessions = _extend_sessions(connection, space_id, new)
    for message in new:
        owner = Owner(space_id, sessions[message.session_uid], revision)
        write_chunks(connection, vectors, owner, message)
    return statuses


def _extend_sessions(
    connection: sqlite3.Connection, space_id: int, messages: Sequence[MessageRow]
) -> dict[str, int]:
    """Create or extend the sessions of new messages; return their row ids by uid."""
    by_session: dict[str, list[MessageRow]] = {}
    for message in messages:
        by_session.setdefault(message.session_uid, []).append(message)
    ids: dict[str, int] = {}
    for uid, own in by_session.items():
        times = [to_micros(message.at) for message in own]
        chunks = sum(len(message.chunks) for message in own)
        (ids[uid],) = connection.execute(
            """INSERT INTO session (uid, space_id, name, started_at, ended_at, messages, chunks)
               VALUES (?, ?, ?, ?, ?, ?, ?)
               ON CONFLICT (uid) DO UPDATE SET
                 started_at = min(started_at, excluded.started_at),
                 ended_at = max(ended_at, excluded.ended_at),
                 messages = messages + excluded.messages, chunks = chunks + excluded.chunks
               RETURNING id""",
            (uid, space_id, own[0].session, min(times), max(times), len(own), chunks),
        ).fetchone()
    return ids


def write_chunks(
    connection: sqlite3.Connection,
    vectors: VectorFormat,
    owner: Owner,
    message: MessageRow,
    first_id: int | None = None,
) -> None:
    """Write the chunks of a message, with ids from ``first_id`` on if that is given."""
    at = to_micros(message.at)
    space_id, session_id, revision = owner.space_id, owner.session_id, owner.revision
    for chunk in message.chunks:
        fresh = chunk.text if chunk.fresh is None else chunk.fresh
        chunk_id = connection.execute(
            """INSERT INTO chunk (id, uid, space_id, session_id, message_id, part, parts, speaker,
                                  at, text, digest, fresh, role, heading)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            (
                None if first_id is None else first_id + chunk.part,
                chunk.uid, space_id, session_id, message.id, chunk.part, len(message.chunks),
                message.speaker, at, chunk.text, message.digest, chunk.fresh, message.role,
                chunk.heading,
            ),
        ).lastrowid  # fmt: skip
        connection.execute(
            """INSERT INTO chunk_index (chunk_id, space_id, session_id, changed, at, speaker,
                                        question, length, uid, terms, vector, role)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            (
                chunk_id, space_id, session_id, revision, at, message.speaker,
                is_question(fresh), sum(chunk.terms.values()), pack_uid(chunk.uid),
                pack_terms(chunk.terms), vectors.pack(chunk.vector), role_number(message.role),
            ),
        )  # fmt: skip
        if chunk.part == 0 and message.data is not None:
            parts = len(message.chunks)
            write_data(connection, chunk_id, space_id, parts, message.data)
        connection.execute(
            "INSERT INTO work (chunk_id, space_id, session_id, since, unembedded) "
            "VALUES (?, ?, ?, ?, ?)",
            (chunk_id, space_id, session_id, to_micros(system_clock()), chunk.unembedded),
        )


def write_data(
    connection: sqlite3.Connection,
    chunk_id: int | None,
    space_id: int,
    parts: int,
    data: MessageData,
) -> None:
    """Store the data of a message with its first chunk."""
    connection.execute(
        """INSERT INTO message_data
             (chunk_id, space_id, parts, metadata, tags, raw, facts, expires, written_by)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        (
            chunk_id, space_id, parts, data.metadata, json.dumps(data.tags), data.raw, data.facts,
            micros(data.expires), data.written_by,
        ),
    )  # fmt: skip


# Imports, which fill a space

IMPORT = "import "
"""Before the name of a space that an import fills, in the metadata of the file; the value is its
token."""
FILLED = f"'{IMPORT}' || name NOT IN (SELECT key FROM meta)"
"""A condition for spaces that no import is filling."""


def importer_of(connection: sqlite3.Connection, space: str) -> str:
    """The token of the import that fills a space, or an empty text."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (IMPORT + space,)).fetchone()
    return "" if row is None else str(row[0])


def end_import(connection: sqlite3.Connection, space: str) -> None:
    """Note that no import fills a space."""
    connection.execute("DELETE FROM meta WHERE key = ?", (IMPORT + space,))


def unfinished_imports(connection: sqlite3.Connection) -> list[str]:
    """The spaces that imports have not filled yet."""
    keys = connection.execute("SELECT key FROM meta WHERE key GLOB ? ORDER BY key", (f"{IMPORT}*",))
    return [key.removeprefix(IMPORT) for (key,) in keys]


# Listing

_FIRSTS = """
SELECT c.id, c.at, c.uid FROM chunk c {index} {joined}
WHERE {where}
ORDER BY c.at {order}, c.id {order} LIMIT ?"""

_OF_SOURCE = """
CROSS JOIN session n ON n.id = c.session_id LEFT JOIN message_data d ON d.chunk_id = c.id"""

_PARTS = f"""
SELECT f.id, c.message_id, s.name, c.speaker, c.at, c.text, w.state, c.role,
       d.metadata, d.tags, d.raw, d.expires, d.written_by
FROM {{firsts}}
JOIN session s ON s.id = f.session_id
JOIN chunk c ON c.space_id = f.space_id AND c.message_id = f.message_id
  AND c.session_id = f.session_id
JOIN work w ON w.chunk_id = c.id {JOIN_DATA}
ORDER BY {{order}} c.part"""
_LISTED = _PARTS.format(firsts="json_each(?) j JOIN chunk f ON f.id = j.value", order="j.key,")
# The plus keeps SQLite from reading the space in the order of its times.
_FOUND = _PARTS.format(
    firsts="""(SELECT c.id FROM chunk c JOIN session s ON s.id = c.session_id
  WHERE c.space_id = ? AND c.message_id = ? AND c.part = 0 AND (? IS NULL OR s.name = ?)
  ORDER BY +c.at DESC, c.session_id DESC LIMIT 1) j JOIN chunk f ON f.id = j.id""",
    order="",
)


def list_messages(
    connection: sqlite3.Connection, space: int, query: MessageQuery, key: bytes
) -> list[Placed]:
    """Messages that match, each with its position, whose arrival number is sealed with the key."""
    if query.after is not None:
        at = query.after.at
        query = replace(query, after=Position(at, unseal(query.after.arrival, key, at)))
    where, values = all_of(_conditions(space, query))
    statement = _FIRSTS.format(
        where=where,
        joined="" if query.where is None else _OF_SOURCE,
        order="DESC" if query.newest_first else "ASC",
        index="INDEXED BY chunk_time" if query.session is None else "INDEXED BY chunk_order",
    )
    firsts = connection.execute(statement, (*values, query.limit)).fetchall()
    found = _whole(connection, [row[0] for row in firsts])
    return [Placed(Position(at, seal(id, key, at)), found[id], uid) for id, at, uid in firsts]


def _conditions(space: int, query: MessageQuery) -> Iterator[Condition]:
    yield "c.space_id = ? AND c.part = 0", (space,)
    if query.session is not None:
        own = "c.session_id = (SELECT id FROM session WHERE space_id = ? AND name = ?)"
        yield own, (space, query.session)
    if query.speaker is not None:
        yield "c.speaker = ?", (query.speaker,)
    if query.since is not None:
        yield "c.at >= ?", (to_micros(query.since),)
    if query.until is not None:
        yield "c.at < ?", (to_micros(query.until),)
    if query.after is not None:
        yield (
            f"(c.at, c.id) {'<' if query.newest_first else '>'} (?, ?)",
            (
                query.after.at,
                query.after.arrival,
            ),
        )
    if query.where is not None:
        yield from source_conditions(query.where)


def _whole(connection: sqlite3.Connection, firsts: list[int]) -> dict[int, StoredMessage]:
    """Whole messages by the id of their first chunk."""
    parts: dict[int, list[tuple[Any, ...]]] = {}
    for first, *row in connection.execute(_LISTED, (json.dumps(firsts),)):
        parts.setdefault(first, []).append(tuple(row))
    return {first: _message_of(rows) for first, rows in parts.items()}


def find_message(
    connection: sqlite3.Connection, space: int, id: str, session: str | None
) -> StoredMessage | None:
    """A whole message; the newest one if several sessions have a message of that id."""
    rows = connection.execute(_FOUND, (space, id, session, session)).fetchall()
    return _message_of([row[1:] for row in rows]) if rows else None


def _message_of(rows: Sequence[tuple[Any, ...]]) -> StoredMessage:
    """A whole message, of rows of its chunks as ``_PARTS`` has them."""
    id, name, speaker, at, *_, role, metadata, tags, raw, expires, written_by = rows[0]
    return model_rows.message_of(
        id,
        [row[4] for row in rows],
        tags_of(tags),
        (name, speaker, at, role, metadata, raw, expires, written_by),
        is_enriched=all(row[5] == DONE for row in rows),
    )


# The cursor of a page goes to whoever reads the space, who would learn from row ids how much others
# store. So the id in it is permuted under a key that only the file has (a Feistel network).
# Changing a sealed number gives another position in the same space, and nothing else.
_HALF = 29
_MASK = (1 << _HALF) - 1
_ROUNDS = 4
LARGEST = (1 << 2 * _HALF) - 1


def seal(number: int, key: bytes, at: int) -> int:
    """A number as others see it; ``at`` makes equal distances look different."""
    left, right = number >> _HALF, number & _MASK
    for turn in range(_ROUNDS):
        left, right = right, left ^ _mixed(right, turn, key, at)
    return left << _HALF | right


def unseal(number: int, key: bytes, at: int) -> int:
    """The number that was sealed."""
    left, right = min(number, LARGEST) >> _HALF, number & _MASK
    for turn in reversed(range(_ROUNDS)):
        left, right = right ^ _mixed(left, turn, key, at), left
    return left << _HALF | right


def _mixed(half: int, turn: int, key: bytes, at: int) -> int:
    text = f"{turn} {half} {at}".encode()
    return int.from_bytes(blake2b(text, key=key, digest_size=8).digest()) & _MASK
