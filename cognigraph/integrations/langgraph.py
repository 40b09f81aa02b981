"""A ``BaseStore`` of LangGraph: items under namespaces, which a search finds by their meaning.

An item is a message: its namespace is the session, its key the id, its value the payload, and what
is searched of the value the text. Putting an item again makes a new version of the message.
"""

from __future__ import annotations

import asyncio
import base64
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from cognigraph.importers.memory_dumps import (
    ITEM_TAG,
    PREFIX,
    labels_of,
    session_of,
    text_of_value,
)
from cognigraph.integrations import requirement
from cognigraph.integrations.transcript import all_messages, message_scores
from cognigraph.model import Filter, Message, StoredMessage
from cognigraph.space import Space

with requirement("langgraph"):
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        IndexConfig,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        ensure_embeddings,
        get_text_at_path,
    )

_PAGE = 500
_WHOLE = "$"


class CogniGraphStore(BaseStore):
    """Long-term memory for LangGraph, in a space of a memory.

    Args:
        space: a memory, or one of its spaces.
        fields: which fields of a value are searched, as paths (``"text"``, ``"user.name"``);
            without it those of ``index``, else all texts and numbers in the value.
            ``put(..., index=...)`` overrides it.
        index: LangGraph's configuration of vectors (``dims``, ``embed``, ``fields``). With it, a
            search compares the query with every item below the prefix, and the score is a cosine.
    """

    supports_ttl = False

    def __init__(
        self, space: Space, *, fields: Sequence[str] = (), index: IndexConfig | None = None
    ) -> None:
        self._space = space
        self._index = None if index is None else ItemIndex(index)
        self._fields = tuple(fields) or (self._index.fields if self._index else (_WHOLE,))
        self.index_config = None if self._index is None else self._index.config
        self.embeddings = None if self._index is None else self._index.embeddings

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations. All reads are done before all writes; of two writes the last counts."""
        given = list(ops)
        return self._run(given, self._index.embed(given) if self._index else Vectors())

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """As :meth:`batch`; the store is read and written in a thread."""
        given = list(ops)
        vectors = await self._index.aembed(given) if self._index else Vectors()
        return await asyncio.to_thread(self._run, given, vectors)

    def _run(self, ops: Sequence[Op], vectors: Vectors) -> list[Result]:
        results: list[Result] = []
        writes: dict[tuple[tuple[str, ...], str], PutOp] = {}
        for op in ops:
            if isinstance(op, PutOp):
                writes[op.namespace, op.key] = op
                results.append(None)
            else:
                results.append(self._read(op, vectors))
        self._write(list(writes.values()), vectors)
        return results

    def _read(self, op: Op, vectors: Vectors) -> Result:
        if isinstance(op, GetOp):
            stored = self._space.get(op.key, session_of(op.namespace))
            return None if stored is None else Item(**_fields_of(stored))
        if isinstance(op, SearchOp):
            return self._search(op, vectors)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        raise ValueError(f"unknown operation {type(op).__name__}")

    # Writing

    def _write(self, ops: Sequence[PutOp], vectors: Vectors) -> None:
        new: list[Message] = []
        for op in ops:
            stored = self._space.get(op.key, session_of(op.namespace))
            if op.value is None:
                self._delete(stored)
            elif stored is None:
                new.append(self._message(op, None, vectors))
            else:
                self._replace(stored, self._message(op, stored, vectors))
        if new:
            self._space.add_many(new)

    def _delete(self, stored: StoredMessage | None) -> None:
        if stored is not None:
            self._space.forget(message=stored.id, session=stored.session, allow_again=True)

    def _replace(self, stored: StoredMessage, message: Message) -> None:
        if stored.text == message.text and _is_same(stored.raw, message.raw):
            return
        if stored.text != message.text:
            self._space.update(stored.id, message.text, session=stored.session, raw=message.raw)
        else:  # the same words in another structure: a message has one payload for one text
            self._delete(stored)
            self._space.add_many([message])

    def _message(self, op: PutOp, stored: StoredMessage | None, vectors: Vectors) -> Message:
        assert op.value is not None
        now = datetime.now(UTC)
        raw = {"value": op.value, "updated_at": now.isoformat()}
        if self._index and (encoded := self._index.encoded(op, vectors)):
            raw["vectors"] = encoded
        text = "" if op.index is False else self._text(op.value, op.index or self._fields)
        return Message(
            text=text,
            session=session_of(op.namespace),
            id=op.key,
            at=now if stored is None else stored.at,
            metadata=labels_of(op.namespace),
            tags=(ITEM_TAG,),
            raw=raw,
        )

    @staticmethod
    def _text(value: Mapping[str, Any], fields: Sequence[str]) -> str:
        texts: list[str] = []
        for path in fields:
            texts += [text_of_value(value)] if path == _WHOLE else get_text_at_path(value, path)
        return "\n".join(texts)

    # Reading

    def _search(self, op: SearchOp, vectors: Vectors) -> list[SearchItem]:
        check_filter(op.filter)
        end = op.offset + op.limit
        if not op.query:
            listed = (item for item, _ in self._listed(op))
            items = sorted(listed, key=lambda item: item.updated_at, reverse=True)
        elif self._index is None:
            items = self._ranked(op, op.query, end)
        else:
            items = self._nearest(op, vectors.queries[op.query], self._index)
        return items[op.offset : end]

    def _nearest(self, op: SearchOp, query: Vector, index: ItemIndex) -> list[SearchItem]:
        """Items by their cosine, and after them those without vectors."""
        items = []
        for item, payload in self._listed(op):
            item.score = index.score(payload, query)
            items.append(item)
        return sorted(items, key=lambda item: (item.score is None, -(item.score or 0.0)))

    def _ranked(self, op: SearchOp, query: str, wanted: int) -> list[SearchItem]:
        """Items that a search finds, best first, and after them others until there are enough.

        With a filter, the search is repeated for more messages until enough of them pass it.
        """
        where = Filter(tags=(ITEM_TAG,), metadata=labels_of(op.namespace_prefix))
        asked = wanted
        while True:
            hits = self._space.search(query, asked, where=where).hits
            items = [
                _search_item(stored, score)
                for (session, key), score in message_scores(hits).items()
                if (stored := self._space.get(key, session)) is not None
                and matches(stored.raw["value"], op.filter)
            ]
            if len(items) >= wanted or len(hits) < asked:
                break
            asked *= 4
        ranked = {(item.namespace, item.key) for item in items}
        rest = (item for item, _ in self._listed(op) if (item.namespace, item.key) not in ranked)
        return items + list(islice(rest, max(0, wanted - len(items))))

    def _listed(self, op: SearchOp) -> Iterator[tuple[SearchItem, Mapping[str, Any]]]:
        """Items below a prefix that pass the filter, each with its payload."""
        prefix = tuple(op.namespace_prefix)
        for namespace in self._all_namespaces():
            if namespace[: len(prefix)] == prefix:
                for stored in all_messages(self._space, session_of(namespace)):
                    if ITEM_TAG in stored.tags and matches(stored.raw["value"], op.filter):
                        yield _search_item(stored, None), stored.raw

    def _all_namespaces(self) -> list[tuple[str, ...]]:
        sessions: list[str] = []
        while page := self._space.overview.sessions(_PAGE, len(sessions)):
            sessions += [session.id for session in page]
        return sorted(namespace_of(id) for id in sessions if id.startswith(PREFIX))

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions = op.match_conditions or ()
        namespaces = [
            namespace
            for namespace in self._all_namespaces()
            if all(_is_match(condition, namespace) for condition in conditions)
        ]
        if op.max_depth is not None:
            namespaces = sorted({namespace[: op.max_depth] for namespace in namespaces})
        return namespaces[op.offset : op.offset + op.limit]


def _is_match(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    """Whether a namespace begins or ends with labels, of which ``*`` is any."""
    path = condition.path
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[-len(path) :]
    return all(label in ("*", own) for label, own in zip(path, part, strict=False))


def _is_same(stored: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether two payloads have the same value and vectors."""
    return all(stored.get(name) == new.get(name) for name in ("value", "vectors"))


