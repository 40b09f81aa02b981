"""Confining a query to a space: what is rewritten, what is left alone, what is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cognigraph.cypher.catalog import header, statement
from cognigraph.cypher.guard.confine import confine, verify_plan
from cognigraph.errors import QueryError
from tests.cases import each

S = "space: $__space"


@each(
    ("query", "expected"),
    [
        ("MATCH (n) RETURN n", f"MATCH (n {{{S}}}) RETURN n"),
        ("MATCH () RETURN 1", f"MATCH ( {{{S}}}) RETURN 1"),
        ("MATCH (:A) RETURN 1", f"MATCH (:A {{{S}}}) RETURN 1"),
        ("MATCH (n:A|B) RETURN n", f"MATCH (n:A|B {{{S}}}) RETURN n"),
        ("MATCH (n:!(A|B)&C) RETURN n", f"MATCH (n:!(A|B)&C {{{S}}}) RETURN n"),
        ("MATCH (n IS A) RETURN n", f"MATCH (n IS A {{{S}}}) RETURN n"),
        ("MATCH (n {}) RETURN n", f"MATCH (n {{{S}}}) RETURN n"),
        ("MATCH (n {a: 1}) RETURN n", f"MATCH (n {{{S}, a: 1}}) RETURN n"),
        ("MATCH (n:A {a: ')'}) RETURN n", f"MATCH (n:A {{{S}, a: ')'}}) RETURN n"),
        ("MATCH (n WHERE n.a = 1) RETURN n", f"MATCH (n  {{{S}}} WHERE n.a = 1) RETURN n"),
        # Any other value of n.a than true or false is an error that quotes it.
        ("MATCH (n WHERE n.a) RETURN n",
         f"MATCH (n  {{{S}}} WHERE CASE WHEN n.space = $__space THEN (n.a) ELSE false END ) "
         "RETURN n"),
        ("MATCH (`) (`) RETURN 1", f"MATCH (`) (` {{{S}}}) RETURN 1"),
        ("MATCH (n)/*(m)*/-->(k)//(x)", f"MATCH (n {{{S}}}) -->(k {{{S}}})"),
        ("MATCH (a), (b) RETURN a", f"MATCH (a {{{S}}}), (b {{{S}}}) RETURN a"),
        ("MATCH p = (a)-[r:X*1..2]->(b) RETURN p",
         f"MATCH p = (a {{{S}}})-[r:X*1..2]->(b {{{S}}}) RETURN p"),
        ("MATCH (a) WHERE (a)--() RETURN a",
         f"MATCH (a {{{S}}}) WHERE (a {{{S}}})--( {{{S}}}) RETURN a"),
        ("MATCH (a) WHERE EXISTS { (b) } RETURN a",
         f"MATCH (a {{{S}}}) WHERE EXISTS {{ (b {{{S}}}) }} RETURN a"),
        ("MATCH (a) RETURN COUNT{(a)<--(b)}, [(a)-->(b) | b.x]",
         f"MATCH (a {{{S}}}) RETURN COUNT{{(a {{{S}}})<--(b {{{S}}})}}, "
         f"[(a {{{S}}})-->(b {{{S}}}) | b.x]"),
        ("MATCH (a) CALL (a) { MATCH (b) RETURN b } RETURN b",
         f"MATCH (a {{{S}}}) CALL (a) {{ MATCH (b {{{S}}}) RETURN b }} RETURN b"),
        # Parentheses that hold no node pattern are left as they are.
        ("MATCH (a) WHERE (a.x) > (1) AND (a:A) RETURN count(a), (a), size([(1)])",
         f"MATCH (a {{{S}}}) WHERE (a.x) > (1) AND (a:A) RETURN count(a), (a), size([(1)])"),
        ("RETURN {match: toLower('A'), where: (1)} AS m",
         "RETURN {match: toLower('A'), where: (1)} AS m"),
        ("MATCH (n) RETURN n.set, n.create, n {.*} ;",
         f"MATCH (n {{{S}}}) RETURN n.set, n.create, n {{.*}}"),
        ("MATCH (n:Create)-[:SET]->(m:Merge {delete: 1}) RETURN n",
         f"MATCH (n:Create {{{S}}})-[:SET]->(m:Merge {{{S}, delete: 1}}) RETURN n"),
        ("MATCH (b) MATCH RETURN$x=(b:Chunk) RETURN b.text",
         f"MATCH (b {{{S}}}) MATCH `RETURN$x`=(b:Chunk {{{S}}}) RETURN b.text"),
        ("MATCH (a), WHERE$x=(b) RETURN b",
         f"MATCH (a {{{S}}}), `WHERE$x`=(b {{{S}}}) RETURN b"),
        ("RETURN COLLECT { MATCH with$x=(b:Chunk) RETURN b } AS t",
         f"RETURN COLLECT {{ MATCH `with$x`=(b:Chunk {{{S}}}) RETURN b }} AS t"),
        ("MATCH (n) WHERE date(n.at) IS NULL AND n.a = 1 RETURN n",
         f"MATCH (n {{{S}}}) WHERE CASE WHEN n.space = $__space THEN (date(n.at) IS NULL ) "
         "ELSE false END AND n.a = 1 RETURN n"),
        ("RETURN 'it\\'s' AS a, \"(n)\" AS b", "RETURN 'it\\'s' AS a, \"(n)\" AS b"),
    ],
)  # fmt: skip
def test_node_patterns_are_restricted_to_the_space(query: str, expected: str) -> None:
    assert confine(query) == expected


def test_the_parameter_can_have_another_name() -> None:
    assert confine("MATCH (n) RETURN n", "tenant") == "MATCH (n {space: $tenant}) RETURN n"


@each(
    ("query", "message"),
    [
        ("CREATE (n)", "CREATE is not allowed: an inspection query only reads"),
        ("MATCH (n) merge (m)", "MERGE is not allowed"),
        ("MATCH (n) SET n.x = 1", "SET is not allowed"),
        ("MATCH (n) DETACH DELETE n", "DETACH is not allowed"),
        ("MATCH (n) /**/ DELETE n", "DELETE is not allowed"),
        ("MATCH (n) REMOVE n.x", "REMOVE is not allowed"),
        ("MATCH (n) FOREACH (x IN [1] | SET n.x = x)", "FOREACH is not allowed"),
        ("INSERT (n)", "INSERT is not allowed"),
        ("DROP INDEX x", "DROP is not allowed"),
        ("ALTER USER neo4j SET PASSWORD 'x'", "ALTER is not allowed"),
        ("GRANT ROLE x TO y", "GRANT is not allowed"),
        ("MATCH (n) CALL { MATCH (m) RETURN m } IN TRANSACTIONS RETURN m", "TRANSACTIONS is not"),
        ("LOAD CSV FROM 'x' AS row RETURN row", "LOAD CSV reads files"),
        ("USE other MATCH (n) RETURN n", "leave USE out"),
        ("SHOW DATABASES", "SHOW describes the whole database"),
        ("EXPLAIN MATCH (n) RETURN n", "leave EXPLAIN out"),
        ("PROFILE MATCH (n) RETURN n", "leave PROFILE out"),
        ("CYPHER 25 MATCH (n) RETURN n", "leave the CYPHER prefix out"),
        ("MATCH (n:A) USING INDEX n:A(x) RETURN n", "leave USING out"),
        ("CALL db.labels()", "query cannot call procedures"),
        ("CALL apoc.cypher.run('MATCH (n) RETURN n', {})", "query cannot call procedures"),
        ("CALL `db`.`labels`()", "query cannot call procedures"),
        ("CALL (n) RETURN n", r"CALL \(...\) must be followed by a query in braces"),
        ("RETURN apoc.node.degree(1)", r"the function 'apoc\.node\.degree' is not available"),
        ("RETURN graph.names()", "is not available in an inspection query"),
        ("RETURN `apoc`.`x`(1)", "is not available in an inspection query"),
        ("MATCH (n $props) RETURN n", "write the properties out"),
        ("MATCH (n:A $props) RETURN n", "write the properties out"),
        ("MATCH (n:$($label)) RETURN n", r"a '\$' must be followed by the name of a parameter"),
        ("MATCH (n {space: 'bob'}) RETURN n", "leave 'space' out"),
        ("MATCH (n {a: 1, `space`: 'bob'}) RETURN n", "leave 'space' out"),
        ("MATCH (n {a: {b: 1}, space: 'bob'}) RETURN n", "leave 'space' out"),
        ("MATCH (n) WHERE n.x = $__space RETURN n", r"\$__space is reserved"),
        ("MATCH (n) WHERE n.x = $`__space` RETURN n", r"\$__space is reserved"),
        ("MATCH (anon_5) RETURN 1 AS n", r"'anon_5' is refused: Neo4j calls .* choose another"),
        ("MATCH (` ANON_5`) RETURN 1 AS n", "' ANON_5' is refused: Neo4j calls"),
        ("MATCH (n) RETURN n; MATCH (m) RETURN m", "a query must be a single statement"),
        ("MATCH where = (n) RETURN n", "put the name 'where' in backticks"),
        ("MATCH (where {x: 1}) RETURN 1", "name the node first"),
        ("MATCH (n.x) RETURN n", "this is not a node pattern"),
        ("MATCH (n:A RETURN n", "is never closed"),
        # Forms of paths, clauses and predicates that no inspection needs.
        ("MATCH p = shortestPath((a)-[*]-(b)) RETURN p", "this is not a node pattern"),
        ("MATCH p = ANY SHORTEST (a)-->+(b) RETURN p", "this is not a node pattern"),
        ("MATCH ((a)-->(b)){1,3} (c) RETURN c", "this is not a node pattern"),
        ("MATCH (a)((x)-[:NEXT]->(y))+(b) RETURN a", "clause '\\(' is not supported"),
        ("MATCH (a)-->+(b) RETURN a", "this is not a node pattern"),
        ("MATCH REPEATABLE ELEMENTS (a)-->(b) RETURN a", "this is not a node pattern"),
        ("MATCH (n) FILTER n.x = 1 RETURN n", "the clause 'FILTER' is not supported"),
        ("LET x = 1 RETURN x", "the clause 'LET' is not supported"),
        ("MATCH (n) WHERE n.x IS :: INTEGER RETURN n", "cannot be parsed|is not supported|label"),
        ("RETURN reduce(a = 0, x IN [1] | a + x)", r"reduce\(\) is refused; use UNWIND"),
        ("MATCH (n) WHERE n.x =~ 'a' RETURN n", "regular expressions are refused; use CONTAINS"),
        ("MATCH (n]) RETURN n", "has no opening bracket"),
        ("MATCH RETURN$x=(b:Chunk) RETURN b.text AS 1a", "a number must not be followed"),
        ("MATCH RETURN=(b:Chunk) RETURN b", "put the name 'RETURN' in backticks"),
        ("MATCH (a), `WHERE`=(b) RETURN b", "'WHERE' is a keyword"),
        ("MATCH (`a] AND cache[b`) RETURN 1", "a name cannot contain brackets"),
        ("RETURN 'b.space = $__space'", "is reserved; leave it out"),
        ("MATCH (n {a: COUNT { (m {b: 1}) }, space: 'bob'}) RETURN n", "leave 'space' out"),
        ("MATCH (n) RETURN " + "(" * 60 + "1" + ")" * 60, "nested more than 40 deep"),
        ("RETURN 'abc", "this string is never closed"),
        ("RETURN /* abc", "this comment is never closed"),
        ("MATCH (n\\u0029 RETURN n", r"instead of a \\u escape"),
        ("RETURN '\\u0027'", r"instead of a \\u escape"),
        ("RETURN '\\q'", "unknown escape in a string"),
        ("MATCH (n)\u2028RETURN n", "is not allowed outside of a string"),
        ("MATCH (n)\u200b RETURN n", "is not allowed outside of a string"),
        ("MATCH (a)\u2010\u2010(b) RETURN a", "is not allowed outside of a string"),
        ("MATCH (n) RETURN \u212a", "in backticks"),
        ("  // nothing", "the query is empty"),
    ],
)
def test_forbidden_queries_are_refused_with_a_reason(query: str, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        confine(query)


def test_an_error_shows_the_position_in_the_query() -> None:
    with pytest.raises(QueryError) as caught:
        confine("MATCH (n)\nRETURN n\n  SET n.x = 1")
    assert str(caught.value).startswith("line 3, column 3: SET is not allowed")
    assert str(caught.value).endswith("\n    SET n.x = 1")


def _plan(operator: str, details: str = "", *children: dict[str, Any]) -> dict[str, Any]:
    arguments = {"Details": details} if details else {}
    return {"operatorType": f"{operator}@neo4j", "args": arguments, "children": list(children)}


@each(
    "plan",
    [
        _plan("NodeIndexSeek", "RANGE INDEX n:Chunk(space) WHERE space = $__space"),
        _plan("NodeIndexSeek", "RANGE INDEX n:A(uid, space) WHERE uid = 1 AND space = $__space"),
        _plan("Filter", "n.space = $__space", _plan("AllNodesScan", "n")),
        _plan("Filter", "cache[we ird.space] = $__space", _plan("NodeByLabelScan", "`we ird`:A")),
        _plan("Filter", "a.space = $__space AND b.space = $__space",
              _plan("DirectedRelationshipTypeScan", "(a)-[r:X]->(b)")),
        _plan("Filter", "n.space = $__space",
              _plan("NodeUniqueIndexSeek", "UNIQUE n:Chunk(uid) WHERE uid = $u")),
        _plan("Expand(All)", "(a)-[r]->(b)", _plan("Argument", "a")),
        _plan("Filter", "a.space = $__space AND b.space = $__space",
              _plan("CartesianProduct", "",
                    _plan("Filter", "b.text = $p", _plan("AllNodesScan", "b")),
                    _plan("Filter", "a.text = $p", _plan("AllNodesScan", "a")))),
        # Nodes that are compared with nodes of the space, as for a rare type of relationship.
        _plan("AntiSemiApply", "",
              _plan("NodeIndexSeek", "RANGE INDEX a:A(space) WHERE space = $__space"),
              _plan("Filter", "a = anon_2 AND anon_3 = anon_2",
                    _plan("DirectedRelationshipTypeScan", "(anon_2)-[:X]->(anon_3)"))),
        # Whether a node matches one pattern or another, before the space is looked at.
        _plan("Filter", "b.space = $__space",
              _plan("SelectOrSemiApply", "anon_5",
                    _plan("LetSemiApply", "anon_5", _plan("NodeByLabelScan", "b:A"),
                          _plan("Filter", "b.space = $__space", _plan("Argument", "b"))),
                    _plan("Filter", "b.space = $__space", _plan("Argument", "b")))),
    ],
)  # fmt: skip
def test_a_confined_plan_passes(plan: dict[str, Any]) -> None:
    verify_plan(_plan("ProduceResults", "n", plan))


@each(
    "plan",
    [
        _plan("AllNodesScan", "n"),
        _plan("Filter", "m.space = $__space", _plan("AllNodesScan", "n")),
        _plan("Filter", "mn.space = $__space", _plan("AllNodesScan", "n")),
        _plan("Filter", "n.space = $__space_of_bob", _plan("AllNodesScan", "n")),
        _plan(
            "Filter", "a.space = $__space", _plan("DirectedRelationshipTypeScan", "(a)-[r]->(b)")
        ),
        _plan("NodeByElementIdSeek", "n WHERE elementId(n) = $x"),
        _plan("NodeCountFromCountStore", "count( () ) AS n"),
        _plan("ProcedureCall", "db.labels() :: (label)"),
        _plan("LoadCSV", "row"),
        _plan("NewKindOfScan"),
        # The name is reused: what is said of it elsewhere does not count.
        _plan("Apply", "", _plan("Filter", "b.space = $__space", _plan("AllNodesScan", "b")),
              _plan("NodeByLabelScan", "b:Chunk")),
        _plan("Union", "", _plan("Filter", "b.space = $__space", _plan("AllNodesScan", "b")),
              _plan("NodeByLabelScan", "b:Chunk")),
        _plan("Filter", "b.space = $__space",
              _plan("Projection", "b.text AS t", _plan("AllNodesScan", "b"))),
        _plan("Filter", "b.space = $__space OR b.x = 1", _plan("AllNodesScan", "b")),
        _plan("Filter", "b.case = 1 OR b.end = 2 AND b.space = $__space",
              _plan("AllNodesScan", "b")),
        # A condition that can fail on a node of another space, and one that the plan hides.
        _plan("Filter", "b.space = $__space AND date(b.text) IS NULL", _plan("AllNodesScan", "b")),
        _plan("Filter", "b.space = $__space",
              _plan("SelectOrSemiApply", "date(b.text) IS NULL", _plan("AllNodesScan", "b"),
                    _plan("Argument", "b"))),
        _plan("Filter", "b.space = $__space",
              _plan("SelectOrSemiApply", "t", _plan("AllNodesScan", "b"), _plan("Argument", "b"))),
        # Nodes that are compared with one another, or with another one only under a condition.
        _plan("Filter", "a = b", _plan("DirectedRelationshipTypeScan", "(a)-[r]->(b)")),
        _plan("Filter", "c = a AND a = b OR c = b",
              _plan("DirectedRelationshipTypeScan", "(a)-[r]->(b)")),
        _plan("Projection", "[x IN l | COLLECT { MATCH (c) RETURN c }] AS t", _plan("EmptyRow")),
        # Whether the second branch is run, and fails, tells whether the first has a row.
        *(
            _plan("Filter", "b.space = $__space",
                  _plan(join, "", _plan("Filter", "b.text = $p", _plan("AllNodesScan", "b")),
                        _plan("Filter", "date(a.text) IS NULL",
                              _plan("Filter", "a.space = $__space", _plan("AllNodesScan", "a")))))
            for join in ("CartesianProduct", "NodeHashJoin")
        ),
    ],
)  # fmt: skip
def test_a_plan_that_reads_beyond_the_space_is_refused(plan: dict[str, Any]) -> None:
    with pytest.raises(QueryError, match=r"other spaces|not confined|does not show"):
        verify_plan(_plan("ProduceResults", "n", plan))


def test_headers_may_go_on_over_lines() -> None:
    text = "// name: x\n// what: one\n//   two\n// returns: a\nMATCH (n)\n// name: y"
    assert header(text) == {"name": "x", "what": "one two", "returns": "a"}


def test_statement_reads_a_file_of_the_package() -> None:
    assert statement("inspect/hubs.cypher").startswith("// what: ")
    with pytest.raises(FileNotFoundError):
        statement("inspect/none.cypher")


def test_the_folder_is_not_a_package_of_its_own() -> None:
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", "import cypher"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "import it as 'cognigraph.cypher'" in done.stderr
