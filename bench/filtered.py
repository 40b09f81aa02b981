"""Searches with a filter against searches without, on a space that ``search.py`` has opened.

Every question is asked without a filter and with each filter in turn, in changing order, so that
what else the machine does weighs on all of them alike. A filtered search must return ``k`` messages
if twice as many pass the filter, and only such messages.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from statistics import median
from typing import Any

from bench.measure import percentiles
from bench.synthetic import START, TURNS_PER_SESSION, World, marks_of, messages
from cognigraph import Filter, Memory, Space
from cognigraph.stores.records import MessageData
from cognigraph.stores.sqlite.messages import write_data
from cognigraph.stores.sqlite.rows import role_number

K = 10


@dataclass(frozen=True)
class Case:
    """A filter, and whether it lets the message with a number pass."""

    name: str
    where: Filter | None
    passes: Callable[[int], bool]


def cases(world: World, chunks: int) -> list[Case]:
    """Return one filter of each kind, wide and narrow ones."""
    speaker = next(messages(world, 1)).speaker
    session = chunks // TURNS_PER_SESSION // 2
    day = timedelta(days=1)
    month = Filter(since=START + session * day, until=START + (session + 30) * day)
    first = session * TURNS_PER_SESSION
    after, end = first + TURNS_PER_SESSION, first + 30 * TURNS_PER_SESSION

    def field(name: str, value: object) -> Callable[[int], bool]:
        return lambda n: marks_of(n)[2][name] == value

    def tag(name: str) -> Callable[[int], bool]:
        return lambda n: name in marks_of(n)[1]

    return [
        Case("none", None, lambda n: True),
        Case(
            "one session",
            Filter(session=f"s{session}"),
            lambda n: first <= n < after,
        ),
        Case("one of two speakers", Filter(speaker=speaker), lambda n: n % 2 == 0),
        Case("one of two roles", Filter(roles=["user"]), lambda n: n % 2 == 0),
        Case("a tag of every tenth", Filter(tags=["starred"]), tag("starred")),
        Case("a tag of every thousandth", Filter(tags=["rare"]), tag("rare")),
        Case("a month", month, lambda n: first <= n < end),
        Case("the second half", Filter(since=START + session * day), lambda n: n >= first),
        Case("metadata of a third", Filter(metadata={"channel": "mail"}), field("channel", "mail")),
        Case("metadata of a hundred", Filter(metadata={"ticket": 3}), field("ticket", 3)),
        Case(
            "speaker, tag and time",
            Filter(speaker=speaker, tags=["starred"], since=START + session * day),
            lambda n: n % 2 == 0 and tag("starred")(n) and n >= first,
        ),
    ]


def mark_messages(memory: Memory, location: str, space: str, chunks: int) -> None:
    """Give the messages of a space the roles, tags and metadata of ``marks_of``, if they have none.

    Files and databases are filled in bulk without them, and a stored message keeps its own.
    """
    if memory.space(space).messages(limit=1, where=Filter(tags=["rare"])).messages:
        return
    mark = _mark_neo4j if "://" in location else _mark_sqlite
    mark(memory, location, space, chunks)


def _mark_sqlite(memory: Memory, location: str, space: str, chunks: int) -> None:
    with closing(sqlite3.connect(location)) as connection, connection:
        (id,) = connection.execute("SELECT id FROM space WHERE name = ?", (space,)).fetchone()
        rows = connection.execute("SELECT id, message_id FROM chunk WHERE space_id = ?", (id,))
        for chunk, name in rows.fetchall():
            role, tags, metadata = marks_of(int(name[1:]))
            data = MessageData(json.dumps(metadata), tags)
            write_data(connection, chunk, id, 1, data)
            number = role_number(role)
            connection.execute("UPDATE chunk SET role = ? WHERE id = ?", (role, chunk))
            connection.execute(
                "UPDATE chunk_index SET role = ? WHERE chunk_id = ?", (number, chunk)
            )
        # The index in memory, and its copy beside the file, belong to another state of the space.
        connection.execute("UPDATE space SET epoch = random() WHERE id = ?", (id,))


def _mark_neo4j(memory: Memory, location: str, space: str, chunks: int) -> None:
    # Imported here, so that the driver does not add to the memory measured of a SQLite store.
    from cognigraph.stores.neo4j.schema import index_marks
    from cognigraph.stores.neo4j.tokens import marks_of

    connection = memory._engine.store._connection  # type: ignore[attr-defined]
    for first in range(0, chunks, 1000):
        numbers = range(first, min(first + 1000, chunks))
        rows = [_properties(number, marks_of) for number in numbers]
        with connection.driver.session(database=connection.database) as session:
            session.run(_SET, {"space": space, "rows": rows}).consume()
    index_marks(connection)


_SET = """CYPHER 5
UNWIND $rows AS row
MATCH (chunk:Chunk {space: $space, session: row.session, message_id: row.message})
SET chunk += row.properties
"""


def _properties(number: int, marks: Callable[[MessageData], list[str]]) -> dict[str, Any]:
    role, tags, metadata = marks_of(number)
    data = MessageData(json.dumps(metadata), tags)
    found = {"tags": list(data.tags) or None, "metadata": data.metadata, "marks": marks(data)}
    return {
        "session": f"s{number // TURNS_PER_SESSION}",
        "message": f"m{number}",
        "properties": {"role": role, **found},
    }


def compare(space: Space, chosen: list[Case], questions: list[str], **options: Any) -> Any:
    """Ask every question with every filter; return the percentiles and ratios of each."""
    expected = [sum(map(case.passes, range(space.stats().chunks))) for case in chosen]
    wall: list[list[float]] = [[] for _ in chosen]
    cpu: list[list[float]] = [[] for _ in chosen]
    for case, ways in zip(chosen, expected, strict=True):
        _ask(space, case, ways, questions[0], options)
    for number, question in enumerate(questions):
        for which in _turned(len(chosen), number):
            spent = _ask(space, chosen[which], expected[which], question, options)
            wall[which].append(spent[0])
            cpu[which].append(spent[1])
    plain, plain_cpu = median(wall[0]), median(cpu[0])
    return {
        case.name: {
            "messages": count,
            **percentiles(wall[which]),
            "cpu_p50_ms": round(median(cpu[which]), 2),
            "ratio": round(median(wall[which]) / plain, 2),
            "cpu_ratio": round(median(cpu[which]) / plain_cpu, 2),
        }
        for which, (case, count) in enumerate(zip(chosen, expected, strict=True))
    }


def _turned(count: int, by: int) -> Iterator[int]:
    return ((number + by) % count for number in range(count))


def _ask(
    space: Space, case: Case, passing: int, question: str, options: dict[str, Any]
) -> tuple[float, float]:
    """Search once; return the milliseconds by the clock and of this process."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = space.search(question, k=K, where=case.where, **options)
    spent = (time.perf_counter() - wall) * 1000, (time.process_time() - cpu) * 1000
    # A message without anything in common with the question is not found, even if it passes.
    assert len(found) >= min(K, passing // 2), (case.name, len(found), passing)
    assert all(case.passes(int(hit.id[1:])) for hit in found), case.name
    return spent
