"""The databases of a Neo4j server, for a memory whose spaces are in several of them."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing
from threading import Lock

from cognigraph.errors import ConfigurationError, StoreError
from cognigraph.model.storage import EmbedderIdentity, StoreInfo
from cognigraph.stores.neo4j.connection import Connection
from cognigraph.stores.neo4j.reachable import wait_until_listening
from cognigraph.stores.neo4j.schema import check_server, migrations
from cognigraph.stores.neo4j.store import Neo4jStore

_SYSTEM = "system"
_NAME = re.compile(r"[a-z][a-z0-9.-]{2,62}")

Connect = Callable[[str], Connection]
OpenStore = Callable[[str], Neo4jStore]


class Neo4jDatabases:
    """See :class:`cognigraph.stores.groups.Databases`."""

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
        if not _NAME.fullmatch(lower) or lower.startswith(_SYSTEM):
            raise ConfigurationError(
                f"{name!r} cannot be the name of a Neo4j database: 3 to 63 letters, digits, dots "
                "and dashes, a letter first, and not 'system'"
            )
        return self._aliases.get(lower, lower)

    def names(self) -> list[str]:
        """The databases of users that are online."""
        rows = self._system.rows("databases/list")
        with self._lock:
            self._aliases = {alias: name for name, aliases in rows for alias in aliases or ()}
        return sorted({name for name, _ in rows})

    def spaces(self, name: str) -> list[str]:
        """The spaces of a database, which may have none."""
        with closing(self._connect(name)) as connection:
            return sorted(row[0] for row in connection.rows("read/spaces"))

    def open(self, name: str) -> Neo4jStore:
        """Open a database, created if need be."""
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
