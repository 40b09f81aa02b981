"""The schema of a Neo4j database: numbered migrations, and the metadata recorded in it."""

from __future__ import annotations

import logging
import re
from functools import cache
from importlib.resources import files

from cognigraph.errors import StoreError, StoreUnavailableError
from cognigraph.model.storage import EmbedderIdentity
from cognigraph.stores.neo4j.connection import Connection, Row, Transaction
from cognigraph.stores.neo4j.deadlines import within
from cognigraph.stores.neo4j.entities import resolve_all_entities
from cognigraph.stores.neo4j.index.packed import pack_all
from cognigraph.stores.neo4j.index.vectors import wait_until_built
from cognigraph.stores.neo4j.statements import cypher, vector_property
from cognigraph.stores.neo4j.states import decide_again, decide_first
from cognigraph.stores.neo4j.tokens import mark_token
from cognigraph.stores.protocols import check_recorded, check_version
from cognigraph.text.terms import ANALYZER
from cognigraph.times import Clock, system_clock

logger = logging.getLogger("cognigraph.neo4j")

MINIMUM = (5, 26)
"""The first release with vector search, dynamic labels and scoped subqueries."""

_VERSION = re.compile(r"(\d+)\.(\d+)")

_CREATE = re.compile(r"CREATE (?:FULLTEXT INDEX|INDEX|CONSTRAINT) (\w+) IF NOT EXISTS")

_INDEX_TIMEOUT = 900
"""Seconds; 1,000,000 nodes take a minute or two for most indexes."""

_MIGRATION_TIMEOUT = 3600
"""Seconds; to fill the new indexes of a large database takes long, but happens once a release."""

_FULL_TEXT = ("chunk_lexemes", "triple_lexemes")
"""Indexes that have other options since the migration "full_text"."""

_COMMENT = re.compile(r"^\s*//.*$", re.MULTILINE)


@cache
def migrations() -> tuple[tuple[int, str], ...]:
    """All migrations as (number, statement name), in order."""
    folder = files("cognigraph.cypher") / "neo4j" / "schema"
    names = sorted(entry.name.removesuffix(".cypher") for entry in folder.iterdir())
    return tuple((int(name[:4]), f"schema/{name}") for name in names if name[:4].isdigit())


def number_of(name: str) -> int:
    """The number of the migration with this name (its file name without number and suffix)."""
    (number,) = (number for number, file in migrations() if file.endswith(f"_{name}"))
    return number


def commands(name: str) -> list[str]:
    """The single commands of a migration."""
    text = _COMMENT.sub("", cypher(name).removeprefix("CYPHER 5\n"))
    return [f"CYPHER 5 {part.strip()}" for part in text.split(";") if part.strip()]


@cache
def indexes() -> dict[str, str]:
    """The indexes and constraints of the schema, without which nothing works: commands by name.

    Vector indexes are not among them: without the one of its space, a search only takes longer.
    """
    every = [command for _, name in migrations() for command in commands(name)]
    return {found[1]: command for command in every if (found := _CREATE.search(command))}


def check_server(connection: Connection) -> str:
    """Return the server's version; raise :class:`StoreError` if it is too old."""
    agent = connection.server_agent()
    found = _VERSION.search(agent)
    if found is not None and (int(found[1]), int(found[2])) < MINIMUM:
        raise StoreError(
            f"{connection.uri} runs {agent}; cognigraph needs Neo4j "
            f"{'.'.join(map(str, MINIMUM))} or newer"
        )
    return agent


def prepare(
    connection: Connection, embedder: EmbedderIdentity | None, clock: Clock = system_clock
) -> tuple[int, EmbedderIdentity]:
    """Create or migrate the schema and check the embedder; ``None`` accepts any embedder.

    Return the schema version and the embedder in use; set the generation of the connection.
    """
    newest = migrations()[-1][0]
    found = connection.row("schema/version")
    if found is None and embedder is None:
        raise StoreError(f"there is no memory in {connection.uri}")
    if found is None or found[0] != newest:
        with within(_MIGRATION_TIMEOUT):
            # The constraint on the lock node comes first: with it, MERGE is safe as a lock.
            connection.command_text(commands(migrations()[0][1])[0], {})
            connection.write(lambda tx: _migrate(tx, connection, embedder, newest, clock))
            found = connection.row("schema/version")
    assert found is not None
    _complete(connection)
    connection.generation = found[4]
    return newest, _checked(found, connection.uri, embedder)


