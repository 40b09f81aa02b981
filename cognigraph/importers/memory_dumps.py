"""Dumps of other memories: mem0's memories, Graphiti's episodes, items of a LangGraph store.

Each owner of a memory of mem0 or Graphiti has a space. Items, such as LangMem's memories, are kept
as ``CogniGraphStore`` keeps them; a dump has them as ``Item.dict()`` gives them, or the rows of
``PostgresStore``'s table.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC
from functools import partial
from typing import Any
from urllib.parse import quote

from cognigraph.importers.fields import iso
from cognigraph.importers.json_records import from_messages, objects
from cognigraph.importers.record import Bad, Head, Reader, ReadOptions, Record
from cognigraph.importers.source import Input
from cognigraph.model.filters import Scalar
from cognigraph.text.terms import storable

_TEXTS = ("memory", "data", "text", "content")
OWNERS = ("user_id", "agent_id", "run_id")
"""Who may own a memory of mem0. Its space is that of the first owner that is given."""
_MEM0_KEPT = (
    "user_id", "agent_id", "app_id", "run_id", "actor_id", "categories", "hash", "score",
    "created_at", "updated_at",
)  # fmt: skip


def space_of_owner(given: Mapping[str, Any]) -> str | None:
    """The space of the user, agent or run that a memory belongs to, such as ``user_id:alice``."""
    named = (f"{name}:{given[name]}" for name in OWNERS if given.get(name) is not None)
    return next(named, None)


def _mem0_sniff(head: Head) -> bool:
    return head.is_json and any(
        "memory" in keys and not {"id", "hash", "user_id"}.isdisjoint(keys)
        for keys in (head.keys, head.inner_keys)
    )


def _mem0_read(file: Input, options: ReadOptions) -> Iterator[Record]:
    for item in objects(file, {"results", "memories"}):
        if isinstance(item.value, Bad):
            yield item
            continue
        given = item.value
        if isinstance(given.get("payload"), dict):  # a point, as Qdrant keeps memories
            given = given["payload"] | {"id": given.get("id")}
        yield Record(item.position, _mem0_message(given, options), space_of_owner(given))


def _mem0_message(given: Mapping[str, Any], options: ReadOptions) -> dict[str, Any] | Bad:
    text = next((given[name] for name in _TEXTS if isinstance(given.get(name), str)), None)
    if text is None:
        return Bad("has no 'memory'")
    own = given.get("metadata")
    metadata = dict(own) if isinstance(own, Mapping) else {}
    zone = options.zone or UTC
    return {
        "text": text,
        "session": given.get("run_id") or given.get("user_id") or "mem0",
        "id": given.get("id") or None,
        "speaker": given.get("actor_id") or given.get("user_id") or given.get("agent_id") or None,
        "at": iso(given.get("updated_at") or given.get("created_at"), zone),
        "expires": iso(given.get("expiration_date"), zone),
        "metadata": metadata | {name: given[name] for name in _MEM0_KEPT if given.get(name)},
    }


MEM0 = Reader("mem0", "mem0's memories, as get_all returns them", _mem0_sniff, _mem0_read)


_EPISODE = frozenset({"content", "source_description"})
_GRAPHITI_KEPT = ("name", "source", "source_description", "group_id")


def _graphiti_sniff(head: Head) -> bool:
    is_of_neo4j = {"labels", "properties"} <= head.keys
    is_episode = any(keys >= _EPISODE for keys in (head.keys, head.inner_keys))
    return head.is_json and (is_of_neo4j or is_episode)


def _graphiti_read(file: Input, options: ReadOptions) -> Iterator[Record]:
    for item in objects(file, {"episodes", "nodes", "edges", "facts", "entities"}):
        if isinstance(item.value, Bad):
            yield item
        elif (episode := _episode(item.value)) is not None:
            value = _graphiti_message(episode, options)
            yield Record(item.position, value, str(episode.get("group_id") or "") or None)


def _episode(value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The fields of an episode; ``None`` for all other nodes and relationships."""
    inner = value.get("properties")
    if isinstance(inner, Mapping):
        labels = value.get("labels")
        return inner if isinstance(labels, list) and "Episodic" in labels else None
    return value if "content" in value and "fact" not in value else None


