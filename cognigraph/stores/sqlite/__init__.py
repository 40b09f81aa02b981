"""The embedded store: one SQLite file and in-memory search indexes over it."""

from cognigraph.stores.sqlite.store import SQLiteStore

__all__ = ["SQLiteStore"]
