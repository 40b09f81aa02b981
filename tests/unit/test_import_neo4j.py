"""The CSV files that bench/neo4j_csv.py writes hold what the product would store."""

from __future__ import annotations

import csv
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench import bulk
from bench.neo4j_csv import NODES, RELATIONSHIPS, Export, labels_of
from bench.synthetic import World, messages
from cognigraph.embed import CheckedEmbedder, resolve
from cognigraph.operations.adding import clean_message, to_rows
from cognigraph.settings import InsertSettings
from cognigraph.stores.neo4j.index.packed import columns
from cognigraph.stores.neo4j.messages import chunk_row

pytestmark = pytest.mark.slow

Files = dict[str, list[dict[str, str]]]

CHUNKS, FACTS = 60, 180
END_IDS = (":START_ID", ":END_ID")


def filled(file: Path, facts: int) -> str:
    bulk.bulk_fill(str(file), CHUNKS, facts, bulk.RUN)
    return str(file)


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Export:
    folder = tmp_path_factory.mktemp("import")
    return Export(filled(folder / "m.db", FACTS), folder / "csv")


@pytest.fixture(scope="module")
def files(export: Export) -> Files:
    return written(export)


def written(export: Export) -> Files:
    export.run()
    return {name: read(export.folder / f"{name}.csv") for name in NODES | RELATIONSHIPS}


def read(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file, delimiter="\t"))


def value(name: str, text: str) -> Any:
    """What neo4j-admin reads, by the type in the header."""
    _, _, type = name.partition(":")
    parts = text.split(";")
    return {
        "": lambda: text,
        "long": lambda: int(text),
        "boolean": lambda: text == "true",
        "datetime": lambda: datetime.fromisoformat(text).astimezone(UTC),
        "string[]": lambda: sorted(parts),
        "float[]": lambda: np.array(parts, np.float32),
    }[type]()


def properties(row: dict[str, str]) -> dict[str, Any]:
    return {
        name.partition(":")[0]: value(name, text) for name, text in row.items() if name != ":ID"
    }


def stored(space: str) -> list[dict[str, Any]]:
    """What an insert writes of the same messages."""
    given = [
        clean_message(
            message, space=space, now=datetime.now(UTC), zone=None, limit=10_000, seen=Counter(),
            index=index,
        )
        for index, message in enumerate(messages(World(), CHUNKS))
    ]  # fmt: skip
    rows = to_rows(given, space, InsertSettings(), CheckedEmbedder(resolve("wordllama")))
    return [chunk_row(space, row, row.chunks[0], 0) for row in rows]


def test_messages_have_the_properties_that_an_insert_gives_them(files: Files) -> None:
    for row, expected in zip(files["Chunk"], stored("search-0"), strict=True):
        found = properties(row)
        expected = {k: given for k, given in expected["properties"].items() if given is not None}
        done = {"state": "done", "attempts": 1, "extractor": "synthetic-1"}
        expected |= {**done, "outages": 0, "deaths": 0, "terms": sorted(expected["terms"])}
        for both in (found, expected):
            both["lexemes"] = sorted(both["lexemes"].split())
        vector, seq = found.pop("embedding"), found.pop("seq")
        assert found == expected
        assert seq == int(found["message_id"].removeprefix("m")) + 1
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-3)


def test_nodes_are_packed_as_an_insert_packs_them(export: Export, files: Files) -> None:
    packed = dict(row for batch in export.packed() for row in batch)
    nodes = {row[":ID"]: row for kind in ("Chunk", "Triple", "Theme") for row in files[kind]}
    assert [str(id) for id in packed] == list(nodes)
    found, of_insert = (
        columns(values, 256)
        for values in (list(packed.values()), [row["ranking"] for row in stored("search-0")])
    )
    assert found.uids == [row["uid"] for row in nodes.values()]
    terms = [row["terms:string[]"].split(";") for row in nodes.values()]
    assert found.length.tolist() == list(map(len, terms))
    assert found.matches("search-0", [terms[-1][0]])[-1] == terms[-1].count(terms[-1][0])
    assert found.are_of("search-0").all()
    messages_of = found.rows(range(CHUNKS))
    for name in ("sessions", "roles", "speakers"):
        assert getattr(messages_of, name) == getattr(of_insert, name)
    assert messages_of.at.tolist() == of_insert.at.tolist()
    assert messages_of.question.tolist() == of_insert.question.tolist()
    for row, vector in enumerate(properties(row)["embedding"] for row in nodes.values()):
        assert found.cosine(vector)[row] == pytest.approx(1, abs=1e-3)


