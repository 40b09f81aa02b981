"""Measure what a filled Neo4j database takes on disk, by part, and per message.

python -m bench.size_neo4j --store URI --folder DIR --json FILE

DIR is the folder of the server's data, as given to ``python -m tests.servers.neo4j_server
--folder``. The transaction logs, which the server keeps as it is configured to, are left out.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from neo4j import Driver, GraphDatabase

from bench.measure import write

PARTS = {
    "vector indexes": "schema/index/vector-*",
    "full-text indexes": "schema/index/fulltext-*",
    "other indexes": "schema/index/[rt]*",
    "vectors and lists of words": "neostore.propertystore.db.arrays",
    "texts": "neostore.propertystore.db.strings",
    "other properties": "neostore.propertystore.db",
    "nodes and relationships": "neostore.[nr][eo][dl]*store.db",
}
LABELS = ("Chunk", "Triple", "Entity", "Session", "Theme", "Key")


def size_of(path: Path) -> int:
    """Return the bytes of a file or of all files in a folder."""
    files = [path] if path.is_file() else [item for item in path.rglob("*") if item.is_file()]
    return sum(file.stat().st_size for file in files)


def counts(driver: Driver) -> dict[str, int]:
    """Return how many nodes of each kind there are."""
    return {
        label: driver.execute_query(f"MATCH (n:{label}) RETURN count(n)").records[0][0]
        for label in LABELS
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", required=True)
    parser.add_argument("--folder", required=True, type=Path)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    with GraphDatabase.driver(arguments.store) as driver:
        nodes = counts(driver)
    (database,) = arguments.folder.glob("home/data/databases/neo4j")
    parts = {
        name: round(sum(map(size_of, database.glob(pattern))) / 1e6, 1)
        for name, pattern in PARTS.items()
    }
    parts["all"] = round(size_of(database) / 1e6, 1)
    vectors = nodes["Chunk"] + nodes["Triple"] + nodes["Theme"]
    result = {
        "nodes": nodes,
        "mb": parts,
        "kb_per_message": round(parts["all"] * 1000 / nodes["Chunk"], 1),
        "bytes_per_indexed_vector": round(parts["vector indexes"] * 1e6 / vectors),
    }
    write(result, arguments.json)


if __name__ == "__main__":
    main()
