"""Which model gets which prefix."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cognigraph.embed import Prefixes, prefixes_for
from cognigraph.embed.models import chosen, identity
from tests.cases import each

E5 = Prefixes("query: ", "passage: ")
NOMIC = Prefixes("search_query: ", "search_document: ")
SENTENCE = "Represent this sentence for searching relevant passages: "


@each(
    ("model", "expected"),
    [
        ("intfloat/multilingual-e5-large", E5),
        ("intfloat/e5-small-v2", E5),
        ("/models/e5-base-v2/", E5),
        ("e5-small-v2-0123456789ab", E5),
        ("nomic-ai/nomic-embed-text-v1.5-Q", NOMIC),
        ("nomic-embed-text:v1.5", NOMIC),
        ("BAAI/bge-small-en", Prefixes(SENTENCE)),
        ("mixedbread-ai/mxbai-embed-large-v1", Prefixes(SENTENCE)),
        ("snowflake/snowflake-arctic-embed-m", Prefixes(SENTENCE)),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", Prefixes("query: ")),
        ("BAAI/bge-small-en-v1.5", Prefixes()),
        ("BAAI/bge-m3", Prefixes()),
        ("thenlper/gte-large", Prefixes()),
        ("text-embedding-3-small", Prefixes()),
        ("sentence-transformers/all-MiniLM-L6-v2", Prefixes()),
        ("note5-x", Prefixes()),
        ("", Prefixes()),
    ],
)
def test_known_families(model, expected):
    assert prefixes_for(model) == expected


def test_instruct_models_get_a_task():
    query = prefixes_for("intfloat/multilingual-e5-large-instruct").query
    assert query.startswith("Instruct: ") and query.endswith("\nQuery: ")


def test_given_prefixes_beat_the_table():
    assert chosen("e5-small-v2", None, None) == E5
    assert chosen("e5-small-v2", "", None) == Prefixes("", "passage: ")
    assert chosen("gte-large", "q: ", "p: ") == Prefixes("q: ", "p: ")


@given(st.text(max_size=5), st.text(max_size=5))
def test_the_name_tells_passage_prefixes_apart_and_nothing_else(one, other):
    names = identity("model", Prefixes("any", one)), identity("model", Prefixes("", other))
    assert (names[0] == names[1]) == (one == other)


@given(st.text())
def test_any_name_has_prefixes(name):
    assert isinstance(prefixes_for(name), Prefixes)
