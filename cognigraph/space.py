"""``Space``: one tenant, with every operation on its data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from functools import partial

from cognigraph.errors import ConfigurationError, NotFoundError
from cognigraph.ingest.queue.estimate import Estimate
from cognigraph.ingest.queue.run_limits import Limits
from cognigraph.ingest.queue.step import Step
from cognigraph.ingest.versions import older
from cognigraph.loop.run import OnRound
from cognigraph.loop.strategy import Strategy
from cognigraph.model import (
    Context,
    Explanation,
    Filter,
    Layer,
    SearchResult,
    Seen,
    Triple,
)
from cognigraph.operations import entities, fact_states
from cognigraph.operations.answering import Answering, LoopRequest, checked_turns, run_loop
from cognigraph.operations.importing import Importing
from cognigraph.operations.searching import with_request
from cognigraph.retrieve.block import build_block
from cognigraph.retrieve.explain import EXPLAINED, explain_rank
from cognigraph.retrieve.layers import search_layer
from cognigraph.settings import SearchSettings, Settings
from cognigraph.stores.records import Failure
from cognigraph.times import to_utc, zone
from cognigraph.validation import checked


class Space(Importing, Answering):
    """One tenant of a memory. Get one from :meth:`Memory.space`.

    Nothing that is written or read through a space leaves it. Wrong arguments raise
    :class:`ConfigurationError`, messages that cannot be stored :class:`InvalidMessageError`.
    """

    # Enrichment

    @checked
    def flush(self, timeout: float = 30.0) -> None:
        """Wait until everything added to this space is enriched; in manual mode, enrich it now.

        Chunks that were parked after repeated failures are not waited for; :meth:`failures` lists
        them.

        Raises:
            FlushTimeout: it took longer than ``timeout`` seconds. The rest stays queued.
        """
        self._engine.flush(self._name, timeout)

    @checked
    def enrich(
        self, on_step: Callable[[Step], None] | None = None, *, limits: Limits | None = None
    ) -> list[Step]:
        """Enrich what is pending in this thread, in either mode; returns one Step for each batch.

        Stops early when the extractor's endpoint is down, its budget is used up, or one of the
        ``limits`` is reached; then ``stopped`` of the last Step gives the reason, and the rest
        stays queued. ``on_step`` is called with each Step as it ends.
        """
        return self._engine.enricher.drain(self._name, on_step, limits)

    @checked
    def estimate(self, *, redo: bool = False, older_than: str | int | None = None) -> Estimate:
        """Estimate what enriching all pending messages would take: turns, windows, calls, tokens.

        With ``redo`` the estimate includes what :meth:`redo` would queue. No model is called and
        nothing is changed.
        """
        names = self._older(older_than) if redo else []
        return self._engine.enricher.estimate(self._name, names)

    @checked
    def redo(self, older_than: str | int | None = None) -> int:
        """Queue enriched chunks to be read again; returns how many.

        ``older_than`` is a version of this memory's extractor (``3``), or an extractor's name and
        version (``"rules-2"``): only sessions that an older version has read are queued. Without
        it, all are. The present facts stay in use until their chunk has been read again.
        """
        count = self._engine.store.queue.redo(self._name, self._older(older_than))
        if count:
            self._engine.written()
        return count

    def _older(self, older_than: str | int | None) -> list[str]:
        recorded = self._engine.store.queue.extractors(self._name)
        return older(recorded, older_than, self._engine.extractor.name)

    @checked
    def failures(self) -> list[Failure]:
        """List chunks and session summaries whose last enrichment failed, with the reason."""
        return self._engine.store.queue.failures(self._name)

    @checked
    def retry_failed(self) -> int:
        """Put parked chunks and summaries back into the queue; returns how many."""
        count = self._engine.store.queue.retry_failed(self._name)
        if count:
            self._engine.written()
        return count

    # Reading

    @checked
    def search(
        self,
        question: str,
        k: int | None = None,
        now: datetime | str | None = None,
        *,
        as_of: datetime | str | None = None,
        valid_at: datetime | str | None = None,
        where: Filter | None = None,
        also: Iterable[str] = (),
        without: Iterable[Seen] | Context = (),
        per_session: int | None = None,
        min_confidence: float | None = None,
        explain: bool = False,
        settings: SearchSettings | None = None,
        layer: Layer = "messages",
    ) -> SearchResult:
        """Find the ``k`` messages most relevant to a question, best first, each with its reasons.

        No model is called (unless the memory has a reader or reranker) and nothing is written.

        Args:
            question: the question in natural language.
            k: how many messages; ``settings.k`` if absent.
            now: when the question is asked; relative times such as "last summer" are counted from
                it. The clock's time if absent; an evaluation must give it.
            as_of: answer from what was known at this time; later messages are ignored.
            valid_at: give the facts that are true at this time, as known now (or at ``as_of``),
                instead of those that are true now. Messages that state them come first.
            where: which messages are considered, by role, session, speaker, tags, time or metadata.
                Without it, all but those of the system and of tools.
            also: further queries, such as parts or other wordings of the question. Each is
                searched by itself, and what it finds first is among the hits; ``found_by`` of a hit
                says which queries found it.
            without: what is left out because it was seen: ids of messages, facts and sessions,
                hits, facts, citations, or whole results and blocks. The hits are as many new ones.
                Ids that do not exist are ignored.
            per_session: at most this many messages of one session.
            min_confidence: leave out messages whose ``confidence`` is lower, and everything if none
                is left.
            explain: also return the next best messages in ``others``. To ask about one message,
                use :meth:`why`.
            settings: search settings for this call, instead of the memory's.
            layer: what to rank. With ``"facts"`` the messages that state the best facts; with
                ``"episodes"`` the ``k`` best :class:`Episode`, in ``episodes`` of the result, and
                as hits the messages that they cover.
        """
        chosen = settings or self._engine.settings.search
        wanted = chosen.k if k is None else k
        shown = max(wanted, EXPLAINED) if explain else wanted
        self._engine.store.search.warm(self._name)
        answer = partial(search_layer, k=shown if layer != "episodes" else wanted, layer=layer)
        result = with_request(
            self._engine,
            self._name,
            answer,
            question,
            now=now,
            as_of=as_of,
            valid_at=valid_at,
            settings=chosen,
            where=where,
            also=also,
            without=without,
            per_session=per_session,
            min_confidence=min_confidence,
        )
        if explain and layer != "episodes":
            hits = result.hits
            result = replace(result, hits=hits[:wanted], others=hits[wanted:])
        return result

    @checked
    def context(
        self,
        question: str,
        max_tokens: int | None = None,
        now: datetime | str | None = None,
        *,
        k: int | None = None,
        as_of: datetime | str | None = None,
        valid_at: datetime | str | None = None,
        where: Filter | None = None,
        also: Iterable[str] = (),
        without: Iterable[Seen] | Context = (),
        per_session: int | None = None,
        min_confidence: float | None = None,
        timezone: str | tzinfo | None = None,
        settings: Settings | None = None,
        strategy: str | Strategy | None = None,
        history: Sequence[str] = (),
        limits: Limits | None = None,
        on_round: OnRound | None = None,
    ) -> Context:
        """Build a prompt block of at most ``max_tokens`` with what is known about a question.

        The block is a ``str`` with the attributes ``tokens``, ``hits`` and ``citations``. Times
        are shown in ``timezone``, else in the memory's timezone, else in UTC. ``k`` is how many of
        the best messages are considered (:class:`ContextSettings` has the default). The other
        arguments are those of :meth:`search`.

        The block is empty, and its ``notes`` say why, if nothing in the memory supports an answer:
        if the ``confidence`` of the search is below ``settings.context.floor``. With a
        ``min_confidence`` that decides instead; 0 shows the best of what there is.

        With a ``strategy`` the block is that of the loop of :meth:`ask`, without the answer;
        ``history``, ``limits`` and ``on_round`` are for it. Without a model it is the block of a
        call without a strategy, and its ``notes`` say so.
        """
        if strategy is not None:
            given = (k, per_session, min_confidence)
            if given != (None, None, None) or any(map(bool, (also, without))):
                raise ConfigurationError(
                    "k, also, without, per_session and min_confidence are for a block without a "
                    "strategy: "
                    "a loop chooses them itself (see cognigraph.loop.Strategy)"
                )
            request = LoopRequest(
                question=question, strategy=strategy, history=checked_turns(history),
                limits=limits, max_tokens=max_tokens, now=now, as_of=as_of, where=where,
                timezone=timezone, settings=settings, on_round=on_round,
            )  # fmt: skip
            return run_loop(self._engine, self._name, request, answer=False, apply=False).context
        chosen = settings or self._engine.settings
        budget = chosen.context.max_tokens if max_tokens is None else max_tokens
        reader = zone(timezone) or self._engine.zone or UTC
        self._engine.store.search.warm(self._name)
        answer = partial(build_block, settings=chosen.context, k=k, max_tokens=budget, zone=reader)
        return with_request(
            self._engine, self._name, answer, question, now=now, as_of=as_of, valid_at=valid_at,
            where=where, settings=chosen.search, also=also, without=without,
            per_session=per_session, min_confidence=min_confidence,
        )  # fmt: skip

    @checked
    def why(
        self,
        question: str,
        expect: str,
        k: int | None = None,
        now: datetime | str | None = None,
        *,
        session: str | None = None,
        as_of: datetime | str | None = None,
        where: Filter | None = None,
        settings: SearchSettings | None = None,
    ) -> Explanation:
        """Explain why the message with the id ``expect`` is found for a question, or is not.

        The explanation gives its rank in every candidate source and signal, what ranked it down,
        and which changes, each tried out, would have brought it among the first ``k``. Give
        ``session`` if messages of several sessions have that id.

        Raises:
            NotFoundError: there is no such message.
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
        wanted = chosen.k if k is None else k
        answer = partial(explain_rank, expected=message, k=wanted)
        return with_request(
            self._engine,
            self._name,
            answer,
            question,
            now=now,
            as_of=as_of,
            settings=chosen,
            where=where,
        )

    # Changing facts

    @checked
    def supersede(
        self,
        old: Triple | str,
        new: Triple | str,
        *,
        at: datetime | str | None = None,
        reason: str = "",
    ) -> None:
        """Record that the triple ``new`` has taken the place of ``old`` since ``at``.

        Triples are given as they were listed, or by their uid. Without ``at``, the old one ended
        when the new one began. Nothing is deleted, and :meth:`restore` undoes it. What users say of
        a triple outlives enrichment: reading messages again does not change it.

        Raises:
            NotFoundError: there is no such triple.
        """
        until = None if at is None else to_utc(at, self._engine.zone)
        fact_states.supersede(self._engine.store, self._name, old, new, until, reason)

    @checked
    def retract(self, triple: Triple | str, *, reason: str = "") -> None:
        """Take a triple back, as if it had never been said. What it superseded is current again.

        Nothing is deleted, and :meth:`restore` undoes it.

        Raises:
            NotFoundError: there is no such triple.
        """
        fact_states.retract(self._engine.store, self._name, triple, reason)

    @checked
    def restore(self, triple: Triple | str, *, reason: str = "") -> None:
        """Make a triple current, whatever superseded it, by a user or by the rules.

        Raises:
            NotFoundError: there is no such triple.
        """
        fact_states.restore(self._engine.store, self._name, triple, reason)

    # Entity resolution

    @checked
    def merge(
        self, a: str, into: str, *, type: str | None = None, into_type: str | None = None
    ) -> None:
        """Merge the entity ``a`` into the entity ``into``, whose name and type both then have.

        The merge is permanent until :meth:`split` undoes it: later evidence does not. If several
        entities have the name, ``type`` says which; give ``into_type`` if the other entity has
        another type.

        Raises:
            NotFoundError: there is no entity of that name; the error lists similar names.
            ConfigurationError: several entities have that name.
        """
        entities.merge(self._engine.store, self._name, a, into, type, into_type)

    @checked
    def split(
        self,
        name: str,
        *,
        apart_from: str | None = None,
        type: str | None = None,
        other_type: str | None = None,
    ) -> None:
        """Undo a merge, so that the entity ``name`` is an entity of its own again.

        This undoes the latest merge by a user that it takes part in. If there is none, it is
        separated from every entity that the rules merged it with. With ``apart_from`` these two
        are kept apart, whether they are merged now, suspected duplicates, or neither. The rules
        never again merge what was split.

        Raises:
            NotFoundError: nothing is merged with it.
        """
        store = self._engine.store
        entities.split(store, self._name, name, apart_from, type, other_type)
