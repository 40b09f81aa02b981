"""cognigraph: temporal graph memory for LLM agents.

>>> from cognigraph import Memory
>>> with Memory("ann.db") as memory:
...     memory.add("I moved to Oslo in May.", speaker="Ann")
...     print(memory.context("Where does Ann live?"))
"""

from cognigraph._version import __version__
from cognigraph.aio import AsyncMemory, AsyncSpace
from cognigraph.embed import Embedder, EmbedFunction
from cognigraph.engine import EnrichMode
from cognigraph.errors import (
    BudgetExceededError,
    CogniGraphError,
    ConfigurationError,
    ConflictError,
    EmbedderMismatchError,
    EmbeddingError,
    ExtractionError,
    FlushTimeout,
    InvalidMessageError,
    ModelAnswerError,
    ModelError,
    ModelRefusedError,
    ModelUnavailableError,
    NotFoundError,
    QueryError,
    SchemaError,
    StoreError,
    StoreUnavailableError,
)
from cognigraph.ingest.extraction import Extraction, Extractor, Window
from cognigraph.ingest.queue.enricher import Step
from cognigraph.ingest.queue.estimate import Estimate
from cognigraph.ingest.queue.run_limits import Limits
from cognigraph.ingest.reindex import OnVectors, Reindexed
from cognigraph.memory import Memory
from cognigraph.model import (
    AddResult,
    Citation,
    Context,
    Entity,
    Explanation,
    Filter,
    Forgotten,
    Hit,
    Merge,
    Message,
    MessageOrder,
    MessagePage,
    MessageVersion,
    Proposal,
    Rejection,
    Role,
    RoleFilter,
    SearchResult,
    Session,
    SessionHit,
    SignalStanding,
    Source,
    SourceStanding,
    Stats,
    StoredMessage,
    Summary,
    SuspectedDuplicate,
    Theme,
    Trace,
    Triple,
    Usage,
    Why,
)
from cognigraph.model.storage import Check, EmbedderIdentity, StoreInfo
from cognigraph.retrieve.question.question_readers import QuestionReader
from cognigraph.retrieve.rank.rerank import Reranker
from cognigraph.settings import (
    ContextSettings,
    EnrichSettings,
    InsertSettings,
    LicoMemorySettings,
    QuerySettings,
    SearchSettings,
    Settings,
    StorageSettings,
)
from cognigraph.space import Space
from cognigraph.stores.records import Failure
from cognigraph.stores.reindex import Precision
from cognigraph.times import Clock, When
from cognigraph.writing import Progress

__all__ = [
    "AddResult",
    "AsyncMemory",
    "AsyncSpace",
    "BudgetExceededError",
    "Check",
    "Citation",
    "Clock",
    "CogniGraphError",
    "ConfigurationError",
    "ConflictError",
    "Context",
    "ContextSettings",
    "EmbedFunction",
    "Embedder",
    "EmbedderIdentity",
    "EmbedderMismatchError",
    "EmbeddingError",
    "EnrichMode",
    "EnrichSettings",
    "Entity",
    "Estimate",
    "Explanation",
    "Extraction",
    "ExtractionError",
    "Extractor",
    "Failure",
    "Filter",
    "FlushTimeout",
    "Forgotten",
    "Hit",
    "InsertSettings",
    "InvalidMessageError",
    "LicoMemorySettings",
    "Limits",
    "Memory",
    "Merge",
    "Message",
    "MessageOrder",
    "MessagePage",
    "MessageVersion",
    "ModelAnswerError",
    "ModelError",
    "ModelRefusedError",
    "ModelUnavailableError",
    "NotFoundError",
    "OnVectors",
    "Precision",
    "Progress",
    "Proposal",
    "QueryError",
    "QuerySettings",
    "QuestionReader",
    "Reindexed",
    "Rejection",
    "Reranker",
    "Role",
    "RoleFilter",
    "SchemaError",
    "SearchResult",
    "SearchSettings",
    "Session",
    "SessionHit",
    "Settings",
    "SignalStanding",
    "Source",
    "SourceStanding",
    "Space",
    "Stats",
    "Step",
    "StorageSettings",
    "StoreError",
    "StoreInfo",
    "StoreUnavailableError",
    "StoredMessage",
    "Summary",
    "SuspectedDuplicate",
    "Theme",
    "Trace",
    "Triple",
    "Usage",
    "When",
    "Why",
    "Window",
    "__version__",
]
