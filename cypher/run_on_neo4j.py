"""Run an inspection query on Neo4j, confined to one space."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from datetime import UTC, datetime
from typing import Any, TypeVar

from neo4j import Driver, Session, Transaction
from neo4j.exceptions import (
    ClientError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)
from neo4j.graph import Node, Path, Relationship
from neo4j.time import Date, DateTime, Duration, Time

from cognigraph.cypher.deadline import too_slow
from cognigraph.cypher.guard.confine import confine, verify_plan
from cognigraph.cypher.guard.confined_patterns import list_names
from cognigraph.cypher.guard.query_limits import (
    DEFAULT_LIMITS,
    check_call,
    check_parameters_size,
    check_query,
    check_rows,
)
from cognigraph.cypher.guard.readonly import SPACE_PARAMETER, check_parameters
from cognigraph.cypher.local.values import Row, plain, properties
from cognigraph.errors import QueryError, StoreError, StoreUnavailableError
from cognigraph.settings import QuerySettings

_T = TypeVar("_T")

_GRACE = 1.0
"""Seconds to wait for an answer after the server should have ended the query itself."""

_ATTEMPTS = 3
_WAIT = 0.2
_FETCH = 100
"""Rows that the server sends at a time, which bounds what an abandoned query sends in vain."""

_TOO_LARGE = ("OutOfMemory", "MemoryPool", "StackOverFlow")


def run_on_neo4j(
    driver: Driver,
    database: str | None,
    space: str,
    query: str,
    parameters: Mapping[str, Any],
    limit: int,
    timeout: float,
    limits: QuerySettings = DEFAULT_LIMITS,
) -> list[Row]:
    """Run a read-only query on one space and return at most ``limit`` rows as dicts.

    The query is rewritten (:func:`~cognigraph.cypher.guard.confine.confine`) and planned by the
    server without being run. It is refused if the plan writes or reads beyond the space, and
    otherwise runs in the same READ transaction. ``timeout`` is in seconds and covers the whole
    call, including the wait for a connection. When it has passed, the server ends the transaction;
    one second later the call returns even if the server does not answer. A query that has been sent
    is never sent again.

    Raises:
        QueryError: the query is refused, is not valid Cypher, takes too long, or is too large.
        StoreUnavailableError: the server cannot be reached.
    """
    check_call(limit, timeout)
    deadline = time.monotonic() + timeout
    text, lists = _prepared(query, parameters, limits), list_names(parameters)
    values = {**parameters, SPACE_PARAMETER: space}

    def read() -> list[Row]:
        # The store uses the same bookmarks, so on a cluster the query sees all its earlier writes.
        with driver.session(
            database=database,
            default_access_mode="READ",
            bookmark_manager=driver.execute_query_bookmark_manager,
            fetch_size=_FETCH,
        ) as session:
            transaction = _begin(session, deadline)
            with transaction:
                _check_plan(transaction, text, values, lists)
                result = transaction.run(text, values)
                names = result.keys()
                records = itertools.islice(result, limit)
                rows = ({name: _plain(record[name]) for name in names} for record in records)
                return list(check_rows(rows, limits))

    try:
        return _within(read, deadline + _GRACE)
    except FutureTimeout:
        raise too_slow(timeout) from None
    except RecursionError:
        raise QueryError("a value in the result is nested too deeply") from None
    except (ServiceUnavailable, SessionExpired) as problem:
        raise StoreUnavailableError(
            f"Neo4j cannot be reached ({problem}); check that it runs and that the address is right"
        ) from problem
    except (DriverError, Neo4jError) as problem:
        raise _mapped(problem, timeout) from problem


def _prepared(query: str, parameters: Mapping[str, Any], limits: QuerySettings) -> str:
    """Check a query against the limits and confine it to ``$__space``."""
    check_parameters(parameters)
    check_parameters_size(parameters)
    try:
        check_query(query)
        return confine(query, parameters=parameters, limits=limits)
    except RecursionError:
        raise QueryError("the query is nested too deeply; flatten it") from None


def _begin(session: Session, deadline: float) -> Transaction:
    """Begin a transaction that the server ends at the deadline.

    Only this step is retried after a lost connection, because the query has not been sent yet.
    """
    for attempt in itertools.count(1):
        remaining = deadline - time.monotonic()
        try:
            # A timeout of 0 would mean no timeout at all.
            return session.begin_transaction(timeout=max(remaining, 0.001))
        except (DriverError, Neo4jError) as problem:
            wait = _WAIT * 2**attempt
            late = time.monotonic() + wait >= deadline
            if attempt == _ATTEMPTS or late or not problem.is_retryable():
                raise
            time.sleep(wait)
    raise AssertionError("unreachable")


def _within(work: Callable[[], _T], deadline: float) -> _T:
    """Run a function in a thread and wait for its result until the deadline.

    The driver itself has no timeout for an answer. An abandoned thread ends when the server answers
    or the driver is closed; until then it occupies one connection.
    """
    future: Future[_T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as problem:  # noqa: BLE001 - handed over to the caller
            future.set_exception(problem)

    threading.Thread(target=run, name="cognigraph-cypher", daemon=True).start()
    return future.result(timeout=max(deadline - time.monotonic(), 0.0))


def _check_plan(
    transaction: Transaction, text: str, values: dict[str, Any], lists: Collection[str]
) -> None:
    summary = transaction.run("EXPLAIN " + text, values).consume()
    if summary.query_type != "r" or summary.plan is None:
        raise QueryError(
            "an inspection query only reads, but the server reports that this one writes"
        )
    verify_plan(summary.plan, lists=lists)


def _mapped(problem: DriverError | Neo4jError, timeout: float) -> StoreError | QueryError:
    code = (problem.code or "") if isinstance(problem, Neo4jError) else ""
    if "TransactionTimedOut" in code or "Terminated" in code:
        return too_slow(timeout)
    if any(word in code for word in _TOO_LARGE):
        return QueryError(
            "the query needs more memory than the server allows "
            f"({code.rsplit('.', 1)[-1]}); return or collect less, or nest less deeply"
        )
    if isinstance(problem, Neo4jError) and (
        isinstance(problem, ClientError) or ".Statement." in code
    ):
        lines = (problem.message or code).splitlines() or [code]
        return QueryError(f"Neo4j rejected the query: {lines[0][:500]}")
    if problem.is_retryable():
        return StoreUnavailableError(f"Neo4j is busy or restarting: {problem}")
    return StoreError(f"Neo4j failed: {problem}")


def _plain(value: Any) -> Any:
    """Convert a value from the driver to the form that both stores return."""
    if isinstance(value, (Node, Relationship)):
        labels = value.labels if isinstance(value, Node) else ()
        return properties({name: _plain(item) for name, item in value.items()}, labels)
    if isinstance(value, Path):
        steps: list[Any] = [value.start_node]
        for relationship, node in zip(value.relationships, value.nodes[1:], strict=True):
            steps += [relationship, node]
        return [_plain(step) for step in steps]
    if isinstance(value, DateTime):
        moment: datetime = value.to_native()
        return moment.astimezone(UTC) if moment.tzinfo else moment
    if isinstance(value, (Date, Time)):
        return value.to_native()
    if isinstance(value, Duration):
        return value.iso_format()
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return plain(value)
