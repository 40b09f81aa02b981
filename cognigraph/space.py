"""``Space``: one tenant of a memory, with the operations on its data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from functools import partial
from typing import Any, Literal

from cognigraph.errors import ConfigurationError
from cognigraph.ids import normalise
from cognigraph.ingest.queue.step import Limits
from cognigraph.ingest.stated import StoredFact
from cognigraph.loop.data import Answer
from cognigraph.loop.run import OnRound
from cognigraph.loop.strategy import Strategy
from cognigraph.model import (
    DEFAULT_SESSION,
    AddResult,
    Context,
    Entity,
    Explanation,
    Filter,
    Forgotten,
    History,
    Layer,
    Message,
    MessageOrder,
    MessagePage,
    Role,
    SearchResult,
    Seen,
    Shape,
    StatedFact,
    Stats,
    Status,
    StoredMessage,
    Triple,
)
from cognigraph.model.filters import MessageQuery, TripleQuery
from cognigraph.operations import forgetting
from cognigraph.operations.adding import Progress, add_all, add_batch
from cognigraph.operations.asking import (
    LoopRequest,
    answer_question,
    checked_turns,
    in_utc,
    run_loop,
)
from cognigraph.operations.facts import FACTS, listed, state
from cognigraph.operations.facts import history as fact_history
from cognigraph.operations.files import Files
from cognigraph.operations.overview import Overview
from cognigraph.operations.queries import run_query
from cognigraph.operations.queue import Queue
from cognigraph.operations.review import Review, apply_repairs
from cognigraph.operations.tenant import Tenant
from cognigraph.retrieve.block import build_block
from cognigraph.retrieve.explain import EXPLAINED, explain_rank
from cognigraph.retrieve.search import search_layer
from cognigraph.settings import SearchSettings, Settings
from cognigraph.stores.protocols import Selection
from cognigraph.stores.records import page_of, position_of
from cognigraph.times import to_utc, zone
from cognigraph.validation import checked


class Space(Tenant):
    """One tenant of a memory. Get one from :meth:`Memory.space`.

    Nothing that is written or read through a space leaves it. Wrong arguments raise
    :class:`ConfigurationError`, messages that cannot be stored :class:`InvalidMessageError`.
    """

    def add(
        self,
        text: str,
        *,
        session: str = DEFAULT_SESSION,
        speaker: str | None = None,
        at: datetime | str | None = None,
        id: str | None = None,
        role: Role | None = None,
        metadata: Mapping[str, Any] | None = None,
        tags: Iterable[str] = (),
        raw: Any = None,
        expires: datetime | str | None = None,
        facts: Iterable[StatedFact] | None = None,
        extract: bool | None = None,
        session_summary: str | None = None,
    ) -> AddResult:
        """Store one message durably. It can be found as soon as this returns; no model is called.

        Args:
            text: what was said.
            session: the conversation it belongs to.
            speaker: who said it.
            at: when it was said, an aware datetime or an ISO 8601 string; the clock's time if
                absent.
            id: the message's id within its session. Adding the same id and text again changes
                nothing, not even its role, metadata, tags or facts; adding the same id with another
                text raises :class:`ConflictError`.
            role: the speaker's role in a conversation with an assistant. If absent, a speaker
                called user, assistant, system or tool has that role, and any other is a person.
            metadata: a JSON object of at most 64 KB that is kept with the message.
            tags: short strings that are kept with the message.
            raw: any JSON value that is kept as it is, such as a tool call. With it, the text may be
                empty; such a message is listed but never found.
            expires: a time, later than ``at``, after which ``forget(expired=True)`` forgets the
                message.
            facts: what the message says, as you have understood it: see :class:`StatedFact`. They
                become triples with the next enrichment, with this message as their source, and no
                facts are extracted from it.
            extract: whether the extractor is to read facts out of the message as well; by default
                it does if there are no ``facts``.
            session_summary: a summary of the session so far. It takes the place of the one that the
                extractor makes, until another is given.

        Raises:
            InvalidMessageError: an argument has the wrong type, or the message cannot be stored.
        """
        message = Message(
            text=text,
            session=session,
            speaker=speaker,
            at=at,
            id=id,
            role=role,
            metadata=metadata,
            tags=tags,
            raw=raw,
            expires=expires,
            facts=facts,
            extract=extract,
            session_summary=session_summary,
        )
        return add_batch(self._engine, self._name, [message], Counter(), by=self._by)

    @checked
    def add_many(
        self,
        messages: Iterable[Message | Mapping[str, Any]],
        *,
        on_progress: Progress | None = None,
        skip_invalid: bool = False,
    ) -> AddResult:
        """Store many messages, some hundreds in each transaction.

        Messages that are already stored are skipped, so after a crash the same call can simply be
        repeated. While a server stores a transaction, the next messages are read and prepared; what
        ends the call (an error, Ctrl-C) waits for the transaction.

        Args:
            messages: messages, mappings with the same fields, or chat messages as language models
                take and return them (``role``, ``content`` as a text or a list of parts,
                ``tool_calls``), also as objects with ``model_dump``. Fields that are none of these
                become metadata. If iterating raises an error, it is passed on; the full
                transactions before it are stored.
            on_progress: called after each transaction with the number of messages read so far.
            skip_invalid: leave out messages that cannot be stored, or whose id belongs to another
                text, and list them in ``rejected`` instead of raising.

        Raises:
            InvalidMessageError: a message cannot be stored. ``index`` is its position; all
                messages before it are stored.
            ConflictError: an id belongs to another text in its session.
        """
        return add_all(
            self._engine, self._name, messages, on_progress=on_progress,
            skip_invalid=skip_invalid, by=self._by,
        )  # fmt: skip

    @checked
    def add_fact(
        self,
        subject: str,
        relation: str,
        object: str,
        *,
        when: str | None = None,
        valid_from: datetime | str | None = None,
        valid_to: datetime | str | None = None,
        negated: bool = False,
        replaces: bool = False,
        source: str | None = None,
        subject_type: str | None = None,
        object_type: str | None = None,
        session: str = FACTS,
        at: datetime | str | None = None,
        id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        tags: Iterable[str] = (),
        expires: datetime | str | None = None,
    ) -> AddResult:
        """State a fact that the application knows: ``add_fact("Ann", "works at", "DNB")``.

        It is stored like a message whose text is the fact in words, in a session of its own, and
        is listed, found, updated and forgotten as such. No extractor reads it, so no model is
        called for it, and reading everything again does not change it. It becomes a triple with
        the next enrichment (:meth:`flush` waits for that), and supersedes and is superseded like
        any other. Its sources have ``provenance`` ``"user"``.

        Args:
            subject: the name of an entity.
            relation: the relation in the present tense where it is a state: "lives in".
            object: the name of an entity, or a value.
            when: an event time such as ``"2026-05"``; it may be a time in between
                (``"2026-05-01/2026-05-07"``).
            valid_from: since when a state is true; as precise as it is given (``"2026-05"``).
            valid_to: until when, including it. Without ``valid_from`` it is true from ``at`` on.
            negated: whether it is denied.
            replaces: whether it takes the place of other facts with its subject and relation,
                even if the relation may have several objects at once ("uses").
            source: where the application has it from, such as ``"crm"``. It counts as speaker.
            subject_type: ``"person"``, ``"organization"``, ``"location"`` or another type. If
                absent, that of the one entity with this name. A new name is taken to be that of a
                person or place of this name which is mentioned later.
            object_type: the same for the object.
            session: the session in which the fact is kept.
            at: when it was stated; the clock's time if absent.
            id: an id as for :meth:`add`. Without it, the same fact at the same time is stored once.
            metadata: as for :meth:`add`.
            tags: as for :meth:`add`.
            expires: as for :meth:`add`.

        Raises:
            ConfigurationError: a name is empty or too long, or a time is not one.
            InvalidMessageError: it cannot be stored.
        """
        fact = StoredFact(
            subject=subject, subject_type=subject_type or "", relation=relation, object=object,
            object_type=object_type or "", negated=negated, source=source, replaces=replaces,
        )  # fmt: skip
        message = Message(
            text="", session=session, speaker=source, at=at, id=id, metadata=metadata, tags=tags,
            expires=expires,
        )  # fmt: skip
        return state(
            self._engine, self._name, fact, message,
            when=when, valid_from=valid_from, valid_to=valid_to, by=self._by,
        )  # fmt: skip

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
        has_others = explain and layer != "episodes"  # no message ranks beside those of episodes
        count = max(wanted, EXPLAINED) if has_others else wanted
        result = answer_question(
            self._engine,
            self._name,
            question,
            partial(search_layer, k=count, layer=layer),
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
        if has_others:
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
        shape: Shape | None = None,
        timezone: str | tzinfo | None = None,
        settings: Settings | None = None,
        strategy: str | Strategy | None = None,
        history: Sequence[str] = (),
        limits: Limits | None = None,
        on_round: OnRound | None = None,
    ) -> Context:
        """Build a prompt block of at most ``max_tokens`` with what is known about a question.

        The block is a ``str`` with the attributes ``tokens``, ``hits`` and ``citations``. It is
        empty, and its ``notes`` say why, if nothing in the memory supports an answer: if the
        ``confidence`` of the search is below ``settings.context.floor``.

        With a ``strategy`` the block is that of the loop of :meth:`ask`, without the answer.
        Without a model it is the block of a call without a strategy, and its ``notes`` say so.

        Args:
            question: the question in natural language.
            max_tokens: the largest size of the block; ``settings.context.max_tokens`` if absent.
            now: as for :meth:`search`, as are ``as_of``, ``valid_at``, ``where``, ``also``,
                ``without`` and ``per_session``.
            k: how many of the best messages are considered.
            min_confidence: show nothing below this confidence, instead of below the floor; 0 shows
                the best of what there is.
            shape: ``"overview"`` for a block that spans a topic in time, with its episodes and
                messages of many sessions; ``"answer"`` for one that answers a question. If absent,
                the words of the question decide ("summarize ...", "in which order ...").
            timezone: the timezone in which times are shown; the memory's if absent, else UTC.
            settings: settings for this call, instead of the memory's.
            strategy: gather what is shown in several rounds, as :meth:`ask` does.
            history: the turns of the conversation before the question, for a strategy.
            limits: of rounds, calls, tokens, cost and time, for a strategy.
            on_round: called with each :class:`~cognigraph.loop.Round` as it ends.

        Raises:
            ConfigurationError: an argument does not go with a strategy.
        """
        if strategy is not None:
            given = (k, per_session, min_confidence, shape)
            if given != (None, None, None, None) or any(map(bool, (also, without))):
                raise ConfigurationError(
                    "k, also, without, per_session, min_confidence and shape are for a block "
                    "without a strategy: "
                    "a loop chooses them itself (see cognigraph.loop.Strategy)"
                )
            request = LoopRequest(
                question=question, strategy=strategy, history=checked_turns(history),
                limits=limits, max_tokens=max_tokens, now=now, as_of=as_of, where=where,
                timezone=timezone, settings=settings, on_round=on_round,
            )  # fmt: skip
            return run_loop(self._engine, self._name, request, answer=False).context
        chosen = settings or self._engine.settings
        budget = chosen.context.max_tokens if max_tokens is None else max_tokens
        display_zone = zone(timezone) or self._engine.zone or UTC
        build = partial(
            build_block, settings=chosen.context, k=k, max_tokens=budget, zone=display_zone,
            shape=shape,
        )  # fmt: skip
        return answer_question(
            self._engine, self._name, question, build, now=now, as_of=as_of, valid_at=valid_at,
            where=where, settings=chosen.search, also=also, without=without,
            per_session=per_session, min_confidence=min_confidence,
        )  # fmt: skip

    @checked
    def ask(
        self,
        question: str,
        history: Sequence[str] = (),
        *,
        strategy: str | Strategy = "licomemory",
        limits: Limits | None = None,
        repair: Literal["propose", "apply"] = "propose",
        on_round: OnRound | None = None,
        max_tokens: int | None = None,
        now: datetime | str | None = None,
        as_of: datetime | str | None = None,
        where: Filter | None = None,
        timezone: str | tzinfo | None = None,
        settings: Settings | None = None,
    ) -> Answer:
        """Answer a question by a loop: search, notice what is missing, search again, answer.

        The memory's model judges and answers. Without one, or if it fails, the result has the block
        of :meth:`context` and a note; no :class:`ModelError` is raised.

        Args:
            question: the question in natural language.
            history: the turns of the conversation before it, oldest first.
            strategy: ``"licomemory"``, ``"hymem"``, ``"ama"``, ``"membuilder"``, or a
                :class:`~cognigraph.loop.Strategy`.
            limits: of rounds, calls, tokens, cost and time. A limit that is reached ends the
                search; the last call is kept for the answer.
            repair: whether changes of facts in conflict are only proposed, or made as well, all in
                one transaction. :meth:`Review.restore` undoes each.
            on_round: called with each :class:`~cognigraph.loop.Round` as it ends.
            max_tokens: budget of the block that the answer is written from; the strategy's if
                absent.
            now: when the question is asked; the clock's time if absent.
            as_of: answer from what was known at this time.
            where: which messages are considered.
            timezone: the timezone in which times are shown to the model.
            settings: settings for this call, instead of the memory's.
        """
        request = LoopRequest(
            question=question,
            strategy=strategy,
            history=checked_turns(history),
            limits=limits,
            max_tokens=max_tokens,
            now=now,
            as_of=as_of,
            where=where,
            timezone=timezone,
            settings=settings,
            on_round=on_round,
        )
        apply = partial(apply_repairs, self._engine.store, self._name, by=self._by)
        return run_loop(
            self._engine, self._name, request, answer=True,
            apply=apply if repair == "apply" else None,
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
        """Explain why a message is found for a question, or is not.

        The explanation gives its rank in every candidate source and signal, what ranked it down,
        and which changes, each tried out, would have brought it among the first ``k``.

        Args:
            question: the question that should find the message.
            expect: the message's id.
            k: how many messages are looked at; ``settings.k`` if absent.
            now: as for :meth:`search`, as are ``as_of``, ``where`` and ``settings``.
            session: the message's session, if messages of several sessions have that id.

        Raises:
            NotFoundError: there is no such message.
        """
        message = self._message(expect, session)
        chosen = settings or self._engine.settings.search
        if not question.strip():
            raise ConfigurationError("give the question that should have found the message")
        wanted = chosen.k if k is None else k
        return answer_question(
            self._engine, self._name, question, partial(explain_rank, expected=message, k=wanted),
            now=now, as_of=as_of, settings=chosen, where=where,
        )  # fmt: skip

    @checked
    def get(self, id: str, session: str | None = None) -> StoredMessage | None:
        """Get one whole message by its id; ``None`` if there is none.

        Args:
            id: the message's id.
            session: its session. If messages of several sessions have the id, the newest is
                returned unless this is given.
        """
        return self._engine.store.graph.message(self._name, id, session)

    @checked
    def messages(
        self,
        *,
        session: str | None = None,
        speaker: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        order: MessageOrder = "oldest",
        limit: int = 100,
        after: str | None = None,
        where: Filter | None = None,
    ) -> MessagePage:
        """List messages in order of time, page by page.

        Args:
            session: only messages of this session.
            speaker: only messages of this speaker, by the exact name.
            since: only messages said at this time or later.
            until: only messages said before this time.
            order: whether the oldest or the newest message comes first.
            limit: the largest number of messages on the page.
            after: the ``cursor`` of the page before. It stays valid when messages are added or
                forgotten meanwhile: none is listed twice, and none is left out.
            where: only messages that pass this filter: by role, tags, metadata and all else that a
                search filters by. Without it, messages of the system and of tools are listed, too.
        """
        zone = self._engine.zone
        query = MessageQuery(
            session=session,
            speaker=speaker,
            since=None if since is None else to_utc(since, zone),
            until=None if until is None else to_utc(until, zone),
            newest_first=order == "newest",
            limit=limit,
            after=None if after is None else position_of(after),
            where=None if where is None else in_utc(where, zone),
        )
        return page_of(self._engine.store.housekeeping.messages(self._name, query), after)

    @checked
    def update(
        self, id: str, text: str, *, session: str | None = None, raw: Any = None
    ) -> StoredMessage:
        """Replace the text of a message, and read it again; returns the message.

        The message keeps its id, time, speaker, role, metadata and tags, but not its ``raw``
        payload. The old text is kept as a version, and is neither searched nor read. What was read
        out of it goes as with :meth:`forget`, and the other messages of its session are read again.

        Args:
            id: the message's id.
            text: the new text. The text that the message has already changes nothing.
            session: its session. If messages of several sessions have the id, the newest is
                updated unless this is given.
            raw: the payload that belongs to the new text; without it the message has none.

        Raises:
            NotFoundError: there is no such message.
            InvalidMessageError: the text cannot be stored.
        """
        message = self._message(id, session)
        return forgetting.update(self._engine, self._name, message, text, raw, self._by)

    @checked
    def forget(
        self,
        *,
        message: str | None = None,
        session: str | None = None,
        speaker: str | None = None,
        before: datetime | str | None = None,
        entity: str | None = None,
        everything: bool = False,
        expired: bool = False,
        dry_run: bool = False,
        allow_again: bool = False,
    ) -> Forgotten:
        """Delete messages, and all that was made from them and from nothing else.

        Messages are forgotten that match every criterion given. Facts and entities go if no other
        message says or mentions them. Summaries and keys of the sessions concerned go, and the
        other messages of these sessions are read again, because what was read out of them may
        rest on what was forgotten. Cached answers of the extractor's model go too. A SQLite file is
        rewritten, so that the bytes are gone.

        Args:
            message: the id of one message.
            session: all messages of a session.
            speaker: what a speaker said, by the exact name.
            before: what was said before this time.
            entity: messages that mention an entity, given by its name or an alias, or that state a
                fact about it. Messages that are not enriched yet mention none.
            everything: all messages of the space.
            expired: the messages whose ``expires`` has come, and those that a rule of
                :class:`RetentionSettings` keeps no longer. Until they are forgotten, they are found
                like all others.
            dry_run: only count what would go and what would stay.
            allow_again: store the messages again if they are added again. Otherwise a hash of each
                message's key stays, and ``add`` reports it as forgotten.

        Raises:
            NotFoundError: there is no such entity.
            ConfigurationError: no criterion is given, ``everything`` or ``expired`` is given with
                others, or several sessions have a message with that id.
        """
        moment = None if before is None else to_utc(before, self._engine.zone)
        selection = Selection(message, session, speaker, moment, entity)
        if (selection != Selection()) + everything + expired != 1:
            raise ConfigurationError(
                "say what to forget: message, session, speaker, before or entity; "
                "or everything, or expired, alone"
            )
        if expired:
            if allow_again:
                raise ConfigurationError("allow_again is not for expired messages")
            return forgetting.expire(self._engine, self._name, dry_run=dry_run, by=self._by)
        return forgetting.forget(
            self._engine, self._name, selection, dry_run=dry_run, allow_again=allow_again,
            by=self._by,
        )  # fmt: skip

    @checked
    def facts(
        self,
        entity: str | None = None,
        limit: int = 100,
        offset: int = 0,
        *,
        as_of: datetime | str | None = None,
        valid_at: datetime | str | None = None,
        status: Status | None = None,
        slot: str | None = None,
        text: str | None = None,
        where: Filter | None = None,
    ) -> list[Triple]:
        """List facts with their sources, newest first; those that meet all conditions.

        Args:
            entity: a whole name or alias; only triples of that entity.
            limit: the largest number of triples.
            offset: how many to leave out at the beginning.
            as_of: only what was known at this time: later triples, and later evidence, are left
                out, and a triple that was superseded later is current.
            valid_at: only what is true at this time, as known now (or at ``as_of``). A triple
                without a time of its own counts from when it was first said.
            status: ``"current"``, ``"superseded"`` or ``"retracted"``.
            slot: what the triples are about, as :meth:`history` calls it: ``"home"``, ``"work"``.
            text: a part of the triple in words, in any case.
            where: which messages count as sources; a triple must have one that passes.
        """
        query = TripleQuery(
            entity=entity,
            limit=limit,
            offset=offset,
            as_of=self._utc(as_of),
            valid_at=self._utc(valid_at),
            status=status,
            slot=None if slot is None else normalise(slot),
            text=None if text is None else normalise(text),
            where=None if where is None else in_utc(where, self._engine.zone),
        )
        return listed(self._engine.store, self._name, query)

    @checked
    def history(
        self,
        entity: str,
        relation: str | None = None,
        *,
        as_of: datetime | str | None = None,
        valid_at: datetime | str | None = None,
    ) -> list[History]:
        """List what was said about each slot of an entity, oldest first, and what ended it.

        A slot is what a fact is about: "lives in Oslo" and "moved to Bergen" are about ``home``.

        Args:
            entity: a whole name or alias.
            relation: a relation or a slot; only the slots that have it.
            as_of: only what was known at this time, and what was current then.
            valid_at: only the facts that are true at this time.
        """
        return fact_history(
            self._engine.store, self._name, entity, relation,
            as_of=self._utc(as_of), valid_at=self._utc(valid_at),
        )  # fmt: skip

    @checked
    def entities(
        self,
        match: str | None = None,
        limit: int = 100,
        offset: int = 0,
        *,
        as_of: datetime | str | None = None,
    ) -> list[Entity]:
        """List entities, those with the most triples first.

        Args:
            match: a part of the name or of an alias.
            limit: the largest number of entities.
            offset: how many to leave out at the beginning.
            as_of: count only what had been said at this time; entities are merged as they are now.
        """
        return self._engine.store.graph.entities(
            self._name, match=match, limit=limit, offset=offset, as_of=self._utc(as_of)
        )

    @checked
    def stats(self, *, as_of: datetime | str | None = None) -> Stats:
        """Count the content of this space, and how much of it waits to be enriched.

        Args:
            as_of: count only what had been said at this time; what waits is that part of it which
                waits now.
        """
        return self._engine.store.graph.stats(self._name, as_of=self._utc(as_of))

    @checked
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
        """Run a read-only Cypher query that sees only this space; returns rows as dicts.

        A label or relationship type that no memory has is logged as a warning.
        Every named query takes ``as_of``, a time: what was said later is left out. A query of your
        own sees what is stored now; it can compare ``first_observed``, ``valid_from`` and
        ``valid_to`` of triples and ``at`` of chunks.

        Args:
            query: the query. SQLite files understand a subset of Cypher.
            name: instead of a query, the name of one that comes with cognigraph;
                ``cognigraph.cypher.named_queries()`` lists them.
            limit: the largest number of rows to return.
            timeout: seconds after which the query is stopped.
            parameters: values of the query's parameters. Most can also be given as keywords.
            more: parameters as keywords.

        Raises:
            QueryError: the query writes, is not understood, or took too long.
        """
        values = {**(parameters or {}), **more}
        return run_query(
            self._engine, self._name, query, values, name=name, limit=limit, timeout=timeout
        )

    @checked
    def flush(self, timeout: float = 30.0) -> None:
        """Wait until everything added to this space is enriched; in manual mode, enrich it now.

        Chunks that were parked after repeated failures are not waited for; ``queue.failures``
        lists them.

        Args:
            timeout: the longest time to wait, in seconds.

        Raises:
            FlushTimeout: it took longer than ``timeout`` seconds. The rest stays queued.
        """
        self._engine.flush(self._name, timeout)

    # Groups of further operations

    @property
    def queue(self) -> Queue:
        """What waits to be enriched, and what failed."""
        return Queue(self._engine, self._name, self._by)

    @property
    def review(self) -> Review:
        """What is in doubt, and what people decide about facts and entities."""
        return Review(self._engine, self._name, self._by)

    @property
    def overview(self) -> Overview:
        """What is known at large: sessions, episodes, profiles and procedures."""
        return Overview(self._engine, self._name, self._by)

    @property
    def files(self) -> Files:
        """Files that are read into the space, and its export."""
        return Files(self._engine, self, self._by)
