"""``Writing``: the operations of a space that store messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from cognigraph.inserting import add_batch, batches, total
from cognigraph.inspection import Inspection
from cognigraph.model import DEFAULT_SESSION, AddResult, Message, Role
from cognigraph.validation import checked

Progress = Callable[[int], None]
"""Called after each transaction with the number of messages read so far."""


class Writing(Inspection):
    """One tenant of a memory, as far as messages are added to it."""

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
    ) -> AddResult:
        """Store one message durably. It can be found as soon as this returns; no model is called.

        Args:
            text: what was said.
            session: the conversation it belongs to.
            speaker: who said it.
            at: when it was said, an aware datetime or an ISO 8601 string; the clock's time if
                absent.
            id: the message's id within its session. Adding the same id and text again changes
                nothing, not even its role, metadata or tags; adding the same id with another text
                raises :class:`ConflictError`.
            role: the speaker's role in a conversation with an assistant. If absent, a speaker
                called user, assistant, system or tool has that role, and any other is a person.
            metadata: a JSON object of at most 64 KB that is kept with the message.
            tags: short strings that are kept with the message.
            raw: any JSON value that is kept as it is, such as a tool call. With it, the text may be
                empty; such a message is listed but never found.

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
        )
        return add_batch(self._engine, self._name, [message], Counter())

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
        """Store many messages, about a hundred in each transaction.

        Messages that are already stored are skipped, so after a crash the same call can simply be
        repeated.

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
