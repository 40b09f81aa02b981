"""Rows of Neo4j as value objects."""

from __future__ import annotations

from cognigraph.stores.neo4j.values import sessions_of


def test_a_session_that_is_deleted_while_it_is_read_is_left_out() -> None:
    kept = ["s1", 1_000_000, 2_000_000, 2, 3, 1, ["oslo"], [["Oslo", "Ann moved.", "u1"]]]
    deleted = [None, None, None, None, None, None, [], []]
    (session,) = sessions_of([deleted, kept])
    assert (session.id, session.messages, session.chunks) == ("s1", 2, 3)
    assert session.keys == ("oslo",)