def _fields_of(stored: StoredMessage) -> dict[str, Any]:
    """The fields of an item, for ``Item`` and ``SearchItem``."""
    return {
        "value": dict(stored.raw["value"]),
        "key": stored.id,
        "namespace": namespace_of(stored.session),
        "created_at": stored.at,
        "updated_at": datetime.fromisoformat(stored.raw["updated_at"]),
    }


def _search_item(stored: StoredMessage, score: float | None) -> SearchItem:
    return SearchItem(**_fields_of(stored), score=score)


# The namespaces of items, and filters on their values.


_FIELD = re.compile(r"[\w.-]+")
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "$eq": operator.eq, "$ne": operator.ne, "$gt": operator.gt, "$gte": operator.ge,
    "$lt": operator.lt, "$lte": operator.le,
}  # fmt: skip


def namespace_of(session: str) -> tuple[str, ...]:
    """The namespace of a session that ``session_of`` has named."""
    return tuple(unquote(label) for label in session.removeprefix(PREFIX).split("/"))


def check_filter(conditions: Mapping[str, Any] | None) -> None:
    """Refuse fields that are no names or paths, as LangGraph's stores do.

    Raises:
        ValueError: a field has other characters than letters, digits, ``_``, ``.`` and ``-``.
    """
    for name in conditions or {}:
        if not _FIELD.fullmatch(name):
            raise ValueError(
                f"Invalid filter key: {name!r}; use letters, digits, underscores and hyphens, and "
                "dots between the fields of a path"
            )


def matches(value: Mapping[str, Any], conditions: Mapping[str, Any] | None) -> bool:
    """Whether a value passes a filter: each field equal, or as ``{"$gt": 3}`` compares it."""
    return all(_passes(_field(value, name), wanted) for name, wanted in (conditions or {}).items())


