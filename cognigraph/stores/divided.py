"""``DividedStore``: a memory whose spaces are in several databases, a group of them in each."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain, count
from threading import RLock
from typing import Any, Protocol, cast

from cognigraph.errors import ConfigurationError, StoreError
from cognigraph.model.storage import AuditEntry, Check, EmbedderIdentity, StoreInfo
from cognigraph.stores.protocols import (
    EnrichmentQueue,
    EntityResolution,
    GraphReader,
    HousekeepingStore,
    MessageStore,
    SearchIndex,
    StateStore,
    Store,
)
from cognigraph.stores.records import Lease, Unembedded, Waiting
from cognigraph.stores.reindex import Precision, Reindexing

DatabaseOf = Callable[[str], str]
"""Gives the name of the database that holds a space, always the same for the same space."""

_LISTED_FOR = 30.0
"""Seconds for which a worker relies on a list of databases; other programs may add some."""

logger = logging.getLogger("cognigraph")


class Databases(Protocol):
    """The databases of one server."""

    def canonical(self, name: str) -> str:
        """The server's own form of a database's name; ConfigurationError if it is not a name."""

    def names(self) -> list[str]:
        """The canonical names of all databases that can be read, sorted."""

    def spaces(self, name: str) -> list[str]:
        """Names of the spaces in a database, without opening it as a memory."""

    def logged(self, name: str) -> list[str]:
        """Names of the spaces in the audit log of a database, also of deleted ones."""

    def open(self, name: str) -> Store:
        """Open a database, which is created if the server has none of that name."""

    def info(self) -> StoreInfo:
        """The server and what this version would write, without a database."""

    def close(self) -> None:
        """Release connections. The stores that were opened are not closed."""


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

    def store_of(self, space: str) -> Store:
        """The store of a space."""
        return self._store(self.name(space))

    def all(self) -> list[tuple[str, Store]]:
        """All stores that hold spaces of this memory, by the names of their databases."""
        self._list()
        return self.opened()

    def logged(self) -> list[tuple[Store, str | None]]:
        """Whose logs are of this memory: stores, each with one space or with ``None`` for all.

        The spaces that a log is about may all be deleted, so that :meth:`all` has not its store.
        """
        logs: list[tuple[Store, str | None]] = []
        for name in self.databases.names():
            spaces = self.databases.logged(name)
            own = [space for space in spaces if self.name(space) == name]
            if own:
                of_all = len(own) == len(spaces)
                logs += [(self._store(name), space) for space in ((None,) if of_all else own)]
        return logs

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


class _BySpace:
    """A role of which most methods name a space first, or a lease: they go to the space's store."""

    def __init__(self, groups: Groups, role: str) -> None:
        self._groups = groups
        self._role = role

    def __getattr__(self, method: str) -> Callable[..., Any]:
        def call(first: str | Lease, *arguments: Any, **named: Any) -> Any:
            store = self._groups.store_of(first if isinstance(first, str) else first.space)
            return getattr(getattr(store, self._role), method)(first, *arguments, **named)

        return call


class _Queue(_BySpace):
    """The queue, of which some operations are about all spaces, or do not say which.

    Work on all spaces starts with another database each time, so that none of them waits for the
    others to have nothing left.
    """

    def __init__(self, groups: Groups) -> None:
        super().__init__(groups, "queue")
        self._turn = count()

    def _shares(self, space: str | None) -> list[tuple[EnrichmentQueue, str | None]]:
        if space is not None:
            return [(self._groups.store_of(space).queue, space)]
        return [(store.queue, own) for store, own in self._groups.shares()]

    def _in_turn(self, space: str | None) -> list[tuple[EnrichmentQueue, str | None]]:
        """The same, beginning with another database each time."""
        shares = self._shares(space)
        start = next(self._turn) % len(shares) if shares else 0
        return shares[start:] + shares[:start]

    def claim(self, *, space: str | None = None, **named: Any) -> Lease | None:
        """Lease work of the first database that has some."""
        leases = (queue.claim(space=own, **named) for queue, own in self._in_turn(space))
        return next((lease for lease in leases if lease is not None), None)

    def leases(self) -> dict[str, datetime]:
        stores = self._groups.recent()
        return {token: until for _, s in stores for token, until in s.queue.leases().items()}

    def expire(self, token: str, until: datetime) -> None:
        """End a lease, in whichever database it is."""
        for _, store in self._groups.opened():
            store.queue.expire(token, until)

    def peek(self, session_uid: str, **named: Any) -> Lease | None:
        """What waits of a session, in whichever database it is."""
        leases = (store.queue.peek(session_uid, **named) for _, store in self._groups.all())
        return next((lease for lease in leases if lease is not None), None)

    def retry_failed(self, space: str | None = None) -> int:
        return sum(queue.retry_failed(own) for queue, own in self._shares(space))

    def waiting(self, space: str | None = None) -> Waiting:
        """What waits in all databases."""
        counts = [Waiting(0, 0), *(queue.waiting(own) for queue, own in self._shares(space))]
        return Waiting(*(sum(column) for column in zip(*counts, strict=True)))

    def unembedded(self, limit: int, space: str | None = None) -> Unembedded | None:
        """Chunks that wait for their vectors, of the first database that has some."""
        waiting = (queue.unembedded(limit, own) for queue, own in self._in_turn(space))
        return next((batch for batch in waiting if batch is not None), None)

    def longest_wait(self, space: str | None = None) -> float:
        return max((queue.longest_wait(own) for queue, own in self._shares(space)), default=0.0)


