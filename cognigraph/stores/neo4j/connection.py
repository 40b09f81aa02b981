"""The driver, transactions, and error mapping for the Neo4j store.

Every statement is a ``.cypher`` file. Writes run in managed transactions, which the driver repeats
after a deadlock or a lost connection; reads are one round trip each, and see what this store wrote
before (one bookmark manager for all sessions).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any, TypeVar

from neo4j import READ_ACCESS, WRITE_ACCESS, Driver, GraphDatabase, ManagedTransaction, Session
from neo4j.exceptions import (
    AuthConfigurationError,
    AuthError,
    ClientError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)
from neo4j.exceptions import (
    ConfigurationError as DriverConfigurationError,
)

from cognigraph._version import __version__
from cognigraph.cypher.catalog import statement
from cognigraph.errors import (
    ConfigurationError,
    EmbedderMismatchError,
    StoreError,
    StoreUnavailableError,
)

Row = list[Any]
_T = TypeVar("_T")

_PARALLEL_READS = 4


_EMBEDDING = "embedding"
_VECTORS = re.compile(rf"(?<=[.']){_EMBEDDING}\b")


def vector_property(generation: int) -> str:
    """Property that holds the vectors of a database's n-th embedder: two take turns."""
    return _EMBEDDING if generation % 2 else f"{_EMBEDDING}_b"


@cache
def cypher(name: str, *replace: tuple[str, str], embedding: str = _EMBEDDING) -> str:
    """Text of a statement, in the Cypher version it was written for.

    ``embedding`` is the property that holds the vectors. ``replace`` puts other labels or bounds
    where Cypher takes no parameter; never user text.
    """
    text = statement(f"neo4j/{name}.cypher")
    if embedding != _EMBEDDING:
        text = _VECTORS.sub(embedding, text)
    for old, new in replace:
        if old not in text:
            raise ValueError(f"{name}.cypher does not contain {old!r}")
        text = text.replace(old, new)
    return f"CYPHER 5\n{text}"


class Transaction:
    """A write transaction; its function may run again, so it contains nothing but statements."""

    def __init__(self, inner: ManagedTransaction, connection: Connection) -> None:
        self._inner = inner
        self._connection = connection

    def rows(self, name: str, /, *replace: tuple[str, str], **parameters: Any) -> list[Row]:
        """Run a statement and return its rows."""
        text = cypher(name, *replace, embedding=self._connection.embedding)
        return self._inner.run(text, parameters).values()

    def check_generation(self) -> None:
        """Refuse to go on with an embedder that was changed meanwhile."""
        row = self.row("reindex/state")
        if row is not None:
            self._connection.check_generation(*row[:3])

    def row(self, name: str, /, *replace: tuple[str, str], **parameters: Any) -> Row | None:
        """Run a statement and return its first row."""
        rows = self.rows(name, *replace, **parameters)
        return rows[0] if rows else None


