"""The schema of a SQLite file: numbered migrations, and the metadata recorded in the file."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from functools import cache
from importlib.resources import files
from secrets import token_hex

from cognigraph.errors import SchemaError, StoreError
from cognigraph.model.storage import EmbedderIdentity
from cognigraph.stores.protocols import check_recorded, check_version
from cognigraph.stores.reindex import Precision
from cognigraph.stores.sqlite.connection import APPLICATION_ID, Pool
from cognigraph.stores.sqlite.entities import resolve_all_entities
from cognigraph.stores.sqlite.erase import erase_deleted
from cognigraph.stores.sqlite.file import Record, check_changes, read_meta, write_meta
from cognigraph.stores.sqlite.rows import VectorFormat
from cognigraph.stores.sqlite.states import decide_all
from cognigraph.text.terms import ANALYZER
from cognigraph.times import Clock, system_clock, to_micros


@cache
def migrations() -> tuple[tuple[int, str], ...]:
    """All migrations as (number, SQL), in order."""
    folder = files("cognigraph.stores.sqlite") / "migrations"
    scripts = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return tuple((int(name[:4]), (folder / name).read_text("utf-8")) for name in scripts)


def number_of(name: str) -> int:
    """The number of the migration with this name (its file name without number and suffix)."""
    folder = files("cognigraph.stores.sqlite") / "migrations"
    (number,) = (
        int(entry.name[:4]) for entry in folder.iterdir() if entry.name[4:] == f"_{name}.sql"
    )
    return number


def prepare(
    pool: Pool,
    embedder: EmbedderIdentity | None,
    precision: Precision = "float32",
    clock: Clock = system_clock,
    *,
    accept_loss: bool = False,
) -> Record:
    """Create or migrate the schema and check the embedder; ``None`` accepts any embedder.

    ``precision`` applies to a new file; an existing file keeps its own.
    """
    newest = migrations()[-1][0]
    check_changes(pool, accept_loss=accept_loss)  # before anything is written
    with pool.read() as connection:
        current = _version(connection) == newest
        record = _checked(connection, pool.path, embedder) if current else None
    if record is None and pool.is_read_only:
        raise SchemaError(
            f"{pool.path} is a memory of another version of cognigraph, and it can only be read "
            "here: open it once where this user may write the file and its folder"
        )
    if record is None:
        record = _migrated(pool, newest, embedder, precision, clock)
    if not record.key:
        record = replace(record, key=_new_key(pool))
    # Before this checkpoint the schema may be only in the write-ahead log. A file that then lost
    # its log would be empty, and would be taken for a new memory.
    pool.checkpoint()
    erase_deleted(pool)  # what an interrupted process has deleted
    return record


def _new_key(pool: Pool) -> bytes:
    """Give the file a key; one that can only be read has one for as long as it is open."""
    key = token_hex(16)
    if not pool.is_read_only:
        with pool.write() as connection:
            connection.execute("INSERT OR IGNORE INTO meta VALUES ('key', ?)", (key,))
            key = read_meta(connection)["key"]
    return bytes.fromhex(key)


def _migrated(
    pool: Pool,
    newest: int,
    embedder: EmbedderIdentity | None,
    precision: Precision,
    clock: Clock,
) -> Record:
    with pool.write() as connection:
        version = _version(connection)  # another process may have migrated the file meanwhile
        check_version(pool.path, version, newest)
        if version == 0 and embedder is None:
            raise StoreError(f"there is no memory at {pool.path}")
        if version == 0:
            _create(connection)
        else:
            _migrate(connection, version)
        if 0 < version < number_of("resolution"):
            resolve_all_entities(connection, to_micros(clock()))
        if 0 < version < number_of("more_slots"):
            decide_all(connection)
        if version == 0 and embedder is not None:
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) STRICT")
            write_meta(
                connection,
                embedder=embedder.name,
                dimension=embedder.dimension,
                analyzer=ANALYZER,
                vectors=precision,
                generation=1,
                key=token_hex(16),
            )
        connection.execute(f"PRAGMA user_version = {newest}")
        return _checked(connection, pool.path, embedder)


def _create(connection: sqlite3.Connection) -> None:
    """Create the tables and indexes of a new file.

    The migrations do it for the first file of a process, and leave no rows behind. Each further
    file gets what they led to, in a fifth of the time.
    """
    if not _created:
        _migrate(connection, 0)
        rows = connection.execute(
            "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite^_%' "
            "ESCAPE '^' ORDER BY rowid"
        )
        _created.append(tuple(sql for (sql,) in rows))
        return
    for statement in _created[0]:
        connection.execute(statement)


_created: list[tuple[str, ...]] = []
"""The statements of a new schema, once this process has created a file."""


def _migrate(connection: sqlite3.Connection, version: int) -> None:
    _drop_name_pairs(connection)
    for number, script in migrations():
        if number > version:
            _apply(connection, script)


def _drop_name_pairs(connection: sqlite3.Connection) -> None:
    """Replace the tables of an early step 5, which kept pairs of similar names.

    As in other older files, names have no vectors then until they are mentioned again.
    """
    columns = connection.execute("SELECT name FROM pragma_table_info('name_vector')").fetchall()
    if ("embedder",) in columns:
        connection.execute("DROP TABLE near")
        connection.execute("DROP TABLE name_vector")
        script = dict(migrations())[number_of("name_vectors")]
        _apply(connection, script)


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


def _checked(
    connection: sqlite3.Connection, path: str, embedder: EmbedderIdentity | None
) -> Record:
    meta = read_meta(connection)
    stored = EmbedderIdentity(meta["embedder"], int(meta["dimension"]))
    check_recorded(path, stored, embedder, meta["analyzer"], "file")
    precision: Precision = "float16" if meta["vectors"] == "float16" else "float32"
    return Record(
        schema_version=_version(connection),
        embedder=stored,
        vectors=VectorFormat(stored.dimension, precision),
        generation=int(meta["generation"]),
        key=bytes.fromhex(meta.get("key", "")),
    )
