"""A cache of model answers, so that the same prompt is paid for only once."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from hashlib import blake2b
from pathlib import Path
from threading import Lock
from typing import Any

from cognigraph.errors import ConfigurationError
from cognigraph.llm.protocols import Prompt

logger = logging.getLogger("cognigraph.llm")

_SCHEMA = """
create table if not exists answer (
    key blob primary key, prompt text not null, model text not null, text text not null
) without rowid
"""


def cache_key(prompt: Prompt, model: str, schema: Mapping[str, Any]) -> bytes:
    """A 16-byte digest of a prompt (name, version, texts), a model's name and a JSON schema."""
    parts = [prompt.name, prompt.version, model, prompt.system, prompt.user, schema]
    text = json.dumps(parts, sort_keys=True)  # ASCII with escapes, so any str can be encoded
    return blake2b(text.encode("ascii"), digest_size=16).digest()


class ResponseCache:
    """A cache of answers in a SQLite file, shared by threads and processes; in memory by default.

    Model answers are as sensitive as the memory itself, so only the owner may read or write the
    file. If the file later becomes unusable (a full disk, a lock that is never released), lookups
    miss and a warning is logged; no error is raised.

    Raises:
        ConfigurationError: the file cannot be opened, or is not a cache.
    """

    def __init__(self, path: Path | str | None = None) -> None:
        self._path = None if path is None else Path(path).expanduser()
        self._lock = Lock()
        try:
            if self._path is not None:
                self._path.touch(0o600)
            self._connection = sqlite3.connect(
                self._path or ":memory:", timeout=5.0, isolation_level=None, check_same_thread=False
            )
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from error
        try:
            if self._path is not None:
                with suppress(sqlite3.OperationalError):  # another process may be doing the same
                    self._connection.execute("pragma journal_mode = wal")
                self._connection.execute("pragma synchronous = normal")
            self._connection.execute(_SCHEMA)
            self._connection.execute("select key, prompt, model, text from answer limit 1")
        except sqlite3.Error as error:
            self._connection.close()
            raise self._unusable(error) from error

    def _unusable(self, error: Exception) -> ConfigurationError:
        return ConfigurationError(
            f"{self._path} cannot be used as an answer cache ({error}); choose another file"
        )

    def get(self, key: bytes) -> str | None:
        """The text stored under a key, or ``None``."""
        rows = self._run("select text from answer where key = ?", (key,))
        return str(rows[0][0]) if rows else None

    def put(self, key: bytes, text: str, *, prompt: Prompt, model: str) -> None:
        """Store a text, replacing an earlier one."""
        self._run(
            "insert or replace into answer values (?, ?, ?, ?)",
            (key, f"{prompt.name} {prompt.version}", model, text),
        )

    def clear(self) -> int:
        """Delete all answers, and their bytes; return how many there were."""
        self._run("pragma secure_delete = on")
        deleted = len(self._run("delete from answer returning key"))
        for statement in ("vacuum", "pragma wal_checkpoint(truncate)"):
            self._run(statement)
        return deleted

    def __len__(self) -> int:
        rows = self._run("select count(*) from answer")
        return int(rows[0][0]) if rows else 0

    def close(self) -> None:
        """Close the file; every later lookup is a miss."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> ResponseCache:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, statement: str, values: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        try:
            with self._lock, closing(self._connection.execute(statement, values)) as cursor:
                return cursor.fetchall()
        except sqlite3.Error as error:
            logger.warning("the answer cache is unavailable: %s", error)
            return []
