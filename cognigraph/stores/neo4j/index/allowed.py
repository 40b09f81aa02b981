"""Filters as Cypher gets them: a map of values, and marks that stand for tags and metadata."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any

from cognigraph.model import Exclusion
from cognigraph.model.filters import Filter, Scalar
from cognigraph.stores.records import MessageData

_LONGEST = 120
"""A longer mark is hashed."""


def allowed(where: Filter) -> dict[str, Any]:
    """The parameter ``where`` of statements that read chunks."""
    return {
        "roles": list(where.roles),
        "sessions": list(where.sessions) or None,
        "speakers": list(where.speakers) or None,
        "since": where.since,
        "until": where.latest,
        "marks": [*_of_tags(where.tags), *_of_fields(where.metadata)],
    }


def sought(where: Filter, without: Exclusion) -> dict[str, Any]:
    """As :func:`allowed`, for the sources by vector and words, which find nothing left out."""
    parameters = allowed(where)
    if without.ids:
        parameters["without_ids"] = sorted(without.ids)
    if without.messages:
        parameters["without_messages"] = [list(one) for one in sorted(without.messages)]
    return parameters


def marks(data: MessageData) -> list[str]:
    """What a chunk is found by: its tags, and the fields of its metadata that are no containers."""
    metadata = json.loads(data.metadata) if data.metadata else {}
    fields = {name: value for name, value in metadata.items() if not isinstance(value, dict | list)}
    return [*_of_tags(data.tags), *_of_fields(fields)]


def tag_mark(tag: str) -> str:
    """What a chunk with a tag is found by."""
    return next(_of_tags([tag]))


def _of_tags(tags: Iterable[str]) -> Iterator[str]:
    return (_mark(f"#{tag}") for tag in tags)


def _of_fields(metadata: Mapping[str, Scalar]) -> Iterator[str]:
    """One mark for each field. 1 and 1.0 have the same, true another one."""
    for name, value in metadata.items():
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        yield _mark(f"{json.dumps(name)}={json.dumps(value)}")


def _mark(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
