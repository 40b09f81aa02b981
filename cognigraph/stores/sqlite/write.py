"""Insert and derivation writes, each called inside one write transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from cognigraph.ids import normalise
from cognigraph.stores.base import (
    Derivation,
    InsertStatus,
    KeyRow,
    Lease,
    MessageRow,
    ThemeRow,
    TripleRow,
)
from cognigraph.stores.sqlite.blobs import VectorFormat, pack_terms, pack_uid
from cognigraph.stores.sqlite.redo import prune, untie
from cognigraph.stores.sqlite.revisions import keep
from cognigraph.text import is_question
from cognigraph.times import to_micros


def status_of(connection: sqlite3.Connection, message: MessageRow) -> InsertStatus:
    """Whether a message is new, known, or in conflict with the one stored under its uid."""
    row = connection.execute(
        "SELECT digest FROM chunk WHERE uid = ?", (message.chunks[0].uid,)
    ).fetchone()
    if row is None:
        return "new"
    return "known" if row[0] == message.digest else "conflict"


def bump(connection: sqlite3.Connection, space: str) -> tuple[int, int]:
    """Create the space if needed, raise its revision, and return (id, revision)."""
    row = connection.execute(
        "INSERT INTO space (name, revision) VALUES (?, 1) "
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
    """Write the new ones among the messages."""
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
    for chunk in message.chunks:
        fresh = chunk.text if chunk.fresh is None else chunk.fresh
        chunk_id = connection.execute(
            """INSERT INTO chunk (uid, space_id, session_id, message_id, part, parts, speaker,
                                  at, text, digest, fresh)
               VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            (
                chunk.uid, space_id, session_id, message.id, chunk.part, len(message.chunks),
                message.speaker, at, chunk.text, message.digest, chunk.fresh,
            ),
        ).lastrowid  # fmt: skip
        connection.execute(
            "INSERT INTO chunk_index VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                chunk_id, space_id, session_id, revision, at, message.speaker,
                is_question(fresh), sum(chunk.terms.values()), pack_uid(chunk.uid),
                pack_terms(chunk.terms), vectors.pack(chunk.vector),
            ),
        )  # fmt: skip
        connection.execute(
            "INSERT INTO work (chunk_id, space_id, session_id) VALUES (?, ?, ?)",
            (chunk_id, space_id, session_id),
        )


def write_derivation(
    connection: sqlite3.Connection,
    vectors: VectorFormat,
    lease: Lease,
    derivation: Derivation,
    now: int,
) -> None:
    """Merge what one lease led to. The caller has checked that the lease still holds."""
    space_id, revision = bump(connection, lease.space)
    (session_id,) = connection.execute(
        "SELECT id FROM session WHERE uid = ?", (lease.session_uid,)
    ).fetchone()
    chunks = {chunk.uid: chunk for chunk in lease.chunks}
    marks = ",".join("?" * len(chunks))
    chunk_ids = dict(
        connection.execute(f"SELECT uid, id FROM chunk WHERE uid IN ({marks})", tuple(chunks))
    )
    read_before = [chunk_ids[chunk.uid] for chunk in lease.chunks if chunk.extractor is not None]
    loose = untie(connection, read_before)
    entity_ids = {
        entity.uid: connection.execute(
            # A no-op update, so that RETURNING gives the id of the one that was there too.
            """INSERT INTO entity (uid, space_id, name, normalised, type, key)
               VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (uid) DO UPDATE SET uid = uid RETURNING id""",
            (entity.uid, space_id, entity.name, normalise(entity.name), entity.type, entity.key),
        ).fetchone()[0]
        for entity in derivation.entities
    }
    times = {uid: to_micros(chunk.at) for uid, chunk in chunks.items()}
    for triple in derivation.triples:
        _merge_triple(connection, vectors, space_id, revision, triple, entity_ids, chunk_ids, times)
    connection.executemany(
        "INSERT OR IGNORE INTO mention VALUES (?, ?)",
        [(chunk_ids[chunk], entity_ids[entity]) for chunk, entity in derivation.mentions],
    )
    if read_before:
        prune(connection, space_id, revision, loose)
    if derivation.keys is not None:
        _replace_keys(connection, vectors, space_id, session_id, derivation.keys)
    if derivation.themes is not None:
        _replace_themes(connection, vectors, space_id, session_id, derivation.themes)
    if derivation.keys is not None or derivation.themes is not None:
        connection.execute(
            "UPDATE session SET version = version + 1, renew = 0, changed = ?, state = ? "
            "WHERE id = ?",
            (revision, derivation.state, session_id),
        )
        keep(connection, session_id, derivation, now)
    elif derivation.state:
        connection.execute(
            "UPDATE session SET state = ? WHERE id = ?", (derivation.state, session_id)
        )
    connection.executemany(
        "UPDATE work SET state = 1, lease = NULL, reason = NULL, extractor = ?, outages = 0,"
        " attempts = attempts + 1 WHERE chunk_id = ?",
        [(derivation.extractor, chunk_id) for chunk_id in chunk_ids.values()],
    )


