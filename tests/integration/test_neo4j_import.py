"""neo4j-admin imports what bench/import_neo4j.py writes, and a memory finds the same in it."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bench.import_neo4j import Laps, check_same, imported
from bench.neo4j_csv import Source
from bench.synthetic import START
from cognigraph import Memory, Space
from tests.servers.neo4j_server import Local, Sizes, resolve

pytestmark = [pytest.mark.slow, pytest.mark.neo4j, pytest.mark.thorough]

LINE = "2026"
SPACE = "search-0"
CHUNKS, LIMIT = 60, 30
"""Each message has a fact. So few are all candidates: the server's index of vectors is not exact.

The limit is inside the second session of three.
"""
ALL = 1000
ROOT = Path(__file__).parents[2]


def first_messages(file: str, copy: Path) -> Path:
    """A copy without the messages after the limit, and without what was read from these."""
    shutil.copy(file, copy)
    with closing(sqlite3.connect(copy, isolation_level=None)) as db:
        for table in ("chunk_index", "work", "evidence"):
            db.execute(f"DELETE FROM {table} WHERE chunk_id > ?", [LIMIT])
        db.execute("DELETE FROM chunk WHERE id > ?", [LIMIT])
        for table, column in (("triple_index", "triple_id"), ("triple", "id")):
            db.execute(
                f"DELETE FROM {table} WHERE {column} NOT IN (SELECT triple_id FROM evidence)"
            )
        db.execute(
            "DELETE FROM entity WHERE id NOT IN"
            " (SELECT subject_id FROM triple UNION SELECT object_id FROM triple)"
        )
        for table, column in (("theme", "session_id"), ("session_key", "session_id"),
                              ("session", "id")):  # fmt: skip
            db.execute(f"DELETE FROM {table} WHERE {column} NOT IN (SELECT session_id FROM chunk)")
        db.execute("DELETE FROM key WHERE id NOT IN (SELECT key_id FROM session_key)")
        db.execute(
            """UPDATE session SET (messages, chunks, ended_at) =
                 (SELECT count(*), count(*), max(at) FROM chunk WHERE session_id = session.id)"""
        )
    return copy


def held(space: Space) -> dict[str, Any]:
    """Everything that a space lists."""
    return {
        "stats": space.stats(),
        "messages": [(m.id, m.text, m.speaker, m.at, m.session) for m in space.messages(limit=ALL)],
        "sessions": [
            (s.id, s.started_at, s.ended_at, s.messages, s.keys, s.themes)
            for s in space.overview.sessions(limit=ALL)
        ],
        "facts": sorted(
            (t.subject, t.relation, t.object, t.first_observed, [s.id for s in t.sources])
            for t in space.facts(limit=ALL)
        ),
        "entities": sorted((e.name, e.type, e.triples) for e in space.entities(limit=ALL)),
    }


def found(space: Space, question: str) -> tuple[list[str], list[float], list[str]]:
    """The hits of a search, their scores, and its facts."""
    result = space.search(question, k=10, now=START.replace(year=2044))
    return (
        [hit.id for hit in result],
        [hit.score for hit in result],
        [str(fact) for fact in result.triples],
    )


@pytest.mark.timeout(600)  # two JVMs start one after the other
def test_a_memory_finds_in_the_database_what_it_finds_in_the_file(tmp_path: Path) -> None:
    if not isinstance(resolve(LINE), Local):
        pytest.skip(f"neo4j-admin is run from Maven's artifacts only, and this is {resolve(LINE)}")
    file = str(tmp_path / "m.db")
    sizes = ["--chunks", str(CHUNKS), "--triples", str(CHUNKS)]
    command = [sys.executable, "-m", "bench.bulk", file, *sizes]
    subprocess.run(command, check=True, cwd=ROOT)
    small, folder = Sizes("512m", "32m"), tmp_path / "server"
    with (
        imported(file, folder, LINE, small, LIMIT, Laps()) as server,
        Memory(server.uri, enrich="manual") as memory,
        Memory(first_messages(file, tmp_path / "first.db"), enrich="manual") as original,
    ):
        here, there = memory.space(SPACE), original.space(SPACE)
        expected = held(there)
        stats = expected["stats"]
        assert (stats.chunks, stats.sessions, stats.triples) == (LIMIT, 2, LIMIT)
        assert held(here) == expected
        asked = [text for _, text, *_ in expected["messages"][::8]]
        asked += [f"What did {subject} {verb}?" for subject, verb, *_ in expected["facts"][::8]]
        for question in asked:
            ids, scores, said = found(here, question)
            assert (ids, pytest.approx(scores, abs=1e-4), said) == found(there, question)
        assert all(check.ok for check in memory.admin.check())
        with pytest.raises(SystemExit, match="instead of 60 messages of search-0"):
            check_same(server.uri, Source(file))  # without the limit