class Connection:
    """One driver, shared by all threads; opened again in a process that was forked."""

    def __init__(
        self,
        uri: str,
        auth: tuple[str, str] | None,
        database: str | None,
        *,
        notifications: bool = False,
        pool_size: int = 50,
        timeout: float = 30.0,
    ) -> None:
        self.uri = uri
        self.database = database
        self.generation = 1
        """Which of the database's embedders this connection works with; see schema.prepare."""
        self._auth = auth
        self._notifications = notifications
        self._pool_size = pool_size
        self._timeout = timeout
        self._lock = Lock()
        self._closed = False
        self._pid = os.getpid()
        self._driver, self._threads = self._open()

    def _open(self) -> tuple[Driver, ThreadPoolExecutor]:
        quiet: dict[str, Any] = {"notifications_min_severity": "OFF"}
        if self._notifications:
            # Names that are not in the database yet are normal in a new one.
            quiet = {
                "notifications_min_severity": "WARNING",
                "notifications_disabled_classifications": ["UNRECOGNIZED"],
                "warn_notification_severity": "WARNING",
            }
        with mapped_errors(self.uri, self.database):
            driver = GraphDatabase.driver(
                self.uri,
                auth=self._auth,
                user_agent=f"cognigraph/{__version__}",
                max_connection_pool_size=self._pool_size,
                connection_timeout=min(self._timeout, 15.0),
                connection_acquisition_timeout=self._timeout,
                max_transaction_retry_time=self._timeout,
                liveness_check_timeout=30.0,
                **quiet,
            )
        return driver, ThreadPoolExecutor(_PARALLEL_READS, thread_name_prefix="cognigraph-neo4j")

    @property
    def driver(self) -> Driver:
        """The open driver."""
        with self._lock:
            if self._closed:
                raise StoreError("this memory is closed; open it again")
            if self._pid != os.getpid():
                # The parent goes on using the sockets of its driver: leave that one alone.
                _ABANDONED.append((self._driver, self._threads))
                self._driver, self._threads = self._open()
                self._pid = os.getpid()
            return self._driver

    @property
    def embedding(self) -> str:
        """Property that holds the vectors."""
        return vector_property(self.generation)

    def check_generation(self, generation: int, embedder: str, dimension: int) -> None:
        """Refuse to go on with an embedder that was changed meanwhile."""
        if generation != self.generation:
            raise EmbedderMismatchError(
                f"{self.uri} has been reindexed with the embedder {embedder!r} ({dimension} "
                "dimensions) since it was opened; open it again with that one"
            )

    def close(self) -> None:
        """Close the driver. Idempotent."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        if self._pid == os.getpid():
            self._threads.shutdown(wait=True)
            self._driver.close()

    @contextmanager
    def _session(self, access: str) -> Iterator[Session]:
        driver = self.driver
        with (
            mapped_errors(self.uri, self.database),
            driver.session(
                database=self.database,
                default_access_mode=access,
                bookmark_manager=driver.execute_query_bookmark_manager,
            ) as session,
        ):
            yield session

    def rows(self, name: str, /, *replace: tuple[str, str], **parameters: Any) -> list[Row]:
        """Read: run a statement and return its rows."""
        text = cypher(name, *replace, embedding=self.embedding)
        with self._session(READ_ACCESS) as session:
            try:
                # Without BEGIN and COMMIT around it a read is one round trip.
                return session.run(text, parameters).values()
            except (Neo4jError, DriverError) as error:
                if not error.is_retryable():
                    raise
            return session.execute_read(lambda tx: tx.run(text, parameters).values())

    def row(self, name: str, /, *replace: tuple[str, str], **parameters: Any) -> Row | None:
        """Read: run a statement and return its first row."""
        rows = self.rows(name, *replace, **parameters)
        return rows[0] if rows else None

    def start(self, work: Callable[..., _T], *arguments: Any) -> Future[_T]:
        """Begin a read in another thread."""
        return self._threads.submit(work, *arguments)

    def write(self, work: Callable[[Transaction], _T]) -> _T:
        """Run a function in one write transaction; it may be called again."""
        with self._session(WRITE_ACCESS) as session:
            return session.execute_write(lambda tx: work(Transaction(tx, self)))

    def command(self, name: str, /, *replace: tuple[str, str], **parameters: Any) -> None:
        """Run one schema command by itself."""
        text = cypher(name, *replace, embedding=self.embedding)
        self.command_text(text, parameters)

    def command_text(self, text: str, parameters: dict[str, Any]) -> None:
        """Run the text of a schema command by itself."""
        with self._session(WRITE_ACCESS) as session:
            session.execute_write(lambda tx: tx.run(text, parameters).consume())


_ABANDONED: list[tuple[Driver, ThreadPoolExecutor]] = []


@contextmanager
def mapped_errors(uri: str, database: str | None) -> Iterator[None]:
    """Turn the driver's errors into ours, saying what to do."""
    try:
        yield
    except (AuthError, AuthConfigurationError) as error:
        raise StoreError(
            f"{uri} refused the login: user name or password is wrong; pass auth=('neo4j', '...')"
        ) from error
    except (ServiceUnavailable, SessionExpired) as error:
        raise StoreUnavailableError(
            f"no Neo4j answers at {uri} ({_first_line(error)}); check that the server runs and "
            "that address and port are right, then repeat the call"
        ) from error
    except DriverConfigurationError as error:
        raise ConfigurationError(f"cannot use {uri!r}: {_first_line(error)}") from error
    except Neo4jError as error:
        raise _mapped(error, uri, database) from error
    except DriverError as error:
        kind = StoreUnavailableError if error.is_retryable() else StoreError
        raise kind(f"{uri}: {_first_line(error)}") from error


def _mapped(error: Neo4jError, uri: str, database: str | None) -> StoreError:
    code, text = error.code or "", _first_line(error)
    if code == "Neo.ClientError.Database.DatabaseNotFound":
        return StoreError(
            f"{uri} has no database {database!r}; give the name of one that exists, "
            "or leave it out for the user's home database"
        )
    if error.is_retryable() or code.startswith("Neo.TransientError"):
        return StoreUnavailableError(f"{uri} is busy: {text}; repeat the call")
    if isinstance(error, ClientError) and code.startswith("Neo.ClientError.Security"):
        return StoreError(f"{uri} does not permit this: {text}; give the user the right to write")
    return StoreError(f"{uri}: {text}")


def _first_line(error: Exception) -> str:
    text = getattr(error, "message", None) or str(error) or type(error).__name__
    return str(text).strip().splitlines()[0][:300].rstrip(" :;")
