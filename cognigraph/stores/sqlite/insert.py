"""SQL that inserts messages; each function runs inside one write transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from cognigraph.stores.records import (
    InsertStatus,
    MessageRow,
)
from cognigraph.stores.sqlite import message_data
from cognigraph.stores.sqlite.message_data import role_number
from cognigraph.stores.sqlite.vector_format import VectorFormat, pack_terms, pack_uid
from cognigraph.text.clean import is_question
from cognigraph.times import to_micros


def status_of(connection: sqlite3.Connection, message: MessageRow) -> InsertStatus:
    """Whether a message is new, known, forgotten, or another one is stored under its uid."""
    uid = message.chunks[0].uid
    row = connection.execute("SELECT digest FROM chunk WHERE uid = ?", (uid,)).fetchone()
    if row is None:
        gone = connection.execute("SELECT 1 FROM forgotten WHERE uid = ?", (uid,)).fetchone()
        return "new" if gone is None else "forgotten"
    if row[0] == message.digest:
        return "known"
    earlier = connection.execute(
        "SELECT 1 FROM version WHERE uid = ? AND digest = ?", (uid, message.digest)
    ).fetchone()
    return "conflict" if earlier is None else "known"


def bump(connection: sqlite3.Connection, space: str) -> tuple[int, int]:
    """Create the space if needed, increment its revision, and return (id, revision)."""
    # A random epoch: an index in memory of a removed space of this name must not seem current.
    row = connection.execute(
        "INSERT INTO space (name, revision, epoch) VALUES (?, 1, random()) "
        "ON CONFLICT (name) DO UPDATE SET revision = revision + 1 RETURNING id, revision",
        (space,),
    ).fetchone()
    return int(row[0]), int(row[1])


def insert(
    connection: sqlite3.Connection,
    vectors: VectorFormat,
    space: str,
    messages: Sequence[MessageRow],
) -> list[InsertStatus]:
    """Write the messages that are new and return the status of each."""
    space_id, revision = bump(connection, space)
    statuses: list[InsertStatus] = []
    for message in messages:
        status = status_of(connection, message)
        statuses.append(status)
        if status == "new":
            _insert_message(connection, vectors, space_id, revision, message)
    return statuses


def _insert_message(
    connection: sqlite3.Connection,
    vectors: VectorFormat,
    space_id: int,
    revision: int,
    message: MessageRow,
) -> None:
    at = to_micros(message.at)
    (session_id,) = connection.execute(
        """INSERT INTO session (uid, space_id, name, started_at, ended_at, messages, chunks)
           VALUES (?, ?, ?, ?, ?, 1, ?)
           ON CONFLICT (uid) DO UPDATE SET
             started_at = min(started_at, excluded.started_at),
             ended_at = max(ended_at, excluded.ended_at),
             messages = messages + 1, chunks = chunks + excluded.chunks
           RETURNING id""",
        (message.session_uid, space_id, message.session, at, at, len(message.chunks)),
    ).fetchone()
    write_chunks(connection, vectors, Owner(space_id, session_id, revision), message)


@dataclass(frozen=True, slots=True)
class Owner:
    """Row ids of the space and session of new chunks, and the space's revision."""

    space_id: int
    session_id: int
    revision: int


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
            message_data.write(connection, chunk_id, space_id, parts, message.data)
        connection.execute(
            "INSERT INTO work (chunk_id, space_id, session_id) VALUES (?, ?, ?)",
            (chunk_id, space_id, session_id),
        )