def _merge_triple(
    connection: sqlite3.Connection,
    vectors: VectorFormat,
    space_id: int,
    revision: int,
    triple: TripleRow,
    entity_ids: dict[str, int],
    chunk_ids: dict[str, int],
    times: dict[str, int],
) -> None:
    observed = [times[uid] for uid in triple.evidence]
    first, last = min(observed), max(observed)
    when = triple.when
    triple_id, first, last = connection.execute(
        """INSERT INTO triple (uid, space_id, subject_id, object_id, subject, relation, object,
                               when_text, valid_from, valid_to, negated, first_observed,
                               last_observed)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (uid) DO UPDATE SET
             first_observed = min(first_observed, excluded.first_observed),
             last_observed = max(last_observed, excluded.last_observed)
           RETURNING id, first_observed, last_observed""",
        (
            triple.uid, space_id, entity_ids[triple.subject_uid], entity_ids[triple.object_uid],
            triple.subject, triple.relation, triple.object, when.text if when else None,
            to_micros(when.start) if when else None, to_micros(when.end) if when else None,
            triple.negated, first, last,
        ),
    ).fetchone()  # fmt: skip
    connection.execute(
        """INSERT INTO triple_index VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
           ON CONFLICT (triple_id) DO UPDATE SET changed = excluded.changed,
             first_observed = excluded.first_observed, last_observed = excluded.last_observed""",
        (
            triple_id, space_id, revision, entity_ids[triple.subject_uid],
            entity_ids[triple.object_uid], first, last, sum(triple.terms.values()),
            pack_uid(triple.uid), pack_terms(triple.terms), vectors.pack(triple.vector),
        ),
    )  # fmt: skip
    connection.executemany(
        "INSERT OR IGNORE INTO evidence VALUES (?, ?, ?)",
        [(triple_id, chunk_ids[uid], times[uid]) for uid in triple.evidence],
    )


def _replace_keys(
    connection: sqlite3.Connection,
    vectors: VectorFormat,
    space_id: int,
    session_id: int,
    keys: Sequence[KeyRow],
) -> None:
    old = [
        row[0]
        for row in connection.execute(
            "DELETE FROM session_key WHERE session_id = ? RETURNING key_id", (session_id,)
        ).fetchall()
    ]
    for key in keys:
        (key_id,) = connection.execute(
            """INSERT INTO key (uid, space_id, name, vector) VALUES (?, ?, ?, ?)
               ON CONFLICT (uid) DO UPDATE SET uid = uid RETURNING id""",
            (key.uid, space_id, key.name, vectors.pack(key.vector)),
        ).fetchone()
        connection.execute(
            "INSERT OR REPLACE INTO session_key VALUES (?, ?, ?)", (session_id, key_id, key.weight)
        )
    connection.executemany(
        "DELETE FROM key WHERE id = ? AND NOT EXISTS "
        "(SELECT 1 FROM session_key WHERE key_id = key.id)",
        [(key_id,) for key_id in old],
    )


def _replace_themes(
    connection: sqlite3.Connection,
    vectors: VectorFormat,
    space_id: int,
    session_id: int,
    themes: Sequence[ThemeRow],
) -> None:
    connection.execute("DELETE FROM theme WHERE session_id = ?", (session_id,))
    connection.executemany(
        """INSERT INTO theme (uid, space_id, session_id, place, title, summary, length, terms,
                              vector) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        [
            (
                theme.uid, space_id, session_id, place, theme.title, theme.summary,
                sum(theme.terms.values()), pack_terms(theme.terms), vectors.pack(theme.vector),
            )
            for place, theme in enumerate(themes)
        ],
    )  # fmt: skip
