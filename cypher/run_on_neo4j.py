"""Cypher on Neo4j, confined to one space: inspection for the Neo4j store."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from neo4j import Driver, ManagedTransaction, unit_of_work
from neo4j.exceptions import (
    ClientError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)
from neo4j.graph import Node, Path, Relationship
from neo4j.time import Date, DateTime, Duration, Time

from cognigraph.cypher.guard.confine import confine, verify_plan
from cognigraph.cypher.guard.readonly import SPACE_PARAMETER, check_parameters
from cognigraph.cypher.local.rows import Row, plain, properties
from cognigraph.errors import QueryError, StoreError, StoreUnavailableError


def run_on_neo4j(
    driver: Driver,
    database: str | None,
    space: str,
    query: str,
    parameters: Mapping[str, Any],
    limit: int,
    timeout: float,
) -> list[Row]:
    """Run a reading query that sees one space; at most ``limit`` rows as dicts.

    The query is rewritten (:func:`~cognigraph.cypher.guard.confine.confine`), then planned without
    being run, and refused if the plan writes or reads beyond the space; then it runs in a READ
    transaction of at most ``timeout`` seconds. Raises :class:`QueryError` for what is refused or
    not understood and :class:`StoreUnavailableError` when the server cannot be reached.
    """
    check_parameters(parameters)
    text = confine(query)
    values = {**parameters, SPACE_PARAMETER: space}

    @unit_of_work(timeout=timeout)
    def read(transaction: ManagedTransaction) -> list[Row]:
        _check_plan(transaction, text, values)
        result = transaction.run(text, values)
        names = result.keys()
        records = result.fetch(limit)
        return [{name: _plain(record[name]) for name in names} for record in records]

    try:
        # The stores' bookmarks: on a cluster a query sees what was written just before it.
        bookmarks = driver.execute_query_bookmark_manager
        with driver.session(
            database=database, default_access_mode="READ", bookmark_manager=bookmarks
        ) as session:
            return session.execute_read(read)
    except (ServiceUnavailable, SessionExpired) as problem:
        raise StoreUnavailableError(
            f"Neo4j cannot be reached ({problem}); check that it runs and that the address is right"
        ) from problem
    except ClientError as problem:
        raise QueryError(_one_line(problem, timeout)) from problem
    except (DriverError, Neo4jError) as problem:
        if isinstance(problem, Neo4jError) and ".Statement." in (problem.code or ""):
            raise QueryError(_one_line(problem, timeout)) from problem
        if problem.is_retryable():
            raise StoreUnavailableError(f"Neo4j is busy or restarting: {problem}") from problem
        raise StoreError(f"Neo4j failed: {problem}") from problem


def _check_plan(transaction: ManagedTransaction, text: str, values: dict[str, Any]) -> None:
    summary = transaction.run("EXPLAIN " + text, values).consume()
    if summary.query_type != "r" or summary.plan is None:
        raise QueryError("an inspection only reads; the server says that this query does more")
    verify_plan(summary.plan)


def _one_line(problem: Neo4jError, timeout: float) -> str:
    code = problem.code or ""
    if "TransactionTimedOut" in code or "Terminated" in code:
        return f"the query took longer than {timeout:g} s; narrow it or give a longer timeout"
    lines = (problem.message or code).splitlines() or [code]
    return f"Neo4j does not accept the query: {lines[0]}"


def _plain(value: Any) -> Any:
    """Turn a value of the driver into plain data, as :mod:`cognigraph.cypher.local.rows` does."""
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
