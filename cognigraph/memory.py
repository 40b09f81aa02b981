"""``Memory``: an open store with what acts on it, and the spaces in it."""

from __future__ import annotations

from datetime import tzinfo
from pathlib import Path
from types import TracebackType
from typing import Self

from cognigraph.embed import Embedder, EmbedFunction
from cognigraph.engine import Engine, EnrichMode
from cognigraph.ingest.extraction import Extractor
from cognigraph.ingest.extractors import DEFAULT_EXTRACTOR
from cognigraph.ingest.insert.prepare import check_name
from cognigraph.ingest.reindex import OnVectors, Reindexed
from cognigraph.model import DEFAULT_SPACE
from cognigraph.model.storage import Check, StoreInfo
from cognigraph.retrieve.readers import QuestionReader
from cognigraph.retrieve.rerank import Reranker
from cognigraph.settings import Settings
from cognigraph.space import Space
from cognigraph.stores.reindex import Precision
from cognigraph.times import Clock, system_clock


class Memory(Space):
    """An open memory. Itself it acts on the space ``"default"``; :meth:`space` gives the others.

    Args:
        location: a file path, or a Neo4j URI (``neo4j://host:7687``, ``bolt://``, ``neo4j+s://``).
        auth: Neo4j user and password.
        database: Neo4j database, the user's home database if absent.
        embedder: ``"wordllama"`` (default, offline), ``"fastembed:MODEL_OR_FOLDER"``,
            ``"openai:MODEL"``, ``"flag:MODEL_OR_FOLDER"``,
            ``"sentence-transformers:MODEL_OR_FOLDER"``, an
            :class:`~cognigraph.embed.Embedder`, or a function from texts to vectors.
        extractor: reads entities and triples out of chunks: ``"rules"`` (default, no model),
            ``"openai"`` or ``"openai:MODEL"`` (any OpenAI-compatible endpoint, see
            :meth:`cognigraph.llm.ChatModel.from_environment`), or an
            :class:`~cognigraph.ingest.Extractor`.
        reader: reads questions beside the rules, such as a
            :class:`~cognigraph.retrieve.ModelReader`; none by default, so a search calls no model.
        enrich: ``"background"`` (a worker thread in this process) or ``"manual"``.
        timezone: where naive times are; without it they are refused. Also the reader's timezone.
        clock: gives the time now; replace it in tests and replays.
        settings: everything else.
        reranker: orders the first ``SearchSettings.rerank`` hits anew: a function of a question
            and texts that gives scores, ``"flag:MODEL_OR_FOLDER"`` (a cross-encoder through
            FlagEmbedding), or ``"embedder"`` (BGE-M3's sparse and ColBERT scores). None by default.

    Nothing is sent anywhere unless an embedder, extractor or reader that you choose does it.
    """

    def __init__(
        self,
        location: str | Path,
        *,
        auth: tuple[str, str] | None = None,
        database: str | None = None,
        embedder: str | Embedder | EmbedFunction = "wordllama",
        extractor: str | Extractor = DEFAULT_EXTRACTOR,
        reader: QuestionReader | None = None,
        enrich: EnrichMode = "background",
        timezone: str | tzinfo | None = None,
        clock: Clock = system_clock,
        settings: Settings | None = None,
        reranker: str | Reranker | None = None,
    ) -> None:
        engine = Engine(
            location,
            embedder=embedder,
            extractor=extractor,
            reader=reader,
            enrich=enrich,
            timezone=timezone,
            clock=clock,
            settings=settings or Settings(),
            auth=auth,
            database=database,
            reranker=reranker,
        )
        super().__init__(engine, DEFAULT_SPACE)

    def __repr__(self) -> str:
        return f"<Memory {self._engine.store.info.location}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Finish the batch being enriched and close the store; what is left stays queued."""
        self._engine.close()

    def space(self, name: str) -> Space:
        """A handle on one tenant. The space comes into being with its first message."""
        return Space(self._engine, check_name(name, "space"))

    def spaces(self) -> list[str]:
        """Names of all spaces that hold something."""
        return self._engine.store.spaces()

    @property
    def info(self) -> StoreInfo:
        """Where the data is and what wrote it."""
        return self._engine.store.info

    def reindex(
        self,
        embedder: str | Embedder | EmbedFunction | None = None,
        *,
        vectors: Precision | None = None,
        on_progress: OnVectors | None = None,
    ) -> Reindexed:
        """Change the embedder of the whole store, in place; all spaces.

        Texts are embedded anew in batches while the old vectors serve, then one transaction
        changes over; stopped at any point, the same call goes on. Messages added meanwhile are
        included. Other programs that have the store open get an :class:`EmbedderMismatchError`
        and have to open it with the new embedder. ``vectors`` also changes the format of a SQLite
        file (``"float16"``, ``"float32"``). ``on_progress`` gets the vectors made and their total.
        With the embedder it has, names in a store of an older version get the vectors they lack.
        """
        return self._engine.reindex(embedder, vectors, on_progress)

    def check(self) -> list[Check]:
        """Look at the health of the store, as ``cognigraph doctor`` shows it."""
        return self._engine.store.check()
