"""Suspected duplicates by embedding: pairs of entities whose names have similar vectors.

Similar vectors are a reason for a person to look at two names, never a reason to merge them:
"beauty of nature" may be "nature's beauty", but "dance classes and workshops" are not the "dance
classes". All pairs found here are therefore only *suspected*, and merges do not depend on the
embedder.

The pairs are computed on demand, for all names at once, as a pure function of the entities and
their vectors. Names are compared only within blocks, which are the buckets of cross-polytope
hashing (Andoni et al. 2015, "Practical and Optimal LSH for Angular Distance"). The vectors come
from :meth:`cognigraph.embed.CheckedEmbedder.embed_names`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import shake_256

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz

from cognigraph.arrays import Floats, Ints, Vector
from cognigraph.resolution.compare import EntityName, PairVerdict, conflict
from cognigraph.resolution.incremental import MOST_IN_BLOCK
from cognigraph.resolution.name_forms import PROPER_TYPES, block_key, form, singular

NEAR = 0.92
"""Least cosine of two names that count as similar."""

_LEAST, MOST_BY_VECTORS = 0.4, 0.58
"""Range of scores: below pairs suspected by spelling, above pairs where one type is generic."""

_SPELLING = 85.0
"""Least similarity in spelling (0 to 100) of two proper names.

Vectors alone do not separate proper names: Boston and Chicago are close to each other."""

_TABLES, _HASHES, _SIDES = 12, 3, 32
"""Tables, hashes per table, and directions per hash of the locality-sensitive hashing.

