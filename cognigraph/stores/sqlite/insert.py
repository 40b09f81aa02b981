"""SQL that inserts messages; each function runs inside one write transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from cognigraph.errors import StoreError
from cognigraph.stores.protocols import import_runs
from cognigraph.stores.records import (
    InsertStatus,
    MessageRow,
)
from cognigraph.stores.sqlite import imports, message_data
from cognigraph.stores.sqlite.in_list import select_in
from cognigraph.stores.sqlite.message_data import role_number
from cognigraph.stores.sqlite.vector_format import VectorFormat, pack_terms, pack_uid
from cognigraph.text.clean import is_question
from cognigraph.times import system_clock, to_micros


def statuses_of(
    connection: sqlite3.Connection, messages: Sequence[MessageRow]
) -> list[InsertStatus]:
    """Whether each message is new, known, forgotten, or another one is stored under its uid.

    Of several messages with one uid, the first counts as stored for the others.
    """
    uids = [message.chunks[0].uid for message in messages]
    stored = dict(select_in(connection, "SELECT uid, digest FROM chunk WHERE uid IN ({})", uids))
    missing = [uid for uid in uids if uid not in stored]
    gone = select_in(connection, "SELECT uid FROM forgotten WHERE uid IN ({})", missing)
    forgotten = {uid for (uid,) in gone}
    statuses: list[InsertStatus] = []
    for uid, message in zip(uids, messages, strict=True):
        if uid in forgotten:
            statuses.append("forgotten")
        elif uid not in stored:
            stored[uid] = message.digest
            statuses.append("new")
        elif stored[uid] == message.digest or _was_version(connection, uid, message.digest):
            statuses.append("known")
        else:
            statuses.append("conflict")
    return statuses


def _was_version(connection: sqlite3.Connection, uid: str, digest: str) -> bool:
    earlier = "SELECT 1 FROM version WHERE uid = ? AND digest = ?"
    return connection.execute(earlier, (uid, digest)).fetchone() is not None


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
    importer: str,
) -> list[InsertStatus]:
    """Write the messages that are new and return the status of each."""
    if imports.importer_of(connection, space) != importer:
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
            "INSERT INTO work (chunk_id, space_id, session_id, since) VALUES (?, ?, ?, ?)",
            (chunk_id, space_id, session_id, to_micros(system_clock())),
        )