def _graphiti_message(given: Mapping[str, Any], options: ReadOptions) -> dict[str, Any] | Bad:
    text = given.get("content")
    if not isinstance(text, str):
        return Bad("is an episode whose content is no text")
    value: dict[str, Any] = {
        "text": text,
        "session": given.get("group_id") or "graphiti",
        "id": given.get("uuid") or None,
        "at": iso(given.get("valid_at") or given.get("created_at"), options.zone or UTC),
        "metadata": {name: given[name] for name in _GRAPHITI_KEPT if given.get(name)},
    }
    if given.get("source") == "message":
        return value | _speaker(text)
    if given.get("source") == "json":
        value["raw"] = _decoded(text, None)
    return value


def _speaker(text: str) -> dict[str, Any]:
    """The speaker of an episode such as ``Ann: I moved``, if it has one line."""
    name, colon, said = text.partition(": ")
    if not colon or "\n" in text or len(name.split()) > 4:
        return {}
    return {"speaker": name.strip(), "text": said}


def _decoded(text: str, default: object) -> Any:
    """What a JSON text says; ``default`` if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return default


GRAPHITI = Reader(
    "graphiti",
    "Graphiti's episodes, or Neo4j's JSON export of them",
    _graphiti_sniff,
    _graphiti_read,
)


PREFIX = "store:"
"""How sessions are named that hold items."""
ITEM_TAG = "langgraph-item"
"""The tag of messages that are items."""
_SAFE = " !#$&'()*+,:;=?@[]"
_ENVELOPE = frozenset({"kind", "content"})
_PLACES = ("namespace", "prefix")


def session_of(namespace: tuple[str, ...]) -> str:
    """The session of a namespace: its labels, joined by slashes."""
    return PREFIX + "/".join(quote(label, _SAFE) for label in namespace)


def labels_of(namespace: tuple[str, ...]) -> dict[str, Scalar]:
    """Metadata by which a search finds the items below a namespace."""
    return {f"namespace_{depth}": label for depth, label in enumerate(namespace)}


def text_of_value(value: object) -> str:
    """The texts in a value, one on each line, with their fields if there are several.

    Of what LangMem writes (``{"kind": "Memory", "content": {...}}``) only the content counts.
    """
    if isinstance(value, Mapping) and value.keys() == _ENVELOPE:
        inner = value["content"]
        value = inner if isinstance(inner, Mapping) else value
    texts = list(_texts(value, ""))
    if len(texts) == 1:
        return texts[0][1]
    return "\n".join(f"{path}: {text}" if path else text for path, text in texts)


def _texts(value: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _texts(item, f"{path} {name}".strip())
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item, path)
    elif value is not None and str(value).strip():
        yield path, str(value)


def _langgraph_sniff(head: Head) -> bool:
    return head.is_json and any(
        {"key", "value"} <= keys and not keys.isdisjoint(_PLACES)
        for keys in (head.keys, head.inner_keys)
    )


def _langgraph_message(
    given: Mapping[str, Any], file: Input, options: ReadOptions
) -> dict[str, Any] | Bad:
    namespace, key, value = _namespace(given), given.get("key"), given.get("value")
    if not namespace or not isinstance(key, str):
        return Bad("is no item of a store: it has no namespace (or prefix) and key")
    if isinstance(value, str):  # as a CSV, or a table with a JSON column, gives it
        value = _decoded(value, value)
    if not isinstance(value, Mapping):
        return Bad("is an item whose value is not a JSON object")
    times = ("created_at", "updated_at", "expires_at")
    created, updated, expires = (iso(given.get(name), options.zone or UTC) for name in times)
    at = created or updated
    if at is None:
        return Bad("is an item without created_at and updated_at")
    return {
        "text": text_of_value(value),
        "session": session_of(namespace),
        "id": key,
        "at": at,
        "expires": expires,
        "metadata": labels_of(namespace),
        "tags": [ITEM_TAG],
        "raw": {"value": value, "updated_at": updated or at},
    }


def _namespace(given: Mapping[str, Any]) -> tuple[str, ...]:
    """The labels: a list of them, or as a row of the table has them, joined by dots."""
    labels = next((given[name] for name in _PLACES if given.get(name)), ())
    labels = labels.split(".") if isinstance(labels, str) else labels
    is_whole = isinstance(labels, list | tuple) and all(isinstance(label, str) for label in labels)
    return tuple(map(storable, labels)) if is_whole else ()


LANGGRAPH = Reader(
    "langgraph",
    "items of a LangGraph store, such as LangMem's memories: Item.dict(), or rows of the table",
    _langgraph_sniff,
    from_messages(_langgraph_message, partial(objects, lists={"items", "store"})),
)
