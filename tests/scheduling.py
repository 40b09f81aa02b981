"""How a parallel run (pytest-xdist) distributes the tests to its workers."""

from __future__ import annotations

from xdist.scheduler import LoadScopeScheduling

from tests.lines import scope


class OneWorkerPerLine(LoadScopeScheduling):
    """Distributes tests file by file in order, but all tests of a Neo4j line to one worker.

    Some of them change the whole database (its embedder, its schema) or stop its server. What the
    tests of a file share, such as a wheel or a browser, is made once.
    """

    def _split_scope(self, nodeid: str) -> str:
        return scope(nodeid)
