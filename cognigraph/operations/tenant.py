"""``Tenant``: what every group of operations on a space works with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Protocol

from cognigraph.engine import Engine
from cognigraph.errors import NotFoundError
from cognigraph.model import AddResult, Forgotten, Message, MessagePage, StoredMessage
from cognigraph.times import to_utc


class Tenant:
    """One tenant of a memory. Nothing that is written or read through it leaves it."""

    def __init__(self, engine: Engine, name: str, by: str | None = None) -> None:
        self._engine = engine
        self._name = name
        self._by = by

    @property
    def name(self) -> str:
        """The tenant's name."""
        return self._name

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._name!r} in {self._engine.store.info.location}>"

    def _utc(self, at: datetime | str | None) -> datetime | None:
        return None if at is None else to_utc(at, self._engine.zone)

    def _message(self, id: str, session: str | None) -> StoredMessage:
        """The message with this id.

        Raises:
            NotFoundError: there is none.
        """
        message = self._engine.store.graph.message(self._name, id, session)
        if message is None:
            where = f" in session {session!r}" if session else ""
            raise NotFoundError(
                f"space {self._name!r} has no message {id!r}{where}; give the id that add() "
                "returned (search shows them too)"
            )
        return message


class Target(Protocol):
    """A space, as far as an import of files needs it."""

    @property
    def name(self) -> str:
        """The tenant's name."""

    def get(self, id: str, session: str | None = None) -> StoredMessage | None:
        """See :meth:`cognigraph.Space.get`."""

    def messages(
        self, *, session: str | None = None, limit: int = 100, after: str | None = None
    ) -> MessagePage:
        """See :meth:`cognigraph.Space.messages`."""

    def add_many(
        self, messages: Iterable[Message | Mapping[str, Any]], *, skip_invalid: bool = False
    ) -> AddResult:
        """See :meth:`cognigraph.Space.add_many`."""

    def update(self, id: str, text: str, *, session: str | None = None) -> StoredMessage:
        """See :meth:`cognigraph.Space.update`."""

    def forget(
        self, *, message: str | None = None, session: str | None = None, allow_again: bool = False
    ) -> Forgotten:
        """See :meth:`cognigraph.Space.forget`."""
