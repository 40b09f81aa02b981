"""The databases of a server that hold a memory together, and which spaces are in which of them."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from threading import RLock
from typing import Protocol

from cognigraph.errors import ConfigurationError, StoreError
from cognigraph.model.storage import StoreInfo
from cognigraph.stores.protocols import Store

DatabaseOf = Callable[[str], str]
"""Gives the name of the database that holds a space, always the same for the same space."""

_LISTED_FOR = 30.0
"""Seconds for which a worker relies on a list of databases; other programs may add some."""

logger = logging.getLogger("cognigraph")


class Databases(Protocol):
    """The databases of one server."""

    def canonical(self, name: str) -> str:
        """The server's own form of a database's name; raise ConfigurationError if it is none."""
        ...

    def names(self) -> list[str]:
        """The canonical names of all databases that can be read, sorted."""
        ...

    def spaces(self, name: str) -> list[str]:
        """Names of the spaces in a database, without opening it as a memory."""
        ...

    def open(self, name: str) -> Store:
        """Open a database, which is created if the server has none of that name."""
        ...

    def info(self) -> StoreInfo:
        """The server and what this version would write, without a database."""
        ...

    def close(self) -> None:
        """Release connections. The stores that were opened are not closed."""
        ...


class Groups:
    """Opens the store of each space when it is needed."""

    def __init__(self, databases: Databases, database_of: DatabaseOf) -> None:
        self.databases = databases
        self._database_of = database_of
        self._stores: dict[str, Store] = {}
        self._shared_with_others: set[str] = set()
        self._lock = RLock()
        self._listed_at = -_LISTED_FOR
        self._closed = False

    def name(self, space: str) -> str:
        """The name of the database that holds a space."""
        name = self._database_of(space)
        if not isinstance(name, str) or not name:
            raise ConfigurationError(
                f"database= returned {name!r} for the space {space!r}; it must return the name of "
                "a database"
            )
        return self.databases.canonical(name)

    def of(self, space: str) -> Store:
        """The store of a space."""
        return self._store(self.name(space))

    def all(self) -> list[tuple[str, Store]]:
        """All stores that hold spaces of this memory, by the names of their databases."""
        self._list()
        return self.opened()

    def spaces(self) -> list[str]:
        """Names of all spaces, sorted."""
        return sorted(space for _, spaces in self._list().items() for space in spaces)

    def recent(self) -> list[tuple[str, Store]]:
        """As :meth:`all`, of a list that may be half a minute old."""
        return self.opened() if time.monotonic() - self._listed_at < _LISTED_FOR else self.all()

    def shares(self) -> list[tuple[Store, str | None]]:
        """What a worker has to look at: stores, each with one space or with ``None`` for all.

        A database that also holds spaces which ``database=`` gives to another one is looked at
        space by space, so that nothing is done to those.
        """
        shares: list[tuple[Store, str | None]] = []
        for name, store in self.recent():
            if name in self._shared_with_others:
                own = [space for space in store.spaces() if self.name(space) == name]
                shares += [(store, space) for space in own]
            else:
                shares.append((store, None))
        return shares

    def opened(self) -> list[tuple[str, Store]]:
        """The stores that have been opened, by the names of their databases."""
        with self._lock:
            return sorted(self._stores.items(), key=lambda pair: pair[0])

    def close(self) -> None:
        """Close all stores. Idempotent."""
        with self._lock:
            self._closed = True
            for store in self._stores.values():
                store.close()
            self.databases.close()

    def _store(self, name: str) -> Store:
        known = self._stores.get(name)
        if known is not None and not self._closed:
            return known  # without the lock, which may be held while another database is opened
        with self._lock:
            if self._closed:
                raise StoreError("this memory is closed; open it again")
            store = self._stores.get(name)
            if store is None:
                store = self._stores[name] = self.databases.open(name)
            return store

    def _list(self) -> dict[str, list[str]]:
        """Open what holds spaces of this memory; return them by database."""
        found: dict[str, list[str]] = {}
        for name in self.databases.names():
            store = self._stores.get(name)
            spaces = self.databases.spaces(name) if store is None else store.spaces()
            own = [space for space in spaces if self.name(space) == name]
            if own:
                found[name] = own
                self._store(name)
            self._note(name, sorted({*spaces}.difference(own)))
        self._listed_at = time.monotonic()
        return found

    def _note(self, name: str, foreign: list[str]) -> None:
        with self._lock:
            if not foreign:
                self._shared_with_others.discard(name)
            elif name not in self._shared_with_others:
                self._shared_with_others.add(name)
                logger.warning(
                    "the database %r holds %d spaces, such as %r, which database= gives to another "
                    "one: this memory does not see them there",
                    name, len(foreign), foreign[0],
                )  # fmt: skip
