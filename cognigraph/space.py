"""``Space``: one tenant, with every verb that acts on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from typing import Any, TypeVar

from cognigraph import entity_verbs
from cognigraph.cypher import named_query
from cognigraph.engine import Engine
from cognigraph.errors import ConfigurationError, NotFoundError
from cognigraph.ingest.queue.enricher import Step
from cognigraph.ingest.queue.estimate import Estimate
from cognigraph.ingest.queue.limits import Limits
from cognigraph.ingest.versions import older
from cognigraph.inserting import add_batch, batches, total
from cognigraph.model import (
    DEFAULT_SESSION,
    AddResult,
    Context,
    Entity,
    Explanation,
    Merge,
    Message,
    SearchResult,
    Session,
    Stats,
    StoredMessage,
    Summary,
    SuspectedDuplicate,
    Triple,
)
from cognigraph.retrieve.assemble import assemble
from cognigraph.retrieve.explain import EXPLAINED, explain_place
from cognigraph.retrieve.search import Inquiry, search
from cognigraph.retrieve.timeline import seen_from
from cognigraph.settings import SearchSettings, Settings
from cognigraph.stores.records import Failure
from cognigraph.text.clean import storable
from cognigraph.times import to_utc, zone

_T = TypeVar("_T")

Progress = Callable[[int], None]
"""Called with the number of messages stored so far, after each transaction."""


class Space:
    """One tenant: everything written and read through it stays in it. Get one from a Memory."""

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine = engine
        self._name = name

    @property
    def name(self) -> str:
        """The tenant's name."""
        return self._name

    def __repr__(self) -> str:
        return f"<Space {self._name!r} in {self._engine.store.info.location}>"

    # Writing

    def add(
        self,
        text: str,
        *,
        session: str = DEFAULT_SESSION,
        speaker: str | None = None,
        at: datetime | str | None = None,
        id: str | None = None,
    ) -> AddResult:
        """Store one message durably; it can be found when this returns. No model call.

        The same ``id`` in the same session is the same message: delivering it again changes
        nothing, with another text it is a :class:`ConflictError`.
        """
        message = Message(text=text, session=session, speaker=speaker, at=at, id=id)
        return add_batch(self._engine, self._name, [message], Counter())

    def add_many(
        self,
        messages: Iterable[Message | Mapping[str, Any]],
        *,
        on_progress: Progress | None = None,
        skip_invalid: bool = False,
    ) -> AddResult:
        """Store many messages, some hundred per transaction; call it again after a crash.

        What is already there is skipped, so a repeated call goes on where the last one ended.
        An invalid message raises :class:`InvalidMessageError` with its ``index``, everything
        before it being stored; with ``skip_invalid`` it is left out and listed in ``rejected``, and
        so is one whose id belongs to another text.
        """
        results: list[AddResult] = []
        seen: Counter[str] = Counter()
        done = 0
        engine = self._engine
        for batch in batches(messages, engine.settings.insert.batch):
            results.append(
                add_batch(engine, self._name, batch, seen, first=done, skip_invalid=skip_invalid)
            )
            done += len(batch)
            if on_progress is not None:
                on_progress(done)
        return total(results)

    # Enrichment

    def flush(self, timeout: float = 30.0) -> None:
        """Wait until everything added to this space is enriched (in manual mode, enrich it now).

        Raises :class:`FlushTimeout` when that takes longer than ``timeout`` seconds; the rest
        stays queued. Chunks parked after repeated failures do not count, see :meth:`failures`.
        """
        self._engine.flush(self._name, timeout)

    def enrich(
        self, on_step: Callable[[Step], None] | None = None, *, limits: Limits | None = None
    ) -> list[Step]:
        """Enrich what is pending here and now, whatever the mode; one Step per batch.

        Ends early when the extractor's endpoint or budget does, or one of the ``limits`` is
        reached; ``stopped`` of the last Step says so. What is left stays queued.
        """
        return self._engine.enricher.drain(self._name, on_step, limits)

    def estimate(self, *, redo: bool = False, older_than: str | int | None = None) -> Estimate:
        """What enriching all that waits would take: turns, windows, calls, tokens.

        With ``redo`` also what :meth:`redo` would queue. Nothing is called or changed.
        """
        names = self._older(older_than) if redo else []
        return self._engine.enricher.estimate(self._name, names)

    def redo(self, older_than: str | int | None = None) -> int:
        """Queue what is enriched to be read again; returns the number of chunks.

        ``older_than`` is a version of this memory's extractor (``3``), or a name with one
        (``"rules-2"``): only sessions with something read by an older version of it. Without it,
        everything. What was found before stays in use until its chunk has been read again.
        """
        count = self._engine.store.queue.redo(self._name, self._older(older_than))
        if count:
            self._engine.written()
        return count

    def _older(self, older_than: str | int | None) -> list[str]:
        recorded = self._engine.store.queue.extractors(self._name)
        return older(recorded, older_than, self._engine.extractor.name)

    def failures(self) -> list[Failure]:
        """Chunks and session summaries whose last enrichment failed, with the reason."""
        return self._engine.store.queue.failures(self._name)

    def retry_failed(self) -> int:
        """Queue parked chunks and summaries again; returns how many."""
        count = self._engine.store.queue.retry_failed(self._name)
        if count:
            self._engine.written()
        return count

    # Reading

    def search(
        self,
        question: str,
        k: int | None = None,
        now: datetime | str | None = None,
        *,
        as_of: datetime | str | None = None,
        explain: bool = False,
        settings: SearchSettings | None = None,
    ) -> SearchResult:
        """The ``k`` messages that matter most for a question, best first, each with its reasons.

        ``now`` is when the question is asked (the clock's now if absent; an evaluation must give
        it): relative times such as "last summer" count from it. With ``as_of`` the memory answers
        as it was then: nothing that was said later is shown. With ``explain`` the result's
        ``others`` are the next best, with their reasons; :meth:`why` explains one message. No
        model is called and nothing is written.
        """
        chosen = settings or self._engine.settings.search
        wanted = _positive(chosen.k if k is None else k)
        shown = max(wanted, EXPLAINED) if explain else wanted
        self._engine.store.search.warm(self._name)
        result = self._asking(
            lambda inquiry: search(inquiry, question, k=shown), now, as_of, chosen
        )
        if explain:
            hits = result.hits
            result = replace(result, hits=hits[:wanted], others=hits[wanted:])
        return result

    def context(
        self,
        question: str,
        max_tokens: int | None = None,
        now: datetime | str | None = None,
        *,
        k: int | None = None,
        as_of: datetime | str | None = None,
        timezone: str | tzinfo | None = None,
        settings: Settings | None = None,
    ) -> Context:
        """A prompt block with what is remembered about a question, within ``max_tokens``.

        Times are shown in ``timezone`` (the memory's, else UTC). The block is a ``str`` with
        ``tokens``, ``hits`` and ``citations``.
        """
        chosen = settings or self._engine.settings
        budget = chosen.context.max_tokens if max_tokens is None else max_tokens
        if budget < 1:
            raise ConfigurationError(f"max_tokens must be at least 1, not {budget}")
        result = self.search(question, k, now, as_of=as_of, settings=chosen.search)
        reader = zone(timezone) or self._engine.zone or UTC
        return assemble(result, chosen.context, max_tokens=budget, zone=reader)

    def why(
        self,
        question: str,
        expect: str,
        k: int | None = None,
        now: datetime | str | None = None,
        *,
        session: str | None = None,
        as_of: datetime | str | None = None,
        settings: SearchSettings | None = None,
    ) -> Explanation:
        """Why the message ``expect`` is found for a question, or is not.

        Where it stands in every leg and signal, what pushed it down, and what, tried out, would
        have brought it among the first ``k``. ``session`` says which, if several have that id.
        """
        message = self.get(expect, session)
        if message is None:
            raise NotFoundError(
                f"space {self._name!r} has no message {expect!r}"
                + (f" in session {session!r}" if session else "")
                + "; give the id that add() returned (search shows them too)"
            )
        chosen = settings or self._engine.settings.search
        if not question.strip():
            raise ConfigurationError("give the question that should have found the message")
        wanted = _positive(chosen.k if k is None else k)
        return self._asking(
            lambda inquiry: explain_place(inquiry, question, message, k=wanted), now, as_of, chosen
        )

    def _asking(
        self,
        work: Callable[[Inquiry], _T],
        now: datetime | str | None,
        as_of: datetime | str | None,
        settings: SearchSettings,
    ) -> _T:
        engine = self._engine
        seen_from = engine.clock() if now is None else to_utc(now, engine.zone)
        until = None if as_of is None else to_utc(as_of, engine.zone)
        return engine.use(
            lambda store, embedder: work(
                Inquiry(
                    store,
                    embedder,
                    self._name,
                    settings,
                    seen_from,
                    until,
                    engine.extractor.name,
                    engine.reader,
                    engine.reranker,
                )
            )
        )

    def get(self, id: str, session: str | None = None) -> StoredMessage | None:
        """One whole message by its id (the newest, if several sessions have one)."""
        if session is not None:
            session = storable(session)
        return self._engine.store.graph.message(self._name, storable(id), session)

    def summaries(self, session: str) -> list[Summary]:
        """Revisions of a session's keys and summary, newest first, as many as are kept."""
        return self._engine.store.graph.summaries(self._name, storable(session))

    def sessions(self, limit: int = 100, offset: int = 0) -> list[Session]:
        """Sessions with their keys and summaries, newest first."""
        return self._engine.store.graph.sessions(self._name, limit=limit, offset=offset)

    def entities(self, match: str | None = None, limit: int = 100, offset: int = 0) -> list[Entity]:
        """Entities, those with most triples first; ``match`` is a part of a name or alias."""
        part = None if match is None else storable(match)
        return self._engine.store.graph.entities(self._name, match=part, limit=limit, offset=offset)

    def triples(
        self,
        entity: str | None = None,
        limit: int = 100,
        offset: int = 0,
        *,
        as_of: datetime | str | None = None,
    ) -> list[Triple]:
        """Triples with their sources, newest first; ``entity`` is a whole name or alias.

        With ``as_of`` those that were known then, without what was said of them later.
        """
        name = None if entity is None else storable(entity)
        until = None if as_of is None else to_utc(as_of, self._engine.zone)
        found = self._engine.store.graph.triples(
            self._name, entity=name, limit=limit, offset=offset, as_of=until
        )
        known = [seen_from(triple, until) for triple in found]
        return sorted(known, key=lambda triple: triple.last_observed, reverse=True)

    # Entity resolution

    def merge(
        self, a: str, into: str, *, type: str | None = None, into_type: str | None = None
    ) -> None:
        """Say that two entities are one: ``a`` is shown as ``into``, with all its facts.

        What was read is kept, so :meth:`split` takes it back. ``type`` tells entities of one name
        apart, ``into_type`` where the other is of another type. Raises :class:`NotFoundError` for
        a name that is not there, naming similar ones, and :class:`ConfigurationError` for one that
        several entities have. Nothing that is found out later undoes it.
        """
        name, target = storable(a), storable(into)
        entity_verbs.merge(self._engine.store, self._name, name, target, type, into_type)

    def split(
        self,
        name: str,
        *,
        apart_from: str | None = None,
        type: str | None = None,
        other_type: str | None = None,
    ) -> None:
        """Take a merge back: the entity that was read as ``name`` stands for itself again.

        The latest merge of a user that it is part of ends; if there is none, it is kept apart from
        all that the rules had merged it with. With ``apart_from`` these two are kept apart, whether
        they are merged, suspected or neither. The rules never merge again what was split. Raises
        :class:`NotFoundError` if nothing is merged with it.
        """
        other = None if apart_from is None else storable(apart_from)
        store = self._engine.store
        entity_verbs.split(store, self._name, storable(name), other, type, other_type)

    def suspected_duplicates(self, limit: int = 100, offset: int = 0) -> list[SuspectedDuplicate]:
        """Pairs of entities that may be one by spelling or meaning but are kept apart, best first.

        By letters first, then by vectors ("nature's beauty", "beauty of nature"), last one name
        with and without a real type. Settle one with :meth:`merge`, or ``split(a, apart_from=b)``.
        """
        find = entity_verbs.suspected
        return self._engine.use(lambda store, _: find(store, self._name, limit, offset))

    def merges(self, limit: int = 100, offset: int = 0) -> list[Merge]:
        """Every merge, by rules or by a user, newest first; one that ended has ``undone_at``."""
        return self._engine.store.resolution.merges(self._name, limit=limit, offset=offset)

    def stats(self) -> Stats:
        """Counts, and how far enrichment is."""
        return self._engine.store.graph.stats(self._name)

    def cypher(
        self,
        query: str | None = None,
        /,
        *,
        name: str | None = None,
        limit: int = 1000,
        timeout: float = 30.0,
        parameters: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> list[dict[str, Any]]:
        """Run a read-only Cypher query that sees only this space; rows as dicts.

        Give a query, or the ``name`` of one that ships with cognigraph (``cognigraph.cypher.
        named_queries()`` lists them). Parameters are given as keywords, or as a mapping where a
        name is taken. On SQLite a subset of Cypher is understood.
        """
        values = {**(parameters or {}), **more}
        if (query is None) == (name is None):
            raise ConfigurationError("give either a query or name='...', not both")
        if name is not None:
            chosen = named_query(name)
            query, values = chosen.text, chosen.arguments(values)
        assert query is not None
        return self._engine.store.graph.cypher(
            self._name, query, values, limit=limit, timeout=timeout
        )


def _positive(k: int) -> int:
    if k < 1:
        raise ConfigurationError(f"k must be at least 1, not {k}")
    return k
