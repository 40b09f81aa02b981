"""cognigraph: temporal graph memory for LLM agents.

>>> from cognigraph import Memory
>>> with Memory("ann.db") as memory:
...     memory.add("I moved to Oslo in May.", speaker="Ann")
...     print(memory.context("Where does Ann live?"))
"""

import os

from cognigraph._version import __version__ as __version__
from cognigraph.deferred import deferred

TYPE_CHECKING = False  # typing and pathlib take long to import, and a coding agent waits for hooks
if TYPE_CHECKING:
    from cognigraph.aio import AsyncMemory as AsyncMemory, AsyncSpace as AsyncSpace
    from cognigraph.embed import Embedder as Embedder, EmbedFunction as EmbedFunction
    from cognigraph.engine import EmbedMode as EmbedMode, EnrichMode as EnrichMode
    from cognigraph.errors import (
        BadRecordError as BadRecordError,
        BudgetExceededError as BudgetExceededError,
        CogniGraphError as CogniGraphError,
        ConfigurationError as ConfigurationError,
        ConflictError as ConflictError,
        EmbedderMismatchError as EmbedderMismatchError,
        EmbeddingError as EmbeddingError,
        ExtractionError as ExtractionError,
        FlushTimeout as FlushTimeout,
        InvalidMessageError as InvalidMessageError,
        ModelAnswerError as ModelAnswerError,
        ModelError as ModelError,
        ModelRefusedError as ModelRefusedError,
        ModelUnavailableError as ModelUnavailableError,
        NotFoundError as NotFoundError,
        QueryError as QueryError,
        SchemaError as SchemaError,
        StoreError as StoreError,
        StoreUnavailableError as StoreUnavailableError,
    )
    from cognigraph.ingest.extraction import (
        Extraction as Extraction,
        Extractor as Extractor,
        Window as Window,
    )
    from cognigraph.ingest.queue.step import Estimate as Estimate, Limits as Limits, Step as Step
    from cognigraph.ingest.reindex import OnVectors as OnVectors, Reindexed as Reindexed
    from cognigraph.llm import Model as Model
    from cognigraph.loop.data import (
        Answer as Answer,
        Assessment as Assessment,
        Evidence as Evidence,
        ModelCall as ModelCall,
        Plan as Plan,
        Repair as Repair,
        Round as Round,
    )
    from cognigraph.loop.run import OnRound as OnRound
    from cognigraph.loop.strategy import Strategy as Strategy
    from cognigraph.memory import Memory as Memory
    from cognigraph.model import (
        AddResult as AddResult,
        BadRecord as BadRecord,
        Citation as Citation,
        Conflict as Conflict,
        Context as Context,
        CoreProfile as CoreProfile,
        Entity as Entity,
        EntityProfile as EntityProfile,
        Episode as Episode,
        Explanation as Explanation,
        Filter as Filter,
        Forgotten as Forgotten,
        History as History,
        Hit as Hit,
        ImportCallback as ImportCallback,
        ImportProgress as ImportProgress,
        ImportReport as ImportReport,
        Layer as Layer,
        Merge as Merge,
        Message as Message,
        MessageOrder as MessageOrder,
        MessagePage as MessagePage,
        MessageVersion as MessageVersion,
        Procedure as Procedure,
        ProfileEntry as ProfileEntry,
        Proposal as Proposal,
        QueryTrace as QueryTrace,
        Rejection as Rejection,
        Role as Role,
        RoleFilter as RoleFilter,
        SearchResult as SearchResult,
        Seen as Seen,
        Session as Session,
        SessionHit as SessionHit,
        Shape as Shape,
        SignalStanding as SignalStanding,
        Source as Source,
        SourceStanding as SourceStanding,
        SpaceHit as SpaceHit,
        SpacesResult as SpacesResult,
        StatedFact as StatedFact,
        Stats as Stats,
        Status as Status,
        StoredMessage as StoredMessage,
        Summary as Summary,
        SuspectedDuplicate as SuspectedDuplicate,
        Theme as Theme,
        Trace as Trace,
        Triple as Triple,
        Usage as Usage,
        Why as Why,
    )
    from cognigraph.model.storage import (
        AuditEntry as AuditEntry,
        Check as Check,
        EmbedderIdentity as EmbedderIdentity,
        StoreInfo as StoreInfo,
        WorkerState as WorkerState,
    )
    from cognigraph.operations.adding import Progress as Progress
    from cognigraph.retrieve.question.question_readers import QuestionReader as QuestionReader
    from cognigraph.retrieve.rank.rerank import Reranker as Reranker
    from cognigraph.settings import (
        ContextSettings as ContextSettings,
        EnrichSettings as EnrichSettings,
        InsertSettings as InsertSettings,
        LicoMemorySettings as LicoMemorySettings,
        QuerySettings as QuerySettings,
        Retention as Retention,
        RetentionSettings as RetentionSettings,
        SearchSettings as SearchSettings,
        Settings as Settings,
        StorageSettings as StorageSettings,
    )
    from cognigraph.space import Space as Space
    from cognigraph.stores.divided import DatabaseOf as DatabaseOf
    from cognigraph.stores.records import Failure as Failure
    from cognigraph.stores.reindex import Precision as Precision
    from cognigraph.times import Clock as Clock, When as When

