"""Hashes for the words, names and labels of a space in Neo4j, and full-text queries.

Full-text tokens are hashes of (space, term): the analyser sees only hexadecimal digits, so no text
can be a syntax error, and one space never finds the tokens of another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b

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


def lexemes(space: str, terms: Iterable[str]) -> str:
    """The indexed form of a text: the tokens of its terms."""
    return " ".join(token(space, term) for term in terms)


def query(space: str, weights: Mapping[str, float]) -> str:
    """A full-text query whose score is the sum of the weights of the matching terms.

    A prefix query scores by its boost alone; a plain term would be scored with the statistics of
    all spaces. All tokens have the same length, so a prefix matches only the token itself.
    """
    return " ".join(
        f"{token(space, term)}*^{max(weight, _LEAST_BOOST):.4f}" for term, weight in weights.items()
    )


def anchor(space: str, key: str) -> str:
    """The hash by which an entity is looked up by its stemmed name."""
    return _hash(b"anchor", space, key)


def name_hash(space: str, normalised: str) -> str:
    """The hash by which an entity is looked up by its normalised name."""
    return _hash(b"name", space, normalised)


def own_label(layer: str, space: str) -> str:
    """The label of a space's nodes in a layer, such as ``Chunk_1f0c...``; safe in any statement."""
    return f"{layer}_{_hash(b'label', space)}"
