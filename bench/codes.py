"""Measure how many of the nearest rows short codes find, in a file that bulk.py or eval filled.

python -m bench.codes FILE [--questions 60] [--json FILE]

For each layer of the first space, the nearest rows to each question by exact vectors are compared
with those that a search by codes returns.
"""

from __future__ import annotations

import argparse
import sqlite3
import time

import numpy as np

from bench.measure import percentiles, write
from bench.search import questions
from bench.synthetic import World
from cognigraph import Memory
from cognigraph.embed.word_vectors import WordLlamaEmbedder
from cognigraph.stores.sqlite.index.nearest import CodedScan, Codes
from cognigraph.stores.sqlite.rows import VectorFormat

LIMITS = {"chunk": 50, "triple": 30}


def vectors_in(connection: sqlite3.Connection, layer: str, format: VectorFormat) -> np.ndarray:
    """Return all vectors of a layer in the precision of the file."""
    rows = connection.execute(f"SELECT vector FROM {layer}_index WHERE space_id = 1")
    (count,) = connection.execute(f"SELECT count(*) FROM {layer}_index").fetchone()
    found = np.empty((count, format.dimension), format.dtype)
    at = 0
    while batch := rows.fetchmany(10_000):
        found[at : at + len(batch)] = format.view(b"".join(row[0] for row in batch))
        at += len(batch)
    return found[:at]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    with Memory(arguments.file, enrich="manual") as memory:
        precision = memory.info.details["vectors"]
    format = VectorFormat(256, "float16" if precision == "float16" else "float32")
    connection = sqlite3.connect(arguments.file)
    asked = [question for _, question in questions(World(), 2000, 1)][: arguments.questions]
    embedded = WordLlamaEmbedder().embed(asked)
    embedded = embedded / np.linalg.norm(embedded, axis=1, keepdims=True)
    result: dict[str, object] = {}
    for layer, limit in LIMITS.items():
        vectors = vectors_in(connection, layer, format)
        codes = Codes(format.dimension)
        codes.append(vectors)
        shares: dict[int, list[float]] = {15: [], limit: []}
        seconds: list[float] = []
        for question in embedded:
            cosine = np.concatenate(
                [vectors[at : at + 50_000].astype(np.float32) @ question
                 for at in range(0, len(vectors), 50_000)]
            )  # fmt: skip
            best = np.argsort(-cosine)[:limit]
            scan = CodedScan(codes, question)
            started = time.perf_counter()
            found = scan.best(limit)
            seconds.append(1000 * (time.perf_counter() - started))
            for count in shares:
                shares[count].append(float(np.isin(best[:count], found).mean()))
        result[layer] = {
            "rows": len(vectors),
            "code_mb": round(codes.nbytes / 1e6, 1),
            **{f"found_of_{count}": round(float(np.mean(own)), 4) for count, own in shares.items()},
            **percentiles(seconds),
        }
    write({"file": arguments.file.rpartition("/")[2], "layers": result}, arguments.json)


if __name__ == "__main__":
    main()
