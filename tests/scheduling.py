"""How a parallel run (pytest-xdist) distributes the tests to its workers."""

from __future__ import annotations

import re

from xdist.scheduler import LoadScopeScheduling

from tests.servers.neo4j_server import LINES

_LINE = re.compile(rf"neo4j-(?:{'|'.join(map(re.escape, LINES))})")


def scope(nodeid: str) -> str:
    """Return the group whose tests must run on one worker: the test's Neo4j line, or none."""
    line = _LINE.search(nodeid.partition("[")[2])
    return line[0] if line else nodeid


class OneWorkerPerLine(LoadScopeScheduling):
    """Distributes tests one by one in order, but all tests of a Neo4j line to one worker.

    Some of them change the whole database (its embedder, its schema) or stop its server.
    """

    def _split_scope(self, nodeid: str) -> str:
        return scope(nodeid)
