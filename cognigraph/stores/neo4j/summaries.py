"""What is written of sessions: episodes, profile and procedures."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from cognigraph.ids import session_uid
from cognigraph.model.graph import Written, WrittenKind
from cognigraph.stores.candidates import EpisodeCandidate
from cognigraph.stores.model_rows import episode_of
from cognigraph.stores.neo4j.connection import Connection, Row, Transaction
from cognigraph.stores.records import ThemeRow, WrittenRow, next_versions, written_uid


def write_covers(tx: Transaction, session: str, themes: Sequence[ThemeRow]) -> None:
    """Link the themes of a session, which were just written, to the chunks that they cover."""
    covers = [[theme.uid, list(theme.covers)] for theme in themes if theme.covers]
    if covers:
        tx.rows("derive/covers", session=session, covers=covers)
    pairs = [[theme.uid, list(theme.derived_from)] for theme in themes if theme.derived_from]
    if pairs:
        tx.rows("derive/derived_from", pairs=pairs)


def episode_candidate(row: Row) -> EpisodeCandidate:
    """An episode of a row, with the chunks that it covers."""
    *shown, covers, similarity = row
    return episode_of(shown, covers, max(0.0, 2 * similarity - 1))


_TEXT: dict[WrittenKind, str] = {"profile": "text", "procedure": "context"}
"""The property that holds the text."""


def _written(
    uid: str, row: WrittenRow | Written, version: int, text: str
) -> tuple[dict[str, Any], tuple[tuple[str, str], ...]]:
    """The properties of a version, and what its kind replaces in the statement that writes it."""
    properties = {
        "uid": uid, "kind": row.kind, "chain": row.chain, "version": version, "title": row.title,
        _TEXT[row.kind]: text, "steps": list(row.steps),
    }  # fmt: skip
    return properties, ((":Procedure", ":Profile"),) if row.kind == "profile" else ()


def write_written(tx: Transaction, space: str, session: str, rows: Sequence[WrittenRow]) -> None:
    """Add versions, each with its sources in the session; one without a source is left out."""
    if not rows:
        return
    found = tx.rows("written/current", space=space)
    newest = {chain: (version, text) for chain, version, text in found}
    for item in next_versions(space, rows, newest):
        row = item.row
        properties, of_kind = _written(item.uid, row, item.version, item.text)
        tx.rows(
            "written/write", *of_kind, space=space, session=session, properties=properties,
            chunks=list(row.chunks), before=item.before,
        )  # fmt: skip


def drop_written(tx: Transaction, space: str, chunks: Collection[str]) -> None:
    """Delete the versions that were written from some chunks, and all that were made of those."""
    tx.rows("written/drop", space=space, chunks=sorted(chunks))


def restore_written(connection: Connection, space: str, versions: Sequence[Written]) -> None:
    """Write versions as an export has them."""

    def work(tx: Transaction) -> None:
        for one in versions:
            uid = written_uid(space, one.chain, one.version)
            properties, of_kind = _written(uid, one, one.version, one.text)
            before = written_uid(space, one.chain, one.version - 1) if one.version > 1 else None
            tx.rows(
                "written/restore", *of_kind, space=space, properties=properties, at=one.at,
                sources=[[session_uid(space, name), id] for name, id in one.sources],
                before=before,
            )  # fmt: skip

    connection.write(work)
