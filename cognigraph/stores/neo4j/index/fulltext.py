"""Hashes that stand for a space's words, names and labels inside Neo4j.

Full-text tokens are hashes of (space, term): the analyser sees hexadecimal digits only, so no text
can be a syntax error, and one space never finds the tokens of another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b

_LEAST_BOOST = 0.0001
"""The query language takes no exponents, and a boost of zero would be no match."""


def _hash(kind: bytes, *parts: str) -> str:
    digest = blake2b(digest_size=8, person=kind)
    for part in parts:
        raw = part.encode("utf-8", "replace")
        digest.update(len(raw).to_bytes(8, "big"))
        digest.update(raw)
    return digest.hexdigest()


@lru_cache(maxsize=131_072)
def token(space: str, term: str) -> str:
    """Full-text token of a term in a space: 16 hexadecimal digits."""
    return _hash(b"term", space, term)


def lexemes(space: str, terms: Iterable[str]) -> str:
    """What is indexed for a text: the token of each of its terms."""
    return " ".join(token(space, term) for term in terms)


def query(space: str, weights: Mapping[str, float]) -> str:
    """Full-text query whose score is the sum of the weights of the terms that match.

    The prefix form scores by the boost alone; a plain term would be scored with the statistics
    of all spaces. All tokens are equally long, so a prefix matches itself only.
    """
    return " ".join(
        f"{token(space, term)}*^{max(weight, _LEAST_BOOST):.4f}" for term, weight in weights.items()
    )


def anchor(space: str, key: str) -> str:
    """Look-up hash of an entity's stemmed name."""
    return _hash(b"anchor", space, key)


def name_hash(space: str, normalised: str) -> str:
    """Look-up hash of an entity's normalised name."""
    return _hash(b"name", space, normalised)


def own_label(layer: str, space: str) -> str:
    """Label of one space's nodes of a layer, such as ``Chunk_1f0c...``, safe in any statement."""
    return f"{layer}_{_hash(b'label', space)}"
