"""``Memory``: an open store and its spaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Self

from cognigraph.embed import Embedder, EmbedFunction
from cognigraph.engine import EmbedMode, Engine, EnrichMode
from cognigraph.errors import ConfigurationError
from cognigraph.importers.record import ReadOptions
from cognigraph.ingest.extraction import Extractor
from cognigraph.ingest.extractors import DEFAULT_EXTRACTOR
from cognigraph.ingest.reindex import OnVectors, Reindexed
from cognigraph.llm import Model
from cognigraph.model import DEFAULT_SPACE, Filter, ImportCallback, ImportReport, SpacesResult
from cognigraph.model.storage import AuditEntry, Check, StoreInfo, WorkerState
from cognigraph.operations import copying, forgetting
from cognigraph.operations.asking import merged
from cognigraph.operations.files import FileImport
from cognigraph.retrieve.question.question_readers import QuestionReader
from cognigraph.retrieve.rank.rerank import Reranker
from cognigraph.retrieve.rank.separation import check_vectors
from cognigraph.settings import SearchSettings, Settings
from cognigraph.space import Space
from cognigraph.stores.divided import DatabaseOf
from cognigraph.stores.reindex import Precision
from cognigraph.times import Clock, system_clock
from cognigraph.validation import checked, checked_name


class Admin:
    """What an operator does with a whole store: ``memory.admin``."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @checked
    def reindex(
        self,
        embedder: str | Embedder | EmbedFunction | None = None,
        *,
        vectors: Precision | None = None,
        on_progress: OnVectors | None = None,
    ) -> Reindexed:
        """Change the embedder of the whole store, all spaces, in place.

        Texts are embedded again in batches while searches still use the old vectors; a single
        transaction then switches to the new ones. Messages added meanwhile are included. After an
        interruption the same call continues where it stopped. Other programs that have the store
        open get an :class:`EmbedderMismatchError` and must open it with the new embedder.

        Args:
            embedder: the new embedder. If absent, the present one stays, and names in a store of
                an older version get the vectors they lack.
            vectors: the new format of vectors in a SQLite file.
            on_progress: called with the number of vectors made and their total.
        """
        return self._engine.reindex(embedder, vectors, on_progress)

    @checked
    def check(self) -> list[Check]:
        """Check the health of the store and of its enrichment, as ``cognigraph doctor`` does."""
        return [
            *self._engine.store.check(),
            check_vectors(self._engine.store),
            self._engine.check_worker(),
        ]

    @property
    def worker_state(self) -> WorkerState | None:
        """How the background worker is doing, without asking the store; ``None`` if none is."""
        worker = self._engine.worker
        return None if worker is None else worker.state

    @checked
    def waiting(self) -> int:
        """Count the chunks and summaries of all spaces that wait to be enriched."""
        return self._engine.enricher.waiting().total

    @checked
    def longest_wait(self) -> float:
        """Get the seconds for which the message that is first in the queue has been waiting.

        0 if none waits to be enriched. A message that is to be read again counts from then on.
        """
        return self._engine.store.queue.longest_wait()

    @checked
    def backup(self, path: str | Path) -> None:
        """Write a consistent copy of the SQLite file to a new file, while it is in use.

        Raises:
            StoreError: the memory is on a server, which has tools of its own (see
                ``space.files.export``), or the file exists or cannot be written.
        """
        self._engine.store.housekeeping.backup(str(path))

    @checked
    def import_spaces(
        self,
        path: str | Path,
        *,
        format: str = "auto",
        session: str | None = None,
        speaker: str | None = None,
        columns: Mapping[str, str] | None = None,
        skip_invalid: bool = False,
        dry_run: bool = False,
        prune: bool = False,
        on_progress: ImportCallback | None = None,
    ) -> ImportReport:
        """Import a file as ``files.import_file`` does, but each message into its owner's space.

        Dumps of mem0 have owners (spaces such as ``user_id:alice``), and those of Graphiti groups
        (the space is the ``group_id``). Messages without an owner go to the default space. The
        arguments are those of :meth:`cognigraph.operations.files.Files.import_file`.

        Raises:
            BadRecordError: a message is bad.
            ConfigurationError: the file cannot be read, or its format cannot be told.
        """
        options = ReadOptions(session, speaker, columns or {}, self._engine.zone)
        run = FileImport(
            self._engine, Space(self._engine, DEFAULT_SPACE), path, format=format, options=options,
            skip_invalid=skip_invalid, dry_run=dry_run, prune=prune, on_progress=on_progress,
            space_named=lambda name: Space(self._engine, name),
        )  # fmt: skip
        return run.run()

    def copy_space(self, a: str, b: str) -> int:
        """Copy the space ``a`` to the space ``b``, which must hold no messages.

        What was read out of the messages is copied too, so that no model is called. Returns the
        number of messages. If it is killed, repeat the call, which starts over.

        Raises:
            ConfigurationError: the space ``b`` holds messages.
        """
        names = (checked_name("the name of a space", name) for name in (a, b))
        return copying.copy(self._engine, *names)

    def delete_space(self, name: str, *, by: str | None = None) -> None:
        """Delete a space with all that it holds, also what keeps forgotten messages from returning.

        The bytes are removed as with :meth:`Space.forget`. Deleting a space that does not exist
        does nothing. Only the audit log still has its name.

        Args:
            name: the space.
            by: who deletes it, for the audit log.
        """
        store = self._engine.store
        count = store.graph.stats(checked_name("the name of a space", name)).messages
        if count:
            now, counts = self._engine.clock(), {"messages": count}
            entry = AuditEntry(now, name, "delete space", by, details=counts)
            store.housekeeping.audit(entry)
        store.housekeeping.remove_space(name)
        store.housekeeping.erase()
        self._engine.forget_answers()

    @checked
    def audit(
        self, space: str | None = None, limit: int = 100, offset: int = 0
    ) -> list[AuditEntry]:
        """List what was decided, corrected and removed, and by whom, newest first.

        Nothing changes or deletes an entry, not even deleting the space. None has a text: what was
        forgotten is not in the log.

        Args:
            space: only this space.
            limit: the largest number of entries.
            offset: how many to leave out at the beginning.
        """
        return self._engine.store.audit_log(space, limit=limit, offset=offset)

    @checked
    def bookmarks(self) -> tuple[str, ...]:
        """Get what names the state of a Neo4j cluster that this memory has read and written.

        Give them to :meth:`catch_up` of another memory that reads from followers, for example in
        the API server that answers the next request of the same user. Empty for a file.
        """
        return self._engine.store.bookmarks()

    @checked
    def catch_up(self, bookmarks: Sequence[str]) -> None:
        """Wait until this memory sees what another one had seen when it gave these bookmarks.

        Raises:
            StoreUnavailableError: the servers that are asked do not have that state in time.
            StoreError: the bookmarks are not of this database.
        """
        self._engine.store.catch_up(bookmarks)


