"""Numbered migrations and the record of what wrote the file."""

from __future__ import annotations

import sqlite3
from importlib.resources import files

from cognigraph.errors import EmbedderMismatchError, SchemaError
from cognigraph.lexical import ANALYZER
from cognigraph.stores.base import EmbedderIdentity
from cognigraph.stores.sqlite import resolution
from cognigraph.stores.sqlite.connection import APPLICATION_ID, Pool
from cognigraph.times import Clock, system_clock, to_micros


def migrations() -> list[tuple[int, str]]:
    """All migrations as (number, SQL), in order."""
    folder = files("cognigraph.stores.sqlite") / "migrations"
    scripts = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return [(int(name[:4]), (folder / name).read_text("utf-8")) for name in scripts]


def number_of(name: str) -> int:
    """The number of a migration, by the rest of its file's name."""
    folder = files("cognigraph.stores.sqlite") / "migrations"
    (number,) = (
        int(entry.name[:4]) for entry in folder.iterdir() if entry.name[4:] == f"_{name}.sql"
    )
    return number


def prepare(pool: Pool, embedder: EmbedderIdentity, clock: Clock = system_clock) -> int:
    """Create or migrate the schema, check the embedder, and return the schema version."""
    scripts = migrations()
    newest = scripts[-1][0]
    with pool.read() as connection:
        if _version(connection) == newest:
            _check_identity(connection, pool.path, embedder)
            return newest
    with pool.write() as connection:
        version = _version(connection)  # another process may have been faster
        if version > newest:
            raise SchemaError(
                f"{pool.path} has schema {version}, this cognigraph knows up to {newest}; "
                "upgrade cognigraph-memory"
            )
        for number, script in scripts:
            if number > version:
                _apply(connection, script)
        if 0 < version < number_of("resolution"):
            resolution.settle_all(connection, to_micros(clock()))
        if version == 0:
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) STRICT")
            connection.executemany(
                "INSERT INTO meta VALUES (?, ?)",
                [
                    ("embedder", embedder.name),
                    ("dimension", str(embedder.dimension)),
                    ("analyzer", ANALYZER),
                ],
            )
        connection.execute(f"PRAGMA user_version = {newest}")
        _check_identity(connection, pool.path, embedder)
    return newest


def _apply(connection: sqlite3.Connection, script: str) -> None:
    """Run a script inside the open transaction (``executescript`` would commit it)."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _check_identity(connection: sqlite3.Connection, path: str, embedder: EmbedderIdentity) -> None:
    meta = dict(connection.execute("SELECT key, value FROM meta"))
    stored = EmbedderIdentity(meta["embedder"], int(meta["dimension"]))
    if stored != embedder:
        raise EmbedderMismatchError(
            f"{path} was built with the embedder {stored.name!r} ({stored.dimension} dimensions), "
            f"not {embedder.name!r} ({embedder.dimension}); open it with that embedder, "
            "or export the messages and add them to a new file with the other one"
        )
    if meta["analyzer"] != ANALYZER:
        raise SchemaError(
            f"{path} was indexed by {meta['analyzer']!r}, this version uses {ANALYZER!r}; "
            "open it with the version that wrote it, or add the messages to a new file"
        )
