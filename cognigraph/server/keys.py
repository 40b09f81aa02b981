"""API keys: which spaces a key opens, and what may be done there.

A key is ``cg_ID_SECRET``. Its secret has 256 random bits, so that one round of SHA-256 suffices
to store it: nothing can be guessed. Keys are in a SQLite file of their own, which is read for each
request, so that a revoked key is refused at once.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, get_args

from cognigraph.errors import ConfigurationError, NotFoundError, StoreUnavailableError
from cognigraph.validation import checked_name

Permission = Literal["read", "write", "admin"]
"""What a key may do: each permission includes those before it."""

PERMISSIONS: tuple[Permission, ...] = get_args(Permission)
_PREFIX = "cg"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS key (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  digest BLOB NOT NULL,
  permission TEXT NOT NULL,
  every_space INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  revoked_at TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS key_space (
  key TEXT NOT NULL REFERENCES key (id),
  space TEXT NOT NULL,
  PRIMARY KEY (key, space)
) STRICT;
"""
_SECONDS_TO_WAIT = 5.0


@dataclass(frozen=True, slots=True)
class Key:
    """A key without its secret. ``spaces`` is ``None`` if it opens every space."""

    id: str
    name: str
    permission: Permission
    spaces: tuple[str, ...] | None
    created_at: datetime
    revoked_at: datetime | None = None

    def opens(self, space: str) -> bool:
        """Whether the key is valid for a space."""
        return self.spaces is None or space in self.spaces

    def allows(self, permission: Permission) -> bool:
        """Whether the key has a permission."""
        return PERMISSIONS.index(permission) <= PERMISSIONS.index(self.permission)


class KeyFile:
    """The file that holds the keys. It is made when the first key is."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser()

    def create(self, name: str, permission: Permission, spaces: Sequence[str] | None) -> str:
        """Make a key and return it. It cannot be shown again.

        Raises:
            ConfigurationError: the name, the permission or a space is wrong.
        """
        checked_name("the name of a key", name)
        if permission not in PERMISSIONS:
            raise ConfigurationError(f"the permission must be one of {', '.join(PERMISSIONS)}")
        for space in spaces or ():
            checked_name("the name of a space", space)
        if spaces is not None and not spaces:
            raise ConfigurationError("name the spaces of the key, or give it every space")
        id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        self._make_file()
        with self._open() as connection, connection:
            connection.execute(
                "INSERT INTO key VALUES (?, ?, ?, ?, ?, ?, NULL)",
                (id, name, _digest(secret), permission, spaces is None, _now()),
            )
            connection.executemany(
                "INSERT INTO key_space VALUES (?, ?)",
                [(id, space) for space in dict.fromkeys(spaces or ())],
            )
        return f"{_PREFIX}_{id}_{secret}"

    def list(self) -> list[Key]:
        """List all keys, also those that were revoked, oldest first."""
        if not self.path.exists():
            return []
        with self._open() as connection:
            rows = connection.execute("SELECT * FROM key ORDER BY created_at, id").fetchall()
            return [_key(connection, row) for row in rows]

    def revoke(self, id: str) -> Key:
        """Make a key invalid for good.

        Raises:
            NotFoundError: there is no valid key with this id.
        """
        if self.path.exists():
            with self._open() as connection, connection:
                done = connection.execute(
                    "UPDATE key SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL",
                    (_now(), id),
                )
                if done.rowcount:
                    row = connection.execute("SELECT * FROM key WHERE id = ?", (id,)).fetchone()
                    return _key(connection, row)
        raise NotFoundError(f"no valid key has the id {id!r}; `cognigraph keys list` shows them")

    def find(self, text: str) -> Key | None:
        """Return the valid key that a client presents, in time that does not depend on it."""
        prefix, _, rest = text.partition("_")
        id, _, secret = rest.partition("_")
        row = None
        if self.path.exists():
            with self._open() as connection:
                row = connection.execute("SELECT * FROM key WHERE id = ?", (id,)).fetchone()
                key = None if row is None else _key(connection, row)
        expected = bytes(32) if row is None else row["digest"]
        is_right = hmac.compare_digest(_digest(secret), expected)
        if row is None or key is None or not is_right or prefix != _PREFIX:
            return None
        return None if key.revoked_at else key

    def is_empty(self) -> bool:
        """Whether no key was ever made. Revoking the last key does not open the server."""
        if not self.path.exists():
            return True
        with self._open() as connection:
            return connection.execute("SELECT 1 FROM key LIMIT 1").fetchone() is None

    def _make_file(self) -> None:
        """Make the file so that only its owner can read it."""
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        except OSError as error:
            raise StoreUnavailableError(
                f"cannot write the key file {self.path}: {error.strerror}; choose another with "
                "--keys or COGNIGRAPH_KEYS"
            ) from error
        with self._open() as connection:
            connection.executescript(_SCHEMA)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self.path, timeout=_SECONDS_TO_WAIT)) as connection:
                connection.row_factory = sqlite3.Row
                yield connection
        except sqlite3.Error as error:
            raise StoreUnavailableError(
                f"cannot use the key file {self.path}: {error}; choose another with --keys or "
                "COGNIGRAPH_KEYS"
            ) from error


def _key(connection: sqlite3.Connection, row: sqlite3.Row) -> Key:
    spaces = connection.execute(
        "SELECT space FROM key_space WHERE key = ? ORDER BY space", (row["id"],)
    )
    return Key(
        id=row["id"],
        name=row["name"],
        permission=row["permission"],
        spaces=None if row["every_space"] else tuple(space for (space,) in spaces),
        created_at=datetime.fromisoformat(row["created_at"]),
        revoked_at=datetime.fromisoformat(row["revoked_at"]) if row["revoked_at"] else None,
    )


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
