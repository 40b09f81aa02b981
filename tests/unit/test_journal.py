"""The journal of an evaluation: whatever a crash leaves, whole lines count."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognigraph.evaluate.files import DatasetError, Journal

RECORDS = st.lists(
    st.fixed_dictionaries({"id": st.sampled_from("abc"), "text": st.text(max_size=20)}), max_size=6
)


@given(RECORDS, st.integers(0, 400))
def test_a_file_cut_anywhere_keeps_its_whole_lines(tmp_path_factory, records, cut):
    path = tmp_path_factory.mktemp("journal") / "j.jsonl"
    journal = Journal(path, "id")
    for record in records:
        journal.write(record)
    data = path.read_bytes() if records else b""
    path.write_bytes(data[:cut])
    whole = data[:cut].count(b"\n")
    again = Journal(path, "id")
    assert again.records == {record["id"]: record for record in records[:whole]}
    again.write({"id": "new"})
    expected = {record["id"]: record for record in records[:whole]} | {"new": {"id": "new"}}
    assert Journal(path, "id").records == expected


@pytest.mark.parametrize(
    "line", ["nonsense", "[]", '{"other": 1}', "3", pytest.param("[" * 5000, id="deep")]
)
def test_a_damaged_line_is_reported_by_number(tmp_path, line):
    path = tmp_path / "j.jsonl"
    path.write_text(json.dumps({"id": "a"}) + "\n" + line + "\n", "utf-8")
    with pytest.raises(DatasetError, match=r"line 2 of .*j\.jsonl is damaged"):
        Journal(path, "id")


def test_lone_surrogates_come_back(tmp_path):
    path = tmp_path / "j.jsonl"
    Journal(path, "id").write({"id": "a", "text": "\ud800"})
    assert Journal(path, "id").records["a"]["text"] == "\ud800"
