"""Thousands of random queries beside a canary, and a check that they find known faults."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from uuid import uuid4

import pytest
from neo4j import Driver, GraphDatabase, NotificationMinimumSeverity

from cognigraph.cypher.guard.readonly import SPACE_PARAMETER
from cognigraph.cypher.run_on_neo4j import run_on_neo4j
from cognigraph.errors import QueryError
from tests.canary import Aviary, Guard, Tally
from tests.cases import each
from tests.cypher_generator import Generator, ResourceGenerator
from tests.servers import first_guard

pytestmark = pytest.mark.neo4j

BATCH = 100


@pytest.fixture(scope="module")
def driver(neo4j_uri: str) -> Iterator[Driver]:
    off = NotificationMinimumSeverity.OFF
    with GraphDatabase.driver(neo4j_uri, notifications_min_severity=off) as driver:
        yield driver


@pytest.fixture(params=[pytest.param("CYPHER 5", marks=pytest.mark.oldest_line), "CYPHER 25"])
def language(request: pytest.FixtureRequest, driver: Driver) -> Any:
    version = driver.get_server_info().agent
    if request.param == "CYPHER 25" and "/5." in version:
        pytest.skip("Cypher 25 is not known to Neo4j 5")
    return request.param


def _queries(seed: int, language: str = "CYPHER 5") -> Iterator[str]:
    generator = Generator(random.Random(seed))
    while True:
        yield generator.query()


@pytest.fixture
def aviary(driver: Driver, language: str) -> Iterator[Aviary]:
    aviary = Aviary(driver, f"fuzz{uuid4().hex[:8]}", language)
    yield aviary
    aviary.close()


def test_no_random_query_shows_the_canary(aviary: Aviary) -> None:
    tally = Tally()
    aviary.check(islice(_queries(11, aviary.language), 30), tally)
    assert tally.leaks == []
    assert tally.not_empty >= 5, str(tally)
    assert tally.compared["rows"] >= 20, str(tally)


@pytest.mark.fuzz
@pytest.mark.timeout(0)
def test_no_random_query_shows_the_canary_for_long(aviary: Aviary) -> None:
    seed = int(os.environ.get("COGNIGRAPH_FUZZ_SEED", random.randrange(10**9)))
    ends = time.monotonic() + float(os.environ.get("COGNIGRAPH_FUZZ_SECONDS", "60"))
    tally, queries, shown = Tally(), _queries(seed, aviary.language), 0
    while time.monotonic() < ends:
        aviary.check(islice(queries, BATCH), tally)
        print(f"{aviary.language}, seed {seed}: {tally}", flush=True)
        for leak in tally.leaks[shown:]:
            print(leak, flush=True)
        shown = len(tally.leaks)
    assert tally.leaks == []


SECONDS = 2.0
MARGIN = 20.0
"""Seconds after the time limit in which the server must have ended a query, on a busy machine."""


@dataclass
class Work:
    """What became of the queries that ask for much work."""

    kinds: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    faults: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{dict(self.kinds)}, slowest {self.slowest:.1f} s, {len(self.faults)} faults"


def _work(driver: Driver, space: str, seed: int) -> Iterator[Work]:
    """Run random queries; after each of them the server must be idle, and answer, within MARGIN."""
    generator, work = ResourceGenerator(random.Random(seed)), Work()
    while True:
        query, parameters = generator.query()
        started = time.monotonic()
        try:
            run_on_neo4j(driver, None, space, query, parameters, limit=10, timeout=SECONDS)
            work.kinds["answered"] += 1
        except QueryError as problem:
            work.kinds[_outcome(str(problem))] += 1
        while _is_busy(driver, space) and time.monotonic() - started < SECONDS + 2 * MARGIN:
            time.sleep(0.1)
        took = time.monotonic() - started
        work.slowest = max(work.slowest, took)
        if took > SECONDS + MARGIN:
            sizes = {name: len(str(value)) for name, value in parameters.items()}
            work.faults.append(f"{took:.1f} s: {query} with {sizes}")
        yield work


def _outcome(problem: str) -> str:
    if "longer than" in problem:
        return "ended"
    if "Neo4j rejected" in problem:
        return "rejected by the server"
    return "out of memory" if "more memory" in problem else "refused by the guard"


def _is_busy(driver: Driver, space: str) -> bool:
    """Whether a query in the space still runs."""
    shown = "SHOW TRANSACTIONS YIELD currentQuery, parameters RETURN *"
    rows = driver.execute_query(shown).records
    return any((row["parameters"] or {}).get(SPACE_PARAMETER) == space for row in rows)


@pytest.fixture
def long_texts(driver: Driver) -> Iterator[str]:
    """The name of a space with 300 messages, two of them as long as their metadata can be."""
    space = f"work{uuid4().hex[:8]}"
    driver.execute_query(
        "UNWIND range(1, 300) AS i CREATE (:Chunk {space: $space, uid: $space + i, seq: i, "
        "text: 'I moved to Oslo.', metadata: CASE WHEN i < 3 THEN $long END})",
        space=space, long="a" * 65_000,
    )  # fmt: skip
    driver.execute_query(
        "MATCH (a:Chunk {space: $space}) MATCH (b:Chunk {uid: $space + (a.seq + 1)}) "
        "CREATE (a)-[:NEXT]->(b)", space=space,
    )  # fmt: skip
    yield space
    driver.execute_query("MATCH (n {space: $space}) DETACH DELETE n", space=space)


def test_no_random_work_holds_up_the_server(driver: Driver, long_texts: str) -> None:
    work = list(islice(_work(driver, long_texts, 3), 40))[-1]
    assert work.faults == []
    assert work.kinds["refused by the guard"] >= 5, str(work)
    assert work.kinds["answered"] >= 4, str(work)


@pytest.mark.fuzz
@pytest.mark.timeout(0)
def test_no_random_work_holds_up_the_server_for_long(driver: Driver, long_texts: str) -> None:
    seed = int(os.environ.get("COGNIGRAPH_FUZZ_SEED", random.randrange(10**9)))
    ends = time.monotonic() + float(os.environ.get("COGNIGRAPH_FUZZ_SECONDS", "60"))
    shown = 0
    for number, work in enumerate(_work(driver, long_texts, seed)):
        if number % BATCH == 0 or time.monotonic() > ends:
            print(f"work, seed {seed}: {work}", *work.faults[shown:], sep="\n", flush=True)
            shown = len(work.faults)
        if time.monotonic() > ends:
            break
    assert work.faults == []


FAILS = "date(CASE WHEN {v} STARTS WITH 'can' THEN {v} ELSE '2020-01-01' END) IS NULL"
"""A condition that is an error for what the canary holds, and for nothing else."""

ATTACKS = [
    "MATCH (b) WITH 1 AS one LIMIT 1 MATCH RETURN$x=(b:Chunk) RETURN b.text",
    "MATCH (b) RETURN b.text AS t UNION MATCH (a), WHERE$x=(b:Chunk) RETURN b.text AS t",
    "MATCH (b) WITH 1 AS one LIMIT 1 RETURN COLLECT { MATCH with$x=(b:Chunk) RETURN b.text } AS t",
    f"MATCH (a:Space) WHERE {FAILS.format(v='a.text')} RETURN a",
    "MATCH (s:Space) WHERE 1 / (CASE WHEN s.name STARTS WITH 'can' THEN 0 ELSE 1 END) = 1 RETURN 1",
    "MATCH (s:Space) WITH s WHERE s.text RETURN 1 AS one",
    f"MATCH (a:Chunk&!Key) WHERE (a)-->() OR {FAILS.format(v='a.text')} RETURN count(a)",
    f"MATCH (a:Chunk)-[:NEXT]->(b) WHERE (a)-->(b) OR {FAILS.format(v='a.text')} RETURN a",
    "MATCH (a) WHERE a.text STARTS WITH 'can' AND 1 / 0 = 1 RETURN 1 AS one",
    f"MATCH ()-[r:NEXT]->() WHERE {FAILS.format(v='r.text')} RETURN r",
    f"OPTIONAL MATCH (a:Space) WHERE {FAILS.format(v='a.text')} RETURN a",
    f"MATCH (a:Session) WITH a.name AS t WHERE {FAILS.format(v='t')} RETURN t",
    "MATCH (a:Key) RETURN [x IN [1] | COLLECT { MATCH (c:Chunk) RETURN c.text }] AS t",
    "MATCH (`a.space] = 1 AND cache[b`:Chunk), (b) RETURN b",
]
LEAKED = [*ATTACKS[:6]]
"""Those that the first guard answered, or whose errors it passed on."""


@pytest.mark.every_line
@each("query", ATTACKS)
def test_attacks_show_nothing_of_the_canary(aviary: Aviary, query: str) -> None:
    tally = Tally()
    aviary.check([query], tally)
    assert tally.leaks == []


LITERALS = [
    "MATCH (a:Chunk) RETURN [()<--(a) | 'canary'] AS r, COLLECT { MATCH (b:Key) RETURN 'canary' } "
    "AS s",
    "OPTIONAL MATCH (b:Session WHERE b.text = '})'), (b:Chunk WHERE 1 / (b.seq - b.seq) = 0) "
    "WITH DISTINCT b ORDER BY b.seq RETURN b[$p] AS r0, [()<--(a) | 'canary'] AS r1, b AS r2",
    "MATCH (b:Chunk)-[*1..2]->(b:Chunk&!Key) WITH count(*) AS n RETURN 'canary' AS r0, "
    "'it\\'s' AS r1, COLLECT { MATCH (b:!Key)<-[:MENTIONS]-(c:Chunk&!Key), (c:Entity) "
    "WHERE (duration(c.name) IS NULL OR c.text) RETURN properties(c) AS w } AS r2",
]


@each("query", LITERALS)
def test_text_from_the_query_itself_is_not_a_leak(aviary: Aviary, query: str) -> None:
    tally = Tally()
    aviary.check([query], tally)
    assert (tally.leaks, tally.compared["rows"]) == ([], 2)


def test_an_error_is_compared_where_the_plan_is_the_same(aviary: Aviary) -> None:
    tally = Tally()
    aviary.check(["MATCH (a:Chunk) WHERE date(a.text) IS NULL RETURN a"], tally)
    assert (tally.kinds["error"], tally.leaks) == (1, [])
    assert tally.compared["error"] >= 1


@pytest.mark.oldest_line
@each("query", LEAKED)
def test_an_earlier_faulty_guard_lets_the_attacks_through(driver: Driver, query: str) -> None:
    assert _leaks_of(driver, Guard(first_guard.confine, first_guard.verify_plan), [query])


@pytest.mark.oldest_line
def test_the_generator_finds_the_faults_of_the_earlier_guard(driver: Driver) -> None:
    """Runs queries of a form that it misread, the shortest first, until one shows a fault."""
    guard = Guard(first_guard.confine, first_guard.verify_plan)
    misread = [query for query in islice(_queries(8), 250) if "$x=" in query]
    assert any(_leaks_of(driver, guard, [query]) for query in sorted(misread, key=len))


@pytest.mark.oldest_line
def test_the_plan_check_alone_stops_every_attack(driver: Driver) -> None:
    """The rewriting of the earlier guard has the faults, and the plan reveals them."""
    guard = Guard(confine=first_guard.confine)
    assert _leaks_of(driver, guard, ATTACKS) == []


@pytest.mark.oldest_line
def test_the_rewriting_alone_stops_attacks_that_ask_for_a_value(driver: Driver) -> None:
    """Without the plan check, only attacks through errors remain, which are left out here."""
    attacks = [query for query in ATTACKS if "-->" not in query and "1 / 0" not in query]
    assert _leaks_of(driver, Guard(verify=lambda plan: None), attacks) == []


def _leaks_of(driver: Driver, guard: Guard, queries: Any) -> list[str]:
    # A faulty guard shows the messages of all spaces, of which the tests before have left many.
    aviary = Aviary(driver, f"fuzz{uuid4().hex[:8]}", "CYPHER 5", guard, rows=1_000_000)
    tally = Tally()
    try:
        aviary.check(queries, tally)
    finally:
        aviary.close()
    return tally.leaks
