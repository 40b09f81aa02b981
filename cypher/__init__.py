"""Cypher that ships with cognigraph, and read-only inspection confined to one space.

``files`` finds the ``.cypher`` files and their headers, ``confine`` rewrites a query for Neo4j so
that it sees one space, ``translate`` and ``graph`` run a subset of Cypher on a networkx export.
"""

if __name__ != "cognigraph.cypher":
    raise ImportError(
        "this folder is part of cognigraph: import it as 'cognigraph.cypher' "
        "(install the project, or run from its root), not as 'cypher'"
    )

from cognigraph.cypher.catalog import NamedQuery, Parameter, named_queries, named_query

__all__ = ["NamedQuery", "Parameter", "named_queries", "named_query"]
