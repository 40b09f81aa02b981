"""Reading chunks again: back into the queue, and out with what was read out of them before."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


def extractors(connection: sqlite3.Connection, space_id: int) -> dict[str, int]:
    """Who has read the done chunks, and how many."""
    rows = connection.execute(
        "SELECT extractor, count(*) FROM work WHERE space_id = ? AND state = 1 GROUP BY extractor",
        (space_id,),
    )
    return {name: count for name, count in rows if name is not None}


def read_by(connection: sqlite3.Connection, space_id: int, extractors: Sequence[str]) -> list[str]:
    """Uids of sessions of which one of these has read a part."""
    marks = ",".join("?" * len(extractors))
    rows = connection.execute(
        f"""SELECT s.uid FROM work w JOIN session s ON s.id = w.session_id
            WHERE w.space_id = ? AND w.state = 1 AND w.extractor IN ({marks})
            GROUP BY s.id ORDER BY min(w.chunk_id)""",
        (space_id, *extractors),
    )
    return [row[0] for row in rows]


def requeue(connection: sqlite3.Connection, space_id: int, extractors: Sequence[str]) -> int:
    """Make the done chunks of these sessions pending."""
    sessions = [
        connection.execute("SELECT id FROM session WHERE uid = ?", (uid,)).fetchone()
        for uid in read_by(connection, space_id, extractors)
    ]
    connection.executemany(
        "UPDATE session SET renew = 1, lease = NULL, lease_until = 0 WHERE id = ?", sessions
    )
    # The extractor stays: by it the next derivation knows that there is something to replace.
    return sum(
        connection.execute(
            """UPDATE work SET state = 0, attempts = 0, outages = 0, retry_at = 0, reason = NULL,
                 lease = NULL WHERE session_id = ? AND state = 1""",
            session,
        ).rowcount
        for session in sessions
    )


@dataclass(slots=True)
class Loose:
    """Rows that lost a tie and may be left with none."""

    triples: set[int] = field(default_factory=set)
    entities: set[int] = field(default_factory=set)


def untie(connection: sqlite3.Connection, chunk_ids: Iterable[int]) -> Loose:
    """Take away the evidence and mentions of chunks."""
    loose = Loose()
    for chunk_id in chunk_ids:
        triples = connection.execute(
            "DELETE FROM evidence WHERE chunk_id = ? RETURNING triple_id", (chunk_id,)
        )
        loose.triples.update(row[0] for row in triples.fetchall())
        entities = connection.execute(
            "DELETE FROM mention WHERE chunk_id = ? RETURNING entity_id", (chunk_id,)
        )
        loose.entities.update(row[0] for row in entities.fetchall())
    return loose


def prune(connection: sqlite3.Connection, space_id: int, revision: int, loose: Loose) -> None:
    """Delete what is left without a tie, and give what is not the times of its evidence."""
    gone = False
    for triple_id in sorted(loose.triples):
        first, last = connection.execute(
            "SELECT min(observed_at), max(observed_at) FROM evidence WHERE triple_id = ?",
            (triple_id,),
        ).fetchone()
        if first is not None:
            times = (first, last, triple_id)
            connection.execute(
                "UPDATE triple SET first_observed = ?, last_observed = ? WHERE id = ?", times
            )
            connection.execute(
                "UPDATE triple_index SET first_observed = ?, last_observed = ?, changed = ? "
                "WHERE triple_id = ?",
                (first, last, revision, triple_id),
            )
            continue
        connection.execute("DELETE FROM triple_index WHERE triple_id = ?", (triple_id,))
        loose.entities.update(
            connection.execute(
                "DELETE FROM triple WHERE id = ? RETURNING subject_id, object_id", (triple_id,)
            ).fetchone()
        )
        gone = True
    for entity_id in sorted(loose.entities):
        count = connection.execute(
            """DELETE FROM entity WHERE id = :id
                 AND NOT EXISTS (SELECT 1 FROM triple WHERE subject_id = :id)
                 AND NOT EXISTS (SELECT 1 FROM triple WHERE object_id = :id)
                 AND NOT EXISTS (SELECT 1 FROM mention WHERE entity_id = :id)""",
            {"id": entity_id},
        ).rowcount
        gone = gone or count > 0
    if gone:  # in-memory indexes only grow: they start over
        connection.execute("UPDATE space SET epoch = epoch + 1 WHERE id = ?", (space_id,))
