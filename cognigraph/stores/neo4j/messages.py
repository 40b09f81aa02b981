"""``Neo4jMessages``: inserts messages, links them in session order, and lists them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import pairwise
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from cognigraph.arrays import Vector
from cognigraph.errors import StoreError, StoreUnavailableError
from cognigraph.ids import session_uid
from cognigraph.model.filters import MessageQuery, Position
from cognigraph.stores.neo4j.connection import Connection, Row, Transaction
from cognigraph.stores.neo4j.deadlines import deadline, within
from cognigraph.stores.neo4j.index.packed import Coded, code, pack
from cognigraph.stores.neo4j.index.vectors import NewestChunks, OwnIndexes
from cognigraph.stores.neo4j.tokens import filter_values, lexemes, marks_of
from cognigraph.stores.neo4j.values import instant, message_of, spread, vector
from cognigraph.stores.protocols import import_runs
from cognigraph.stores.records import (
    ChunkRow,
    InsertStatus,
    MessageData,
    MessageRow,
    Placed,
    insert_statuses,
)
from cognigraph.text.terms import is_question
from cognigraph.times import from_micros

_MOST_TRIES = 20


class Neo4jMessages:
    """See :class:`cognigraph.stores.protocols.MessageStore`."""

    def __init__(self, connection: Connection, indexes: OwnIndexes, timeout: float) -> None:
        self._connection = connection
        self._indexes = indexes
        self._timeout = timeout
        self._writers = WriterQueue()
        self._newest = NewestChunks(connection, timeout)

    def finish(self) -> None:
        """Wait for what goes on beside the inserts."""
        self._newest.finish()

    def insert(
        self, space: str, messages: Sequence[MessageRow], importer: str = ""
    ) -> list[InsertStatus]:
        if not messages:
            return []
        with within(self._timeout):
            with self._writers.hold(space, self._timeout):
                inserted = insert_messages(self._connection, space, messages, importer)
            if inserted.indexed:
                self._newest.cover(space, inserted.tail, inserted.covered, inserted.last)
        # Outside the deadline: this happens once in the life of a space, and labelling its chunks
        # may take longer than an insert.
        self._indexes.grow(space, "Chunk", inserted.chunks, inserted.indexed)
        return inserted.statuses


_FIRST, _LAST = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, 999999, UTC)


class Inserted(NamedTuple):
    """The result of an insert.

    ``chunks`` counts the chunks of the space; ``indexed`` says whether they have a vector index of
    their own; ``tail`` counts those that are not in it yet: those with an arrival number above
    ``covered`` and up to ``last``.
    """

    statuses: list[InsertStatus]
    chunks: int = 0
    indexed: bool = True
    tail: int = 0
    covered: int = 0
    last: int = 0


class WriterQueue:
    """Serialises the writers of this process in each space.

    They would queue for the lock of the space's node anyway. But when a lock with many waiters
    changes hands quickly, the server reports deadlocks that are none, and each costs a retry.
    Spaces share a fixed number of locks, because there may be any number of spaces.
    """

    def __init__(self, locks: int = 256) -> None:
        self._locks = [Lock() for _ in range(locks)]

    @contextmanager
    def hold(self, space: str, timeout: float) -> Iterator[None]:
        """Hold the lock of a space; raise :class:`StoreUnavailableError` after the timeout."""
        lock = self._locks[hash(space) % len(self._locks)]
        if not lock.acquire(timeout=max(deadline(timeout) - monotonic(), 0.0)):
            raise StoreUnavailableError(
                f"other threads kept writing to space {space!r} for {timeout:g} s; repeat the call"
            )
        try:
            yield
        finally:
            lock.release()


def insert_messages(
    connection: Connection, space: str, messages: Sequence[MessageRow], importer: str
) -> Inserted:
    """Write the messages that are new."""
    if len(messages) == 1:
        # It is mostly new, and the last of its session. If not, nothing is written.
        written = _Rows(connection, space, messages, importer).write_alone()
        if written is not None:
            return Inserted(["new"], *written[2:])
    statuses = _statuses(connection, messages)
    # Another writer can win the race for each message of the batch, but only once per message.
    for _ in range(_MOST_TRIES):
        new = [m for m, status in zip(messages, statuses, strict=True) if status == "new"]
        if not new:
            return Inserted(statuses)
        rows = _Rows(connection, space, new, importer)
        written = connection.write(rows.write)
        if written is not None:
            return Inserted(statuses, *written[2:])
        # The space is new, or another writer has been faster.
        filled = connection.write(lambda tx: tx.row("insert/space", space=space))
        if filled is not None and filled[0] != importer:
            raise StoreError(import_runs(space, importer))
        statuses = _statuses(connection, messages, after_race=True)
    raise StoreUnavailableError(
        f"other writers keep adding the same messages to space {space!r}; repeat the call"
    )


def _statuses(
    connection: Connection, messages: Sequence[MessageRow], *, after_race: bool = False
) -> list[InsertStatus]:
    uids = [message.chunks[0].uid for message in messages]
    if after_race:
        # A read replica may not yet have the message of the other writer.
        rows = connection.write(lambda tx: tx.rows("insert/known", uids=uids))
    else:
        # The same batch often arrives again; that must not wait for the lock of the space.
        rows = connection.rows("insert/known", uids=uids)
    digests = {uid: (digest, *earlier) for uid, digest, earlier in rows}
    forgotten = {uid for uid, (digest, *_) in digests.items() if digest is None}
    return insert_statuses(messages, digests, forgotten)


class _Rows:
    """The parameters of one insert."""

    def __init__(
        self, connection: Connection, space: str, messages: Sequence[MessageRow], importer: str
    ) -> None:
        self._connection = connection
        self._space = space
        self._importer = importer
        self._firsts = [message.chunks[0].uid for message in messages]
        self._length = sum(sum(c.terms.values()) for m in messages for c in m.chunks)
        by_session: dict[str, list[MessageRow]] = {}
        for message in messages:
            by_session.setdefault(message.session_uid, []).append(message)
        groups = sorted(by_session.items())  # all writers lock in the same order
        ordered = [message for _, group in groups for message in group]
        position = 0
        coded = iter(code(np.stack([c.vector for m in ordered for c in m.chunks])))
        self._sessions: list[dict[str, Any]] = []
        self._at: dict[str, datetime] = {}  # of each chunk by its uid
        for uid, group in groups:
            chunks: list[dict[str, Any]] = []
            for message in group:
                for chunk in message.chunks:
                    position += 1
                    chunks.append(
                        chunk_row(space, message, chunk, position, connection.vector, next(coded))
                    )
            chunks.sort(key=lambda row: (row["properties"]["at"], row["place"]))
            for row in chunks:
                properties = row["properties"]
                self._at[properties["uid"]] = at = properties.pop("at")
                row["at"] = instant(at)
                # Each null of a new node costs the server as much as a value.
                row["properties"] = {
                    name: own for name, own in properties.items() if own is not None
                }
            self._sessions.append(
                {
                    "uid": uid,
                    "id": group[0].session,
                    "started_at": chunks[0]["at"],
                    "ended_at": chunks[-1]["at"],
                    "messages": len(group),
                    "last": chunks[-1]["properties"]["uid"],
                    "chunks": chunks,
                }
            )
        self._count = position

    def _parameters(self, *, alone: bool) -> dict[str, Any]:
        return {
            "space": self._space,
            "alone": alone,
            "importer": self._importer,
            "generation": self._connection.generation,
            "firsts": self._firsts,
            "chunks": self._count,
            "length": self._length,
            "sessions": self._sessions,
        }

    def write_alone(self) -> Row | None:
        """Write one message unless it is older than the end of its session."""
        return self._connection.write_alone("insert/messages", **self._parameters(alone=True))

    def write(self, tx: Transaction) -> Row | None:
        rows = tx.row("insert/messages", **self._parameters(alone=False))
        if rows is None:
            tx.check_generation()
        elif rows[1]:
            self._link_late(tx, base=rows[0], late=frozenset(rows[1]))
        return rows

    def _link_late(self, tx: Transaction, base: int, late: frozenset[str]) -> None:
        chunks = [
            {
                "uid": chunk["properties"]["uid"],
                "session": session["uid"],
                "at": self._at[chunk["properties"]["uid"]],
            }
            for session in self._sessions
            if session["uid"] in late
            for chunk in session["chunks"]
        ]
        positions = tx.rows("insert/neighbours", base=base, chunks=chunks)
        cut, linked = splice(positions)
        tx.rows("insert/unlink", pairs=cut)
        tx.rows("insert/link", pairs=linked)


def splice(positions: Sequence[Row]) -> tuple[list[list[str]], list[list[str]]]:
    """The NEXT links to cut and to create for chunks that arrive late, as pairs of uids.

    ``positions`` holds [uid, stored chunk before, stored chunk after] in session order; chunks that
    fall into the same gap are consecutive.
    """
    gaps: dict[tuple[str | None, str | None], list[str]] = {}
    for uid, before, after in positions:
        gaps.setdefault((before, after), []).append(uid)
    cut = [[before, after] for before, after in gaps if before and after]
    linked: list[list[str]] = []
    for (before, after), uids in gaps.items():
        chain = [uid for uid in (before, *uids, after) if uid]
        linked.extend([first, second] for first, second in pairwise(chain))
    return cut, linked


def chunk_row(
    space: str,
    message: MessageRow,
    chunk: ChunkRow,
    position: int,
    vector: Callable[[Vector], Any] = vector,
    coded: Coded | None = None,
) -> dict[str, Any]:
    """Parameters of a statement that writes a chunk.

    ``vector`` makes a parameter of its vector, which ``coded`` is as integers, if that is known.
    """
    # All chunks have tags and metadata, by which they are searched; only the first needs the rest.
    data = message.data or MessageData()
    own_marks = marks_of(data)
    is_first = chunk.part == 0
    asks = is_question(chunk.text if chunk.fresh is None else chunk.fresh)
    return {
        "place": position,
        "vector": vector(chunk.vector),
        "ranking": pack(
            space,
            chunk.uid,
            chunk.terms,
            chunk.vector,
            session=message.session_uid,
            at=message.at,
            question=asks,
            role=message.role,
            speaker=message.speaker,
            coded=coded,
        ),
        "properties": {
            "uid": chunk.uid,
            "space": space,
            "session": message.session,
            "session_uid": message.session_uid,
            "message_id": message.id,
            "part": chunk.part,
            "parts": len(message.chunks),
            "speaker": message.speaker,
            "at": message.at,
            "text": chunk.text,
            "fresh": chunk.fresh,
            "digest": message.digest,
            "question": asks,
            "length": sum(chunk.terms.values()),
            "terms": spread(chunk.terms),
            "lexemes": lexemes(space, chunk.terms, own_marks),
            "state": "pending",
            "attempts": 0,
            "unembedded": space if chunk.unembedded else None,
            "role": message.role,
            "heading": chunk.heading,
            "tags": list(data.tags) or None,
            "metadata": data.metadata,
            "marks": own_marks or None,
            "raw": data.raw if is_first else None,
            "facts": data.facts,
            "expires": data.expires if is_first else None,
            "written_by": data.written_by if is_first else None,
        },
    }


def list_messages(connection: Connection, space: str, query: MessageQuery) -> list[Placed]:
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
        limit=query.limit, where=None if query.where is None else filter_values(query.where),
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
