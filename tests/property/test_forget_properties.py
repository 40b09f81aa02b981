"""Whatever is forgotten, in whatever order: the graph is that of the messages that are left."""

from __future__ import annotations

import itertools
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cognigraph import Memory, Message
from cognigraph.stores.forgetting import leaking, only_in
from cognigraph.stores.neo4j.forget import bridges
from cognigraph.testing import HashEmbedder
from tests.conftest import START
from tests.contract.test_redo import graph
from tests.examples import examples

TEXTS = (
    ("s", "Ann", "My sister Klara lives in Bergen."),
    ("s", "Ben", "Does she like kayaks?"),
    ("s", "Ann", "She works at Telenor and she likes kayaks."),
    ("s", "Ben", "I moved to Oslo in May."),
    ("s", "Ann", "Robert Smith visited us yesterday."),
    ("t", "Ben", "Bob Smith lives in Hamar."),
    ("t", "Ann", "He plays the violin."),
    ("t", "Ben", "I moved to Oslo in May."),
    ("t", "Ann", "I live in Bergen with my dog Rex."),
)
MESSAGES = [
    Message(text=text, session=session, speaker=speaker, id=f"m{number}",
            at=START + timedelta(minutes=number))
    for number, (session, speaker, text) in enumerate(TEXTS)
]  # fmt: skip


def open_memory(folder: str, name: str) -> Memory:
    return Memory(
        Path(folder) / name, embedder=HashEmbedder(16), enrich="manual", extractor="rules"
    )


@pytest.mark.slow
@settings(max_examples=examples(25))
@given(
    st.lists(st.integers(0, len(TEXTS) - 1), unique=True, min_size=1),
    st.sets(st.integers(0, len(TEXTS) - 1)),
)
@example([0], set())
@example([5, 4], {5})
def test_the_graph_is_that_of_the_messages_left(gone: list[int], flushed: set[int]) -> None:
    with TemporaryDirectory() as folder:
        with open_memory(folder, "all.db") as memory:
            memory.add_many(MESSAGES)
            memory.flush()
            for number in gone:
                assert memory.forget(message=f"m{number}").messages == 1
                if number in flushed:
                    memory.flush()
            memory.flush()
            after = graph(memory)
        with open_memory(folder, "rest.db") as memory:
            memory.add_many(m for n, m in enumerate(MESSAGES) if n not in gone)
            memory.flush()
            assert after == graph(memory)


@given(st.lists(st.booleans(), min_size=1, max_size=30))
def test_a_chain_without_some_of_its_links_is_whole(kept: list[bool]) -> None:
    names = [str(number) for number in range(len(kept))]
    before = dict(zip(names[1:], names, strict=False))
    after = dict(itertools.pairwise(names))
    rows = [[n, before.get(n), after.get(n)] for n, stays in zip(names, kept, strict=True)
            if not stays]  # fmt: skip
    left = [name for name, stays in zip(names, kept, strict=True) if stays]
    old = [[a, b] for a, b in after.items() if a in left and b in left]
    expected = [list(pair) for pair in itertools.pairwise(left)]
    assert sorted(bridges(rows) + old, key=lambda pair: int(pair[0])) == expected


def test_only_words_that_no_remaining_text_has_leak() -> None:
    words = only_in(["Ben moved to Oslo."], ["I moved.", "Oslo's rain"])
    assert "ben" in words and "oslo" not in words and not {"move", "moved"} & words
    names = {"c1": ["Ben", "tea"], "c2": ["Oslo"], "c3": []}
    assert leaking(words, names) == ["c1"]
    assert leaking(frozenset(), names) == []
