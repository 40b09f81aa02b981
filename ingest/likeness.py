"""Names that mean nearly the same, by their vectors: pure decisions, and the blocks they meet in.

Two names whose vectors agree are worth a person's look and never more: "beauty of nature" may be
"nature's beauty", "dance classes and workshops" are not the dance classes. So what is found here is
*suspected*, and which entities are merged does not depend on the embedder.

Vectors of names are those of :meth:`cognigraph.embed.CheckedEmbedder.embed_names`. Blocks come from
cross-polytope hashing (Andoni et al. 2015, "Practical and Optimal LSH for Angular Distance"). All
arithmetic is on integers, so that one vector leads to the same blocks on every machine.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from hashlib import shake_256

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz

from cognigraph.ingest.forms import PROPER_TYPES, block_key, form, singular
from cognigraph.ingest.resolve import Named, Relation, conflict

NEAR = 0.92
"""Names with a smaller cosine do not resemble each other."""

_LEAST, _MOST = 0.4, 0.58
"""Scores: below whatever is suspected by the letters of two names, above names without a type."""

_SPELLING = 85.0
"""How alike proper names must be spelled (0 to 100): Boston means nearly the same as Chicago."""

_TABLES, _HASHES, _SIDES = 12, 3, 32
"""Each table is a block key of so many hashes, each the nearest of twice so many directions."""

_SCALE = np.float32(1 << 15)
_ODD = np.uint64(0x9E3779B97F4A7C15)

_PARTS = re.compile(r"['’ʼ]s?(?=\W|$)|[&+/,;]|[^\W_]+")
_LISTING = frozenset("and or nor but plus & + / , ;".split())
_JOINING = _LISTING | frozenset(
    "'s ’s ʼs ' ’ ʼ with without of from for to in at on by about over after before than as".split()
)
_ARTICLES = frozenset("the a an".split())
_SETTING_APART = frozenset(
    "other others another else different same next previous last latest".split()
)


def alike(a: Named, b: Named, cosine: float) -> Relation | None:
    """How two entities belong together by the cosine of their vectors; None where nothing says so.

    Symmetric. Nothing is said of names of different types or that contradict each other, of one
    that is the other joined with more, and of proper names that are spelled differently.
    """
    if a.uid == b.uid or a.type != b.type or cosine < NEAR or conflict(a, b) is not None:
        return None
    if _is_joined(a.name, b.name) or not _may_be_spelled_so(a, b):
        return None
    share = min((cosine - NEAR) / (1 - NEAR), 1.0)
    score = round(_LEAST + share * (_MOST - _LEAST), 3)
    return Relation("near", score, False, f"nearly the same meaning (cosine {cosine:.2f})")


def _is_joined(one: str, other: str) -> bool:
    """Whether a name is made of the other and something else, or sets itself apart from it."""
    (left, left_ties), (right, right_ties) = _taken_apart(one), _taken_apart(other)
    if left.keys() & _SETTING_APART != right.keys() & _SETTING_APART:
        return True
    if not (left <= right or right <= left):
        return False
    if bool(left_ties.keys() & _LISTING) != bool(right_ties.keys() & _LISTING):
        return True
    more, less = (left_ties, right_ties) if right <= left else (right_ties, left_ties)
    return left != right and more.total() > less.total()


@lru_cache(maxsize=16_384)
def _taken_apart(name: str) -> tuple[Counter[str], Counter[str]]:
    """How often a name has each word, in the singular, and what ties its words together."""
    parts = _PARTS.findall(name)
    words = [part for part in parts if part not in _JOINING and part not in _ARTICLES]
    ties = [part for part in parts if part in _JOINING]
    return Counter(map(singular, words)), Counter(ties)


def _may_be_spelled_so(a: Named, b: Named) -> bool:
    one, other = form(a.name, a.type), form(b.name, b.type)
    named = a.type in PROPER_TYPES and (a.proper or b.proper or one.is_name or other.is_name)
    if not named and not (a.proper and b.proper):
        return True
    return fuzz.token_sort_ratio(" ".join(one.words), " ".join(other.words)) >= _SPELLING


def near_keys(
    named: Sequence[Named], vectors: npt.NDArray[np.float16], embedder: str
) -> list[frozenset[int]]:
    """Keys of the blocks that names meet in by their vectors (n, dimension).

    The type and the numbers of a name are part of every key, and so is the embedder. A vector of
    zeros has none. Of pairs with a cosine of :data:`NEAR` and more 19 in 20 have a common key.
    """
    if not named:
        return []
    # Whole numbers far below 2**24 in sum: float32 adds them up exactly, in any order.
    scaled = np.rint(vectors.astype(np.float32) * _SCALE)
    turned = (scaled @ _directions(scaled.shape[1])).reshape(len(named), -1, _SIDES)
    nearest = np.abs(turned).argmax(axis=2)
    negative = np.take_along_axis(turned, nearest[..., None], axis=2)[..., 0] < 0
    corners = (nearest * 2 + negative).reshape(len(named), _TABLES, _HASHES)
    digits = np.arange(_HASHES + 1) * (2 * _SIDES).bit_length()
    codes = (corners << digits[:-1]).sum(axis=2) + (np.arange(_TABLES) << digits[-1])
    kinds = [block_key(f"near|{embedder}|{one.type}|{_numbers(one)}") for one in named]
    keys = _mixed(np.array(kinds).view(np.uint64)[:, None] + codes.astype(np.uint64) * _ODD)
    return [
        frozenset(own) if any_content else frozenset()
        for own, any_content in zip(keys.tolist(), scaled.any(axis=1), strict=True)
    ]


def _numbers(one: Named) -> str:
    return "|".join(form(one.name, one.type).numbers)


def _mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Each number scattered over 64 bits (the finaliser of SplitMix64)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        values = (values ^ (values >> np.uint64(shift))) * np.uint64(factor)
    return (values ^ (values >> np.uint64(31))).view(np.int64)


@lru_cache(maxsize=4)
def _directions(dimension: int) -> npt.NDArray[np.float32]:
    """Random directions as columns of signs (dimension, tables * hashes * sides), for ever."""
    columns = _TABLES * _HASHES * _SIDES
    stream = shake_256(b"cognigraph names").digest(dimension * columns // 8)
    bits = np.unpackbits(np.frombuffer(stream, np.uint8)).reshape(dimension, columns)
    return bits.astype(np.float32) * 2 - 1


def cosines(
    left: npt.NDArray[np.float16], right: npt.NDArray[np.float16]
) -> npt.NDArray[np.float64]:
    """Cosines of rows with rows (n,). Products of halves add up exactly in doubles."""
    one, other = left.astype(np.float64), right.astype(np.float64)
    dots = np.einsum("ij,ij->i", one, other)
    squares = np.einsum("ij,ij->i", one, one) * np.einsum("ij,ij->i", other, other)
    found: npt.NDArray[np.float64] = np.divide(
        dots, np.sqrt(squares), out=np.zeros_like(dots), where=squares > 0
    )
    return found
