"""Neo4j servers for one test run: each line is started once, whatever the number of workers.

The process that hands the tests out (pytest-xdist's controller) owns the servers, because a worker
may end while others still need them. A worker asks it through a local connection.
"""

from __future__ import annotations

import re
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from neo4j import GraphDatabase

from cognigraph import Memory, Settings, StorageSettings
from cognigraph.cypher import catalog
from tests.servers.neo4j_server import (
    Server,
    ServerError,
    Unavailable,
    resolve,
    running_server,
)

STATEMENTS = Path(catalog.__file__).parent / "neo4j"

Answer = Server | Unavailable | ServerError

_PATIENT = StorageSettings(read_timeout=120, write_timeout=120, open_timeout=120)
"""The first statements of a server take long on a busy machine."""


class ServerPool:
    """Starts servers in the background, one after another, and stops them all at the end."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="test-servers")
        self._starting: dict[str, Future[Answer]] = {}
        self._lock = Lock()

    def begin(self, line: str) -> Future[Answer]:
        """Start the server of a line, unless that has been begun already."""
        with self._lock:
            if line not in self._starting:
                self._starting[line] = self._thread.submit(self._start, line)
            return self._starting[line]

    def get(self, line: str) -> Answer:
        """Wait for the server of a line."""
        return self.begin(line).result()

    def close(self) -> None:
        """Stop the servers."""
        self._thread.shutdown(cancel_futures=True)
        self._stack.close()

    def _start(self, line: str) -> Answer:
        found = resolve(line)
        if isinstance(found, Unavailable):
            return found
        try:
            server = self._stack.enter_context(running_server(line))
        except ServerError as problem:
            return problem
        _warm_up(server)
        return server


def empty(server: Answer) -> None:
    """Delete all nodes of a server but for the one with the versions."""
    if not isinstance(server, Server):
        return
    with GraphDatabase.driver(server.uri, auth=server.auth) as driver, driver.session() as session:
        text = "MATCH (n) WHERE NOT n:CogniGraph CALL (n) { DETACH DELETE n } IN TRANSACTIONS"
        session.run(text).consume()


_TOKENS = {
    "db.createLabel": re.compile(r"\w:([A-Z][a-z]\w+)"),
    "db.createRelationshipType": re.compile(r"\[\w*:([A-Z_|]+)"),
    "db.createProperty": re.compile(r"(?:\w\.|[{,]\s*)([a-z_]+)\b(?!\()"),
}
"""Where statements name a label, type or property; some properties are none, which does no harm."""


def _create_tokens(server: Server) -> None:
    """Create every label, type and property that statements name.

    A plan that was made before one of them existed is made again once it does, and the plans of a
    search take the server seconds.
    """
    texts = "".join(path.read_text("utf-8") for path in STATEMENTS.rglob("*.cypher"))
    code = re.sub(r"//.*", "", texts)
    with GraphDatabase.driver(server.uri, auth=server.auth) as driver:
        for procedure, pattern in _TOKENS.items():
            names = {name for found in pattern.findall(code) for name in found.split("|") if name}
            call: Any = f"UNWIND $names AS name CALL {procedure}(name) RETURN count(*)"
            driver.execute_query(call, names=sorted(names))


def _warm_up(server: Server) -> None:
    """Create the schema and run common statements, because each takes seconds the first time."""
    _create_tokens(server)
    with Memory(
        server.uri, auth=server.auth, enrich="manual", settings=Settings(storage=_PATIENT)
    ) as memory:
        space = memory.space("test-first")
        space.add("Ann lives in Oslo.", speaker="Ann")
        space.flush(timeout=120)
        space.search("Where does Ann live?")


class PoolService:
    """Answers the workers of a parallel run from a pool."""

    def __init__(self, pool: ServerPool) -> None:
        self._pool = pool
        self._listener = Listener()
        self._thread = Thread(target=self._accept, name="test-server-service", daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        """What a worker needs to ask."""
        return str(self._listener.address)

    def close(self) -> None:
        """Stop the service; the pool stays as it is."""
        with Client(self.address) as connection:
            connection.send("")
        self._thread.join()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            connection = self._listener.accept()
            line = connection.recv()
            if not line:
                connection.close()
                return
            Thread(target=self._answer, args=(connection, line), daemon=True).start()

    def _answer(self, connection: Connection, line: str) -> None:
        # A worker that asked ahead may have ended without a test that needed the server.
        with connection, suppress(OSError):
            connection.send(self._pool.get(line))


class RemotePool:
    """The pool of another process: what a worker uses in place of a pool of its own."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._connections: dict[str, Connection] = {}
        self._answers: dict[str, Answer] = {}

    def begin(self, line: str) -> None:
        """Ask for the server of a line, without waiting for the answer."""
        if line not in self._connections:
            self._connections[line] = Client(self._address)
            self._connections[line].send(line)

    def get(self, line: str) -> Answer:
        """Wait for the server of a line."""
        if line not in self._answers:
            self.begin(line)
            self._answers[line] = self._connections[line].recv()
        return self._answers[line]

    def close(self) -> None:
        """Close the connections; the servers go on."""
        for connection in self._connections.values():
            connection.close()
