"""API keys: which spaces a key opens, what may be done there, until when, and who made them.

A key is ``cg_ID_SECRET``. Its secret has 256 random bits, so that one round of SHA-256 suffices
to store it: nothing can be guessed. Keys are in a SQLite file of their own, at which each request
looks, so that a key that was revoked or has expired is refused at once.
"""

from __future__ import annotations

import glob
import hashlib
import hmac
import json
import os
import secrets
import sqlite3
import weakref
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from threading import Lock
from typing import Literal, get_args

from cognigraph.errors import ConfigurationError, NotFoundError, StoreUnavailableError
from cognigraph.memory import Memory
from cognigraph.model.storage import AuditAction, AuditEntry
from cognigraph.validation import checked_name

Permission = Literal["read", "write", "forget", "admin"]
"""What a key may do. ``admin`` includes the others."""

PERMISSIONS: tuple[Permission, ...] = get_args(Permission)
_PREFIX = "cg"
_FORMAT = 3
_SCHEMA = """
CREATE TABLE IF NOT EXISTS key (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  digest BLOB NOT NULL,
  permissions TEXT NOT NULL,
  every_space INTEGER NOT NULL,
  created_at TEXT NOT NULL,
  revoked_at TEXT,
  expires_at TEXT
) STRICT;
CREATE TABLE IF NOT EXISTS key_space (
  key TEXT NOT NULL REFERENCES key (id),
  space TEXT NOT NULL,
  PRIMARY KEY (key, space)
) STRICT;
"""
_LOG = (
    """CREATE TABLE key_log (
  id INTEGER PRIMARY KEY,
  at TEXT NOT NULL,
  action TEXT NOT NULL,
  by TEXT,
  subjects TEXT NOT NULL,
  details TEXT NOT NULL
) STRICT""",
    """CREATE TRIGGER key_log_not_changed BEFORE UPDATE ON key_log
  BEGIN SELECT RAISE(ABORT, 'the log of the keys is append only'); END""",
    """CREATE TRIGGER key_log_not_deleted BEFORE DELETE ON key_log
  BEGIN SELECT RAISE(ABORT, 'the log of the keys is append only'); END""",
)
_FROM_FORMAT_1 = """
ALTER TABLE key RENAME COLUMN permission TO permissions;
ALTER TABLE key ADD COLUMN expires_at TEXT;
UPDATE key SET permissions = CASE permissions WHEN 'read' THEN 'read' WHEN 'admin' THEN 'admin'
  ELSE 'read,write,forget' END;
UPDATE key_space SET space = pattern(space);
"""
_SECONDS_TO_WAIT = 5.0


