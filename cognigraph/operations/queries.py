"""Run queries of users, and the named ones that come with the package."""

from __future__ import annotations

import logging
from typing import Any

from cognigraph.cypher import named_queries, named_query
from cognigraph.cypher.guard.query_limits import check_parameters_size
from cognigraph.cypher.guard.unknown_names import unknown_names
from cognigraph.engine import Engine
from cognigraph.errors import ConfigurationError
from cognigraph.validation import check_parameters

logger = logging.getLogger("cognigraph.cypher")


def run_query(
    engine: Engine,
    space: str,
    query: str | None,
    values: dict[str, Any],
    *,
    name: str | None,
    limit: int,
    timeout: float,
) -> list[dict[str, Any]]:
    """Run a query of a user, or a named one; see :meth:`cognigraph.Space.cypher`."""
    limits = engine.settings.query
    check_parameters_size(values)
    check_parameters(values)
    if (query is None) == (name is None):
        raise ConfigurationError("give either a query or name='...', not both")
    if name is not None:
        chosen = named_query(name)
        query, values = chosen.text, chosen.arguments(values)
    assert query is not None
    if (said := query.strip()) in named_queries():
        raise ConfigurationError(
            f"{said!r} is the name of a query, not a query: give it as name={said!r} "
            f"(on the command line: --name {said})"
        )
    for problem in unknown_names(query):
        logger.warning("%s; the query finds nothing there", problem)
    return engine.store.graph.cypher(
        space, query, values, limit=limit, timeout=timeout, limits=limits
    )
