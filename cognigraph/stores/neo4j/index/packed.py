"""What ranking needs of a node, in one property of bytes that numpy reads: ``packed``.

Neo4j stores arrays of numbers and strings bit by bit, and reads each property of a node by itself;
bytes are copied. So chunks, triples and themes have, beside the properties that indexes and readers
use, one that holds them all: the unit vector in 16-bit integers, which gives cosines to .0001, and
a 32-bit hash for each term of the text.

For nodes that an earlier version wrote, the statements return the list of values that
:func:`packed_of_values` packs. They read these as ``node[name]``: the server would read properties
with a fixed name of every node, whether or not it needs them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Vector
from cognigraph.model.messages import ROLES, Role
from cognigraph.stores.neo4j.connection import Connection
from cognigraph.stores.neo4j.statements import packed_property
from cognigraph.stores.neo4j.tokens import space_hash, token
from cognigraph.times import to_micros

_VERSION = 1

_LARGEST = 32767

_HASH = "<u4"

_HEAD = np.dtype(
    [
        ("version", "u1"),
        ("question", "u1"),
        ("role", "u1"),
        ("unused", "u1"),
        ("dimension", "<u4"),
        ("length", "<u4"),
        ("scale", "<f4"),
        ("space", "<u8"),
        ("at", "<i8"),
        ("uid", "V16"),
        ("session", "V16"),
    ]
)
"""What comes first; then the vector, the hashes of the terms, and the name of the speaker."""

_NO_SESSION = "0" * 32

_VALUES = ("uid", "space", "session_uid", "at", "question", "role", "speaker", "terms")


def unpacked_properties(embedding: str) -> list[str]:
    """The parameter ``unpacked``: properties to read of a node that is not packed."""
    return [*_VALUES, embedding]


def pack(
    space: str,
    uid: str,
    terms: Mapping[str, int],
    vector: Vector,
    *,
    session: str | None = None,
    at: datetime | None = None,
    question: bool = False,
    role: Role | None = None,
    speaker: str | None = None,
    coded: Coded | None = None,
) -> bytes:
    """What ranking needs of a chunk, a triple or a theme.

    ``coded`` is the vector as :func:`code` returns it, if that is known.
    """
    words = ((token(space, term)[:8], count) for term, count in terms.items())
    hashes = "".join(word * count for word, count in words)
    return _packed(
        space,
        uid,
        bytes.fromhex(hashes),
        coded or code(vector[None])[0],
        session=session,
        at=0 if at is None else to_micros(at),
        question=question,
        role=role,
        speaker=speaker,
    )


def packed_of_values(values: Sequence[Any], dimension: int) -> bytes:
    """The same, of the values of a node that an earlier version wrote."""
    uid, space, session, at, question, role, speaker, terms, vector = values
    return _packed(
        space,
        uid,
        bytes.fromhex("".join(token(space, term)[:8] for term in terms or ())),
        code(np.array([[0.0] * dimension if vector is None else vector], np.float32))[0],
        session=session,
        at=0 if at is None else to_micros(at.to_native()),
        question=bool(question),
        role=role,
        speaker=speaker,
    )


def _packed(
    space: str,
    uid: str,
    hashes: bytes,
    coded: Coded,
    *,
    session: str | None,
    at: int,
    question: bool,
    role: Role | None,
    speaker: str | None,
) -> bytes:
    scale, codes = coded
    head = (
        _VERSION,
        question,
        0 if role is None else 1 + ROLES.index(role),
        0,
        len(codes),
        len(hashes) // 4,
        scale,
        space_hash(space),
        at,
        bytes.fromhex(uid),
        bytes.fromhex(session or _NO_SESSION),
    )
    name = (speaker or "").encode("utf-8", "replace")
    return np.array(head, _HEAD).tobytes() + codes.tobytes() + hashes + name


Coded = tuple[float, npt.NDArray[np.int16]]
"""A unit vector as integers, and what they are multiplied by; 0 for the zero vector."""


def code(vectors: Vector) -> list[Coded]:
    """Unit vectors (n, dimension) as integers.

    All at once, because numpy gives the interpreter lock away for each product of two vectors. A
    thread that codes a batch one by one waits each time until another one gives it back.
    """
    exact = np.asarray(vectors, np.float64)
    largest = np.abs(exact).max(axis=1, initial=0.0)
    codes = np.rint(exact * (_LARGEST / np.where(largest > 0, largest, 1.0))[:, None])
    norms = np.sqrt(np.einsum("nd,nd->n", codes, codes))
    scales = np.where(norms > 0, 1.0 / np.maximum(norms, 1.0), 0.0)
    return list(zip(scales.tolist(), codes.astype("<i2"), strict=True))


@dataclass(frozen=True)
class Columns:
    """Some packed nodes, as columns."""

    head: npt.NDArray[Any]
    codes: npt.NDArray[np.int16]
    tails: Sequence[bytes]
    """Hashes and speakers."""

    def __len__(self) -> int:
        return len(self.head)

    def rows(self, rows: Sequence[int]) -> Columns:
        """The nodes with these row numbers, in this order."""
        chosen = np.asarray(rows, np.int64)
        return Columns(self.head[chosen], self.codes[chosen], [self.tails[row] for row in rows])

    @property
    def uids(self) -> list[str]:
        """Uids of the nodes."""
        return _hexadecimal(self.head["uid"])

    @property
    def sessions(self) -> list[str]:
        """Uids of the sessions of chunks and themes."""
        return _hexadecimal(self.head["session"])

    @property
    def length(self) -> Floats:
        """The number of terms."""
        return self.head["length"].astype(float)

    @property
    def at(self) -> Floats:
        """Times of chunks in seconds."""
        return np.asarray(self.head["at"] / 1e6)

    @property
    def question(self) -> npt.NDArray[np.bool_]:
        """Which chunks ask something."""
        return np.asarray(self.head["question"] != 0)

    @property
    def roles(self) -> list[Role | None]:
        """Roles of the speakers of chunks."""
        names: list[Role | None] = [None, *ROLES]
        return [names[code] for code in self.head["role"].tolist()]

    @cached_property
    def speakers(self) -> list[str | None]:
        """Speakers of chunks."""
        known: dict[bytes, str | None] = {b"": None}
        found = []
        for tail, length in zip(self.tails, self.head["length"].tolist(), strict=True):
            name = tail[4 * length :]
            if name not in known:
                known[name] = name.decode()
            found.append(known[name])
        return found

    def have_role(self, roles: Iterable[str]) -> npt.NDArray[np.bool_]:
        """Which chunks have one of some roles, or of ``"person"``, none."""
        passes = np.array([name in set(roles) for name in ("person", *ROLES)])
        return np.asarray(passes[self.head["role"]])

    def are_of(self, space: str) -> npt.NDArray[np.bool_]:
        """Which nodes are of a space."""
        return np.asarray(self.head["space"] == space_hash(space))

    def cosine(self, vector: Vector) -> Floats:
        """Cosines with a vector."""
        products = self.codes.astype(np.float32) @ _unit(vector)
        return np.asarray(products * self.head["scale"], float)

    def matches(self, space: str, terms: Sequence[str]) -> Floats:
        """How often each text contains each term, (n, len(terms))."""
        lengths = self.head["length"]
        hashes = np.frombuffer(
            b"".join(
                tail[: 4 * length]
                for tail, length in zip(self.tails, lengths.tolist(), strict=True)
            ),
            _HASH,
        )
        counts = np.zeros((len(self), len(terms)))
        if not terms or not len(hashes):
            return counts
        sought = np.frombuffer(bytes.fromhex("".join(token(space, t)[:8] for t in terms)), _HASH)
        order = np.argsort(sought)
        position = np.searchsorted(sought[order], hashes).clip(max=len(terms) - 1)
        column = order[position]
        found = np.flatnonzero(sought[column] == hashes)
        rows = np.repeat(np.arange(len(self)), lengths)[found]
        np.add.at(counts, (rows, column[found]), 1.0)
        return counts


def _unit(vector: Vector) -> Vector:
    """The vector with a length of 1, or the zero vector."""
    norm = float(np.linalg.norm(vector))
    return (np.asarray(vector, np.float64) / (norm or 1.0)).astype(np.float32)


def columns(values: Sequence[bytes | Sequence[Any]], dimension: int) -> Columns:
    """Columns of what statements return of nodes."""
    items = [
        value if isinstance(value, bytes) else packed_of_values(value, dimension)
        for value in values
    ]
    vectors = _HEAD.itemsize + 2 * dimension
    first = np.frombuffer(b"".join([item[:vectors] for item in items]), np.uint8)
    rows = first.reshape(len(items), vectors)
    head = np.ascontiguousarray(rows[:, : _HEAD.itemsize]).view(_HEAD)[:, 0]
    codes = np.ascontiguousarray(rows[:, _HEAD.itemsize :]).view("<i2")
    return Columns(head, codes, [item[vectors:] for item in items])


def dimension_of(value: bytes | Sequence[Any]) -> int:
    """The dimension of the vector of a node, as a statement returns it."""
    if isinstance(value, bytes):
        return int(np.frombuffer(value[: _HEAD.itemsize], _HEAD)["dimension"][0])
    return len(cast(Sequence[float], value[-1]))


def _hexadecimal(uids: npt.NDArray[Any]) -> list[str]:
    text = uids.tobytes().hex()
    return [text[start : start + 32] for start in range(0, len(text), 32)]


_PACKED_AT_ONCE = 2000

_PACKED_LAYERS = ("Chunk", "Fact", "Theme")


def pack_all(connection: Connection, embedding: str, dimension: int) -> None:
    """Pack all nodes that are not packed yet, with the vectors of the property ``embedding``.

    What was interrupted is continued.
    """
    for layer in _PACKED_LAYERS:
        after: str | None = ""
        while after is not None:
            after = _pack_some(connection, layer, after, embedding, dimension)


def _pack_some(
    connection: Connection, layer: str, after: str, embedding: str, dimension: int
) -> str | None:
    """Pack the next nodes; return the uid of the last one, if there was any."""
    replace = (
        (f"node.{packed_property(connection.embedding)}", f"node.{packed_property(embedding)}"),
        (":Chunk", f":{layer}"),
    )
    row = connection.row(
        "schema/unpacked",
        *replace,
        after=after,
        limit=_PACKED_AT_ONCE,
        unpacked=unpacked_properties(embedding),
    )
    assert row is not None
    last, nodes = row
    rows = [[values[0], text, packed_of_values(values, dimension)] for text, values in nodes]
    if rows:
        connection.write(lambda tx: tx.rows("schema/pack", *replace, rows=rows))
    return None if last is None else str(last)