def test_facts_are_tied_to_their_entities_message_and_session(files: Files) -> None:
    nodes = {row[":ID"]: (kind, row) for kind in NODES for row in files[kind]}
    assert len(nodes) == sum(len(files[kind]) for kind in NODES), "an id is used twice"
    ties: dict[str, dict[str, str]] = {row[":ID"]: {} for row in files["Triple"]}
    for name in ("SUBJECT", "OBJECT", "EVIDENCE", "IN_SESSION"):
        for row in files[name]:
            ties[row[":START_ID"]][name] = row[":END_ID"]
    for row in files["Triple"]:
        ends = {name: nodes[id][1] for name, id in ties[row[":ID"]].items()}
        assert ends["SUBJECT"]["uid"] == row["subject_uid"]
        assert ends["OBJECT"]["name"] == row["object"]
        assert ends["EVIDENCE"]["at:datetime"] == row["first_observed:datetime"]
        assert ends["EVIDENCE"]["session_uid"] == ends["IN_SESSION"]["uid"]


def test_totals_and_chains_are_those_of_the_rows(files: Files) -> None:
    (space,), (facts,) = (list(map(properties, files[kind])) for kind in ("Space", "SpaceFacts"))
    chunks, triples = (list(map(properties, files[kind])) for kind in ("Chunk", "Triple"))
    assert (space["chunks"], space["seq"], space["chunk_covered"]) == (CHUNKS, CHUNKS, CHUNKS)
    assert space["length"] == sum(len(chunk["terms"]) for chunk in chunks)
    assert (facts["triples"], facts["length"]) == (len(triples), 4 * len(triples))
    assert labels_of("Triple", "search-0").split(":") == ["Triple", "Fact", *facts["triple_labels"]]
    seqs = [triple["seq"] for triple in triples]
    seqs += [properties(theme)["seq"] for theme in files["Theme"]]
    assert sorted(seqs) == list(range(1, facts["seq"] + 1))
    sessions = Counter(row[":START_ID"] for row in files["HAS_CHUNK"])
    assert len(files["NEXT"]) == CHUNKS - len(sessions) == CHUNKS - len(files["Session"])
    tails = {properties(session)["tail"] for session in files["Session"]}
    first, last = ({row[end] for row in files["NEXT"]} for end in (":START_ID", ":END_ID"))
    assert tails == {row["uid"] for row in files["Chunk"] if row[":ID"] in last - first}


def test_the_first_messages_are_written_with_their_facts_and_sessions_only(
    export: Export, files: Files
) -> None:
    first = Export(export.file, export.folder.with_name("first"), 30)
    few = written(first)
    assert [row["uid"] for row in few["Chunk"]] == [row["uid"] for row in files["Chunk"][:30]]
    assert [row["uid"] for row in few["Theme"]] == [row["uid"] for row in files["Theme"][:2]]
    ids = {row[":ID"]: row["uid"] for row in files["Chunk"] + files["Triple"]}
    said = {
        ids[row[":START_ID"]]
        for row in files["EVIDENCE"]
        if ids[row[":END_ID"]] in {row["uid"] for row in few["Chunk"]}
    }
    assert {row["uid"] for row in few["Triple"]} == said
    ends = {row["subject_uid"] for row in few["Triple"]} | {
        row["object_uid"] for row in few["Triple"]
    }
    assert {row["uid"] for row in few["Entity"]} == ends
    assert len(few["Key"]) == len({row[":END_ID"] for row in few["HAS_KEY"]}) < len(files["Key"])
    whole, cut = few["Session"]
    assert whole == files["Session"][0] | {":ID": whole[":ID"]}
    last = properties(few["Chunk"][-1])
    assert (cut["messages:long"], cut["chunks:long"], cut["tail"]) == ("5", "5", last["uid"])
    assert properties(cut)["ended_at"] == last["at"]
    (space,), (facts,) = (list(map(properties, few[kind])) for kind in ("Space", "SpaceFacts"))
    assert (space["chunks"], space["seq"], facts["triples"], facts["themes"]) == (
        30, 30, len(said), 2,
    )  # fmt: skip
    nodes = {row[":ID"] for kind in NODES for row in few[kind]}
    tied = {row[end] for name in RELATIONSHIPS for row in few[name] for end in END_IDS}
    assert tied < nodes, "a relationship has an end that is not there"
    assert [id for batch in first.packed() for id, _ in batch] == [
        int(row[":ID"]) for kind in ("Chunk", "Triple", "Theme") for row in few[kind]
    ]


def test_a_file_without_facts_is_written(tmp_path: Path) -> None:
    files = written(Export(filled(tmp_path / "m.db", 0), tmp_path / "csv"))
    assert len(files["Chunk"]) == CHUNKS
    assert not files["Triple"] and not files["Entity"] and not files["EVIDENCE"]
    (facts,) = map(properties, files["SpaceFacts"])
    assert (facts["triples"], facts["length"], facts["themes"]) == (0, 0, 3)
    assert facts["seq"] == len(files["Theme"]) == 3


@pytest.mark.parametrize("sizes", [["--chunks", "0"], ["--triples", "-1"]])
def test_sizes_that_make_no_sense_are_refused(
    tmp_path: Path, sizes: list[str], monkeypatch: Any, capsys: Any
) -> None:
    monkeypatch.setattr("sys.argv", ["bulk", str(tmp_path / "m.db"), *sizes])
    with pytest.raises(SystemExit, match="2"):
        bulk.main()
    assert "at least" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
