"""A space beside a canary space: the answer to a query must not depend on the canary's values.

:class:`Aviary` contains a small space and a larger one, the canary. Each query is run three times:
while every value of the canary is marked, while the same nodes of the canary have other values or
none (its *twin*), and after the canary has been removed. Neither the rows nor an error may contain
a mark, and the answers must agree:

- Rows must be the same each time.
- Errors must be the same where the plans are the same. Two plans may differ in whether they
  evaluate a condition that fails on a row of the space itself, and the choice of a plan depends on
  the sizes of the whole database. The twin has the same sizes, so its plans hardly ever differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import uuid4

from neo4j import Driver, Query
from neo4j.exceptions import Neo4jError

from cognigraph.cypher.guard.confine import confine, verify_plan
from cognigraph.cypher.run_on_neo4j import _mapped, _plain
from cognigraph.errors import QueryError
from tests.cypher_generator import PARAMETERS

MARK = "canary-bird"
"""Stands in all texts of a canary, and in no query: what shows it was read from a canary."""

NUMBER = 7_000_000_000
CANARIES = 60
ROWS = 2000
SECONDS = 10.0
LISTS = frozenset(name for name, value in PARAMETERS.items() if isinstance(value, list))

Confine = Callable[[str], str]
Verify = Callable[[Mapping[str, Any]], None]
Kind = Literal["refused", "not accepted", "rows", "error", "given up"]

_LOAD = """
UNWIND range(0, $count - 1) AS i
WITH i, {of: $of, space: $space, seq: $number + i} AS all, $mark + $space AS id,
     CASE WHEN i % 10 = 9 THEN 'own-' ELSE $mark END AS mark
CREATE (s:Session {uid: id + 's' + i, name: mark + 'n'}) SET s += all
CREATE (a:Chunk {uid: id + 'a' + i, text: mark + 'a'}) SET a += all
CREATE (b:Chunk {uid: id + 'b' + i, text: mark + 'b'}) SET b += all
CREATE (e:Entity {uid: id + 'e' + i, name: mark + 'e'}) SET e += all
CREATE (t:Triple {uid: id + 't' + i, text: mark + 't'}) SET t += all
CREATE (k:Key {uid: id + 'k' + i, name: mark + 'k'}) SET k += all
CREATE (s)-[:HAS]->(a)-[:NEXT {text: mark + 'r'}]->(b)-[:MENTIONS {seq: $number}]->(e),
       (t)-[:EVIDENCE]->(b), (a)-[:MENTIONS]->(k), (t)-[:SUBJECT]->(e)
"""
"""Every tenth group of nodes of the canary holds the same texts as the other space does."""

_LOAD_OUTSIDE = """
UNWIND range(0, $count - 1) AS i
CREATE (:Space {of: $of, uid: $mark + 'z' + i, name: $space + i, text: $mark + 'z', seq: $number})
"""
"""Nodes without a space, of which no query may learn anything."""

_EMPTY = [
    """
