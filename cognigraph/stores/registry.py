"""Opens the store that a location names: a registry with one entry for each URI scheme.

A new store needs a package with an ``open_store(request)`` and an entry in :data:`STORES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from urllib.parse import urlsplit

from cognigraph.errors import ConfigurationError
from cognigraph.model.storage import EmbedderIdentity
from cognigraph.settings import StorageSettings
from cognigraph.stores.divided import DatabaseOf
from cognigraph.stores.protocols import Store
from cognigraph.text.redaction import without_credentials
from cognigraph.times import Clock

FILE = ""
"""The scheme of a location that is a path."""

STORES: Mapping[str, str] = {
    FILE: "cognigraph.stores.sqlite",
    "neo4j": "cognigraph.stores.neo4j",
    "neo4j+s": "cognigraph.stores.neo4j",
    "neo4j+ssc": "cognigraph.stores.neo4j",
    "bolt": "cognigraph.stores.neo4j",
    "bolt+s": "cognigraph.stores.neo4j",
    "bolt+ssc": "cognigraph.stores.neo4j",
}
"""The package of the store by URI scheme; it is imported when a location of it is opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreRequest:
    """The store to open.

    Without an ``embedder`` the store must exist; it is opened with the embedder it records.
    ``database`` can be a function that gives the database of each space.
    """

    location: str
    embedder: EmbedderIdentity | None
    auth: tuple[str, str] | None
    database: str | DatabaseOf | None
    clock: Clock
    storage: StorageSettings


def located(location: str, auth: tuple[str, str] | None) -> tuple[str, tuple[str, str] | None]:
    """A location without user and password, and these, from it or as they were given apart.

    Raises :class:`ConfigurationError` if they are in both places.
    """
    location, inside = without_credentials(location)
    if inside and auth:
        raise ConfigurationError(
            f"user and password are given twice for {location}: give them as auth, and leave them "
            "out of the URI"
        )
    return location, inside or auth


def open_store(request: StoreRequest) -> Store:
    """Open the store that ``request.location`` names.

    User and password in a URI are taken out of it, so that no message shows them.

    Raises :class:`ConfigurationError` for a scheme that no store is registered for, for what is no
    address, and if there are users and passwords both in the URI and as ``auth``.
    """
    location, auth = located(request.location, request.auth)
    request = replace(request, location=location, auth=auth)
    scheme, separator, _ = location.partition("://")
    package = STORES.get(scheme.lower() if separator else FILE)
    if package is None:
        raise ConfigurationError(
            f"cannot open {location!r}: give a file path, or a Neo4j URI such as neo4j://host:7687"
        )
    if separator:
        try:
            _ = urlsplit(request.location).port
        except ValueError as error:  # such as half an address of IPv6, or a port in letters
            raise ConfigurationError(
                f"the address of the server is not valid: {error}; give one such as "
                "neo4j://host:7687 or neo4j://[::1]:7687"
            ) from error
    store: Store = import_module(package).open_store(request)
    return store
