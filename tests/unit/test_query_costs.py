"""Queries that a server could not interrupt, or whose values could fill it, are refused."""

from __future__ import annotations

import pytest

from cognigraph.cypher import named_queries
from cognigraph.cypher.guard.confine import confine
from cognigraph.errors import QueryError
from cognigraph.settings import QuerySettings
from tests.cases import each

LIMITS = QuerySettings()
PARAMETERS = {
    "n": 10**9, "few": 9, "text": "x" * 1000, "list": [1, 2, 3], "long": "x" * 2_000_000,
    "needle": "a" * 1_000_000 + "b", "many": list(range(100_000)), "words": ["oslo", "bergen"] * 50,
    "ids": [f"m{number}" for number in range(100_000)], "evil": "(.*a){25}b",
}  # fmt: skip
TEXTS = "max_result_chars"


def check(query: str) -> None:
    confine(query, parameters=PARAMETERS, limits=LIMITS)


@each(
    ("query", "message"),
    [
        # Comparisons of long texts
        ("RETURN $long CONTAINS $needle AS n", "max_steps"),
        ("MATCH (c:Chunk) WHERE c.text CONTAINS $needle OR $long CONTAINS c.text RETURN 1",
         "max_steps"),
        ("RETURN split($long, $needle)", "max_steps"),
        ("RETURN replace($long, $needle, 'a')", "max_steps"),
        ("RETURN btrim($long, $needle)", "max_steps"),
        ("RETURN toUpper($long)", "max_steps"),
        ("RETURN toUpper(left($long, 200000))", "max_steps"),
        ("RETURN toInteger($long)", "max_steps"),
        ("RETURN [x IN $many | toIntegerOrNull(toString(x))]", "max_steps"),
        ("UNWIND $many AS x UNWIND [1] AS y RETURN toInteger('no')", "max_steps"),
        ("RETURN toFloatList($ids)", "max_steps"),
        ("WITH $long AS s WITH s + 'a' AS s ORDER BY s RETURN s CONTAINS $needle",
         "ORDER"),
        ("WITH $long AS s RETURN 1 AS one ORDER BY s", "ORDER BY takes texts of up to 10,000"),
        ("MATCH (n) RETURN range(0, 999) AS r ORDER BY r", "ORDER BY takes .* short lists"),
        ("UNWIND range(0, 999) AS x WITH 'a' AS g " + "WITH [g, g] AS g " * 20 + "RETURN g",
         "max_steps"),
        ("MATCH (c:Chunk WHERE $long CONTAINS $needle) RETURN c", "max_steps"),
        ("MATCH (c:Chunk {seq: $long CONTAINS $needle}) RETURN c", "max_steps"),
        ("RETURN {a: [$long CONTAINS $needle]} AS n", "max_steps"),
        ("WITH {a: $long} AS m, [$needle] AS l RETURN m.a CONTAINS l[0] AS n", "max_steps"),
        ("UNWIND [$long] AS s CALL (s) { RETURN s CONTAINS $needle AS n } RETURN n", "max_steps"),
        ("CALL { RETURN 'a' AS s UNION RETURN $long AS s } RETURN s CONTAINS $needle", "max_steps"),
        ("CALL { RETURN $long AS s UNION RETURN 'a' AS s } RETURN s CONTAINS $needle", "max_steps"),
        ("UNWIND range(0, 999) AS x RETURN range(1, 1000000) AS r", "max_steps"),
        (
            "WITH range(1, 1000000) AS l RETURN " + ", ".join(f"l AS l{n}" for n in range(40)),
            "steps",
        ),
        ("RETURN COLLECT { RETURN $long AS s }[0] CONTAINS $needle AS n", "max_steps"),
        # Loops and rows
        ("RETURN any(x IN $many WHERE any(y IN $many WHERE x + y = -1)) AS n", "max_steps"),
        ("WITH $many AS l RETURN all(a IN l WHERE none(b IN l WHERE a = b))", "max_steps"),
        ("RETURN single(x IN $many WHERE x IN $many) AS n", "max_steps"),
        ("RETURN [x IN $many WHERE [y IN $many WHERE y = x] = []] AS n", "max_steps"),
        ("MATCH (n) WITH collect(n) AS l RETURN [a IN l WHERE any(b IN l WHERE b = a)]",
         "max_steps"),
        ("UNWIND $many AS x UNWIND $many AS y RETURN count(*) AS n", "max_steps"),
        ("UNWIND $many AS x RETURN COUNT { UNWIND $many AS y RETURN y } AS n", "max_steps"),
        ("UNWIND $many AS x WITH count(*) AS c UNWIND $many AS x WITH x, 1 AS y UNWIND $many AS z "
         "RETURN count(*) AS n", "max_steps"),
        ("WITH [1] AS l RETURN [a IN l | [b IN l | [c IN l | 1]]]", "nested loops"),
        ("WITH [1] AS l RETURN all(a IN l WHERE any(b IN l WHERE none(c IN l WHERE c)))", "loops"),
        # Ranges
        ("RETURN size([x IN range(1,1000000000) WHERE x%2=0])", "1,000,000,002 numbers"),
        ("RETURN `range`(1, 1000000000)", "1,000,000,002 numbers"),
        ("RETURN RANGE(0x0, 0x3b9aca00)", TEXTS),
        ("RETURN range(1, $n)", TEXTS),
        ("RETURN range($n, 0, -1)", TEXTS),
        ("RETURN range(-$n, 0)", TEXTS),
        ("WITH range(1, 4000) AS l RETURN [x IN l | range(1, 4000)]", TEXTS),
        ("MATCH (n) UNWIND n.seqs AS n RETURN range(1, n)", "the bounds of range"),
        ("UNWIND [1000000000] AS n RETURN range(1, n)", TEXTS),
        ("RETURN range(1, 10^9)", "the bounds of range"),
        ("RETURN range(1, 1e9)", "the bounds of range"),
        # Values of which each row has a reference only
        ("MATCH ()-[*1..29]-() RETURN [collect(range(1, 999)), collect(range(1, $few))]", TEXTS),
        ("MATCH (n) WITH {r: [range(1, 999)]} AS m RETURN collect(DISTINCT m) AS n", "steps"),
        ("MATCH (n) WITH n, range(1, 999) + [0] AS r RETURN collect(r[1..]) AS n", "steps"),
        ("MATCH (n) RETURN [(n)-->(m) | CASE WHEN m.x THEN range(1, 999) END] AS n", "steps"),
        ("RETURN COLLECT { MATCH (n) RETURN tail(range(1, 999)) } AS n", "steps"),
        ("MATCH (n) RETURN collect([x IN $list | range(1, 999)]) AS n", "steps"),
        ("MATCH ()-[*1..15]-() RETURN collect($many) AS n", "steps"),
        ("MATCH (n) WITH $long AS s, n RETURN collect({text: s, name: n.name}) AS n", "steps"),
        ("MATCH (n) UNWIND [$long] AS s WITH n, s RETURN collect(s) AS n", "steps"),
        ("UNWIND range(0, 999) AS v WITH v, $ids AS g " + "WITH v, {a: g, b: g} AS g " * 12
         + "RETURN v", "max_steps"),
        ("UNWIND range(0, 999) AS v WITH v, $ids AS g " + "WITH v, [g, g] AS g " * 12 + "RETURN v",
         "max_steps"),
        # Values that grow
        ("WITH 'x' AS a " + "WITH a + a AS a " * 40 + "RETURN a", TEXTS),
        ("WITH $text AS a " + "WITH a || a AS a " * 26 + "RETURN size(a) AS n", TEXTS),
        ("WITH [1, 2] AS a " + "WITH a || a AS a " * 26 + "RETURN size(a) AS n", TEXTS),
        ("WITH [1] AS a " + "WITH [a, a] AS a " * 40 + "RETURN a", TEXTS),
        ("WITH [1] AS a " + "WITH {x: a, y: a} AS a " * 40 + "RETURN a", TEXTS),
        ("WITH $text AS a " + "WITH a AS b, a AS c WITH b + c AS a " * 20 + "RETURN a", TEXTS),
        ("WITH $many AS l RETURN [x IN l | l] AS l", TEXTS),
        ("RETURN COLLECT { WITH $text AS a " + "WITH a + a AS a " * 20 + "RETURN a }", TEXTS),
        ("RETURN replace(replace($text, 'x', $text), 'x', $text)", TEXTS),
        ("RETURN replace($text + $text, '', replace($text, 'x', $text))", "max_result_chars|steps"),
        ("MATCH (n) RETURN replace(n.text, 'a', n.text)", TEXTS),
        ("RETURN $long + $long + $long" + " + $long" * 30, TEXTS),
        ("RETURN normalize($long + $long, NFKD)", TEXTS),
        # Ids that count what other spaces store
        ("MATCH (n) RETURN id(n)", "the function 'id' is not available .*; use the property uid"),
        ("MATCH (n) WHERE elementId(n) = 'x' RETURN n", "elementid.*; use the property uid"),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_queries_that_could_not_be_interrupted_are_refused(query: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        check(query)


@each(
    "query",
    [
        "UNWIND range(1, 100) AS x UNWIND range(1, 100) AS y RETURN sum(x * y)",
        "UNWIND $ids AS id MATCH (c:Chunk {message_id: id}) RETURN c.text, c.speaker + ': ' AS who",
        "UNWIND $ids AS id MATCH (c:Chunk {session: id}) WITH id, collect(c.text) AS texts "
        "RETURN id, texts, size(texts), texts[..3] AS first ORDER BY id",
        "MATCH (c:Chunk) WHERE c.message_id IN $ids RETURN c.text ORDER BY toLower(c.text)",
        "MATCH (c:Chunk) WHERE c.text CONTAINS 'Oslo' AND c.metadata CONTAINS $text RETURN c",
        "MATCH (c:Chunk), (d:Chunk) WHERE c.text CONTAINS d.text RETURN count(*)",
        "MATCH (c:Chunk) WHERE toLower(c.text) CONTAINS toLower($text) RETURN c",
        "MATCH (c:Chunk) WHERE any(word IN $words WHERE toLower(c.text) CONTAINS word) RETURN c",
        "MATCH p = (n)-->() UNWIND range(0, size(nodes(p)) - 1) AS i RETURN nodes(p)[i]",
        "MATCH p = (a)-[:NEXT*1..5]->(b) WHERE all(x IN nodes(p) WHERE x.text CONTAINS 'Oslo') "
        "RETURN [x IN nodes(p) | x.text] AS texts",
        "MATCH p = (a)-[*1..3]-(b) WHERE any(x IN nodes(p) WHERE toLower(x.name) = 'ann') RETURN p",
        "RETURN range(10, 1, -1), range(0, $few), range(1, $few + 1, 2), range(1, 10 * 10)",
        "MATCH (n) WITH n, range(1, 9) AS r UNWIND r AS i RETURN collect(i), collect(size(r)) AS n",
        "MATCH (n) RETURN collect([x IN range(1, 9) WHERE x > n.seq]) AS n",
        "MATCH (n) RETURN collect({name: n.name, kind: 'person', seq: n.seq, n: $few}) AS n",
        "MATCH (n) RETURN collect(range(1, 9)) AS n, collect(toUpper($text) + n.name) AS names",
        "MATCH (n) WHERE n.text STARTS WITH 'a' RETURN n.first + ' ' + n.last AS name",
        "MATCH (n) RETURN n {.name, at: n.at, text: n.text}, [(n)-->(m) | m.name] AS names",
        "MATCH (n) WITH collect(n) AS all_ RETURN [n IN all_ WHERE n.x > 1 | 1] AS xs",
        "MATCH (n) WITH n.speaker AS who, collect(n.text) AS texts RETURN who, texts[..5] AS first",
        "MATCH (n) WITH collect(n.name) AS names UNWIND names AS name RETURN name, count(*) AS n",
        "MATCH (n) RETURN replace(n.text, 'a', 'bb'), split(n.text, ' ')[0]",
        "MATCH (n) RETURN CASE WHEN n.x > 1 THEN n.x ELSE n.y END AS v ORDER BY v",
        "UNWIND $many AS x WITH count(x) AS n UNWIND $many AS x RETURN sum(x) AS n",
    ],
)  # fmt: skip
@pytest.mark.slow
def test_bounded_queries_pass(query: str) -> None:
    check(query)


def test_the_shipped_queries_pass() -> None:
    for query in named_queries().values():
        check(query.text)
