"""``Writing``: the operations of a space that store messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from cognigraph.argument_names import refuse_unknown
from cognigraph.model import DEFAULT_SESSION, AddResult, Message, Role, StatedFact
from cognigraph.operations import stating
from cognigraph.operations.batches import Progress, add_all
from cognigraph.operations.inserting import add_batch
from cognigraph.operations.inspection import Inspection
from cognigraph.operations.stating import FACTS, Stating
from cognigraph.validation import checked


class Writing(Inspection):
    """One tenant of a memory, as far as messages are added to it."""

    @refuse_unknown
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
            expires: a time, later than ``at``, after which :meth:`expire` forgets the message.
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
        # clean() checks the message, in the same way for add and add_many.
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
        return add_batch(self._engine, self._name, [message], Counter())

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
        given = Stating(
            subject=subject,
            relation=relation,
            object=object,
            subject_type=subject_type,
            object_type=object_type,
            when=when,
            valid_from=valid_from,
            valid_to=valid_to,
            negated=negated,
            replaces=replaces,
            source=source,
            session=session,
            at=at,
            id=id,
            metadata=metadata,
            tags=tags,
            expires=expires,
        )
        return stating.state(self._engine, self._name, given)

    @checked
    def add_exchange(
        self,
        user: str,
        assistant: str,
        *,
        session: str = DEFAULT_SESSION,
        speaker: str | None = None,
        at: datetime | str | None = None,
        id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        tags: Iterable[str] = (),
        facts: Iterable[StatedFact] | None = None,
        session_summary: str | None = None,
    ) -> AddResult:
        """Store what a user said and what the assistant answered, in one transaction.

        Args:
            user: what the user said.
            assistant: the assistant's answer.
            session: the conversation that both belong to.
            speaker: the user's name; "user" if absent.
            at: when they were said; the answer follows the question whatever the time.
            id: the exchange's id; the messages have the ids ``ID-user`` and ``ID-assistant``.
            metadata: kept with both messages, as ``tags`` are.
            facts: what both say, as for :meth:`add`. They are kept with what the user said, and no
                facts are extracted from either.
            session_summary: as for :meth:`add`.

        Raises:
            InvalidMessageError: one of the messages cannot be stored. If it is the answer, what the
                user said is stored.
        """
        said: tuple[tuple[Role, str, str | None], ...]
        said = (("user", user, speaker), ("assistant", assistant, None))
        tags = tuple(tags)  # an iterator would be used up by the first message
        messages = [
            Message(
                text=text,
                role=role,
                speaker=name,
                session=session,
                at=at,
                id=None if id is None else f"{id}-{role}",
                metadata=metadata,
                tags=tags,
                facts=facts if role == "user" else None,
                extract=None if facts is None else False,
                session_summary=session_summary if role == "assistant" else None,
            )
            for role, text, name in said
        ]
        return add_batch(self._engine, self._name, messages, Counter())

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
            self._engine, self._name, messages, on_progress=on_progress, skip_invalid=skip_invalid
        )
