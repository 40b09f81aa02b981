"""The lexer compared with the server's: the same names, gaps and strings, or a refusal."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from neo4j import Driver, GraphDatabase, NotificationMinimumSeverity
from neo4j.exceptions import ClientError

from cognigraph.cypher.guard.lexer import render, tokenize
from cognigraph.errors import QueryError

pytestmark = pytest.mark.neo4j

CHARACTERS = [
    *map(chr, range(0x20, 0x100)),
    *"\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u0130\u0131\u017f\u1680\u180e\u2000\u2003\u2007\u200b\u200c",
    *"\u200e\u2028\u2029\u202f\u203f\u2040\u205f\u2060\u20ac\u2160\u2163\u212a\u2118\u3000\u3007",
    *"\u0300\u0660\u06dd\u0903\u0e33\uff04\uff21\uff3f\ufeff\ufe4d\ufdfc\u00b7\u0387\u19da\u4e00",
    *"\U0001d400\U0001f389\U000e0041",
]
"""Every class that could be part of a name, a gap or a mark to one lexer and not to the other."""

STRINGS = ["'a'", '"a"', "'\\''", "'\\\\'", "'\\n\\t\\r\\b\\f'", "'\"'", "'//'", "'/*'", "'`'",
           "'\\u0041'", "'\\q'", "'\\'", "'a\nb'", "'$x'", "''", "'\\\"'"]  # fmt: skip
GAPS = ["", " ", "/**/", "/***/", "/* // */", "// x\n", "//\r", "/*\n*/", "/* */ // '\n", "/*/ */"]

NUMBERS = ["1", "0x1F", "0o17", "1.5", "1e3", "1.5E-3", "1_000", "[1, 2, 3][0..1]", ".5", "1.",
           "01", "1AS", "$x", "$`x`"]  # fmt: skip


@pytest.fixture(scope="module")
def driver(neo4j_uri: str) -> Iterator[Driver]:
    off = NotificationMinimumSeverity.OFF
    with GraphDatabase.driver(neo4j_uri, notifications_min_severity=off) as driver:
        yield driver


@pytest.fixture(params=[pytest.param("", marks=pytest.mark.oldest_line), "CYPHER 25 "])
def language(request: pytest.FixtureRequest, driver: Driver) -> str:
    prefix: str = request.param
    if prefix and "/5." in driver.get_server_info().agent:
        pytest.skip("Cypher 25 is not known to Neo4j 5")
    return prefix


def _answer(driver: Driver, text: str) -> object:
    """The column and value of a query of one row, or None if the server does not accept it."""
    try:
        result = driver.execute_query(text, {"x": 1})  # type: ignore[arg-type]
    except ClientError:
        return None
    return result.keys, [record.values() for record in result.records]


def _compare(driver: Driver, language: str, queries: list[str]) -> int:
    """Check that the server reads each accepted query alike, also rewritten; count them."""
    read = 0
    for query in queries:
        try:
            text = render(tokenize(query))
        except QueryError:
            continue
        read += 1
        if text == query:  # the server would read the same text twice
            continue
        expected = _answer(driver, language + query)
        if expected is not None:  # What the server refuses, it may refuse or read when rewritten.
            assert _answer(driver, language + text) == expected, repr(query)
    return read


def test_names_are_split_as_the_server_splits_them(driver: Driver, language: str) -> None:
    queries = [
        form.format(c)
        for c in CHARACTERS
        for form in ("WITH 1 AS a RETURN a AS b{0}c", "WITH 1 AS a RETURN 2 AS {0}a")
        if c not in "{}"
    ]
    assert _compare(driver, language, queries) > 150


def test_a_name_goes_on_after_a_dollar(driver: Driver, language: str) -> None:
    found = _answer(driver, language + "RETURN 1 AS RETURN$x")
    assert found == (None if language else (["RETURN$x"], [[1]]))
    names = [token.value for token in tokenize("RETURN 1 AS RETURN$x")]
    assert names == ["RETURN", "1", "AS", "RETURN$x"]


def test_strings_and_gaps_are_read_alike(driver: Driver, language: str) -> None:
    strings = [f"RETURN {string} AS a" for string in STRINGS]
    gaps = [f"RETURN{gap or ' '}1{gap or ' '}AS{gap or ' '}a{gap}" for gap in GAPS]
    numbers = [f"RETURN {number} AS a" for number in NUMBERS]
    assert _compare(driver, language, strings + gaps + numbers) > 25
