"""On which release line of Neo4j a test runs, as its id says, and which line is enough."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tests.servers.neo4j_server import LINES, External, Unavailable, resolve

_LINE = re.compile(rf"neo4j-(?:{'|'.join(map(re.escape, LINES))})")


def scope(nodeid: str) -> str:
    """Return the group whose tests run on one worker: the test's Neo4j line, or its file."""
    file, _, name = nodeid.partition("::")
    line = _LINE.search(name.partition("[")[2])
    return line[0] if line else file


def preferred_line(lines: Iterable[str]) -> str:
    """Return the line that is enough: the newest that the environment names, else that runs."""
    chosen = set(lines)
    ways = {line: resolve(line) for line in LINES if line in chosen}
    named = [line for line, way in ways.items() if isinstance(way, External)]
    possible = [line for line, way in ways.items() if not isinstance(way, Unavailable)]
    return (named or possible or list(ways))[-1]
