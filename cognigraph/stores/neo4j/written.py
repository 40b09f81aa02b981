"""What writers keep in versions in Neo4j: the core profile and procedures."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from cognigraph.ids import session_uid
from cognigraph.model.written import Written, WrittenKind
from cognigraph.stores.neo4j.connection import Connection, Transaction
from cognigraph.stores.records import WrittenRow
from cognigraph.stores.written_versions import next_versions, written_uid
from cognigraph.times import from_micros

_TEXT: dict[WrittenKind, str] = {"profile": "text", "procedure": "context"}
"""The property that holds the text."""


def read(connection: Connection, space: str) -> list[Written]:
    """All versions, by chain, oldest first."""
    return [
        Written(
            kind, chain, version, from_micros(at), text, title, tuple(steps),
            tuple(dict.fromkeys((session, message) for session, message in sources)),
        )
        for kind, chain, version, at, text, title, steps, sources in connection.rows(
            "written/read", space=space
        )
    ]  # fmt: skip


def write(tx: Transaction, space: str, session: str, rows: Sequence[WrittenRow]) -> None:
    """Add versions, each with its sources in the session; one without a source is left out."""
    if not rows:
        return
    found = tx.rows("written/current", space=space)
    newest = {chain: (version, text) for chain, version, text in found}
    for one in next_versions(space, rows, newest):
        row = one.row
        properties = {
            "uid": one.uid,
            "kind": row.kind,
            "chain": row.chain,
            "version": one.version,
            "title": row.title,
            _TEXT[row.kind]: one.text,
            "steps": list(row.steps),
        }
        of_kind = ((":Procedure", ":Profile"),) if row.kind == "profile" else ()
        tx.rows(
            "written/write", *of_kind, space=space, session=session, properties=properties,
            chunks=list(row.chunks), before=one.before,
        )  # fmt: skip


def drop(tx: Transaction, space: str, chunks: Collection[str]) -> None:
    """Delete the versions that were written from some chunks, and all that were made of those."""
    tx.rows("written/drop", space=space, chunks=sorted(chunks))


def restore(connection: Connection, space: str, versions: Sequence[Written]) -> None:
    """Write versions as an export has them."""

    def work(tx: Transaction) -> None:
        for one in versions:
            properties = {
                "uid": written_uid(space, one.chain, one.version),
                "kind": one.kind,
                "chain": one.chain,
                "version": one.version,
                "title": one.title,
                _TEXT[one.kind]: one.text,
                "steps": list(one.steps),
            }
            before = written_uid(space, one.chain, one.version - 1) if one.version > 1 else None
            of_kind = ((":Procedure", ":Profile"),) if one.kind == "profile" else ()
            tx.rows(
                "written/restore", *of_kind, space=space, properties=properties, at=one.at,
                sources=[[session_uid(space, name), id] for name, id in one.sources],
                before=before,
            )  # fmt: skip

    connection.write(work)
