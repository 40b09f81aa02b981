"""How a parallel run (pytest-xdist) hands the tests out to its workers."""

from __future__ import annotations

import re

from xdist.scheduler import LoadScopeScheduling

from tests.servers.neo4j_server import LINES

_LINE = re.compile(rf"neo4j-(?:{'|'.join(map(re.escape, LINES))})")


def scope(nodeid: str) -> str:
    """What a test has to share a worker with: the tests of its line of Neo4j, or nothing."""
    line = _LINE.search(nodeid.partition("[")[2])
    return line[0] if line else nodeid


class OneWorkerPerLine(LoadScopeScheduling):
    """Hands single tests out in their order, but all tests of one Neo4j line to one worker.

    Some of them change the whole database (its embedder, its schema) or stop its server.
    """

    def _split_scope(self, nodeid: str) -> str:
        return scope(nodeid)
