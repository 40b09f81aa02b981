"""On which release line of Neo4j a test runs, as its id says, and where one line is enough."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from zlib import crc32

from tests.servers.neo4j_server import LINES, External, Unavailable, resolve

if TYPE_CHECKING:
    import pytest

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


def chosen_line(item: pytest.Item, lines: Sequence[str]) -> str:
    """Return the line on which a test marked ``one_line`` runs.

    The mark may name it, so that the tests of one line do not take longer than those of another.
    """
    mark = item.get_closest_marker("one_line")
    named = mark.args if mark is not None else ()
    return next((line for line in named if line in lines), None) or one_of(item.nodeid, lines)


def preferred_lines(lines: Iterable[str]) -> list[str]:
    """Return the lines to use where one will do: those in the environment, else those that run."""
    ways = {line: resolve(line) for line in sorted(lines)}
    named = [line for line, way in ways.items() if isinstance(way, External)]
    possible = [line for line, way in ways.items() if not isinstance(way, Unavailable)]
    return named or possible or list(ways)
