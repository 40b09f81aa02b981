"""Measure time and peak memory of hostile Cypher queries, each in a process of its own.

    python -m bench.cypher_limits                        # SQLite
    python -m bench.cypher_limits bolt://localhost:7687  # a Neo4j without authentication

Writes ``bench/results/cypher-limits.json``. Memory is that of this process, not of the server.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from cognigraph import CogniGraphError, Memory

RESULTS = Path(__file__).parent / "results" / "cypher-limits.json"
TIMEOUT = 3.0
LIST = "[" + ",".join(map(str, range(20))) + "]"


def forms() -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the hostile queries and their parameters by name."""
    ands = " AND ".join(f"n.text <> 'a{number}'" for number in range(5000))
    unwinds = " ".join(f"UNWIND l AS a{number}" for number in range(9))
    return {
        "5,000 ANDs": (f"MATCH (n:Chunk) WHERE {ands} RETURN n.uid", {}),
        "IN with 100,000 values": (
            "MATCH (n:Chunk) WHERE n.text IN $p RETURN n.uid",
            {"p": [f"x{number}" for number in range(100_000)]},
        ),
        "literal of 5 MB": (f"MATCH (n) WHERE n.text = '{'x' * 5_000_000}' RETURN n.uid", {}),
        "2,000 parentheses": (
            "MATCH (n) WHERE " + "(" * 2000 + "n.x = 1" + ")" * 2000 + " RETURN n.uid", {},
        ),
        "list of a billion": ("RETURN size([x IN range(1,1000000000) WHERE x%2=0]) AS n", {}),
        "doubling in reduce": ("RETURN reduce(s='x', i IN range(1,40) | s+s) AS s", {}),
        "doubling in WITH": ("WITH 'x' AS a " + "WITH a+a AS a " * 40 + "RETURN a", {}),
        "sum of 250 terms": ("MATCH (n) RETURN " + "+".join(["n.x"] * 250), {}),
        "900 UNIONs": (" UNION ".join(["MATCH (n) RETURN n.uid"] * 900), {}),
        "20^9 rows": (f"WITH {LIST} AS l {unwinds} RETURN sum(a0*a1) AS n", {}),
    }  # fmt: skip


def measure(location: str, name: str) -> dict[str, Any]:
    """Run one query in this process."""
    query, parameters = forms()[name]
    with Memory(location, enrich="manual") as memory:
        space = memory.space("bench-limits")
        space.add_many({"text": f"turn {n}", "id": str(n), "session": "s"} for n in range(50))
        space.cypher("MATCH (n:Chunk) RETURN n.uid LIMIT 1")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started = time.perf_counter()
        try:
            outcome = f"{len(space.cypher(query, parameters=parameters, timeout=TIMEOUT))} rows"
        except CogniGraphError as problem:
            outcome = str(problem).splitlines()[0][:120]
        seconds = time.perf_counter() - started
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return {"seconds": round(seconds, 2), "grown_mb": round(grown), "outcome": outcome}


def main() -> None:
    """Measure every query, or only the one named after the location."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("uri", nargs="?", help="of a Neo4j without authentication (SQLite)")
    parser.add_argument("query", nargs="?", help="the one to measure (all)")
    given = parser.parse_args()
    if given.query:
        print(json.dumps(measure(given.uri, given.query)))
        return
    with tempfile.TemporaryDirectory() as folder:
        location = given.uri or str(Path(folder) / "memory.db")
        store = "neo4j" if given.uri else "sqlite"
        found = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
        found[store] = {}
        for name in forms():
            command = [sys.executable, "-m", "bench.cypher_limits", location, name]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            row = found[store][name] = json.loads(done.stdout.splitlines()[-1])
            print(f"{name:24} {row['seconds']:7.2f} s {row['grown_mb']:5} MB  {row['outcome']}")
    RESULTS.write_text(json.dumps(found, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
