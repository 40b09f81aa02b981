"""cognigraph: temporal graph memory for LLM agents.

>>> from cognigraph import Memory
>>> with Memory("ann.db") as memory:
...     memory.add("I moved to Oslo in May.", speaker="Ann")
...     print(memory.context("Where does Ann live?"))
"""

from cognigraph._version import __version__
from cognigraph.aio import AsyncMemory, AsyncSpace
from cognigraph.errors import (
    CogniGraphError,
    ConfigurationError,
    ConflictError,
    EmbedderMismatchError,
    EmbeddingError,
    ExtractionError,
    FlushTimeout,
    InvalidMessageError,
    NotFoundError,
    QueryError,
    SchemaError,
    StoreError,
    StoreUnavailableError,
)
from cognigraph.memory import Memory, Space
from cognigraph.model import (
    AddResult,
    Citation,
    Context,
    Entity,
    Hit,
    Merge,
    Message,
    Rejection,
    SearchResult,
    Session,
    SessionHit,
    Source,
    Stats,
    StoredMessage,
    SuspectedDuplicate,
    Theme,
    Trace,
    Triple,
    Usage,
    Why,
)
from cognigraph.settings import (
    ContextSettings,
    EnrichSettings,
    InsertSettings,
    SearchSettings,
    Settings,
)
from cognigraph.times import When

__all__ = [
    "AddResult",
    "AsyncMemory",
    "AsyncSpace",
    "Citation",
    "CogniGraphError",
    "ConfigurationError",
    "ConflictError",
    "Context",
    "ContextSettings",
    "EmbedderMismatchError",
    "EmbeddingError",
    "EnrichSettings",
    "Entity",
    "ExtractionError",
    "FlushTimeout",
    "Hit",
    "InsertSettings",
    "InvalidMessageError",
    "Memory",
    "Merge",
    "Message",
    "NotFoundError",
    "QueryError",
    "Rejection",
    "SchemaError",
    "SearchResult",
    "SearchSettings",
    "Session",
    "SessionHit",
    "Settings",
    "Source",
    "Space",
    "Stats",
    "StoreError",
    "StoreUnavailableError",
    "StoredMessage",
    "SuspectedDuplicate",
    "Theme",
    "Trace",
    "Triple",
    "Usage",
    "When",
    "Why",
    "__version__",
]