class _Housekeeping(_BySpace):
    """Housekeeping: some operations are about whole databases, and an entry names its own space."""

    def audit(self, entry: AuditEntry) -> None:
        """Add an entry to the audit log of its space."""
        self._groups.store_of(entry.space).housekeeping.audit(entry)

    def backup(self, path: str) -> None:
        """Refuse, as servers have tools of their own."""
        raise StoreError(
            f"{self._groups.databases.info().location} is a server: back up each of its databases "
            "with neo4j-admin, or export each space to a file"
        )

    def erase(self) -> bool | None:
        """Remove the bytes of what was deleted from all databases in use."""
        answers = [store.housekeeping.erase() for _, store in self._groups.opened()]
        return False if False in answers else None if None in answers else True


class DividedStore:
    """See :class:`cognigraph.stores.protocols.Store`.

    ``database_of`` is asked for each space. A database is opened, and created if need be, when the
    first of its spaces is used.
    """

    is_on_server = True

    def __init__(self, databases: Databases, database_of: DatabaseOf) -> None:
        self._groups = groups = Groups(databases, database_of)
        self.messages = cast(MessageStore, _BySpace(groups, "messages"))
        self.queue = cast(EnrichmentQueue, _Queue(groups))
        self.search = cast(SearchIndex, _BySpace(groups, "search"))
        self.resolution = cast(EntityResolution, _BySpace(groups, "resolution"))
        self.states = cast(StateStore, _BySpace(groups, "states"))
        self.graph = cast(GraphReader, _BySpace(groups, "graph"))
        self.housekeeping = cast(HousekeepingStore, _Housekeeping(groups, "housekeeping"))

    @property
    def info(self) -> StoreInfo:
        """The server, and the names of the databases in use."""
        stores = self._groups.all()
        info = stores[0][1].info if stores else self._groups.databases.info()
        details = {name: value for name, value in info.details.items() if name != "database"}
        return replace(
            info, details={**details, "databases": ", ".join(name for name, _ in stores)}
        )

    def close(self) -> None:
        self._groups.close()

    def bookmarks(self) -> tuple[str, ...]:
        """The bookmarks of all databases in use, each with the name of its database."""
        return tuple(
            f"{name}={bookmark}"
            for name, store in self._groups.opened()
            for bookmark in store.bookmarks()
        )

    def catch_up(self, bookmarks: Sequence[str]) -> None:
        of_database: dict[str, list[str]] = {}
        for item in bookmarks:
            name, separator, bookmark = item.partition("=")
            if not separator or not name or ":" in name:
                raise ConfigurationError(
                    f"{item!r} does not name a database; pass on what bookmarks() of a memory with "
                    "the same database= returned"
                )
            of_database.setdefault(name, []).append(bookmark)
        stores = dict(self._groups.all())
        for name, own in of_database.items():
            if name in stores:
                stores[name].catch_up(own)

    def spaces(self) -> list[str]:
        return self._groups.spaces()

    def audit_log(self, space: str | None, *, limit: int, offset: int = 0) -> list[AuditEntry]:
        if space is not None:
            return self._groups.store_of(space).audit_log(space, limit=limit, offset=offset)
        most = offset + limit
        logs = (store.audit_log(name, limit=most) for store, name in self._groups.logged())
        found = sorted(chain.from_iterable(logs), key=lambda entry: entry.at, reverse=True)
        return found[offset : offset + limit]

    def reindexing(
        self, embedder: EmbedderIdentity, precision: Precision | None = None
    ) -> Reindexing:
        """Refuse: no transaction could switch several databases at once."""
        names = ", ".join(repr(name) for name, _ in self._groups.all()) or "none so far"
        raise ConfigurationError(
            "the embedder of several databases cannot be changed at once; close all memories that "
            f"use them and reindex each by itself, Memory(..., database=NAME).reindex(...): {names}"
        )

    def check(self) -> list[Check]:
        return [
            replace(check, name=f"{name}: {check.name}")
            for name, store in self._groups.all()
            for check in store.check()
        ]
