"""Measure resolving new entities and listing suspected duplicates, by the number of entities.

python -m bench.resolve --sizes 0,10000,100000 --new 500 --json FILE

The names are those of people (one of 400 first names, one of 2,000 surnames), places and things, so
that blocks fill as in a real memory. Two times are measured: the processor time of resolving new
entities, without anything else, and the time of the first page of suspected duplicates, for which
all names are compared by their vectors (those of wordllama).
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from pathlib import Path

from cognigraph import Memory, ids
from cognigraph.embed import CheckedEmbedder, WordLlamaEmbedder
from cognigraph.resolution.incremental import settle
from cognigraph.resolution.name_forms import order
from cognigraph.stores.records import EntityRow
from cognigraph.stores.sqlite import SQLiteStore
from cognigraph.stores.sqlite.connection import Pool
from cognigraph.stores.sqlite.derive import bump, merge_entities
from cognigraph.stores.sqlite.entity_map import SQLiteEntityMap
from cognigraph.stores.sqlite.rows import VectorFormat
from cognigraph.text.terms import terms
from cognigraph.times import system_clock

SYLLABLES = [a + b for a in "bdfghklmnprstv" for b in ("a", "e", "i", "o", "u", "an", "er", "in")]
SPACE = "bench"
EMBEDDER = CheckedEmbedder(WordLlamaEmbedder())
FORMAT = VectorFormat(EMBEDDER.identity.dimension, "float16")


def names(count: int, seed: int) -> list[tuple[str, str]]:
    """Return distinct (name, type) pairs."""
    rng = random.Random(seed)
    vocabulary = random.Random(1)

    def word(syllables: int) -> str:
        return "".join(vocabulary.choice(SYLLABLES) for _ in range(syllables))

    firsts = [word(2).title() for _ in range(400)]
    surnames = [word(3).title() for _ in range(2000)]
    nouns = [word(2) for _ in range(3000)]
    found: dict[tuple[str, str], None] = {}
    while len(found) < count:
        kind = rng.random()
        if kind < 0.05:
            found[rng.choice(firsts), "person"] = None
        elif kind < 0.4:
            found[f"{rng.choice(firsts)} {rng.choice(surnames)}", "person"] = None
        elif kind < 0.5:
            found[f"{rng.choice(surnames)}{rng.choice(['', ' City', 'ville'])}", "location"] = None
        else:
            noun = f"{rng.choice(nouns)} {rng.choice(nouns)}{rng.choice(['', '', 's'])}"
            found[noun, "object"] = None
    return list(found)


def rows(pairs: list[tuple[str, str]]) -> list[EntityRow]:
    """Return the rows that an extraction would store."""
    now = system_clock()
    vectors = EMBEDDER.embed_names([ids.normalise(name) for name, _ in pairs])
    return [
        EntityRow(ids.entity_uid(SPACE, n, t), n, t, " ".join(terms(n)), order(now, n), vector)
        for (n, t), vector in zip(pairs, vectors, strict=True)
    ]


def measure(pool: Pool, size: int, new: int) -> dict[str, float]:
    """Fill up to ``size`` entities, then resolve ``new`` ones in batches of 20."""
    entities = rows(names(size + new, 7))
    batches = [entities[i : i + 1000] for i in range(0, size, 1000)]
    filled = time.process_time()
    for batch in batches:
        _resolve(pool, batch)
    filled = time.process_time() - filled
    each = []
    for start in range(size, size + new, 20):
        batch = entities[start : start + 20]
        each.append(_resolve(pool, batch) / len(batch))
    cuts = statistics.quantiles(each, n=20, method="inclusive")
    return {
        "entities": size,
        "fill_ms_per_entity": round(filled / max(size, 1) * 1000, 4),
        "p50_ms": round(cuts[9] * 1000, 4),
        "p95_ms": round(cuts[18] * 1000, 4),
    }


def _resolve(pool: Pool, batch: list[EntityRow]) -> float:
    with pool.write() as connection:
        space_id, revision = bump(connection, SPACE)
        touched = merge_entities(connection, FORMAT, space_id, batch)
        started = time.process_time()
        settle(SQLiteEntityMap(connection, SPACE, space_id, revision, 0), sorted(touched))
        return time.process_time() - started


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="0,10000,100000")
    parser.add_argument("--new", type=int, default=500)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    found = []
    for size in map(int, arguments.sizes.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/bench.db"
            SQLiteStore(path, EMBEDDER.identity).close()
            pool = Pool(path)
            found.append(measure(pool, size, arguments.new))
            pool.close()
            with Memory(path, enrich="manual") as memory:
                started = time.perf_counter()
                memory.space(SPACE).review.duplicates(1_000_000)
                found[-1]["suspected_s"] = round(time.perf_counter() - started, 3)
    text = json.dumps({"new": arguments.new, "sizes": found}, indent=2)
    print(text)
    if arguments.json:
        Path(arguments.json).write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
