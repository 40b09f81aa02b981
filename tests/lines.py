"""On which release line of Neo4j a test runs, as its id says, and where one line is enough."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from zlib import crc32

from tests.servers.neo4j_server import LINES, External, Unavailable, resolve

_LINE = re.compile(rf"neo4j-(?:{'|'.join(map(re.escape, LINES))})")


def scope(nodeid: str) -> str:
    """Return the group whose tests must run on one worker: the test's Neo4j line, or none."""
    line = _LINE.search(nodeid.partition("[")[2])
    return line[0] if line else nodeid


def one_of(nodeid: str, lines: Sequence[str]) -> str:
    """Return the line on which a test runs that needs only one.

    It is the same in every run, and each line gets its share of the files. All tests of a file run
    on the same line, because they use the same statements, which each server has to plan.
    """
    file = nodeid.partition("::")[0]
    return lines[crc32(file.encode()) % len(lines)]


def preferred_lines(lines: Iterable[str]) -> list[str]:
    """Return the lines to use where one will do: those in the environment, else those that run."""
    ways = {line: resolve(line) for line in sorted(lines)}
    named = [line for line, way in ways.items() if isinstance(way, External)]
    possible = [line for line, way in ways.items() if not isinstance(way, Unavailable)]
    return named or possible or list(ways)
