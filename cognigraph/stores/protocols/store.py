"""The ``Store`` protocol and its roles: the operations a database must offer to a memory.

SQLite and Neo4j implement it. One contract suite (``tests/contract``) holds both to it.

Both store this graph:

=========  ==========================================================================
Session    ``id, started_at, ended_at, version``; ``-[:HAS_CHUNK]->`` Chunk,
           ``-[:HAS_KEY {weight}]->`` Key, ``-[:HAS_THEME]->`` Theme
Key        ``name``
Theme      ``title, summary, started_at, ended_at, reason`` (the themes of a session are its
           summary, and its episodes); ``-[:COVERS {index}]->`` Chunk, ``-[:DERIVED_FROM]->`` Theme
Profile    ``version, text, at``; ``-[:EVIDENCE]->`` Chunk, ``-[:SUPERSEDES]->`` Profile
Procedure  ``version, title, steps, context, at``; with the same relationships
Revision   ``version, at, extractor, keys``: one version of a session's keys and summary;
           ``(Session)-[:HAS_REVISION]->`` Revision
Triple     ``subject, relation, object, when, valid_from, valid_to, negated, first_observed,
           last_observed, status``; ``-[:SUBJECT]->`` and ``-[:OBJECT]->`` Entity,
           ``-[:EVIDENCE {observed_at, said_by}]->`` Chunk, ``-[:IN_SESSION]->`` Session,
           ``-[:SUPERSEDES {at, by, reason}]->`` Triple
Entity     ``name, type``
Alias      ``name, type``; another name of an entity, ``-[:SAME_AS]->`` Entity; an alias that
           the text itself gives is ``-[:STATED_IN]->`` Chunk. Entities and aliases that may be
           the same are joined by ``RESEMBLES {score, kind, reason, verdict}`` and by
           ``RULED {verdict}`` (a user's decision)
Chunk      ``message_id, session, speaker, role, at, text, part, parts, heading, tags, metadata
           (JSON), state``;
           ``-[:NEXT]->`` Chunk in session order (time, then arrival),
           ``-[:MENTIONS]->`` Entity
Version    ``number, text, replaced_at``; an earlier text of a message
Forgotten  only a ``uid``, the hash of a forgotten message's key
=========  ==========================================================================

Every node has ``uid`` (unique) and ``space``; no relationship joins two spaces.
Vectors are unit-length float32, so a dot product is a cosine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cognigraph.model.storage import Check, EmbedderIdentity, StoreInfo
from cognigraph.stores.protocols.enrichment_queue import EnrichmentQueue
from cognigraph.stores.protocols.entity_resolution import EntityResolution
from cognigraph.stores.protocols.graph_reader import GraphReader
from cognigraph.stores.protocols.housekeeping_store import HousekeepingStore
from cognigraph.stores.protocols.message_store import MessageStore
from cognigraph.stores.protocols.search_index import SearchIndex
from cognigraph.stores.protocols.state_store import StateStore
from cognigraph.stores.reindex import Precision, Reindexing


def mismatch(location: str, stored: EmbedderIdentity, given: EmbedderIdentity) -> str:
    """The error message for a store that is opened with another embedder than it was built with."""
    return (
        f"{location} was built with the embedder {stored.name!r} ({stored.dimension} dimensions), "
        f"not {given.name!r} ({given.dimension}); open it with that embedder, or change it for "
        "good with `cognigraph reindex --embedder NAME` or Memory.reindex"
    )


def import_runs(space: str, importer: str) -> str:
    """The error message for an insert into a space that an import fills, or has ceased to fill."""
    if importer:
        return f"another program has begun to import into the space {space!r}, or has deleted it"
    return (
        f"the space {space!r} holds a part of an import that is running, or was interrupted; wait "
        "for its end, repeat it, or delete the space"
    )


def imports_check(spaces: Sequence[str]) -> list[Check]:
    """The health check of imports, if there are any that have not ended."""
    names = ", ".join(map(repr, spaces))
    remedy = "if none of them is running, repeat it, or delete the space"
    return [Check("imports", False, f"not ended: {names}", remedy)] if spaces else []


class Store(Protocol):
    """One database. Thread-safe; every method is one transaction unless it says otherwise."""

    @property
    def messages(self) -> MessageStore:
        """Inserts messages."""
        ...

    @property
    def queue(self) -> EnrichmentQueue:
        """The enrichment queue."""
        ...

    @property
    def search(self) -> SearchIndex:
        """Candidates and records for a search."""
        ...

    @property
    def resolution(self) -> EntityResolution:
        """Merges, splits and suspected duplicates of entities."""
        ...

    @property
    def states(self) -> StateStore:
        """What users say of facts, and which of them are current."""
        ...

    @property
    def graph(self) -> GraphReader:
        """The graph for people to read."""
        ...

    @property
    def housekeeping(self) -> HousekeepingStore:
        """Lists, forgets and replaces messages, and removes spaces."""
        ...

    @property
    def info(self) -> StoreInfo:
        """Where the data is and what wrote it."""
        ...

    @property
    def is_on_server(self) -> bool:
        """Whether another process does the work, so that this one can prepare what comes next."""
        ...

    def close(self) -> None:
        """Release connections. Idempotent; nothing acknowledged is lost if it is never called."""
        ...

    def bookmarks(self) -> tuple[str, ...]:
        """What names the newest state that this store has read or written; empty for a file."""
        ...

    def catch_up(self, bookmarks: Sequence[str]) -> None:
        """Wait until this store sees the state that the bookmarks of another one name.

        Raises :class:`StoreError` if they are not of this database.
        """
        ...

    def spaces(self) -> list[str]:
        """Names of all spaces, sorted."""
        ...

    def reindexing(
        self, embedder: EmbedderIdentity, precision: Precision | None = None
    ) -> Reindexing:
        """Start or resume a change to another embedder; discard an unfinished change to a third."""

    def check(self) -> list[Check]:
        """Run the health checks of the database for ``doctor``."""
        ...
