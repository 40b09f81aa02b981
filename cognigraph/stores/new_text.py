"""A message with a new text under the uid of the old one."""

from __future__ import annotations

from dataclasses import replace

from cognigraph.ids import chunk_uid
from cognigraph.stores.records import MessageRow


def under(message: MessageRow, uid: str) -> MessageRow:
    """The message with ``uid`` for its first chunk, and uids made of that for the others."""
    chunks = tuple(
        replace(chunk, uid=uid if chunk.part == 0 else chunk_uid(uid, chunk.part))
        for chunk in message.chunks
    )
    return replace(message, chunks=chunks)
