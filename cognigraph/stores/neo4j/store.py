"""``Neo4jStore``: a memory on a Neo4j server, for many processes and large spaces."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import closing
from threading import Lock

from cognigraph.errors import ConfigurationError, StoreError
from cognigraph.model.storage import AuditEntry, Check, EmbedderIdentity, StoreInfo
from cognigraph.stores.neo4j.connection import Connection, Reads
from cognigraph.stores.neo4j.deadlines import wait_until_listening, within
from cognigraph.stores.neo4j.entities import Neo4jResolution
from cognigraph.stores.neo4j.graph import Neo4jGraph
from cognigraph.stores.neo4j.housekeeping import Neo4jHousekeeping, run_checks
from cognigraph.stores.neo4j.index.vectors import OwnIndexes
from cognigraph.stores.neo4j.index.word_counts import Lexicons
from cognigraph.stores.neo4j.messages import Neo4jMessages
from cognigraph.stores.neo4j.queue import Neo4jQueue
from cognigraph.stores.neo4j.reindex import Neo4jReindexing
from cognigraph.stores.neo4j.schema import check_server, migrations, prepare
from cognigraph.stores.neo4j.search import Neo4jSearch
from cognigraph.stores.neo4j.states import Neo4jStates
from cognigraph.stores.records import audit_entry
from cognigraph.stores.reindex import Precision
from cognigraph.times import Clock, system_clock


class Neo4jStore:
    """A memory in a Neo4j database; see :class:`cognigraph.stores.protocols.Store`.

    A search compares all vectors of a layer of a space with up to ``exact_up_to`` nodes; a larger
    layer gets a vector index of its own. ``lexicon_terms`` limits the number of word counts kept in
    memory for all spaces together. A search fails after ``read_timeout`` seconds, an insert after
    ``write_timeout`` and opening after ``open_timeout``, including retries; the migration of an
    older database may take longer. ``reads`` says which servers of a cluster answer reads.
    ``notifications`` makes the server's warnings visible, for tests.
    """

    is_on_server = True

    def __init__(
        self,
        uri: str,
        embedder: EmbedderIdentity | None,
        *,
        auth: tuple[str, str] | None = None,
        database: str | None = None,
        clock: Clock = system_clock,
        exact_up_to: int = 2000,
        lexicon_terms: int = 1_000_000,
        pool_size: int = 50,
        read_timeout: float = 30.0,
        write_timeout: float = 30.0,
        open_timeout: float = 60.0,
        reads: Reads = "leader",
        notifications: bool = False,
    ) -> None:
        self._connection = Connection(
            uri,
            auth,
            database,
            notifications=notifications,
            pool_size=pool_size,
            read_timeout=read_timeout,
            write_timeout=write_timeout,
            reads=reads,
        )
        self._lexicons = Lexicons(self._connection, lexicon_terms)
        try:
            with within(open_timeout):
                wait_until_listening(uri)
                self._server = check_server(self._connection)
                self._version, self._embedder = prepare(self._connection, embedder, clock)
        except BaseException:
            self._connection.close()
            raise
        self._indexes = OwnIndexes(self._connection, self._embedder.dimension, exact_up_to)
        connection, indexes = self._connection, self._indexes
        self.messages = Neo4jMessages(connection, indexes, write_timeout)
        self.queue = Neo4jQueue(connection, indexes, clock)
        self.search = Neo4jSearch(connection, self._lexicons, indexes, read_timeout)
        self.resolution = Neo4jResolution(connection, self._embedder, clock)
        self.states = Neo4jStates(connection, clock)
        self.graph = Neo4jGraph(connection, clock)
        self.housekeeping = Neo4jHousekeeping(connection, indexes, clock)

    @property
    def info(self) -> StoreInfo:
        details = {"server": self._server}
        if self._connection.database is not None:
            details["database"] = self._connection.database
        return StoreInfo("neo4j", self._connection.uri, self._version, self._embedder, details)

    def close(self) -> None:
        """Close the driver and discard the word counts."""
        self.messages.finish()
        self._connection.close()
        self._lexicons.clear()

    def bookmarks(self) -> tuple[str, ...]:
        return self._connection.bookmarks()

    def catch_up(self, bookmarks: Sequence[str]) -> None:
        if bookmarks:
            self._connection.catch_up(bookmarks)

    def spaces(self) -> list[str]:
        return sorted(row[0] for row in self._connection.rows("read/spaces"))

    def audit_log(self, space: str | None, *, limit: int, offset: int = 0) -> list[AuditEntry]:
        of_space = (
            ("Audit(at)", "Audit(owner, at)"),
            ("entry.at IS NOT NULL", "entry.owner = $space AND entry.at IS NOT NULL"),
        )
        rows = self._connection.rows(
            "audit/log", *(() if space is None else of_space), space=space, skip=offset, limit=limit
        )
        return [audit_entry(*row) for row in rows]

    def reindexing(
        self, embedder: EmbedderIdentity, precision: Precision | None = None
    ) -> Neo4jReindexing:
        if precision is not None:
            raise ConfigurationError("the format of vectors is for SQLite files; leave it out")
        return Neo4jReindexing(self._connection, self._indexes, self._embedder, embedder)

    def check(self) -> list[Check]:
        return run_checks(
            self._connection, self._version, self._embedder.dimension, self._indexes.expected()
        )


_SYSTEM = "system"

_DATABASE_NAME = re.compile(r"[a-z][a-z0-9.-]{2,62}")

Connect = Callable[[str], Connection]

OpenStore = Callable[[str], Neo4jStore]


class Neo4jDatabases:
    """See :class:`cognigraph.stores.divided.Databases`."""

    def __init__(self, embedder: EmbedderIdentity, connect: Connect, open_store: OpenStore) -> None:
        self._embedder = embedder
        self._connect = connect
        self._open_store = open_store
        self._system = connect(_SYSTEM)
        self._aliases: dict[str, str] = {}
        self._lock = Lock()
        try:
            wait_until_listening(self._system.uri)
            self._server = check_server(self._system)
            self.names()
        except BaseException:
            self._system.close()
            raise

    def canonical(self, name: str) -> str:
        """The name in lower case, or what it is an alias of."""
        lower = name.lower()
        if not _DATABASE_NAME.fullmatch(lower) or lower.startswith(_SYSTEM):
            raise ConfigurationError(
                f"{name!r} cannot be the name of a Neo4j database: 3 to 63 letters, digits, dots "
                "and dashes, a letter first, and not 'system'"
            )
        return self._aliases.get(lower, lower)

    def names(self) -> list[str]:
        rows = self._system.rows("databases/list")
        with self._lock:
            self._aliases = {alias: name for name, aliases in rows for alias in aliases or ()}
        return sorted({name for name, _ in rows})

    def spaces(self, name: str) -> list[str]:
        with closing(self._connect(name)) as connection:
            return sorted(row[0] for row in connection.rows("read/spaces"))

    def logged(self, name: str) -> list[str]:
        with closing(self._connect(name)) as connection:
            return sorted(row[0] for row in connection.rows("audit/spaces"))

    def open(self, name: str) -> Neo4jStore:
        if name not in self.names():
            self._create(name)
        return self._open_store(name)

    def info(self) -> StoreInfo:
        """The server."""
        version = migrations()[-1][0]
        return StoreInfo(
            "neo4j", self._system.uri, version, self._embedder, {"server": self._server}
        )

    def close(self) -> None:
        """Close the connection to the server's own database."""
        self._system.close()

    def _create(self, name: str) -> None:
        try:
            self._system.command("databases/create", name=name)
        except StoreError as error:
            known = ", ".join(map(repr, self.names()))
            raise StoreError(
                f"{self._system.uri} has no database {name!r} and did not create it ({error}). "
                f"There are: {known}. Neo4j Community and Aura have one database for users, which "
                "database= may give for every space; in the Enterprise Edition an administrator "
                f"can run CREATE DATABASE `{name}`"
            ) from error
