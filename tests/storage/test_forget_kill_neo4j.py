"""A client that is killed while it forgets in Neo4j: each session is there as a whole, or gone."""

from __future__ import annotations

import time

import pytest

from tests.forked import Forked
from tests.storage import forgetters
from tests.storage.forgetters import PER_SESSION, marker, open_memory, turn

pytestmark = [pytest.mark.neo4j, pytest.mark.slow, pytest.mark.oldest_line]

SESSIONS = 12


def test_a_client_is_killed_while_it_forgets(neo4j_server, space_name):
    auth = neo4j_server.auth
    with open_memory(neo4j_server.uri, auth) as memory:
        space = memory.space(space_name)
        space.add_many([turn(number) for number in range(SESSIONS * PER_SESSION)])
        space.flush(timeout=120)
        whole = {session.id: session.messages for session in space.overview.sessions()}
        assert whole == {f"s{number}": PER_SESSION for number in range(SESSIONS)}
        client = Forked(forgetters.main, neo4j_server.uri, auth, space_name)
        try:
            while client.is_alive() and len(space.overview.sessions()) > SESSIONS - 2:
                time.sleep(0.01)
        finally:
            client.kill()
            client.finish()
        # A transaction that was under way when the client died is ended by the server.
        before = None
        while before != (before := space.stats()):
            time.sleep(0.2)
        left = {session.id: session.messages for session in space.overview.sessions()}
        assert len(left) < SESSIONS
        assert set(left.values()) <= {PER_SESSION}
        texts = " ".join(triple.text for triple in space.facts(limit=1000))
        for number in range(SESSIONS * PER_SESSION):
            kept = f"s{number // PER_SESSION}" in left
            assert (marker(number) in texts) == kept
            if number % PER_SESSION == 0:
                assert bool(space.search(marker(number), k=1).hits) == bool(left)
        assert space.cypher(
            "MATCH (t:Triple) WHERE NOT EXISTS { (t)-[:EVIDENCE]->(:Chunk) } RETURN count(t) AS n"
        ) == [{"n": 0}]
        assert space.forget(speaker="Ann").messages == sum(left.values())
        gone = space.stats()
        assert (gone.messages, gone.triples, gone.entities, gone.keys) == (0, 0, 0, 0)
        again = space.add_many([turn(0), turn(SESSIONS * PER_SESSION - 1)])
        assert again.forgotten == again.ids
