"""Items of a LangGraph store, as ``CogniGraphStore`` keeps them: LangMem's memories are such items.

A dump has the items as ``Item.dict()`` gives them, or the rows of ``PostgresStore``'s table.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC
from typing import Any
from urllib.parse import quote

from cognigraph.importers.fields import iso
from cognigraph.importers.json_records import objects
from cognigraph.importers.record import Bad, Head, Reader, ReadOptions, Record
from cognigraph.importers.source import Input
from cognigraph.model.filters import Scalar
from cognigraph.text.terms import storable

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
    found = list(_texts(value, ""))
    if len(found) == 1:
        return found[0][1]
    return "\n".join(f"{path}: {text}" if path else text for path, text in found)


def _texts(value: object, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _texts(item, f"{path} {name}".strip())
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item, path)
    elif value is not None and str(value).strip():
        yield path, str(value)


def _sniff(head: Head) -> bool:
    return head.is_json and any(
        {"key", "value"} <= keys and not keys.isdisjoint(_PLACES)
        for keys in (head.keys, head.inner_keys)
    )


def _read(file: Input, options: ReadOptions) -> Iterator[Record]:
    for item in objects(file, frozenset({"items", "store"})):
        made = item.value if isinstance(item.value, Bad) else _message(item.value, options)
        yield Record(item.position, made)


def _message(given: Mapping[str, Any], options: ReadOptions) -> dict[str, Any] | Bad:
    namespace, key = _namespace(given), given.get("key")
    if not namespace or not isinstance(key, str):
        return Bad("is no item of a store: it has no namespace (or prefix) and key")
    value = _decoded(given.get("value"))
    if not isinstance(value, Mapping):
        return Bad("is an item whose value is not a JSON object")
    zone = options.zone or UTC
    at = iso(given.get("created_at"), zone) or iso(given.get("updated_at"), zone)
    if at is None:
        return Bad("is an item without created_at and updated_at")
    return {
        "text": text_of_value(value),
        "session": options.session or session_of(namespace),
        "id": key,
        "at": at,
        "expires": iso(given.get("expires_at"), zone),
        "metadata": labels_of(namespace),
        "tags": [ITEM_TAG],
        "raw": {"value": value, "updated_at": iso(given.get("updated_at"), zone) or at},
    }


def _namespace(given: Mapping[str, Any]) -> tuple[str, ...]:
    """The labels: a list of them, or as a row of the table has them, joined by dots."""
    found = next((given[name] for name in _PLACES if given.get(name)), ())
    labels = found.split(".") if isinstance(found, str) else found
    is_whole = isinstance(labels, list | tuple) and all(isinstance(label, str) for label in labels)
    return tuple(map(storable, labels)) if is_whole else ()


def _decoded(value: object) -> object:
    """A value; one that is a text, as a CSV or a table with a JSON column gives it, is JSON."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


READER = Reader(
    "langgraph",
    "items of a LangGraph store, such as LangMem's memories: Item.dict(), or rows of the table",
    _sniff,
    _read,
)
