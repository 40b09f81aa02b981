"""Give messages without an id one that is the same each time the file is read."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from types import TracebackType
from typing import Any, Self

from cognigraph.text.clean import storable

_CHAT = ("role", "name", "content", "tool_calls", "function_call", "tool_call_id", "raw")
"""What tells chat messages apart, beside the fields that every message has."""
_SCHEMA = """
    CREATE TABLE seen (digest BLOB PRIMARY KEY, count INTEGER) WITHOUT ROWID;
    CREATE TABLE session (name TEXT PRIMARY KEY) WITHOUT ROWID;
"""
_COUNT = """
    INSERT INTO seen VALUES (?, 1)
    ON CONFLICT (digest) DO UPDATE SET count = count + 1 RETURNING count
"""


class Identifier:
    """Assigns ids to messages that the memory would not recognise without one.

    These are messages without a time, and repetitions of an equal message with the same time. An
    id is a hash of the message and of how many equal ones there were before. The hashes are counted
    in a temporary file, since there may be more than fit into the memory of a machine.
    """

    def __init__(self) -> None:
        self._seen = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        self._seen.execute("PRAGMA journal_mode = OFF")
        self._seen.execute("PRAGMA synchronous = OFF")
        self._seen.execute("PRAGMA cache_size = -4000")
        self._seen.executescript(_SCHEMA)
        self._seen.execute("BEGIN")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._seen.close()

    def identify(self, message: dict[str, Any]) -> None:
        """Set ``id`` if the message needs one. Ids are those of older versions of this package."""
        if message.get("id") is not None:
            return
        parts = [message.get(name) for name in ("session", "speaker", "text", "at")]
        chat = {name: message[name] for name in _CHAT if message.get(name) is not None}
        if chat:
            parts.append(chat)
        same = hashlib.blake2b(json.dumps(parts).encode(), digest_size=16).digest()
        count: int = self._seen.execute(_COUNT, (same,)).fetchone()[0]
        if message.get("at") is None or count > 1:
            digest = hashlib.blake2b(same, digest_size=8, salt=count.to_bytes(16))
            message["id"] = f"import-{digest.hexdigest()}"

    def note_session(self, name: str) -> None:
        """Count a session, once."""
        self._seen.execute("INSERT OR IGNORE INTO session VALUES (?)", (storable(name),))

    @property
    def sessions(self) -> int:
        """Number of different sessions."""
        count: int = self._seen.execute("SELECT count(*) FROM session").fetchone()[0]
        return count
