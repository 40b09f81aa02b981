"""Replacing the text of a message, with the old one kept as a version."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from cognigraph.ids import session_uid, uid
from cognigraph.stores.neo4j.connection import Connection, Row, Transaction
from cognigraph.stores.neo4j.forget import Forgetting
from cognigraph.stores.neo4j.index import kept_words
from cognigraph.stores.neo4j.insert import chunk_row
from cognigraph.stores.new_text import under
from cognigraph.stores.protocols.housekeeping_store import Chosen
from cognigraph.stores.records import MessageRow
from cognigraph.times import from_micros


def update(connection: Connection, space: str, message: MessageRow, now: datetime) -> bool:
    """Replace the text of a message; see ``HousekeepingStore.update``."""

    def work(tx: Transaction) -> bool:
        tx.check_generation()
        tx.row("forget/lock", space=space)
        old = tx.rows("update/chunks", session=message.session_uid, space=space, id=message.id)
        if not old or old[0][2] == message.digest:
            return False
        _keep_version(tx, space, old, now)
        _Update(space, under(message, old[0][0]), old, now).run(tx)
        return True

    return connection.write(work)


def _keep_version(tx: Transaction, space: str, old: Sequence[Row], now: datetime) -> None:
    first, _, digest = old[0][:3]
    number = len(tx.rows("update/versions", message=first)) + 1
    tx.rows(
        "update/keep",
        uid=uid("Version", first, str(number)),
        space=space,
        message=first,
        number=number,
        replaced_at=now,
        text="".join(row[1] for row in old),
        digest=digest,
    )


class _Update(Forgetting):
    """Forgets what was read out of the old text, and writes the new one in its place."""

    def __init__(self, space: str, message: MessageRow, old: Sequence[Row], now: datetime) -> None:
        uids = tuple(row[0] for row in old)
        chosen = Chosen(message.session, message.session_uid, uids, uids[:1])
        super().__init__(space, chosen, remember=False, now=now)
        self._message = message
        self._length = sum(row[3] for row in old)
        self._old = uids

    def run(self, tx: Transaction) -> None:
        """Replace the text."""
        begun = self.begin(tx)
        assert begun is not None  # the caller has read its chunks in this transaction
        lost, labels = begun
        dropped = self.forget_derived(tx, lost, labels)
        self._write(tx)
        self.refresh_session(tx, lost, dropped, ends=False)

    def _write(self, tx: Transaction) -> None:
        """Put the chunks in the place of the old ones; cut or lengthen the chain at their end."""
        rows = [self._row(position) for position in range(len(self._message.chunks))]
        kept, more = rows[: len(self._old)], rows[len(self._old) :]
        kept_words.drop(tx, self._space)
        tx.rows("update/write", space=self._space, chunks=kept)
        if extra := self._old[len(rows) :]:
            self.drop_chunks(tx, extra, 0)
        if more:
            tx.rows("update/append", space=self._space, last=kept[-1]["properties"]["uid"],
                    session=self._chosen.session_uid, chunks=more)  # fmt: skip
        length = sum(row["properties"]["length"] for row in rows)
        tx.rows("update/count", space=self._space, chunks=len(more), length=length - self._length)

    def _row(self, position: int) -> dict[str, Any]:
        row = chunk_row(self._space, self._message, self._message.chunks[position], position)
        if position < len(self._old):
            row["old"] = self._old[position]
        return row


def versions(
    connection: Connection, space: str, session: str, id: str
) -> list[tuple[str, datetime]]:
    """Earlier texts of a message, oldest first."""
    owner = session_uid(space, session)
    chunks = connection.rows("update/chunks", session=owner, space=space, id=id)
    if not chunks:
        return []
    rows = connection.rows("update/versions", message=chunks[0][0])
    return [(text, from_micros(at)) for text, at in rows]
