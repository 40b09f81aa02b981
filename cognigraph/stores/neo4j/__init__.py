"""The store at scale: a Neo4j server, one database for all spaces."""

from cognigraph.stores.neo4j.store import Neo4jStore

__all__ = ["Neo4jStore"]