A name is in one block per table. Each hash is the nearest of 64 directions (32 and their
opposites). On real names, 19 in 20 pairs with a cosine of at least :data:`NEAR` share a block."""
_AT_ONCE = 4096

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


def alike(a: EntityName, b: EntityName, cosine: float) -> PairVerdict | None:
    """Return the relation of two entities whose names have this cosine, or None. Symmetric.

    None if the cosine is below :data:`NEAR`, if the types differ or the names contradict each
    other, if one name consists of the other and something more, or if both are proper names with
    different spellings.
    """
    if a.uid == b.uid or a.type != b.type or cosine < NEAR or conflict(a, b) is not None:
        return None
    if _is_joined(a.name, b.name) or not _may_be_spelled_so(a, b):
        return None
    share = min((cosine - NEAR) / (1 - NEAR), 1.0)
    score = round(_LEAST + share * (MOST_BY_VECTORS - _LEAST), 3)
    return PairVerdict("near", score, False, f"nearly the same meaning (cosine {cosine:.2f})")


def _is_joined(one: str, other: str) -> bool:
    """Return whether one name adds something to the other, or contrasts with it ("other ...")."""
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
    """Count the words of a name, in the singular, and the words and marks that connect them."""
    parts = _PARTS.findall(name)
    words = [part for part in parts if part not in _JOINING and part not in _ARTICLES]
    ties = [part for part in parts if part in _JOINING]
    return Counter(map(singular, words)), Counter(ties)


def _may_be_spelled_so(a: EntityName, b: EntityName) -> bool:
    one, other = form(a.name, a.type), form(b.name, b.type)
    named = a.type in PROPER_TYPES and (a.proper or b.proper or one.is_name or other.is_name)
    if not named and not (a.proper and b.proper):
        return True
    return fuzz.token_sort_ratio(" ".join(one.words), " ".join(other.words)) >= _SPELLING


def near(named: Sequence[EntityName], vectors: Vector) -> list[tuple[int, int, PairVerdict]]:
    """Return pairs of similar entities (positions in ``named``), highest score first.

    ``vectors`` (entities, dimension) are the embeddings of their names. A vector of zeros is in
    no pair.
    """
    # Sums of products of half-precision numbers are exact in double precision, so a cosine does
    # not depend on the order of the operands or on the machine.
    halves = vectors.astype(np.float16)
    pairs: list[tuple[int, int, PairVerdict]] = []
    for left, right in _candidates(named, halves):
        cosines = cosine(halves[left], halves[right])
        for index in np.flatnonzero(cosines >= NEAR):
            a, b = int(left[index]), int(right[index])
            relation = alike(named[a], named[b], float(cosines[index]))
            if relation is not None:
                pairs.append((a, b, relation))
    pairs.sort(key=lambda pair: (-pair[2].score, named[pair[0]].uid, named[pair[1]].uid))
    return pairs


def _candidates(
    named: Sequence[EntityName], halves: npt.NDArray[np.float16]
) -> Iterator[tuple[Ints, Ints]]:
    """Yield batches of pairs that share a block, each pair once, with the smaller uid first."""
    order = sorted(range(len(named)), key=lambda index: named[index].uid)
    indices = np.array([index for index in order if halves[index].any()], np.int64)
    if not len(indices):
        return
    kinds = np.array([_kind(named[index]) for index in indices.tolist()]).view(np.uint64)
    keys = np.concatenate(
        [
            _keys(kinds[start : start + _AT_ONCE], halves[indices[start : start + _AT_ONCE]])
            for start in range(0, len(indices), _AT_ONCE)
        ]
    )
    met = [pair for table in range(_TABLES) for pair in _together(keys[:, table])]
    pairs = np.unique(np.concatenate(met)) if met else np.empty(0, np.int64)
    for start in range(0, len(pairs), _AT_ONCE):
        left, right = np.divmod(pairs[start : start + _AT_ONCE], len(indices))
        yield indices[left], indices[right]


def _kind(entity: EntityName) -> int:
    """Hash the type and the numbers of a name: only names that agree in both are compared."""
    return block_key(f"{entity.type}|{'|'.join(form(entity.name, entity.type).numbers)}")


def _keys(kinds: npt.NDArray[np.uint64], halves: npt.NDArray[np.float16]) -> npt.NDArray[np.uint64]:
    """Return the keys of the blocks of each name, (names, tables)."""
    # The sums are integers far below 2**24, which float32 represents exactly on every machine.
    scaled = np.rint(halves.astype(np.float32) * _SCALE)
    turned = (scaled @ _directions(halves.shape[1])).reshape(len(halves), _TABLES, _HASHES, _SIDES)
    nearest = np.abs(turned).argmax(axis=3)
    negative = np.take_along_axis(turned, nearest[..., None], axis=3)[..., 0] < 0
    digits = (2 * _SIDES) ** np.arange(_HASHES)
    corners = ((nearest * 2 + negative) * digits).sum(axis=2).astype(np.uint64)
    mixed: npt.NDArray[np.uint64] = kinds[:, None] + corners * _ODD
    return mixed


def _together(keys: npt.NDArray[np.uint64]) -> Iterator[Ints]:
    """Yield pairs of positions with the same key, encoded as smaller * number of keys + larger.

    Keys that more than :data:`MOST_IN_BLOCK` positions have are ignored.
    """
    order = np.argsort(keys, kind="stable")
    _, sizes = np.unique(keys, return_counts=True)
    size = np.repeat(sizes, sizes)
    order = order[(size > 1) & (size <= MOST_IN_BLOCK)]
    ranked = keys[order]
    for apart in range(1, MOST_IN_BLOCK):
        same = ranked[apart:] == ranked[:-apart]
        if not same.any():
            break
        # The stable sort keeps positions with the same key in ascending order.
        yield order[:-apart][same] * len(keys) + order[apart:][same]


@lru_cache(maxsize=4)
def _directions(dimension: int) -> npt.NDArray[np.float32]:
    """Return pseudorandom directions as columns of signs (dimension, tables * hashes * sides).

    They are derived from a fixed seed and so are the same in every process.
    """
    columns = _TABLES * _HASHES * _SIDES
    stream = shake_256(b"cognigraph names").digest(dimension * columns // 8)
    bits = np.unpackbits(np.frombuffer(stream, np.uint8)).reshape(dimension, columns)
    return bits.astype(np.float32) * 2 - 1


def cosine(left: npt.NDArray[np.float16], right: npt.NDArray[np.float16]) -> Floats:
    """Return the cosine of each row of ``left`` with the same row of ``right``, shape (rows,).

    0 if either row is all zeros.
    """
    one, other = left.astype(np.float64), right.astype(np.float64)
    dots: Floats = np.einsum("ij,ij->i", one, other)
    squares: Floats = np.einsum("ij,ij->i", one, one) * np.einsum("ij,ij->i", other, other)
    found: Floats = np.divide(dots, np.sqrt(squares), out=np.zeros_like(dots), where=squares > 0)
    return found
