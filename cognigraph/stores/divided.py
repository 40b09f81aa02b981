"""``DividedStore``: a memory whose spaces are in several databases, a group of them in each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

from cognigraph.errors import ConfigurationError, StoreError
from cognigraph.model.storage import Check, EmbedderIdentity, StoreInfo
from cognigraph.stores.divided_queue import DividedQueue
from cognigraph.stores.groups import DatabaseOf, Databases, Groups
from cognigraph.stores.protocols import (
    EntityResolution,
    GraphReader,
    HousekeepingStore,
    MessageStore,
    SearchIndex,
    StateStore,
)
from cognigraph.stores.reindex import Precision, Reindexing


class _BySpace:
    """A role whose methods all name a space first: each call goes to the store of that space."""

    def __init__(self, groups: Groups, role: str) -> None:
        self._groups = groups
        self._role = role

    def __getattr__(self, method: str) -> Callable[..., Any]:
        def call(space: str, *arguments: Any, **named: Any) -> Any:
            role = getattr(self._groups.of(space), self._role)
            return getattr(role, method)(space, *arguments, **named)

        return call


class _Housekeeping(_BySpace):
    """Housekeeping, of which two operations are about whole databases."""

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
        self.queue = DividedQueue(groups)
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
        """Close all databases."""
        self._groups.close()

    def bookmarks(self) -> tuple[str, ...]:
        """The bookmarks of all databases in use, each with the name of its database."""
        return tuple(
            f"{name}={bookmark}"
            for name, store in self._groups.opened()
            for bookmark in store.bookmarks()
        )

    def catch_up(self, bookmarks: Sequence[str]) -> None:
        """Wait for each database that the bookmarks are of."""
        of_database: dict[str, list[str]] = {}
        for one in bookmarks:
            name, separator, bookmark = one.partition("=")
            if not separator or not name or ":" in name:
                raise ConfigurationError(
                    f"{one!r} does not name a database; pass on what bookmarks() of a memory with "
                    "the same database= returned"
                )
            of_database.setdefault(name, []).append(bookmark)
        stores = dict(self._groups.all())
        for name, own in of_database.items():
            if name in stores:
                stores[name].catch_up(own)

    def spaces(self) -> list[str]:
        """Names of the spaces of all databases, sorted."""
        return self._groups.spaces()

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
        """The health checks of all databases in use."""
        return [
            replace(check, name=f"{name}: {check.name}")
            for name, store in self._groups.all()
            for check in store.check()
        ]
