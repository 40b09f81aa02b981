"""Confining a query: every node pattern gets the space, or the query is refused."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from cognigraph.cypher.guard.confine import confine
from cognigraph.cypher.guard.lexer import quote, quote_name, render, tokenize
from cognigraph.errors import QueryError
from tests.examples import examples

SPACE = "space: $__space"
MARK = "\ufdd0"
"""Stands before each node pattern while a query is assembled, to be counted and taken out."""

# --- a grammar of queries -----------------------------------------------------------------

_GAPS = ["", " ", "\n", "\t", " /* ) (x) ' */ ", " // (y)\n", "/**/", ' /*"*/ ']
_NAMES = ["n", "m", "a1", "_x", "été", "where_", "matched", "`a b`", "`)`", "`(`", "`x``y`",
          "`MATCH`", "count", "type"]  # fmt: skip
_LABELS = ["", ":Chunk", ":Key|Chunk", ":!Key", ":(Chunk|Key)", ":`Ch(unk`", ":Chunk&!Key", ":%",
           " IS Chunk", ": Entity", ":Match", ":where"]  # fmt: skip
_VALUES = ["1", "-2.5", "'x'", "'it\\'s }) RETURN 1 //'", '"(m)"', "\"'\"", "$p", "[1, 2]", "null",
           "toLower('A')", "'{'", "'日本 🎉'", "1e3", "$`odd name`"]  # fmt: skip
_RELATIONSHIPS = ["-->", "<--", "--", "-[]-", "-[:NEXT]->", "<-[:HAS_CHUNK]-", "-[*1..2]-",
                  "-[:NEXT|MENTIONS*0..2]->", "-[{weight: 1}]-", "-[:SET]->", " - [ :X ] - > ",
                  "-[r1:(A|B) WHERE true]-"]  # fmt: skip

gaps = st.sampled_from(_GAPS)
names = st.sampled_from(_NAMES)


@st.composite
def maps(draw: st.DrawFn) -> str:
    keys = draw(st.lists(st.sampled_from(["text", "uid", "`sp ace`", "where", "match"]), max_size=2,
                         unique=True))  # fmt: skip
    pairs = [f"{key}{draw(gaps)}:{draw(gaps)}{draw(st.sampled_from(_VALUES))}" for key in keys]
    return "{" + draw(gaps) + ", ".join(pairs) + draw(gaps) + "}"


@st.composite
def nodes(draw: st.DrawFn, depth: int = 1) -> str:
    name = draw(st.one_of(st.just(""), names))
    where = ""
    if name and draw(st.integers(0, 5)) == 0:
        where = f" WHERE {draw(conditions(depth - 1))}"
    properties = draw(st.one_of(st.just(""), maps()))
    labels = [label for label in _LABELS if name or "IS" not in label]
    parts = [name, draw(st.sampled_from(labels)), properties]
    return f"{MARK}(" + draw(gaps).join(parts) + where + draw(gaps) + ")"


@st.composite
def chains(draw: st.DrawFn, depth: int = 1, least: int = 0) -> str:
    chain = draw(nodes(depth))
    for _ in range(draw(st.integers(least, 2))):
        chain += draw(gaps) + draw(st.sampled_from(_RELATIONSHIPS)) + draw(gaps)
        chain += draw(nodes(depth))
    return chain


@st.composite
def conditions(draw: st.DrawFn, depth: int = 1) -> str:
    simple = ["true", "1 < 2", "'a' = \"(b)\"", "NOT false", "(1) > (2)", "$p IS NULL",
              "size([1]) - (1) = 0"]  # fmt: skip
    if depth <= 0:
        return draw(st.sampled_from(simple))
    chain = chains(depth - 1, least=1)
    return draw(
        st.one_of(
            st.sampled_from(simple),
            chain,
            chain.map(lambda text: f"NOT {text}"),
            chain.map(lambda text: f"exists({text})"),
            chain.map(lambda text: f"EXISTS {{ {text} }}"),
            chain.map(lambda text: f"EXISTS {{MATCH {text} WHERE true}}"),
            chain.map(lambda text: f"COUNT {{ {text} }} >= 0"),
            chain.map(lambda text: f"size([{text} | 1]) >= 0"),
            st.tuples(conditions(0), conditions(depth - 1)).map(" AND ".join),
            conditions(depth - 1).map(lambda text: f"({text})"),
        )
    )


@st.composite
def paths(draw: st.DrawFn) -> str:
    chain = draw(chains())
    return draw(
        st.sampled_from(
            [
                chain,
                chain,
                chain,
                f"pp = {chain}",
            ]
        )
    )


@st.composite
def marked_queries(draw: st.DrawFn) -> str:
    """Generate queries, most of them well-formed."""
    clauses = []
    for _ in range(draw(st.integers(1, 3))):
        word = draw(st.sampled_from(["MATCH", "match", "OPTIONAL MATCH", "MATCH/**/"]))
        clauses.append(f"{word}{draw(gaps)} " + f",{draw(gaps)}".join(
            draw(st.lists(paths(), min_size=1, max_size=2))))  # fmt: skip
        if draw(st.booleans()):
            clauses.append(f"WHERE {draw(conditions())}")
    if draw(st.integers(0, 4)) == 0:
        inner = draw(chains())
        clauses.append(f"CALL {{ MATCH {inner} RETURN 1 AS one{len(clauses)} LIMIT 2 }}")
    returned = draw(st.sampled_from(["*", "count(*)", "*", f"[{draw(chains(0, 1))} | 1] AS l"]))
    return draw(gaps).join(f"{clause} " for clause in clauses) + f"RETURN {returned} LIMIT 40"


def queries() -> st.SearchStrategy[str]:
    return marked_queries().map(lambda text: text.replace(MARK, ""))


@pytest.mark.slow
@settings(max_examples=examples(200))
@given(marked=marked_queries())
def test_every_node_pattern_and_nothing_else_carries_the_space(marked: str) -> None:
    try:
        text = confine(marked.replace(MARK, ""))
    except QueryError:
        assume(False)
        raise
    assert text.count(SPACE) == marked.count(MARK)


@pytest.mark.slow
@settings(max_examples=examples(200))
@given(query=queries())
def test_confining_changes_nothing_else(query: str) -> None:
    try:
        text = confine(query)
    except QueryError:
        assume(False)
        raise
    plain = re.sub(r" ?\{space: \$__space\} ?|space: \$__space(, )?", "", text)
    original = re.sub(r"\{\s*\}", "{}", render(tokenize(query)))
    assert re.sub(r"[\s{}]+", "", plain) == re.sub(r"[\s{}]+", "", original)


@settings(max_examples=examples(800))
@given(
    text=st.text(alphabet=st.sampled_from("MATCHn (){}[]-><:$`'\"/*\\\n.,|=1é\u2028"), max_size=60)
)
@example("MATCH (n\\u0029")
@example("MATCH (n) RETURN '\\u0027")
@example("/*")
@example("`")
@example("$")
def test_nonsense_is_refused_or_left_readable(text: str) -> None:
    try:
        confined = confine(text)
    except QueryError:
        return
    kinds = [token.kind for token in tokenize(confined)]
    assert len(kinds) >= len(tokenize(text))


@settings(max_examples=examples(200))
@given(value=st.text(max_size=40), mark=st.sampled_from(["'", '"']))
@pytest.mark.slow
def test_a_string_survives_quoting(value: str, mark: str) -> None:
    assume("\\u" not in quote(value, mark).lower())
    token = tokenize(quote(value, mark))[0]
    assert (token.kind, token.value) == ("string", value)


@settings(max_examples=examples(200))
@given(value=st.text(min_size=1, max_size=40))
@pytest.mark.slow
def test_a_name_survives_quoting(value: str) -> None:
    assume("\\" not in value)
    token = tokenize(quote_name(value))[0]
    assert (token.kind, token.value) == ("quoted", value)


@pytest.mark.slow
@settings(max_examples=examples(200))
@given(query=queries(), word=st.sampled_from(
    ["CREATE (x)", "SET n.x = 1", "MERGE (x)", "DETACH DELETE n", "REMOVE n.x", "CALL db.labels()",
     "FOREACH (x IN [1] | SET n.x = x)", "LOAD CSV FROM 'x' AS row", "USE other"]
), gap=gaps)  # fmt: skip
def test_writing_is_refused_wherever_it_stands(query: str, word: str, gap: str) -> None:
    for text in (f"{query} {gap}{word}", f"{word} {gap}{query}", f"{query} {gap}{word.lower()}"):
        try:
            confine(text)
        except QueryError:
            continue
        raise AssertionError(text)