if not os.path.isdir(os.path.join(os.path.dirname(__file__), "ingest")):
    # A clone made without symbolic links (Git for Windows): the packages are beside this one.
    __path__.append(os.path.dirname(os.path.dirname(__file__)))

_NAMES = {
    "aio": "AsyncMemory AsyncSpace",
    "embed": "Embedder EmbedFunction",
    "engine": "EmbedMode EnrichMode",
    "errors": """BadRecordError BudgetExceededError CogniGraphError ConfigurationError ConflictError
        EmbedderMismatchError EmbeddingError ExtractionError FlushTimeout InvalidMessageError
        ModelAnswerError ModelError ModelRefusedError ModelUnavailableError NotFoundError
        QueryError SchemaError StoreError StoreUnavailableError""",
    "ingest.extraction": "Extraction Extractor Window",
    "ingest.queue.step": "Estimate Limits Step",
    "ingest.reindex": "OnVectors Reindexed",
    "llm": "Model",
    "loop.data": "Answer Assessment Evidence ModelCall Plan Repair Round",
    "loop.run": "OnRound",
    "loop.strategy": "Strategy",
    "memory": "Memory",
    "model": """AddResult BadRecord Citation Conflict Context CoreProfile Entity EntityProfile
        Episode Explanation Filter Forgotten History Hit ImportCallback ImportProgress ImportReport
        Layer Merge Message MessageOrder MessagePage MessageVersion Procedure ProfileEntry
        Proposal QueryTrace Rejection Role RoleFilter SearchResult Seen Session SessionHit Shape
        SignalStanding Source SourceStanding SpaceHit SpacesResult StatedFact Stats Status
        StoredMessage Summary SuspectedDuplicate Theme Trace Triple Usage Why""",
    "model.storage": "AuditEntry Check EmbedderIdentity StoreInfo WorkerState",
    "operations.adding": "Progress",
    "retrieve.question.question_readers": "QuestionReader",
    "retrieve.rank.rerank": "Reranker",
    "settings": """ContextSettings EnrichSettings InsertSettings LicoMemorySettings QuerySettings
        Retention RetentionSettings SearchSettings Settings StorageSettings""",
    "space": "Space",
    "stores.divided": "DatabaseOf",
    "stores.records": "Failure",
    "stores.reindex": "Precision",
    "times": "Clock When",
}
"""The names that this package offers, by the modules that define them."""

__getattr__ = deferred(__name__, _NAMES)
__all__ = sorted(["__version__", *" ".join(_NAMES.values()).split()])


def __dir__() -> list[str]:
    return [*globals(), *__all__]
