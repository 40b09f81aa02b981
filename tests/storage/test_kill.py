"""kill -9 at any time: acknowledged messages are stored, and nothing is stored partially."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cognigraph import Filter, Memory
from tests.forked import Forked
from tests.storage.writers import Calls, enrich, open_memory, turn, write

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
KILLS = 16


def kill_after(process: Forked, lines: int, delay: float) -> list[str]:
    """Kill a process ``delay`` seconds after it printed ``lines`` lines; return its output."""
    with process.stdout as output:
        seen = [output.readline() for _ in range(lines)]
        time.sleep(delay)
        process.kill()
        seen += output.readlines()
    process.wait()
    return [line.strip() for line in seen if line.endswith("\n")]


def assert_whole(memory: Memory, path: Path) -> None:
    """Check that the file is sound, messages are complete, and rows are indexed and queued."""
    assert [
        check
        for check in memory.admin.check()
        if not check.ok and check.name not in ("disk", "worker")
    ] == []
    with closing(sqlite3.connect(path)) as connection:
        halves = connection.execute(
            "SELECT message_id FROM chunk GROUP BY session_id, message_id "
            "HAVING count(*) != max(parts) OR min(part) != 0 OR max(part) != max(parts) - 1"
        ).fetchall()
        assert halves == []
        for table in ("chunk_index", "work"):
            assert connection.execute(
                f"SELECT count(*) FROM chunk c LEFT JOIN {table} t ON t.chunk_id = c.id "
                "WHERE t.chunk_id IS NULL"
            ).fetchone() == (0,)
        counted = connection.execute(
            "SELECT s.name FROM session s WHERE s.chunks != "
            "(SELECT count(*) FROM chunk c WHERE c.session_id = s.id) OR s.messages != "
            "(SELECT count(DISTINCT message_id) FROM chunk c WHERE c.session_id = s.id)"
        ).fetchall()
        assert counted == []
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def test_killed_while_adding(tmp_path):
    path, acknowledged, source = tmp_path / "m.db", [], random.Random(20260520)
    first = 0
    for _ in range(KILLS):
        lines = kill_after(Forked(write, path, first), 1, source.uniform(0, 0.1))
        new = [id for line in lines for id in line.split()]
        assert new, "the writer acknowledged nothing"
        acknowledged += new
        with open_memory(path) as memory:
            assert_whole(memory, path)
            stored = memory.stats().messages
            # At most the batch in progress (of five) is stored without having been announced.
            assert len(acknowledged) <= stored <= len(acknowledged) + 5
            for id in new:
                message, said = memory.get(id), turn(int(id[1:]))
                assert message is not None, f"{id} was acknowledged and is lost"
                assert (message.text, message.speaker) == (said.text, said.speaker)
            for id in source.sample(new, min(8, len(new))):
                # Within its session, because a fast machine stores hundreds of such messages.
                said = turn(int(id[1:]))
                found = memory.search(said.text, k=20, where=Filter(session=said.session))
                assert id in [hit.id for hit in found], f"{id} cannot be found"
            # The next writer repeats the last one: redelivery changes nothing.
            known = memory.add_many([turn(int(id[1:])) for id in new])
            assert known.new == ()
            first = stored
            while memory.get(f"m{first}") is not None:
                first += 1
            acknowledged = [f"m{n}" for n in range(first)]
            assert memory.stats().messages == first
    assert first > KILLS


def graph(memory: Memory) -> dict[str, Any]:
    """Everything that enrichment wrote, without row ids and revisions.

    The number of revisions depends on the batches, because a chunk with two crashes is read alone.
    """
    return {
        "triples": [
            (t.uid, t.text, str(t.when), t.first_observed, t.last_observed, t.sources)
            for t in memory.facts(limit=10_000)
        ],
        "entities": memory.entities(limit=10_000),
        "sessions": [
            (s.id, s.keys, s.themes, s.messages) for s in memory.overview.sessions(limit=1000)
        ],
        "stats": memory.stats(),
    }


def test_killed_while_enriching(tmp_path):
    source = random.Random(7)
    turns = [turn(n) for n in range(50)]
    with open_memory(tmp_path / "first.db") as memory:
        memory.add_many(turns)
        memory.flush()  # what is compiled once, the processes to be killed get with the fork
    with open_memory(tmp_path / "calm.db") as memory:
        memory.add_many(turns)
        with Calls() as calls:
            memory.flush()
        expected = graph(memory)
    assert len(expected["triples"]) > 20
    kills = unfinished = 0
    for attempt in range(4):
        path = tmp_path / f"killed{attempt}.db"
        with open_memory(path) as memory:
            memory.add_many(turns)
        for _ in range(4):
            Forked(enrich, path, int(calls.count * source.uniform(0.01, 0.4))).finish()
            kills += 1
            with open_memory(path) as memory:
                assert_whole(memory, path)
                done = memory.stats().done
                unfinished += 0 < done < len(turns)
                # No chunk is marked as done without its triples.
                assert done in (0, memory.stats().chunks) or memory.stats().triples > 0
        with open_memory(path) as memory:
            memory.flush(timeout=20)  # waits until the last lease expires
            assert graph(memory) == expected
            assert_whole(memory, path)
    assert unfinished > 3, f"{kills} kills, none of them in the middle: the test tests nothing"


def test_a_restart_need_not_wait_for_the_lease_of_a_dead_process(tmp_path):
    """The default lease is two minutes; a flush after a crash should not time out over it."""
    path = tmp_path / "m.db"
    code = (
        "import os, sys\n"
        "from cognigraph import Memory\n"
        "from cognigraph.testing import HashEmbedder, ScriptedExtractor\n"
        "def die(window): os.kill(os.getpid(), 9)\n"
        "memory = Memory(sys.argv[1], embedder=HashEmbedder(32), enrich='manual',\n"
        "                extractor=ScriptedExtractor(die))\n"
        "memory.add('I moved to Oslo.', id='m1', speaker='Ann')\n"
        "memory.queue.enrich()\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=False, timeout=60)
    assert done.returncode == -9
    from cognigraph.testing import HashEmbedder

    with Memory(path, embedder=HashEmbedder(32), enrich="manual") as memory:
        memory.flush(timeout=5)
        assert memory.stats().done == 1
