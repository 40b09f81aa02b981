"""Cypher for the SQLite store: a subset of the language, run on an in-memory graph."""