def _complete(connection: Connection) -> None:
    """Create what is missing of the schema's indexes, and wait until all of them are online.

    A copy of a database may lack them, and another process may just have created them.
    """
    names = sorted(indexes())
    try:
        found = {row[0]: row[1] for row in connection.rows("schema/states", names=names)}
    except StoreUnavailableError:
        raise
    except StoreError as error:  # a user that may use indexes need not be allowed to list them
        logger.info("the indexes of %s are not checked: %s", connection.uri, error)
        return
    if any(found.get(name) != "ONLINE" for name in names):
        with within(_MIGRATION_TIMEOUT):
            for name in names:
                if name not in found:
                    logger.warning("%s has no %s; it is created again", connection.uri, name)
                    connection.command_text(indexes()[name], {})
            wait_until_built(connection, names, _INDEX_TIMEOUT)


def _migrate(
    tx: Transaction,
    connection: Connection,
    embedder: EmbedderIdentity | None,
    newest: int,
    clock: Clock,
) -> None:
    row = tx.row("schema/lock")
    version = row[0] if row else 0
    check_version(connection.uri, version, newest)
    if 0 < version < number_of("full_text"):
        for name in _FULL_TEXT:
            connection.command("vectors/drop", name=name)
    for number, name in migrations():
        if number > version:
            for command in commands(name):
                # Separate transactions: Neo4j does not allow schema and data changes in one. Each
                # command says IF NOT EXISTS, so a crash in between leaves nothing to repair.
                connection.command_text(command, {})
    if 0 < version < number_of("resolution"):
        wait_until_built(connection, indexes(), _INDEX_TIMEOUT)
        resolve_all_entities(connection, clock())
    if 0 < version < number_of("states"):
        wait_until_built(connection, indexes(), _INDEX_TIMEOUT)
        decide_first(connection)
    if 0 < version < number_of("full_text"):
        wait_until_built(connection, indexes(), _INDEX_TIMEOUT)
        decide_again(connection)
        index_marks(connection)
        found = tx.row("schema/version")
        assert found is not None
        pack_all(connection, vector_property(found[4]), found[2])
    tx.rows(
        "schema/record",
        version=newest,
        embedder=embedder.name if embedder else None,
        dimension=embedder.dimension if embedder else None,
        analyzer=ANALYZER,
    )


def _checked(row: Row, uri: str, embedder: EmbedderIdentity | None) -> EmbedderIdentity:
    _, name, dimension, analyzer, _ = row
    stored = EmbedderIdentity(name, dimension)
    check_recorded(uri, stored, embedder, analyzer, "database")
    return stored


_MARKED_AT_ONCE = 2000


def index_marks(connection: Connection) -> None:
    """Add the marks of all chunks to the full-text index; what was interrupted is continued."""
    after: str | None = ""
    while after is not None:
        after = _index_some(connection, after)


def _index_some(connection: Connection, after: str) -> str | None:
    """Add the marks of the next chunks; return the uid of the last one, if there was any."""
    row = connection.row("schema/marked", after=after, limit=_MARKED_AT_ONCE)
    assert row is not None
    last, chunks = row
    rows = [
        [uid, " ".join([lexemes, *new])]
        for uid, space, marks, lexemes in chunks
        if (new := _missing_marks(space, marks, lexemes))
    ]
    if rows:
        connection.write(lambda tx: tx.rows("schema/lexemes", rows=rows))
    return None if last is None else str(last)


def _missing_marks(space: str, marks: list[str], lexemes: str) -> list[str]:
    present = set(lexemes.split())
    return [token for mark in marks if (token := mark_token(space, mark)) not in present]
