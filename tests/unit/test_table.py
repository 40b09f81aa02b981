"""Growing columns: rows by id, whatever the order they come in."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cognigraph.stores.sqlite.index.layer import Table


def table() -> Table:
    return Table({"id": (np.int64, ()), "value": (np.int32, ()), "vector": (np.float32, (2,))})


def rows(*ids: int) -> dict[str, Any]:
    return {
        "id": np.array(ids, np.int64),
        "value": np.array([id * 10 for id in ids], np.int32),
        "vector": np.array([[id, -id] for id in ids], np.float32).reshape(-1, 2),
    }


def test_an_empty_table_finds_nothing():
    empty = table()
    assert empty.rows == 0
    assert empty.find(np.array([1, 2])).tolist() == [-1, -1]
    assert empty.find(np.empty(0, np.int64)).tolist() == []
    empty.append(rows())
    assert empty["vector"].shape == (0, 2)


def test_rows_are_found_by_id():
    found = table()
    found.append(rows(1, 5, 9))
    assert found.find(np.array([9, 1, 4, 0, 100])).tolist() == [2, 0, -1, -1, -1]
    assert found["value"].tolist() == [10, 50, 90]


def test_ids_may_come_in_any_order():
    found = table()
    found.append(rows(5, 2))
    found.append(rows(9))
    found.append(rows(1, 7))
    assert found.find(np.array([1, 2, 3, 5, 7, 9])).tolist() == [3, 1, -1, 0, 4, 2]


def test_updates_change_only_their_rows():
    found = table()
    found.append(rows(1, 2, 3))
    found.update(np.array([1]), {"value": np.array([7], np.int32)})
    assert found["value"].tolist() == [10, 7, 30]
    assert found["vector"].tolist() == [[1, -1], [2, -2], [3, -3]]


def test_growth_keeps_everything_and_little_spare_room():
    found = table()
    for start in range(0, 5000, 7):
        found.append(rows(*range(start, start + 7)))
    assert found["value"].tolist() == [id * 10 for id in range(found.rows)]
    assert len(found._columns["vector"]) <= found.rows * 1.3


@given(st.lists(st.lists(st.integers(0, 60), unique=True, max_size=10), max_size=10), st.data())
def test_as_a_dictionary(batches, data):
    found, seen = table(), {}
    for batch in batches:
        fresh = [id for id in batch if id not in seen]
        found.append(rows(*fresh))
        seen.update({id: row for row, id in enumerate(fresh, len(seen))})
    wanted = data.draw(st.lists(st.integers(-1, 61)))
    assert found.find(np.array(wanted, np.int64)).tolist() == [seen.get(id, -1) for id in wanted]
