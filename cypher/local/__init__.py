"""Cypher for the SQLite store: a subset, run on a graph in memory."""
