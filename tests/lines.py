"""On which release line of Neo4j a test runs, as its id says, and which line is enough."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from tests.servers.neo4j_server import LINES, External, Unavailable, resolve

_LINE = re.compile(rf"neo4j-(?:{'|'.join(map(re.escape, LINES))})")


def scope(nodeid: str) -> str:
    """Return the group whose tests run on one worker: the test's Neo4j line, or its file."""
    file, _, name = nodeid.partition("::")
    line = _LINE.search(name.partition("[")[2])
    return line[0] if line else file


def preferred_lines(lines: Iterable[str]) -> list[str]:
    """Return the lines that the environment names, else those that run, from the oldest on."""
    chosen = set(lines)
    ways = {line: resolve(line) for line in LINES if line in chosen}
    named = [line for line, way in ways.items() if isinstance(way, External)]
    possible = [line for line, way in ways.items() if not isinstance(way, Unavailable)]
    return named or possible or list(ways)


def lines_for(marks: Collection[str], lines: Sequence[str]) -> set[str]:
    """Return on which of some lines, from the oldest on, a test with some marks runs."""
    if not {"every_line", "fuzz"}.isdisjoint(marks):
        return set(lines)
    return {lines[0] if "oldest_line" in marks else lines[-1]}
