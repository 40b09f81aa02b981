"""The driver and transactions of the Neo4j store, and its errors as those of cognigraph.

Every statement is a ``.cypher`` file. A read takes one round trip and sees what this store wrote
before: all sessions share one bookmark manager. A call that meets a deadlock or loses its
connection is repeated until its deadline.

The driver waits for a silent server forever. So each call runs in a separate thread and the caller
stops waiting at the deadline. If the server has answered nobody in the meantime, the driver is
closed, which ends the thread, and replaced; the other calls that were under way are repeated with
the new one. If it is only slow, it ends the statement by its own timeout.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from secrets import token_hex
from threading import Lock, Thread
from typing import Any, Literal, TypeVar, cast

import numpy as np
from neo4j import READ_ACCESS, WRITE_ACCESS, Bookmarks, Driver, GraphDatabase, Query, Session
from neo4j import Transaction as DriverTransaction
from neo4j.exceptions import (
    AuthConfigurationError,
    AuthError,
    ClientError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)
from neo4j.exceptions import ConfigurationError as DriverConfigurationError

try:
    from neo4j.vector import Vector as DriverVector
except ImportError:  # before version 6 of the driver
    DriverVector = None  # type: ignore[assignment,misc]

from cognigraph._version import __version__
from cognigraph.arrays import Vector
from cognigraph.errors import (
    ConfigurationError,
    EmbedderMismatchError,
    StoreError,
    StoreUnavailableError,
)
from cognigraph.model.storage import AuditEntry
from cognigraph.stores.neo4j.deadlines import deadline, delays, for_server, if_refused
from cognigraph.stores.neo4j.statements import cypher, vector_property, with_parameters
from cognigraph.stores.records import audit_row
from cognigraph.text.redaction import redacted


@contextmanager
def mapped_errors(uri: str, database: str | None) -> Iterator[None]:
    """Convert errors of the driver into errors of cognigraph that say what to do."""
    try:
        yield
    except (AuthError, AuthConfigurationError) as error:
        raise StoreError(
            f"{uri} refused the login: user name or password is wrong; pass auth=('neo4j', '...')"
        ) from error
    except (ServiceUnavailable, SessionExpired) as error:
        raise StoreUnavailableError(
            f"no Neo4j answers at {uri} ({_first_line(error)}); {_advice(uri)}, then repeat the "
            "call"
        ) from error
    except DriverConfigurationError as error:
        raise ConfigurationError(f"cannot use {uri!r}: {_first_line(error)}") from error
    except Neo4jError as error:
        raise _mapped(error, uri, database) from error
    except DriverError as error:
        kind = StoreUnavailableError if error.is_retryable() else StoreError
        raise kind(f"{uri}: {_first_line(error)}") from error


def _advice(uri: str) -> str:
    if uri.partition("://")[0].startswith("neo4j"):
        return (
            "check that the server runs and that the addresses which it advertises "
            "(server.bolt.advertised_address) can be reached from here; bolt:// connects to a "
            "single server without asking it for addresses"
        )
    return "check that the server runs and that address and port are right"


def _mapped(error: Neo4jError, uri: str, database: str | None) -> StoreError:
    code, text = error.code or "", _first_line(error)
    if code == "Neo.ClientError.Database.DatabaseNotFound":
        return StoreError(
            f"{uri} has no database {database!r}; give the name of an existing database, "
            "or leave it out for the user's home database"
        )
    if "TransactionTimedOut" in code:
        return StoreUnavailableError(
            f"{uri} did not finish in time: {text}; repeat the call when the server is less busy, "
            "or raise the timeouts in StorageSettings"
        )
    if error.is_retryable() or code.startswith("Neo.TransientError"):
        return StoreUnavailableError(f"{uri} is busy: {text}; repeat the call")
    if isinstance(error, ClientError) and code.startswith("Neo.ClientError.Security"):
        return StoreError(f"{uri} does not permit this: {text}; grant the user the right to write")
    return StoreError(f"{uri}: {text}")


def _first_line(error: Exception) -> str:
    text = getattr(error, "message", None) or str(error) or type(error).__name__
    return redacted(str(text).strip().splitlines()[0])[:300].rstrip(" :;")


Row = list[Any]

Reads = Literal["leader", "followers"]

_T = TypeVar("_T")

logger = logging.getLogger("cognigraph.neo4j")

_PARALLEL_READS = 32

_SILENCE = 5.0
"""A server that has answered nobody for so many seconds is silent, not only slow."""

_CLOSING = 1.0
"""Seconds to wait for an abandoned driver to close; its server may be silent."""


class Transaction:
    """A write transaction; a function given one may run twice, so it must only run statements."""

    def __init__(self, inner: DriverTransaction, connection: Connection) -> None:
        self._inner = inner
        self._connection = connection

    def rows(self, name: str, /, *replace: tuple[str, str], **parameters: Any) -> list[Row]:
        """Run a statement and return its rows."""
        text = cypher(name, *replace, embedding=self._connection.embedding)
        return self._inner.run(*with_parameters(text, parameters)).values()

    def check_generation(self) -> None:
        """Raise if the embedder was changed after this connection was opened."""
        row = self.row("reindex/state")
        if row is not None:
            self._connection.check_generation(*row[:3])

    def row(self, name: str, /, *replace: tuple[str, str], **parameters: Any) -> Row | None:
        """Run a statement and return its first row."""
        rows = self.rows(name, *replace, **parameters)
        return rows[0] if rows else None

    def audit(self, entry: AuditEntry) -> None:
        """Add an entry to the audit log; no statement changes or deletes one."""
        # Entries of one moment have the order in which they were added.
        uid = f"{time.time_ns():016x}{token_hex(8)}"
        self.rows("audit/add", uid=uid, **audit_row(entry))


class Connection:
    """One driver, shared by all threads; a forked process opens a driver of its own."""

    def __init__(
        self,
        uri: str,
        auth: tuple[str, str] | None,
        database: str | None,
        *,
        notifications: bool = False,
        pool_size: int = 50,
        read_timeout: float = 30.0,
        write_timeout: float = 30.0,
        reads: Reads = "leader",
    ) -> None:
        self.uri = uri
        self.database = database
        self.generation = 1
        """The number of the database's embedder that this connection uses; see schema.prepare."""
        self.written = 0  # how many transactions have written; two at once may count as one
        self._auth = auth
        self._notifications = notifications
        self._pool_size = pool_size
        self._read_timeout = read_timeout
        self._write_timeout = write_timeout
        # The driver sends a read to a follower if there is one, unless the session might write.
        self._read_access = READ_ACCESS if reads == "followers" else WRITE_ACCESS
        self._takes_vectors = False
        self._lock = Lock()
        self._closed = False
        self._has_answered = False
        self._answered_at = float("-inf")
        self._closers: list[Thread] = []
        self._start()

    def _start(self) -> None:
        self._pid = os.getpid()
        self._driver = self._open()
        self._threads = ThreadPoolExecutor(
            _PARALLEL_READS, thread_name_prefix="cognigraph-neo4j-search"
        )
        self._calls = ThreadPoolExecutor(self._pool_size, thread_name_prefix="cognigraph-neo4j")

    def _open(self) -> Driver:
        quiet: dict[str, Any] = {"notifications_min_severity": "OFF"}
        if self._notifications:
            # Labels and properties that do not exist yet are normal in a new database.
            quiet = {
                "notifications_min_severity": "WARNING",
                "notifications_disabled_classifications": ["UNRECOGNIZED"],
                "warn_notification_severity": "WARNING",
            }
        with mapped_errors(self.uri, self.database):
            return GraphDatabase.driver(
                self.uri,
                auth=self._auth,
                user_agent=f"cognigraph/{__version__}",
                max_connection_pool_size=self._pool_size,
                connection_timeout=min(self._read_timeout, self._write_timeout, 15.0),
                connection_acquisition_timeout=max(self._read_timeout, self._write_timeout),
                liveness_check_timeout=30.0,
                **quiet,
            )

    @property
    def driver(self) -> Driver:
        """The open driver."""
        with self._lock:
            if self._closed:
                raise StoreError("this memory is closed; open it again")
            if self._pid != os.getpid():
                # The parent process still uses the sockets of its driver, so do not close it.
                _ABANDONED.append((self._driver, self._threads, self._calls))
                self._start()
            return self._driver

    @property
    def embedding(self) -> str:
        """The property that holds the vectors."""
        return vector_property(self.generation)

    def vector(self, values: Vector) -> Any:
        """A vector as a parameter; ``None`` for the zero vector, which has no cosine.

        A server that takes vectors as such reads them at once, and a list number by number, which
        is a tenth of its work for a message.
        """
        if not values.any():
            return None
        return DriverVector(values.astype(np.float32)) if self._takes_vectors else values.tolist()

    def check_generation(self, generation: int, embedder: str, dimension: int) -> None:
        """Raise if the embedder was changed after this connection was opened."""
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
            _close(self._driver)
            self._calls.shutdown(wait=False)
            for closer in self._closers:
                closer.join(_CLOSING)

    # Deadlines

    def server_agent(self) -> str:
        """Return the name and version of the server; note whether it takes vectors as such."""
        server = self._call(lambda driver, _: driver.get_server_info(), self._read_timeout)
        self._takes_vectors = _knows_vectors(self.uri, server.protocol_version)
        return server.agent

    def _call(self, work: Callable[[Driver, float], _T], seconds: float) -> _T:
        """Run driver calls in another thread and wait for them until the deadline."""
        driver, until = self.driver, deadline(seconds)
        started = time.monotonic()
        if until <= started:
            raise StoreUnavailableError(
                f"the time for this call was up {started - until:.1f} s before its next statement "
                f"could be sent to {self.uri}: the machine or the server is overloaded; repeat the "
                "call (what has an id is stored once), or raise the timeouts in StorageSettings"
            )
        try:
            future = self._calls.submit(
                copy_context().run, lambda: self._attempts(driver, work, until)
            )
        except RuntimeError:
            # The interpreter is exiting and starts no more threads; leases are still released.
            with mapped_errors(self.uri, self.database):
                return self._attempts(driver, work, until)
        with mapped_errors(self.uri, self.database):
            try:
                return future.result(until - started)
            except TimeoutError:
                if future.done():
                    return future.result()
                future.cancel()
                if self._is_silent():
                    self._abandon(driver)
                raise StoreUnavailableError(
                    f"{self.uri} did not answer within {until - started:.3g} s: the server is "
                    "stopped, overloaded or cut off; check it and repeat the call (what has an id "
                    "is stored once), or raise the timeouts in StorageSettings"
                ) from None

    def _attempts(self, driver: Driver, work: Callable[[Driver, float], _T], until: float) -> _T:
        try:
            return self._repeated(driver, work, until)
        finally:
            if self._closed or driver is not self._driver:
                _close_late_connections(driver)

    def _repeated(self, driver: Driver, work: Callable[[Driver, float], _T], until: float) -> _T:
        started = time.monotonic()
        for delay in delays():
            try:
                answer = work(driver, until)
            except (Neo4jError, DriverError) as error:
                if isinstance(error, Neo4jError):
                    self._answered_at = time.monotonic()
                if not self._has_answered:
                    until = if_refused(error, until, started)
                is_abandoned = driver is not self._driver and not self._closed
                is_worth_it = error.is_retryable() or is_abandoned
                if not is_worth_it or time.monotonic() + delay >= until:
                    raise
                logger.info("failed and will be retried in %.3f s: %s", delay, error)
                if is_abandoned:
                    _close_late_connections(driver)
                    driver = self.driver
            else:
                self._has_answered, self._answered_at = True, time.monotonic()
                return answer
            time.sleep(delay)
        raise AssertionError("delays never end")

    def _is_silent(self) -> bool:
        patience = min(_SILENCE, self._read_timeout, self._write_timeout)
        return time.monotonic() - self._answered_at >= patience

    def _abandon(self, driver: Driver) -> None:
        """Replace a driver and close it in the background, which ends the threads that use it."""
        with self._lock:
            if self._closed or driver is not self._driver:
                return
            self._driver = self._open()
            bookmarks = driver.execute_query_bookmark_manager.get_bookmarks()
            self._driver.execute_query_bookmark_manager.update_bookmarks((), bookmarks)
            closer = Thread(
                target=_close, args=[driver], name="cognigraph-neo4j-close", daemon=True
            )
            self._closers = [*filter(Thread.is_alive, self._closers), closer]
            closer.start()

    @contextmanager
    def _session(
        self, driver: Driver, access: str, bookmarks: Bookmarks | None = None
    ) -> Iterator[Session]:
        session = driver.session(
            database=self.database,
            default_access_mode=access,
            bookmark_manager=driver.execute_query_bookmark_manager,
            bookmarks=bookmarks,
        )
        try:
            yield session
        finally:
            try:
                session.close()
            finally:
                # If the server is silent, the first call drops the connection and raises, and the
                # session still counts as open. Otherwise the second one does nothing.
                session.close()

    # Bookmarks

    def bookmarks(self) -> tuple[str, ...]:
        """What names the newest state of the database that this connection has seen."""
        found = self.driver.execute_query_bookmark_manager.get_bookmarks()
        return tuple(sorted(found.raw_values if isinstance(found, Bookmarks) else found))

    def catch_up(self, bookmarks: Collection[str]) -> None:
        """Wait until reads see what the bookmarks name.

        The server gets them with one read. Only if that succeeds, later statements build on them:
        bookmarks that are not of this database would make all of them fail.
        """
        text = cypher("read/now")
        try:
            after = Bookmarks.from_raw_values(bookmarks)
        except (TypeError, ValueError) as error:
            raise ConfigurationError(
                f"these are no bookmarks ({error}); pass on what memory.admin.bookmarks() returned"
            ) from None

        def read(driver: Driver, until: float) -> None:
            query = Query(cast(Any, text), timeout=for_server(until))
            with self._session(driver, self._read_access, after) as session:
                session.run(query).consume()

        self._call(read, self._read_timeout)

    def _committed(
        self, driver: Driver, until: float, work: Callable[[DriverTransaction], _T]
    ) -> _T:
        """Try a write transaction once."""
        with (
            self._session(driver, WRITE_ACCESS) as session,
            session.begin_transaction(timeout=for_server(until)) as inner,
        ):
            result = work(inner)
            inner.commit()
            return result

    # Statements

    def rows(self, name: str, /, *replace: tuple[str, str], **parameters: Any) -> list[Row]:
        """Run a read statement and return its rows."""
        text, given = with_parameters(cypher(name, *replace, embedding=self.embedding), parameters)

        def read(driver: Driver, until: float) -> list[Row]:
            # An auto-commit read, without BEGIN and COMMIT, takes one round trip.
            query = Query(cast(Any, text), timeout=for_server(until))
            with self._session(driver, self._read_access) as session:
                return session.run(query, given).values()

        return self._call(read, self._read_timeout)

    def row(self, name: str, /, *replace: tuple[str, str], **parameters: Any) -> Row | None:
        """Run a read statement and return its first row."""
        rows = self.rows(name, *replace, **parameters)
        return rows[0] if rows else None

    def start(self, work: Callable[..., _T], *arguments: Any) -> Future[_T]:
        """Start a read in another thread, with the deadline of this thread."""
        return self._threads.submit(copy_context().run, work, *arguments)

    def write(self, work: Callable[[Transaction], _T]) -> _T:
        """Run a function in one write transaction; it may be called again."""

        def attempt(driver: Driver, until: float) -> _T:
            try:
                return self._committed(driver, until, lambda inner: work(Transaction(inner, self)))
            finally:
                self.written += 1

        return self._call(attempt, self._write_timeout)

    def write_alone(self, name: str, /, **parameters: Any) -> Row | None:
        """Run one statement as a write transaction of its own; return its first row.

        It commits with its last row, in one round trip instead of three. It may run again.
        """
        text, given = with_parameters(cypher(name, embedding=self.embedding), parameters)

        def attempt(driver: Driver, until: float) -> list[Row]:
            query = Query(cast(Any, text), timeout=for_server(until))
            try:
                with self._session(driver, WRITE_ACCESS) as session:
                    return session.run(query, given).values()
            finally:
                self.written += 1

        rows = self._call(attempt, self._write_timeout)
        return rows[0] if rows else None

    def command(self, name: str, /, *replace: tuple[str, str], **parameters: Any) -> None:
        """Run one schema command in a transaction of its own."""
        text = cypher(name, *replace, embedding=self.embedding)
        self.command_text(text, parameters)

    def command_text(self, text: str, parameters: dict[str, Any]) -> None:
        """Run the text of a schema command in a transaction of its own."""

        def attempt(driver: Driver, until: float) -> None:
            query = cast(Any, text)
            self._committed(driver, until, lambda inner: inner.run(query, parameters).consume())

        self._call(attempt, self._write_timeout)


def _knows_vectors(uri: str, protocol: tuple[int, int]) -> bool:
    """Whether driver and server have a type for vectors.

    In a cluster, which is upgraded server by server, the next one may not have it.
    """
    return DriverVector is not None and protocol >= (6, 0) and uri.startswith("bolt")


def _close(driver: Driver) -> None:
    """Close a driver, also while a call that was given up still uses a connection of it.

    If that call is writing, the connection can say no goodbye, and the driver stops at the error (a
    BufferError or an AssertionError) and leaves the others open.
    """
    _close_each(driver, driver.close)


def _close_late_connections(driver: Driver) -> None:
    """Close connections that a call opened after its driver was closed."""
    _close_each(driver, driver._pool.close)  # closing the driver again does nothing


def _close_each(driver: Driver, close: Callable[[], None]) -> None:
    connections = [each for own in list(driver._pool.connections.values()) for each in list(own)]
    try:
        close()
    except (BufferError, AssertionError) as error:
        logger.info("connections are ended without a goodbye: %r", error)
        for connection in connections:
            connection.kill()
        close()  # there are none left; a driver that is not closed warns when it is collected


_ABANDONED: list[tuple[Driver, ThreadPoolExecutor, ThreadPoolExecutor]] = []
