"""What ranking needs of a node, packed into bytes and read as columns."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from neo4j.time import DateTime

from cognigraph.stores.neo4j.index.packed import columns, pack, packed_of_values

AT = datetime(2024, 5, 1, 12, 30, 15, 123456, UTC)
UIDS = [f"{number:032x}" for number in range(1, 4)]
VECTORS = np.array([[3.0, 4.0, 0.0], [0.0, 0.0, 0.0], [-1e-9, 2e-9, 2e-9]], np.float32)


def some() -> list[bytes]:
    """Two chunks, one without a vector, and a triple."""
    return [
        pack(
            "s", UIDS[0], {"tea": 2, "cup": 1}, VECTORS[0], session=UIDS[2], at=AT, question=True,
            role="assistant", speaker="Zoë",
        ),
        pack("s", UIDS[1], {}, VECTORS[1], session=UIDS[2], at=AT),
        pack("t", UIDS[2], {"cup": 1}, VECTORS[2]),
    ]  # fmt: skip


def test_columns_have_what_was_packed() -> None:
    nodes = columns(some(), 3)
    assert nodes.uids == UIDS
    assert nodes.sessions[:2] == [UIDS[2], UIDS[2]]
    assert nodes.at[0] == AT.timestamp()
    assert nodes.question.tolist() == [True, False, False]
    assert nodes.roles == ["assistant", None, None]
    assert nodes.speakers == ["Zoë", None, None]
    assert nodes.length.tolist() == [3, 0, 1]
    assert nodes.are_of("s").tolist() == [True, True, False]
    assert nodes.have_role(["assistant"]).tolist() == [True, False, False]
    assert nodes.have_role(["person", "tool"]).tolist() == [False, True, True]
    assert nodes.matches("s", ["cup", "pot", "tea"]).tolist() == [[1, 0, 2], [0] * 3, [0] * 3]
    assert nodes.rows([2, 0]).matches("t", ["cup"]).tolist() == [[1], [0]]
    np.testing.assert_allclose(nodes.cosine(np.array([0.0, 2.0, 0.0])), [0.8, 0, 2 / 3], atol=1e-4)
    assert nodes.cosine(np.zeros(3)).tolist() == [0, 0, 0]


def test_no_nodes_have_columns_too() -> None:
    none = columns([], 3)
    assert (none.uids, none.speakers, len(none.cosine(VECTORS[0]))) == ([], [], 0)
    assert none.matches("s", ["tea"]).shape == (0, 1)


def test_the_values_of_a_node_are_packed_alike() -> None:
    at = DateTime.from_native(AT)
    values = [UIDS[0], "s", UIDS[2], at, True, "assistant", "Zoë", ["tea", "tea", "cup"], [3, 4, 0]]
    assert packed_of_values(values, 3) == some()[0]
    empty = [UIDS[1], "s", UIDS[2], at, None, None, None, None, None]
    assert packed_of_values(empty, 3) == some()[1]
    assert columns([some()[2], values], 3).uids == [UIDS[2], UIDS[0]]


@given(
    st.lists(
        st.lists(st.floats(-1e3, 1e3, width=32), min_size=8, max_size=8), min_size=2, max_size=9
    )
)
def test_cosines_are_those_of_the_vectors(rows: list[list[float]]) -> None:
    vectors = np.array(rows, np.float32)
    query = vectors[0]
    found = columns([pack("s", UIDS[0], {}, vector) for vector in vectors], 8).cosine(query)
    norms = np.linalg.norm(vectors.astype(float), axis=1) * np.linalg.norm(query.astype(float))
    dots = vectors.astype(float) @ query.astype(float)
    expected = np.divide(dots, norms, where=norms > 0, out=np.zeros(len(dots)))
    np.testing.assert_allclose(found, expected, atol=1e-3)
