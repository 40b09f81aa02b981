"""What a database must offer to a memory: the ``Store`` protocol and its roles, a module each."""

from cognigraph.stores.protocols.enrichment_queue import EnrichmentQueue
from cognigraph.stores.protocols.entity_resolution import EntityResolution, NamedEntity
from cognigraph.stores.protocols.graph_reader import GraphReader
from cognigraph.stores.protocols.housekeeping_store import Chosen, HousekeepingStore, Selection
from cognigraph.stores.protocols.message_store import MessageStore
from cognigraph.stores.protocols.search_index import SearchIndex
from cognigraph.stores.protocols.state_store import StateStore
from cognigraph.stores.protocols.store import Store, import_runs, imports_check, mismatch

__all__ = [
    "Chosen",
    "EnrichmentQueue",
    "EntityResolution",
    "GraphReader",
    "HousekeepingStore",
    "MessageStore",
    "NamedEntity",
    "SearchIndex",
    "Selection",
    "StateStore",
    "Store",
    "import_runs",
    "imports_check",
    "mismatch",
]
