"""The messages of one session as a list, to which frameworks add and from which they take."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal
from uuid import uuid4

from cognigraph.model import Hit, Message, StoredMessage
from cognigraph.space import Space

_PAGE = 500


def all_messages(
    space: Space,
    session: str | None = None,
    order: Literal["oldest", "newest"] = "oldest",
    limit: int | None = None,
) -> Iterator[StoredMessage]:
    """The messages of a space or session, or as many as ``limit`` says, page by page."""
    after, left = None, sys.maxsize if limit is None else max(limit, 0)
    while left and (
        page := space.messages(session=session, order=order, limit=min(left, _PAGE), after=after)
    ):
        yield from page
        after, left = page.cursor, left - len(page)


def message_scores(hits: Iterable[Hit]) -> dict[tuple[str, str], float]:
    """The best score of each message, by its session and id; a long message may have several."""
    scores: dict[tuple[str, str], float] = {}
    for hit in hits:
        scores.setdefault((hit.session, hit.id), hit.score)
    return scores


class Transcript:
    """One session of a space, as an ordered list that only this program changes at its end."""

    def __init__(self, space: Space, session: str) -> None:
        self._space = space
        self._session = session

    def append(self, messages: Iterable[Message]) -> None:
        """Add messages at the end, each with an id of its own: equal ones are different."""
        self._space.add_many(
            replace(message, session=self._session, id=uuid4().hex) for message in messages
        )

    def read(self, limit: int | None = None) -> list[StoredMessage]:
        """All messages, or the last ``limit``, the oldest first."""
        newest = all_messages(self._space, self._session, "newest", limit)
        return list(newest)[::-1]

    def pop(self) -> StoredMessage | None:
        """Take the last message off, and return it."""
        last = self.read(1)
        if not last:
            return None
        self._space.forget(message=last[0].id, session=self._session, allow_again=True)
        return last[0]

    def clear(self) -> None:
        """Forget all messages of the session."""
        if self.read(1):
            self._space.forget(session=self._session, allow_again=True)
