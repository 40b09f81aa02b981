"""A ``BaseStore`` of LangGraph: items under namespaces, which a search finds by their meaning.

An item is a message: its namespace is the session, its key the id, its value the payload, and what
is searched of the value the text. Putting an item again makes a new version of the message.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, cast

from cognigraph.integrations.requirement import requirement
from cognigraph.integrations.store_items import (
    PREFIX,
    labels_of,
    matches,
    namespace_of,
    session_of,
    text_of_value,
)
from cognigraph.model import Filter, Message, StoredMessage
from cognigraph.space import Space

with requirement("langgraph"):
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        get_text_at_path,
    )

_TAG = "langgraph-item"
_PAGE = 500
_WHOLE = "$"


class CogniGraphStore(BaseStore):
    """Long-term memory for LangGraph, in a space of a memory.

    Args:
        space: a memory, or one of its spaces.
        fields: which fields of a value are searched, as paths (``"text"``, ``"user.name"``);
            without it, all texts and numbers in it. ``put(..., index=...)`` overrides it.
    """

    supports_ttl = False

    def __init__(self, space: Space, *, fields: Sequence[str] = (_WHOLE,)) -> None:
        self._space = space
        self._fields = tuple(fields)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations. All reads are done before all writes; of two writes the last counts."""
        results: list[Result] = []
        writes: dict[tuple[tuple[str, ...], str], PutOp] = {}
        for op in ops:
            if isinstance(op, PutOp):
                writes[op.namespace, op.key] = op
                results.append(None)
            else:
                results.append(self._read(op))
        self._write(list(writes.values()))
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As :meth:`batch`, in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            stored = self._space.get(op.key, session_of(op.namespace))
            return None if stored is None else _item(stored)
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        raise ValueError(f"unknown operation {type(op).__name__}")

    # Writing

    def _write(self, ops: Sequence[PutOp]) -> None:
        new: list[Message] = []
        for op in ops:
            stored = self._space.get(op.key, session_of(op.namespace))
            if op.value is None:
                self._delete(stored)
            elif stored is None:
                new.append(self._message(op, None))
            else:
                self._replace(stored, op)
        if new:
            self._space.add_many(new)

    def _delete(self, stored: StoredMessage | None) -> None:
        if stored is not None:
            self._space.forget(message=stored.id, session=stored.session, allow_again=True)

    def _replace(self, stored: StoredMessage, op: PutOp) -> None:
        message = self._message(op, stored)
        if _item(stored).value == op.value and stored.text == message.text:
            return
        if stored.text != message.text:
            self._space.update(stored.id, message.text, session=stored.session, raw=message.raw)
        else:  # the same words in another structure: a message has one payload for one text
            self._delete(stored)
            self._space.add_many([message])

    def _message(self, op: PutOp, stored: StoredMessage | None) -> Message:
        assert op.value is not None
        now = datetime.now(UTC)
        text = "" if op.index is False else self._text(op.value, op.index or self._fields)
        return Message(
            text=text,
            session=session_of(op.namespace),
            id=op.key,
            at=now if stored is None else stored.at,
            metadata=labels_of(op.namespace),
            tags=(_TAG,),
            raw={"value": op.value, "updated_at": now.isoformat()},
        )

    @staticmethod
    def _text(value: Mapping[str, Any], fields: Sequence[str]) -> str:
        texts = [
            text
            for path in fields
            for text in (
                [text_of_value(value)] if path == _WHOLE else get_text_at_path(value, path)
            )
        ]
        return "\n".join(texts)

    # Reading

    def _search(self, op: SearchOp) -> list[SearchItem]:
        end = op.offset + op.limit
        found = self._ranked(op, end) if op.query else []
        if len(found) < end:
            met = {(item.namespace, item.key) for item in found}
            rest = (item for item in self._listed(op) if (item.namespace, item.key) not in met)
            for item in rest:
                found.append(item)
                if op.query and len(found) >= end:
                    break
        if not op.query:
            found.sort(key=lambda item: item.updated_at, reverse=True)
        return found[op.offset : end]

    def _ranked(self, op: SearchOp, wanted: int) -> list[SearchItem]:
        """Items that a search finds, best first. With a filter, more are asked for until enough."""
        where = Filter(tags=(_TAG,), metadata=labels_of(op.namespace_prefix))
        asked = wanted
        while True:
            hits = self._space.search(cast(str, op.query), asked, where=where).hits
            scores: dict[tuple[str, str], float] = {}
            for hit in hits:
                scores.setdefault((hit.session, hit.id), hit.score)
            found = [
                item
                for (session, key), score in scores.items()
                if (item := self._search_item(session, key, score)) is not None
                and matches(item.value, op.filter)
            ]
            if len(found) >= wanted or len(hits) < asked:
                return found[:wanted]
            asked *= 4

    def _search_item(self, session: str, key: str, score: float) -> SearchItem | None:
        stored = self._space.get(key, session)
        return None if stored is None else _search_item(stored, score)

    def _listed(self, op: SearchOp) -> Iterator[SearchItem]:
        prefix = tuple(op.namespace_prefix)
        for namespace in self._all_namespaces():
            if namespace[: len(prefix)] == prefix:
                for stored in self._messages(session_of(namespace)):
                    item = _search_item(stored, None)
                    if matches(item.value, op.filter):
                        yield item

    def _messages(self, session: str) -> Iterator[StoredMessage]:
        page = self._space.messages(session=session, limit=_PAGE)
        while page:
            yield from (message for message in page if _TAG in message.tags)
            page = self._space.messages(session=session, limit=_PAGE, after=page.cursor)

    def _all_namespaces(self) -> list[tuple[str, ...]]:
        found: list[tuple[str, ...]] = []
        offset = 0
        while sessions := self._space.sessions(_PAGE, offset):
            offset += len(sessions)
            found += [namespace_of(one.id) for one in sessions if one.id.startswith(PREFIX)]
        return sorted(found)

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions = op.match_conditions or ()
        found = [
            namespace
            for namespace in self._all_namespaces()
            if all(_is_match(condition, namespace) for condition in conditions)
        ]
        if op.max_depth is not None:
            found = sorted({namespace[: op.max_depth] for namespace in found})
        return found[op.offset : op.offset + op.limit]


def _is_match(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    """Whether a namespace begins or ends with labels, of which ``*`` is any."""
    path = condition.path
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[-len(path) :]
    return all(label in ("*", own) for label, own in zip(path, part, strict=False))


def _fields_of(stored: StoredMessage) -> dict[str, Any]:
    raw = stored.raw
    return {
        "value": dict(raw["value"]),
        "key": stored.id,
        "namespace": namespace_of(stored.session),
        "created_at": stored.at,
        "updated_at": datetime.fromisoformat(raw["updated_at"]),
    }


def _item(stored: StoredMessage) -> Item:
    return Item(**_fields_of(stored))


def _search_item(stored: StoredMessage, score: float | None) -> SearchItem:
    return SearchItem(**_fields_of(stored), score=score)