MATCH (n {of: $of})
SET n.text = null, n.seq = null, n.name = CASE WHEN n:Space THEN 'other' + elementId(n) END
""",
    "MATCH ({of: $of})-[r]->() SET r.text = null, r.seq = null",
]


@dataclass(frozen=True)
class Guard:
    """The checks between a query and the server; tests can replace them by faulty ones."""

    confine: Confine = lambda query: confine(query, parameters=PARAMETERS)
    verify: Verify = lambda plan: verify_plan(plan, lists=LISTS)


@dataclass(frozen=True)
class Answer:
    """What a caller sees of one query, and the plan that was used."""

    kind: Kind
    text: str = ""
    plan: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.text[:500]}"

    def like(self, other: Answer) -> bool | None:
        """Whether two answers agree; None if they cannot be compared."""
        if self.kind == other.kind == "rows":
            return self.text == other.text
        comparable = {self.kind, other.kind} <= {"rows", "error"} and self.plan == other.plan
        return (self.kind, self.text) == (other.kind, other.text) if comparable else None


@dataclass
class Tally:
    """Counts of the outcomes of the queries."""

    kinds: Counter[Kind] = field(default_factory=Counter)
    compared: Counter[Kind] = field(default_factory=Counter)
    not_empty: int = 0
    other_plans: int = 0
    leaks: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        kinds = self.kinds
        return (
            f"{kinds.total()} queries: {kinds['refused']} refused by the guard, "
            f"{kinds['not accepted']} not accepted by the server, {kinds['rows']} answered "
            f"({self.not_empty} with rows), "
            f"{kinds['error']} failed, {kinds['given up']} given up; answers compared: "
            f"{self.compared['rows']} rows, {self.compared['error']} errors, "
            f"{self.other_plans} not (another plan); {len(self.leaks)} leaks"
        )

    def compare(self, query: str, answer: Answer, other: Answer, when: str) -> None:
        """Count a comparison, and note a difference as a leak."""
        alike = answer.like(other)
        if alike is None:
            self.other_plans += answer.kind in ("rows", "error")
            return
        self.compared[answer.kind] += 1
        if not alike:
            self.leaks.append(f"{query}\n  {answer}\n  {when}: {other}")


class Aviary:
    """The two spaces on one server."""

    def __init__(
        self,
        driver: Driver,
        space: str,
        language: str = "",
        guard: Guard | None = None,
        rows: int = ROWS,
    ):
        self.driver, self.space, self.language, self.rows = driver, space, language, rows
        self.guard = guard or Guard()
        self.canary = f"{MARK}-{uuid4().hex[:8]}"
        self._load([_LOAD], space, "own-", 0, 2)

    def close(self) -> None:
        """Remove both spaces."""
        self._remove(self.space)
        self._remove(self.canary)

    def check(self, queries: Iterable[str], tally: Tally) -> None:
        """Run queries beside the canary, beside its twin and alone; record differences as leaks."""
        asked = list(queries)
        marked = f"{self.canary}-"
        self._load([_LOAD, _LOAD_OUTSIDE], self.canary, marked, NUMBER, CANARIES)
        answers = self._answers(asked)
        tally.kinds.update(answer.kind for answer in answers.values())
        tally.not_empty += sum(a.kind == "rows" and a.text != "[]" for a in answers.values())
        for query, answer in answers.items():
            if MARK in answer.text or str(NUMBER)[:8] in answer.text:
                tally.leaks.append(f"{query}\n  shows {answer}")
        self._run_all(_EMPTY, of=self.canary)
        self._compare(answers, tally, "beside the twin", replan=False)
        self._remove(self.canary)
        self._compare(answers, tally, "alone")

    def _compare(
        self, answers: Mapping[str, Answer], tally: Tally, when: str, *, replan: bool = True
    ) -> None:
        asked = (query for query, a in answers.items() if a.kind in ("rows", "error"))
        again = self._answers(asked, replan=replan)
        for query, other in again.items():
            tally.compare(query, answers[query], other, when)

    def _answers(self, queries: Iterable[str], *, replan: bool = True) -> dict[str, Answer]:
        return {query: self.answer(query, replan=replan) for query in queries}

    def answer(self, query: str, *, replan: bool = True) -> Answer:
        """Return what a caller would see, rows in canonical order.

        The query is planned anew, because an earlier plan may have been made for other sizes.
        """
        try:
            text = self.guard.confine(query)
        except QueryError:
            return Answer("refused")
        forced = f"{self.language or 'CYPHER'} replan=force" if replan else self.language
        return self._answer_to(f"{self.language} {text}", f"EXPLAIN {forced} {text}")

    def _answer_to(self, text: str, explain: str) -> Answer:
        """Answer a query, which runs by the plan that ``explain`` makes and shows."""
        values = {**PARAMETERS, "__space": self.space}
        with self.driver.session(default_access_mode="READ") as session:
            try:
                plan = session.run(explain, values).consume().plan or {}  # type: ignore[arg-type]
            except Neo4jError:
                return Answer("not accepted")
            try:
                self.guard.verify(plan)
            except QueryError:
                return Answer("refused")
            try:
                rows = session.run(Query(text, timeout=SECONDS), values).fetch(self.rows)  # type: ignore[arg-type]
            except Neo4jError as problem:
                return _failed(problem, operators(plan))
        if len(rows) == self.rows:
            return Answer("given up")  # Which rows come first is up to the plan.
        seen = canonical([_plain(dict(row)) for row in rows])
        return Answer("rows", seen, operators(plan))

    def _load(
        self, statements: Iterable[str], space: str, mark: str, number: int, count: int
    ) -> None:
        self._run_all(statements, of=space, space=space, mark=mark, number=number, count=count)

    def _remove(self, space: str) -> None:
        self._run_all(["MATCH (n {of: $of}) DETACH DELETE n"], of=space)

    def _run_all(self, statements: Iterable[str], **values: Any) -> None:
        for statement in statements:
            self.driver.execute_query(statement, values)  # type: ignore[arg-type]


def _failed(problem: Neo4jError, plan: str) -> Answer:
    if "TransactionTimedOut" in (problem.code or ""):
        return Answer("given up")
    told = str(_mapped(problem, SECONDS))
    return Answer("error", f"{told} [{problem.code}: {problem.message}]", plan)


def operators(plan: Mapping[str, Any]) -> str:
    """Write a plan without its estimates."""
    details = plan.get("args", {}).get("Details", "")
    children = ", ".join(map(operators, plan.get("children") or ()))
    return f"{plan.get('operatorType')}({details})[{children}]"


def canonical(value: Any) -> str:
    """Write rows without regard to any order."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {canonical(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return str(sorted(Counter(map(canonical, value)).items()))
    return repr(value)