def _field(value: Mapping[str, Any], name: str) -> Any:
    """A field of a value, or at a path such as ``user.name``."""
    if name in value or "." not in name:
        return value.get(name)
    first, _, rest = name.partition(".")
    inner = value.get(first)
    return _field(inner, rest) if isinstance(inner, Mapping) else None


def _passes(value: Any, wanted: Any) -> bool:
    if not isinstance(wanted, Mapping):
        return bool(value == wanted)
    operators = [name for name in wanted if str(name).startswith("$")]
    if not operators:
        return isinstance(value, Mapping) and all(
            _passes(value.get(name), inner) for name, inner in wanted.items()
        )
    return all(_compares(name, value, wanted[name]) for name in operators)


def _compares(name: str, value: Any, wanted: Any) -> bool:
    if name not in _COMPARISONS:
        raise ValueError(f"unknown operator {name!r}; use {', '.join(_COMPARISONS)}")
    try:
        return bool(_COMPARISONS[name](value, wanted))
    except TypeError:  # a text is neither larger nor smaller than a number
        return False


# The ``index`` of a store: vectors of items and queries by the program's embeddings.
#
# Without it, items are ranked as all other messages are. With it, the score of an item is the
# largest cosine between the query and one of its texts, as in LangGraph's own stores.

Vector = NDArray[np.float32]
_DECIMALS = 6  # as precise as the vectors are stored


@dataclass(frozen=True, slots=True)
class Vectors:
    """The vectors of one batch, by text. Models may embed queries and documents differently."""

    queries: dict[str, Vector] = field(default_factory=dict)
    documents: dict[str, Vector] = field(default_factory=dict)


class ItemIndex:
    """Embeds the items and queries of a batch, as LangGraph's ``IndexConfig`` describes."""

    def __init__(self, config: IndexConfig) -> None:
        self.config = config.copy()
        self.fields: tuple[str, ...] = tuple(config.get("fields") or (_WHOLE,))
        self.embeddings = ensure_embeddings(config["embed"])
        self._dims: int = config["dims"]

    def embed(self, ops: Sequence[Op]) -> Vectors:
        """Embed what a batch writes and asks for."""
        queries, texts = _queries(ops), self._documents(ops)
        return Vectors(
            {text: self._checked(self.embeddings.embed_query(text)) for text in queries},
            self._by_text(texts, self.embeddings.embed_documents(texts) if texts else []),
        )

    async def aembed(self, ops: Sequence[Op]) -> Vectors:
        """As :meth:`embed`, with the asynchronous calls of the embeddings."""
        queries, texts = _queries(ops), self._documents(ops)
        return Vectors(
            {text: self._checked(await self.embeddings.aembed_query(text)) for text in queries},
            self._by_text(texts, await self.embeddings.aembed_documents(texts) if texts else []),
        )

    def encoded(self, op: PutOp, vectors: Vectors) -> dict[str, Any] | None:
        """The vectors of an item as its payload holds them."""
        of_texts = [vectors.documents[text] for text in self._texts(op)]
        if not of_texts:
            return None
        return {
            "dims": self._dims,
            "float32": base64.b64encode(np.stack(of_texts).tobytes()).decode("ascii"),
        }

    def score(self, payload: Mapping[str, Any], query: Vector) -> float | None:
        """The cosine of the text that is nearest to a query; ``None`` if there are no vectors."""
        stored = payload.get("vectors")
        if stored is None or stored["dims"] != self._dims:
            return None
        data = np.frombuffer(base64.b64decode(stored["float32"]), np.float32)
        vectors = data.reshape(-1, self._dims).astype(np.float64)
        lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(query.astype(np.float64))
        products = vectors @ query.astype(np.float64)
        cosines = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
        return round(float(cosines.max()), _DECIMALS)

    def _documents(self, ops: Sequence[Op]) -> list[str]:
        last = {(op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}
        return list(dict.fromkeys(text for op in last.values() for text in self._texts(op)))

    def _texts(self, op: PutOp) -> list[str]:
        if op.value is None or op.index is False:
            return []
        paths = op.index or self.fields
        texts = (text for path in paths for text in get_text_at_path(op.value, path))
        return [text for text in texts if text.strip()]

    def _by_text(
        self, texts: Sequence[str], vectors: Sequence[Sequence[float]]
    ) -> dict[str, Vector]:
        if len(texts) != len(vectors):
            raise ValueError(f"the embeddings made {len(vectors)} vectors of {len(texts)} texts")
        return dict(zip(texts, map(self._checked, vectors), strict=True))

    def _checked(self, vector: Sequence[float]) -> Vector:
        checked = np.asarray(vector, np.float32)
        if checked.shape != (self._dims,):
            raise ValueError(
                f"the embeddings made a vector of {checked.size} numbers, and index['dims'] is "
                f"{self._dims}; give the number of dimensions of the model"
            )
        return checked


def _queries(ops: Sequence[Op]) -> list[str]:
    return list(dict.fromkeys(op.query for op in ops if isinstance(op, SearchOp) and op.query))