class Memory(Space):
    """An open memory: a store, what reads and embeds its messages, and its spaces.

    The operations of :class:`Space` act on the space ``"default"``; :meth:`space` gives the other
    spaces. :meth:`flush`, :meth:`close`, :meth:`spaces`, :attr:`info` and
    :attr:`admin` are about the whole store.

    Args:
        location: a file path, or a Neo4j URI (``neo4j://host:7687``, ``bolt://``, ``neo4j+s://``).
        auth: user and password for Neo4j.
        database: the Neo4j database; the user's home database if absent. Or a function from the
            name of a space to the name of its database, for more than one database can take
            (``docs/neo4j.md``).
        embedder: ``"wordllama"`` (the default, offline), ``"multilingual"`` (some 50 languages,
            through fastembed), ``"fastembed:MODEL_OR_FOLDER"``,
            ``"openai:MODEL"``, ``"flag:MODEL_OR_FOLDER"``,
            ``"sentence-transformers:MODEL_OR_FOLDER"``, an
            :class:`~cognigraph.embed.Embedder`, or a function from texts to vectors.
        extractor: what reads entities and triples out of messages: ``"rules"`` (the default, no
            model), ``"openai"`` or ``"openai:MODEL"`` (any OpenAI-compatible endpoint, see
            :meth:`cognigraph.llm.ChatModel.from_environment`), or an
            :class:`~cognigraph.ingest.Extractor`.
        reader: a model that reads questions in addition to the rules, such as a
            :class:`~cognigraph.retrieve.ModelReader`. None by default, so that a search calls no
            model.
        enrich: ``"background"`` (a worker thread of this process enriches) or ``"manual"``
            (:meth:`flush` and ``queue.enrich`` do).
        embed: ``"at once"`` (``add`` returns when a message can be found by meaning, too) or
            ``"background"``: ``add`` does not wait for the embedder. A message can be found by its
            words at once, and by meaning when the worker, or :meth:`flush`, has made its vector.
        timezone: the timezone of times that have none, which are refused without it. Prompt blocks
            show times in it.
        clock: returns the present time. Replace it in tests and replays.
        settings: everything else.
        reranker: reorders the first ``SearchSettings.rerank`` hits: a function from a question and
            texts to scores, ``"flag:MODEL_OR_FOLDER"`` (a cross-encoder through FlagEmbedding), or
            ``"embedder"`` (BGE-M3's sparse and ColBERT scores). None by default.
        model: answers questions in :meth:`ask` and in :meth:`context` with a strategy:
            ``"openai"``, ``"openai:MODEL"`` (as for ``extractor``), or a
            :class:`~cognigraph.llm.Model`. By default that of the extractor, if it has one.

    No data leaves this machine, except through an embedder, extractor, reader, reranker or model
    that you choose.

    Raises:
        ConfigurationError: an argument is wrong, or an optional package is not installed.
        StoreError: the store cannot be opened.
        EmbedderMismatchError: the store was built with another embedder.
    """

    @checked
    def __init__(
        self,
        location: str | Path,
        *,
        auth: tuple[str, str] | None = None,
        database: str | DatabaseOf | None = None,
        embedder: str | Embedder | EmbedFunction = "wordllama",
        extractor: str | Extractor = DEFAULT_EXTRACTOR,
        reader: QuestionReader | None = None,
        enrich: EnrichMode = "background",
        embed: EmbedMode = "at once",
        timezone: str | tzinfo | None = None,
        clock: Clock = system_clock,
        settings: Settings | None = None,
        reranker: str | Reranker | None = None,
        model: str | Model | None = None,
    ) -> None:
        engine = Engine(
            location,
            embedder=embedder,
            extractor=extractor,
            reader=reader,
            enrich=enrich,
            embed=embed,
            timezone=timezone,
            clock=clock,
            settings=settings or Settings(),
            auth=auth,
            database=database,
            reranker=reranker,
            sweep=forgetting.expire_all,
            model=model,
        )
        super().__init__(engine, DEFAULT_SPACE)

    def __repr__(self) -> str:
        return f"<Memory {self._engine.store.info.location}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @checked
    def close(self) -> None:
        """Finish the batch that is being enriched and close the store; the rest stays queued."""
        self._engine.close()

    def space(self, name: str, *, by: str | None = None) -> Space:
        """Get one tenant by its name. Its first message creates it.

        Args:
            name: the space.
            by: who acts: messages keep it (``written_by``), and so does the audit log.
        """
        if by is not None:
            checked_name("by", by)
        return Space(self._engine, checked_name("the name of a space", name), by)

    @checked
    def spaces(self) -> list[str]:
        """List the names of all spaces that hold messages."""
        return self._engine.store.spaces()

    @checked
    def flush(self, timeout: float = 30.0) -> None:
        """Wait until every space is enriched; in manual mode, enrich them now.

        To wait for one space only, use its own :meth:`Space.flush` (for the default space,
        ``memory.space("default").flush()``). Chunks that were parked after repeated failures are
        not waited for.

        Raises:
            FlushTimeout: it took longer than ``timeout`` seconds. The rest stays queued.
        """
        self._engine.flush(None, timeout)

    @checked
    def search_spaces(
        self,
        spaces: Sequence[str] | None,
        question: str,
        k: int | None = None,
        now: datetime | str | None = None,
        *,
        as_of: datetime | str | None = None,
        valid_at: datetime | str | None = None,
        where: Filter | None = None,
        settings: SearchSettings | None = None,
    ) -> SpacesResult:
        """Search several spaces and rank their messages together; each hit says its space.

        Only these spaces are read, and each is searched by itself, so that nothing
        of one changes what is found in another. The other arguments are those of :meth:`search`.

        Args:
            spaces: names of spaces; ``None`` for all. One that holds nothing gives no hits.
            question: the question in natural language.
            k: how many messages altogether.
            now: when the question is asked.
            as_of: answer from what was known at this time.
            valid_at: facts that are true at this time.
            where: which messages are considered.
            settings: search settings for this call.

        Raises:
            ConfigurationError: a name is not one.
        """
        if isinstance(spaces, str):
            raise ConfigurationError("spaces must be a list of names of spaces")
        given = self.spaces() if spaces is None else spaces
        names = list(dict.fromkeys(checked_name("the name of a space", name) for name in given))
        moment = self._engine.clock() if now is None else now
        results = {
            name: self.space(name).search(
                question, k, moment, as_of=as_of, valid_at=valid_at, where=where, settings=settings
            )
            for name in names
        }
        wanted = (settings or self._engine.settings.search).k if k is None else k
        return SpacesResult(question, merged(results, wanted), results)

    @property
    def settings(self) -> Settings:
        """The settings with which the memory was opened."""
        return self._engine.settings

    @property
    def info(self) -> StoreInfo:
        """Where the data is stored, and with which schema and embedder."""
        return self._engine.store.info

    @property
    def admin(self) -> Admin:
        """What an operator does with the whole store."""
        return Admin(self._engine)
