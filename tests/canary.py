"""A space beside a canary: what the guard lets through must not depend on the canary at all.

:class:`Aviary` holds one small space of its own and a larger one whose every value is marked. A
query may not show a mark, neither in its rows nor in an error, and may not answer otherwise once
the canary is gone: this covers counts, aggregates, and errors that only the canary could cause.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from neo4j import Driver
from neo4j.exceptions import Neo4jError

from cognigraph.cypher.guard.confine import confine, verify_plan
from cognigraph.cypher.run_on_neo4j import _one_line, _plain
from cognigraph.errors import QueryError
from tests.cypher_generator import PARAMETERS

MARK = "canary"
NUMBER = 7_000_000_000
LISTS = frozenset(name for name, value in PARAMETERS.items() if isinstance(value, list))

Confine = Callable[[str], str]
Verify = Callable[[Mapping[str, Any]], None]

_LOAD = """
UNWIND range(0, $count - 1) AS i
CREATE (s:Session {space: $space, uid: $mark + $space + 's' + i, name: $mark + 'n'})
SET s.seq = $number + i
CREATE (a:Chunk {space: $space, uid: $mark + $space + 'a' + i, text: $mark + 'a'})
SET a.seq = $number + i
CREATE (b:Chunk {space: $space, uid: $mark + $space + 'b' + i, text: $mark + 'b'})
SET b.seq = $number + i
CREATE (e:Entity {space: $space, uid: $mark + $space + 'e' + i, name: $mark + 'e'})
CREATE (t:Triple {space: $space, uid: $mark + $space + 't' + i, text: $mark + 't'})
CREATE (k:Key {space: $space, uid: $mark + $space + 'k' + i, name: $mark + 'k'})
CREATE (:Space {name: $space + i, text: $mark + 'z', uid: $mark + $space + 'z' + i, seq: $number})
CREATE (s)-[:HAS]->(a)-[:NEXT {text: $mark + 'r'}]->(b)-[:MENTIONS {seq: $number}]->(e),
       (t)-[:EVIDENCE]->(b), (a)-[:MENTIONS]->(k), (t)-[:SUBJECT]->(e)
"""


@dataclass(frozen=True)
class Guard:
    """What stands between a query and the server; the faults of an earlier one can be put in."""

    confine: Confine = lambda query: confine(query, lists=LISTS)
    verify: Verify = lambda plan: verify_plan(plan, lists=LISTS)


@dataclass
class Tally:
    """What became of the queries."""

    run: int = 0
    refused: int = 0
    by_server: int = 0
    answered: int = 0
    failed: int = 0
    leaks: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        accepted = self.run - self.refused
        return (
            f"{self.run} queries, {self.refused} refused by the guard, {self.by_server} not "
            f"accepted by the server, {accepted - self.by_server} run ({self.answered} answered, "
            f"{self.failed} failed), {len(self.leaks)} leaks"
        )


class Aviary:
    """The two spaces on one server."""

    def __init__(self, driver: Driver, space: str, language: str = "", guard: Guard | None = None):
        self.driver, self.space, self.language = driver, space, language
        self.guard = guard or Guard()
        self.canary = f"{MARK}-{space}"
        self._load(space, "own-", 0, 2)

    def close(self) -> None:
        """Remove both spaces."""
        self._remove(self.space)
        self._remove(self.canary)

    def check(self, queries: Iterable[str], tally: Tally, errors: bool = False) -> None:
        """Run queries with the canary there and without, and note every difference as a leak.

        ``errors`` compares an error with rows too. With random queries that says nothing: whether
        a condition that fails on a row of the space itself is evaluated depends on the plan.
        """
        self._load(self.canary, f"{MARK}-", NUMBER, 60)
        answers: list[tuple[str, str]] = []
        for query in queries:
            tally.run += 1
            answer = self.answer(query, tally)
            if MARK in answer.replace("'canary'", "") or str(NUMBER)[:4] in answer:
                tally.leaks.append(f"{query}\n  shows {answer[:500]}")
            elif answer:
                answers.append((query, answer))
        self._remove(self.canary)
        for query, answer in answers:
            alone = self.answer(query, Tally())
            # Another plan can be refused: it depends on the sizes of the whole database.
            comparable = errors or (answer[0] == "[" == alone[:1])
            if alone and alone != answer and comparable:
                tally.leaks.append(f"{query}\n  {answer[:500]}\n  alone {alone[:500]}")

    def answer(self, query: str, tally: Tally) -> str:
        """Return what a caller would see, rows in canonical order; empty if it was not run."""
        try:
            text = self.guard.confine(query)
        except QueryError:
            tally.refused += 1
            return ""
        return self._run(f"{self.language} {text}", tally)

    def _run(self, text: str, tally: Tally) -> str:
        values = {**PARAMETERS, "__space": self.space}
        with self.driver.session(default_access_mode="READ") as session:
            try:
                plan = session.run(f"EXPLAIN {text}", values).consume().plan  # type: ignore[arg-type]
            except Neo4jError:
                tally.by_server += 1
                return ""
            try:
                self.guard.verify(plan or {})
            except QueryError:
                tally.refused += 1
                return ""
            try:
                rows = session.run(text, values, timeout=10).fetch(2000)  # type: ignore[arg-type]
            except Neo4jError as problem:
                tally.failed += 1
                return _one_line(problem, 10) + (problem.message or "")
            tally.answered += 1
            return canonical([_plain(dict(row)) for row in rows])

    def _load(self, space: str, mark: str, number: int, count: int) -> None:
        values = {"space": space, "mark": mark, "number": number, "count": count}
        self.driver.execute_query(_LOAD, values)

    def _remove(self, space: str) -> None:
        self.driver.execute_query(
            "MATCH (n) WHERE n.space = $space OR (n:Space AND n.name STARTS WITH $space) "
            "DETACH DELETE n",
            space=space,
        )


def canonical(value: Any) -> str:
    """Write rows without regard to any order."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {canonical(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return str(sorted(Counter(map(canonical, value)).items()))
    return repr(value)