@dataclass(frozen=True, slots=True)
class Key:
    """A key without its secret. ``spaces`` is ``None`` if it opens every space.

    They are names, or patterns in which ``*`` stands for any characters, as for :mod:`fnmatch`.
    """

    id: str
    name: str
    permissions: tuple[Permission, ...]
    spaces: tuple[str, ...] | None
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    def opens(self, space: str) -> bool:
        """Whether the key is valid for a space."""
        return self.spaces is None or any(_matches(space, item) for item in self.spaces)

    def allows(self, permission: Permission) -> bool:
        """Whether the key has a permission."""
        return permission in self.permissions or "admin" in self.permissions

    def is_valid(self, now: datetime) -> bool:
        """Whether it was not revoked and has not expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


class _Reader:
    """A connection that stays open, for the look at the file that each request takes."""

    def __init__(self, path: Path, file: tuple[int, int]) -> None:
        self.file = file
        self.connection = _connect(path, check_same_thread=False)
        weakref.finalize(self, self.connection.close)


class KeyFile:
    """The file that holds the keys. It is made when the first key is."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser()
        self._reader: _Reader | None = None
        self._lock = Lock()

    def create(
        self,
        name: str,
        permissions: Collection[str],
        spaces: Collection[str] | None,
        *,
        expires_at: datetime | None = None,
        by: str | None = None,
    ) -> str:
        """Make a key and return it. It cannot be shown again. The log has it with who makes it.

        Raises:
            ConfigurationError: the name, a permission, a space or the time is wrong, or another
                valid key has the name, which stands for who wrote a message.
        """
        checked_name("the name of a key", name)
        if not permissions or not {*permissions} <= {*PERMISSIONS}:
            raise ConfigurationError(f"the permissions must be some of {', '.join(PERMISSIONS)}")
        for space in spaces or ():
            checked_name("the name of a space", space)
        if spaces is not None and not spaces:
            raise ConfigurationError("name the spaces of the key, or give it every space")
        if expires_at is not None and expires_at <= _now():
            raise ConfigurationError("the key would have expired already")
        if self._is_taken(name):
            raise ConfigurationError(
                f"there is a valid key called {name!r}; choose another name, or give it a "
                "successor with `cognigraph keys rotate ID`"
            )
        patterns = None if spaces is None else [_pattern(space) for space in spaces]
        self._make_file()
        with self._open() as connection, connection:
            text, key = _insert(connection, name, permissions, patterns, expires_at)
            _log(connection, "create key", by, key)
            return text

    def rotate(self, id: str, overlap: timedelta, *, by: str | None = None) -> tuple[str, Key]:
        """Make a successor of a key, and let the key itself expire after the overlap.

        The successor has its name, permissions and spaces, and is valid for as long as the key was
        to be. Returns the successor, which cannot be shown again, and the old key.

        Raises:
            NotFoundError: there is no valid key with this id.
        """
        now = _now()
        with self._changing(id) as (connection, old):
            life = None if old.expires_at is None else now + (old.expires_at - old.created_at)
            until = min(now + overlap, old.expires_at or now + overlap)
            text, successor = _insert(connection, old.name, old.permissions, old.spaces, life)
            connection.execute("UPDATE key SET expires_at = ? WHERE id = ?", (_text(until), old.id))
            _log(connection, "rotate key", by, old, successor)
            return text, _found(connection, old.id)

    def revoke(self, id: str, *, by: str | None = None) -> Key:
        """Make a key invalid for good, at once.

        Raises:
            NotFoundError: there is no valid key with this id.
        """
        with self._changing(id) as (connection, key):
            connection.execute(
                "UPDATE key SET revoked_at = ? WHERE id = ?", (_text(_now()), key.id)
            )
            _log(connection, "revoke key", by, key)
            return _found(connection, key.id)

    def list(self) -> list[Key]:
        """List all keys, also those that were revoked or have expired, oldest first."""
        with self._reading() as connection:
            if connection is None:
                return []
            rows = connection.execute("SELECT * FROM key ORDER BY created_at, id").fetchall()
            return [_key(connection, row) for row in rows]

    def log(self, limit: int) -> Sequence[AuditEntry]:
        """What was done with keys, newest first. Nothing changes or deletes an entry."""
        with self._reading() as connection:
            if connection is None:
                return []
            rows = connection.execute(
                "SELECT at, action, by, subjects, details FROM key_log ORDER BY id DESC LIMIT ?",
                (limit,),
            ).fetchall()
        return [
            AuditEntry(
                datetime.fromisoformat(row["at"]), "", row["action"], row["by"],
                tuple(json.loads(row["subjects"])), json.loads(row["details"]),
            )
            for row in rows
        ]  # fmt: skip

    def find(self, text: str) -> Key | None:
        """Return the valid key that a client presents, in time that does not depend on it."""
        prefix, _, rest = text.partition("_")
        id, _, secret = rest.partition("_")
        digest, key = self._read(id)
        is_right = hmac.compare_digest(_digest(secret), digest)
        if key is None or not is_right or prefix != _PREFIX:
            return None
        return key if key.is_valid(_now()) else None

    def _read(self, id: str) -> tuple[bytes, Key | None]:
        """The digest and the key with an id; no key, and any digest, if there is none."""
        with self._reading() as connection:
            if connection is None:
                return bytes(32), None
            row = connection.execute("SELECT * FROM key WHERE id = ?", (id,)).fetchone()
            return (bytes(32), None) if row is None else (row["digest"], _key(connection, row))

    def is_empty(self) -> bool:
        """Whether no key was ever made. Revoking the last key does not open the server."""
        with self._reading() as connection:
            return (
                connection is None
                or connection.execute("SELECT 1 FROM key LIMIT 1").fetchone() is None
            )

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        """The open connection to the file as it is now; ``None`` if there is no file."""
        try:
            about = self.path.stat()
        except FileNotFoundError:
            yield None
            return
        with self._lock, self._mapped_errors():
            file = about.st_dev, about.st_ino
            if self._reader is None or self._reader.file != file:
                self._reader = _Reader(self.path, file)
            yield self._reader.connection

    def _is_taken(self, name: str) -> bool:
        """Whether a valid key has a name."""
        with self._reading() as connection:
            if connection is None:
                return False
            rows = connection.execute("SELECT * FROM key WHERE name = ?", (name,)).fetchall()
            return any(_key(connection, row).is_valid(_now()) for row in rows)

    @contextmanager
    def _changing(self, id: str) -> Iterator[tuple[sqlite3.Connection, Key]]:
        """A transaction about a valid key."""
        if self.path.exists():
            with self._open() as connection, connection:
                connection.execute("BEGIN IMMEDIATE")
                row = connection.execute("SELECT * FROM key WHERE id = ?", (id,)).fetchone()
                if row is not None and (key := _key(connection, row)).is_valid(_now()):
                    yield connection, key
                    return
        raise NotFoundError(f"no valid key has the id {id!r}; `cognigraph keys list` shows them")

    def _make_file(self) -> None:
        """Make the file so that only its owner can read it."""
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        except OSError as error:
            raise StoreUnavailableError(
                f"cannot write the key file {self.path}: {error.strerror}; choose another with "
                "--keys or COGNIGRAPH_KEYS"
            ) from error

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with self._mapped_errors(), closing(_connect(self.path)) as connection:
            yield connection

    @contextmanager
    def _mapped_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StoreUnavailableError(
                f"cannot use the key file {self.path}: {error}; choose another with --keys or "
                "COGNIGRAPH_KEYS"
            ) from error


