"""Checks on a user's Cypher query: it only reads, stays in one space, and has a bounded cost."""
