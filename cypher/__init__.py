"""The ``.cypher`` files of the package, and read-only Cypher queries confined to one space.

``catalog`` finds the files and reads their headers. ``guard`` checks a user's query and confines it
to one space, ``run_on_neo4j`` runs it on Neo4j, and ``local`` runs a subset of Cypher on a graph
in memory for the SQLite store.
"""

if __name__ != "cognigraph.cypher":
    raise ImportError(
        "this folder is part of cognigraph: import it as 'cognigraph.cypher' "
        "(install the project, or run from its root), not as 'cypher'"
    )

from cognigraph.cypher.catalog import (
    NamedQuery,
    Parameter,
    check_own_query,
    named_queries,
    named_query,
    statement_at,
)

__all__ = [
    "NamedQuery",
    "Parameter",
    "check_own_query",
    "named_queries",
    "named_query",
    "statement_at",
]
