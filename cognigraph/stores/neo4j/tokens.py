"""Hashes for the words, marks, names and labels of a space in Neo4j, and full-text queries of them.

Full-text tokens are hashes of (space, term) or (space, mark): the analyser sees only hexadecimal
digits, so no text can be a syntax error, and one space never finds the tokens of another. Marks of
tags and metadata are in the same index as words, so that one query finds the messages that have
both.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from cognigraph.model import Exclusion
from cognigraph.model.filters import Filter, Scalar
from cognigraph.stores.records import MessageData

_LEAST_BOOST = 0.0001
"""The query language has no exponent notation, and a boost of zero would not match."""


def _hash(kind: bytes, *parts: str) -> str:
    digest = blake2b(digest_size=8, person=kind)
    for part in parts:
        raw = part.encode("utf-8", "replace")
        digest.update(len(raw).to_bytes(8, "big"))
        digest.update(raw)
    return digest.hexdigest()


@lru_cache(maxsize=131_072)
def token(space: str, term: str) -> str:
    """The full-text token of a term in a space: 16 hexadecimal digits."""
    return _hash(b"term", space, term)


@lru_cache(maxsize=32_768)
def mark_token(space: str, mark: str) -> str:
    """The full-text token of a mark, which is the token of no term."""
    return _hash(b"mark", space, mark)


def lexemes(space: str, terms: Iterable[str], marks: Iterable[str] = ()) -> str:
    """The indexed form of a text: the tokens of its terms, and those of its marks."""
    tokens = [token(space, term) for term in terms]
    return " ".join([*tokens, *(mark_token(space, mark) for mark in marks)])


def weighted_query(space: str, weights: Mapping[str, float], marks: Iterable[str] = ()) -> str:
    """A full-text query whose score is the sum of the weights of the matching terms.

    A prefix query scores by its boost alone; a plain term would be scored with the statistics of
    all spaces. All tokens have the same length, so a prefix matches only the token itself. With
    ``marks`` only texts that have all of them match, which adds the same to all scores.
    """
    words = " ".join(
        f"{token(space, term)}*^{max(weight, _LEAST_BOOST):.4f}" for term, weight in weights.items()
    )
    marked = having_marks(space, marks)
    return f"+({words}) {marked}" if marked else words


def having_marks(space: str, marks: Iterable[str]) -> str:
    """A full-text query for all texts that have some marks; empty without marks."""
    return " ".join(f"+{mark_token(space, mark)}*^{_LEAST_BOOST:.4f}" for mark in marks)


def anchor_hash(space: str, key: str) -> str:
    """The hash by which an entity is looked up by its stemmed name."""
    return _hash(b"anchor", space, key)


def name_hash(space: str, normalised: str) -> str:
    """The hash by which an entity is looked up by its normalised name."""
    return _hash(b"name", space, normalised)


@lru_cache(maxsize=32_768)
def space_hash(space: str) -> int:
    """A number that tells spaces apart."""
    return int(_hash(b"space", space), 16)


def own_label(layer: str, space: str) -> str:
    """The label of a space's nodes in a layer, such as ``Chunk_1f0c...``; safe in any statement."""
    return f"{layer}_{_hash(b'label', space)}"


_LONGEST = 120
"""A longer mark is hashed."""


def filter_values(where: Filter) -> dict[str, Any]:
    """The parameter ``where`` of statements that read chunks."""
    return {
        "roles": list(where.roles),
        "sessions": list(where.sessions) or None,
        "speakers": list(where.speakers) or None,
        "since": where.since,
        "until": where.latest,
        "marks": [*_of_tags(where.tags), *_of_fields(where.metadata)],
    }


def filter_for_sources(where: Filter, without: Exclusion) -> dict[str, Any]:
    """As :func:`filter_values`, for the sources by vector and words: they find nothing left out."""
    parameters = filter_values(where)
    if without.ids:
        parameters["without_ids"] = sorted(without.ids)
    if without.messages:
        parameters["without_messages"] = [list(message) for message in sorted(without.messages)]
    return parameters


def marks_of(data: MessageData) -> list[str]:
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
