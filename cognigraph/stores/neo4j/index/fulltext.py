"""Hashes for the words, names and labels of a space in Neo4j, and full-text queries.

Full-text tokens are hashes of (space, term) or (space, mark): the analyser sees only hexadecimal
digits, so no text can be a syntax error, and one space never finds the tokens of another. Marks
(see ``allowed.py``) are in the same index as words, so that one query finds the messages that have
both.
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


@lru_cache(maxsize=32_768)
def mark_token(space: str, mark: str) -> str:
    """The full-text token of a mark, which is the token of no term."""
    return _hash(b"mark", space, mark)


def lexemes(space: str, terms: Iterable[str], marks: Iterable[str] = ()) -> str:
    """The indexed form of a text: the tokens of its terms, and those of its marks."""
    tokens = [token(space, term) for term in terms]
    return " ".join([*tokens, *(mark_token(space, mark) for mark in marks)])


def query(space: str, weights: Mapping[str, float], marks: Iterable[str] = ()) -> str:
    """A full-text query whose score is the sum of the weights of the matching terms.

    A prefix query scores by its boost alone; a plain term would be scored with the statistics of
    all spaces. All tokens have the same length, so a prefix matches only the token itself. With
    ``marks`` only texts that have all of them match, which adds the same to all scores.
    """
    words = " ".join(
        f"{token(space, term)}*^{max(weight, _LEAST_BOOST):.4f}" for term, weight in weights.items()
    )
    marked = having(space, marks)
    return f"+({words}) {marked}" if marked else words


def having(space: str, marks: Iterable[str]) -> str:
    """A full-text query for all texts that have some marks; empty without marks."""
    return " ".join(f"+{mark_token(space, mark)}*^{_LEAST_BOOST:.4f}" for mark in marks)


def having_terms(space: str, terms: Iterable[str]) -> str:
    """A full-text query for all texts that contain some terms."""
    return " ".join(f"+{token(space, term)}*^{_LEAST_BOOST:.4f}" for term in terms)


def anchor(space: str, key: str) -> str:
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
