"""The calls of mem0's ``Memory``, answered by a memory of cognigraph, for programs that switch.

Each user, agent or run has a space of its own. A memory is a message as it was said; the facts that
mem0 would ask a model for are read out of it afterwards, and ``search`` finds the message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from typing import Any
from uuid import uuid4

from cognigraph.errors import ConfigurationError
from cognigraph.importers.memory_dumps import OWNERS, space_of_owner
from cognigraph.integrations.transcript import all_messages, message_scores
from cognigraph.memory import Memory
from cognigraph.model import Filter, Message, StoredMessage
from cognigraph.space import Space

_OF_THE_MEMORY = frozenset({"hash", "actor_id", "created_at", "updated_at", "categories"})
"""What an imported memory keeps in its metadata, and mem0 gives beside them."""


class Mem0Memory:
    """A memory with the methods of mem0's ``Memory``.

    Args:
        memory: the memory in which the spaces are: ``user_id:alice`` and so on.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def add(
        self,
        messages: str | Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        timestamp: Any = None,
        infer: bool = True,
    ) -> dict[str, Any]:
        """Store messages. ``infer`` is accepted; facts are always read out of messages later."""
        owners = _conditions(None, user_id=user_id, agent_id=agent_id, run_id=run_id)
        space = self._space(owners)
        if isinstance(messages, str):
            messages = [{"role": "user", "content": messages}]
        elif isinstance(messages, Mapping):
            messages = [messages]
        extra = dict(metadata or {}) | owners
        new = [_message(item, extra, run_id or "default", timestamp) for item in messages]
        result = space.add_many(new)
        texts = {message.id: message.text for message in new}
        return {
            "results": [
                {"id": _memory_id(space, id), "memory": texts[id], "event": "ADD"}
                for id in result.new
            ]
        }

    def search(
        self,
        query: str,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        limit: int | None = None,
        filters: Mapping[str, Any] | None = None,
        top_k: int = 20,
        threshold: float | None = None,
        reference_date: Any = None,
    ) -> dict[str, Any]:
        """Find memories, best first.

        Whose they are is said by ``user_id`` and so on, as mem0 had it until its version 1, or in
        ``filters``, as it has it since. ``limit`` is the older name of ``top_k``.
        """
        wanted = _conditions(filters, user_id=user_id, agent_id=agent_id, run_id=run_id)
        space = self._space(wanted)
        k = top_k if limit is None else limit
        hits = space.search(query, k, reference_date, where=Filter(metadata=wanted)).hits
        results = [
            _result(space, stored, score)
            for (session, id), score in message_scores(hits).items()
            if (threshold is None or score >= threshold)
            and (stored := space.get(id, session)) is not None
        ]
        return {"results": results}

    def get(self, memory_id: str) -> dict[str, Any] | None:
        """One memory; ``None`` if there is none."""
        space, stored = self._stored(memory_id)
        return None if stored is None else _result(space, stored)

    def get_all(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        limit: int | None = None,
        filters: Mapping[str, Any] | None = None,
        top_k: int = 100,
    ) -> dict[str, Any]:
        """List memories, the newest first; the arguments are those of :meth:`search`."""
        wanted = _conditions(filters, user_id=user_id, agent_id=agent_id, run_id=run_id)
        space = self._space(wanted)
        top_k = top_k if limit is None else limit
        matching = (
            _result(space, stored)
            for stored in all_messages(space, order="newest")
            if wanted.items() <= dict(stored.metadata).items()
        )
        return {"results": list(islice(matching, top_k))}

    def update(self, memory_id: str, data: str) -> dict[str, str]:
        """Give a memory another text."""
        space, stored = self._existing(memory_id)
        space.update(stored.id, data, session=stored.session)
        return {"message": "Memory updated successfully!"}

    def delete(self, memory_id: str) -> dict[str, str]:
        """Forget a memory."""
        space, stored = self._existing(memory_id)
        space.forget(message=stored.id, session=stored.session)
        return {"message": "Memory deleted successfully!"}

    def delete_all(
        self,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
    ) -> dict[str, str]:
        """Forget all memories of a user, of an agent, or of a run."""
        owners = _conditions(None, user_id=user_id, agent_id=agent_id, run_id=run_id)
        space = self._space(owners)
        if len(owners) == 1:
            self._memory.admin.delete_space(space.name)
        elif run_id is not None:  # a run of a user or an agent is a session of their space
            space.forget(session=run_id)
        else:
            raise ConfigurationError("delete_all takes a user, an agent or a run, not several")
        return {"message": "Memories deleted successfully!"}

    def history(self, memory_id: str) -> list[dict[str, Any]]:
        """The texts that a memory has had, oldest first."""
        space, stored = self._stored(memory_id)
        if stored is None:
            return []
        texts = [version.text for version in space.overview.versions(stored.id, stored.session)]
        return [
            {
                "memory_id": memory_id,
                "old_memory": before,
                "new_memory": text,
                "event": "ADD" if before is None else "UPDATE",
            }
            for before, text in pairwise([None, *texts])
        ]

    def reset(self) -> None:
        """Delete the spaces of all users, agents and runs."""
        for name in self._memory.spaces():
            if name.startswith(tuple(f"{owner}:" for owner in OWNERS)):
                self._memory.admin.delete_space(name)

    def _space(self, owners: Mapping[str, Any]) -> Space:
        name = space_of_owner(owners)
        if name is None:
            raise ConfigurationError(
                "say whose memory it is: at least one of user_id, agent_id and run_id "
                "(in search and get_all also: filters={'user_id': ...})"
            )
        return self._memory.space(name)

    def _stored(self, memory_id: str) -> tuple[Space, StoredMessage | None]:
        name, _, id = memory_id.rpartition("/")
        if not name:
            raise ValueError(f"{memory_id!r} is no id that add() or search() has returned")
        space = self._memory.space(name)
        return space, space.get(id)

    def _existing(self, memory_id: str) -> tuple[Space, StoredMessage]:
        space, stored = self._stored(memory_id)
        if stored is None:
            raise ValueError(f"Memory with id {memory_id} not found")
        return space, stored


def _message(
    given: Mapping[str, Any], metadata: Mapping[str, Any], session: str, timestamp: Any
) -> Message:
    message = Message.of({name: value for name, value in given.items() if name != "id"})
    return replace(
        message,
        at=message.at if timestamp is None else timestamp,
        session=session,
        id=uuid4().hex,
        metadata=dict(message.metadata or {}) | dict(metadata),
    )


def _conditions(filters: Mapping[str, Any] | None, **owners: str | None) -> dict[str, Any]:
    """The conditions of ``filters``, and the owners that are given beside it."""
    filters = dict(filters or {}) | {
        name: owner for name, owner in owners.items() if owner is not None
    }
    odd = [name for name, value in filters.items() if isinstance(value, Mapping | list)]
    if odd:
        raise ConfigurationError(f"filters[{odd[0]!r}] must be a text, a number or a truth value")
    return filters


def _memory_id(space: Space, id: str) -> str:
    return f"{space.name}/{id}"


def _result(space: Space, stored: StoredMessage, score: float | None = None) -> dict[str, Any]:
    beside = {n: v for n, v in stored.metadata.items() if n in OWNERS or n in _OF_THE_MEMORY}
    rest = {name: value for name, value in stored.metadata.items() if name not in beside}
    fields = {
        "id": _memory_id(space, stored.id),
        "memory": stored.text,
        "role": stored.role,
        "created_at": stored.at.isoformat(),
        "metadata": rest,
    }
    return fields | beside | ({} if score is None else {"score": score})
