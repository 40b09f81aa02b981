"""Messages with tags and metadata of databases in which the full-text index lacks their marks."""

from __future__ import annotations

from cognigraph.stores.neo4j.connection import Connection
from cognigraph.stores.neo4j.index.fulltext import mark_token

_BATCH = 2000


def index_all(connection: Connection) -> None:
    """Add the marks of all chunks to the full-text index; what was interrupted is continued."""
    after: str | None = ""
    while after is not None:
        after = _index_some(connection, after)


def _index_some(connection: Connection, after: str) -> str | None:
    """Add the marks of the next chunks; return the uid of the last one, if there was any."""
    row = connection.row("schema/marked", after=after, limit=_BATCH)
    assert row is not None
    last, chunks = row
    rows = [
        [uid, " ".join([lexemes, *new])]
        for uid, space, marks, lexemes in chunks
        if (new := _missing(space, marks, lexemes))
    ]
    if rows:
        connection.write(lambda tx: tx.rows("schema/lexemes", rows=rows))
    return None if last is None else str(last)


def _missing(space: str, marks: list[str], lexemes: str) -> list[str]:
    present = set(lexemes.split())
    return [token for mark in marks if (token := mark_token(space, mark)) not in present]