def _matches(space: str, pattern: str) -> bool:
    """As :func:`fnmatchcase`, which compiles a pattern anew if it has had many others."""
    is_plain = not any(mark in pattern for mark in "*[?")
    return space == pattern if is_plain else fnmatchcase(space, pattern)


def _connect(path: Path, *, check_same_thread: bool = True) -> sqlite3.Connection:
    """Open a key file, with its tables in the present format."""
    connection = sqlite3.connect(
        path, timeout=_SECONDS_TO_WAIT, check_same_thread=check_same_thread
    )
    connection.row_factory = sqlite3.Row
    if _format(connection) < _FORMAT:
        _upgrade(connection)
    return connection


def _format(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _upgrade(connection: sqlite3.Connection) -> None:
    """Make the tables, or those of the first format into the present ones."""
    connection.create_function("pattern", 1, glob.escape, deterministic=True)
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        if _format(connection) == _FORMAT:
            return  # another process has done it
        columns = {row["name"] for row in connection.execute("PRAGMA table_info(key)")}
        if not columns or "permission" in columns:
            for statement in (_FROM_FORMAT_1 if columns else _SCHEMA).split(";"):
                connection.execute(statement)
        for statement in _LOG:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {_FORMAT}")


def _insert(
    connection: sqlite3.Connection,
    name: str,
    permissions: Iterable[str],
    patterns: Iterable[str] | None,
    expires_at: datetime | None,
) -> tuple[str, Key]:
    """Add a key; its text, which is not kept, and what is known of it."""
    id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    connection.execute(
        "INSERT INTO key (id, name, digest, permissions, every_space, created_at, expires_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            id, name, _digest(secret), ",".join(sorted({*permissions}, key=PERMISSIONS.index)),
            patterns is None, _text(_now()), None if expires_at is None else _text(expires_at),
        ),
    )  # fmt: skip
    connection.executemany(
        "INSERT INTO key_space VALUES (?, ?)",
        [(id, pattern) for pattern in dict.fromkeys(patterns or ())],
    )
    return f"{_PREFIX}_{id}_{secret}", _found(connection, id)


def _log(
    connection: sqlite3.Connection,
    action: AuditAction,
    by: str | None,
    key: Key,
    successor: Key | None = None,
) -> None:
    """Add an entry about a key, and the one that takes its place, in the open transaction."""
    made = successor or key
    details = {
        "name": key.name,
        "permissions": key.permissions,
        "spaces": key.spaces,
        "expires_at": None if made.expires_at is None else _text(made.expires_at),
    }
    subjects = [item.id for item in (key, successor) if item is not None]
    connection.execute(
        "INSERT INTO key_log (at, action, by, subjects, details) VALUES (?, ?, ?, ?, ?)",
        (_text(_now()), action, by, json.dumps(subjects), json.dumps(details)),
    )


def audit_of_all(memory: Memory, keys: KeyFile | None, limit: int, offset: int) -> list[AuditEntry]:
    """The audit log of all spaces and of the keys, newest first."""
    most = limit + offset
    made = [] if keys is None else keys.log(most)
    found = [*memory.admin.audit(None, most), *made]
    return sorted(found, key=lambda entry: entry.at, reverse=True)[offset:most]


def _found(connection: sqlite3.Connection, id: str) -> Key:
    return _key(connection, connection.execute("SELECT * FROM key WHERE id = ?", (id,)).fetchone())


def _key(connection: sqlite3.Connection, row: sqlite3.Row) -> Key:
    rows = connection.execute("SELECT space FROM key_space WHERE key = ? ORDER BY 1", (row["id"],))
    return Key(
        id=row["id"],
        name=row["name"],
        permissions=tuple(row["permissions"].split(",")),
        spaces=None if row["every_space"] else tuple(pattern for (pattern,) in rows),
        created_at=datetime.fromisoformat(row["created_at"]),
        expires_at=datetime.fromisoformat(row["expires_at"]) if row["expires_at"] else None,
        revoked_at=datetime.fromisoformat(row["revoked_at"]) if row["revoked_at"] else None,
    )


def _pattern(space: str) -> str:
    """The pattern of a name, in which only a star has a meaning."""
    return "*".join(map(glob.escape, space.split("*")))


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _now() -> datetime:
    return datetime.now(UTC).replace(microsecond=0)


def _text(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds")
