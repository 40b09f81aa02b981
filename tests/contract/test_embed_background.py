"""Vectors that are made in the background, after their messages were stored."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from cognigraph import FlushTimeout, Memory
from cognigraph.embed import WordLlamaEmbedder
from cognigraph.stores.records import UnembeddedChunk
from tests.conftest import START

TOPICS = (("boat", "ferry", "ship"), ("bread", "cake"))


class Topics:
    """One dimension for each topic, whose words have nothing else in common.

    The name and dimension are those of the default, because the tests share servers.
    """

    name = WordLlamaEmbedder.name
    dimension = WordLlamaEmbedder.dimension

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.is_down = False

    def embed(self, texts: Sequence[str]) -> Any:
        if self.is_down:
            raise ConnectionError("no route")
        self.asked += texts
        rows = [[any(word in text for word in topic) for topic in TOPICS] for text in texts]
        vectors = np.zeros((len(texts), self.dimension))
        vectors[:, : len(TOPICS)] = rows
        vectors[:, -1] = 0.01
        return vectors


@pytest.fixture
def embedder() -> Topics:
    return Topics()


@pytest.fixture
def memory(open_memory, embedder) -> Memory:
    return open_memory(embedder=embedder, embed="background")


def cosines(space: Any, question: str) -> dict[str, float]:
    """The similarity of each hit to a question."""
    found = space.search(question, now=START)
    return {hit.id: round(hit.why.signals["vector"], 3) for hit in found}


def fill(space: Any) -> None:
    space.add("We took the ferry.", id="m1", session="s", at=START)
    space.add("I baked a cake.", id="m2", session="s", at=START)


def test_a_message_is_found_by_its_words_at_once_and_then_by_its_vector(
    memory, space_name, embedder
):
    space = memory.space(space_name)
    before = len(embedder.asked)
    fill(space)
    assert len(embedder.asked) == before
    assert space.stats().vectors_pending == 2
    assert [hit.id for hit in space.search("ferry", k=1, now=START)] == ["m1"]
    assert cosines(space, "ferry")["m1"] == 0.0
    space.flush()
    assert space.stats().vectors_pending == 0
    assert cosines(space, "ship")["m1"] == pytest.approx(1.0, abs=1e-3)
    assert cosines(space, "bread")["m2"] == pytest.approx(1.0, abs=1e-3)
    assert [hit.id for hit in space.search("a ship", k=1, now=START)] == ["m1"]


def test_a_worker_makes_them(open_memory, space_name, embedder):
    memory = open_memory(embedder=embedder, embed="background", enrich="background")
    space = memory.space(space_name)
    fill(space)
    space.flush()
    assert space.stats().vectors_pending == 0
    assert cosines(space, "ship")["m1"] == pytest.approx(1.0, abs=1e-3)


def test_a_text_that_was_replaced_meanwhile_does_not_get_the_old_vector(memory, space_name):
    space = memory.space(space_name)
    fill(space)
    store = memory._engine.store
    batch = store.queue.unembedded(1, space_name)
    assert batch.space == space_name
    (read,) = batch.chunks
    assert read == UnembeddedChunk(read.uid, read.digest, "We took the ferry.")
    space.update("m1", "We ate bread.")
    old = memory._engine.embedder.embed([read.text])
    store.queue.write_vectors(space_name, batch.chunks, old)
    assert space.stats().vectors_pending == 2
    space.flush()
    assert space.stats().vectors_pending == 0
    assert cosines(space, "cake") == {
        "m1": pytest.approx(1.0, abs=1e-3),
        "m2": pytest.approx(1.0, abs=1e-3),
    }


def test_a_forgotten_message_waits_for_nothing(memory, space_name):
    space = memory.space(space_name)
    fill(space)
    batch = memory._engine.store.queue.unembedded(10, space_name)
    space.forget(message="m1", session="s")
    assert space.stats().vectors_pending == 1
    vectors = memory._engine.embedder.embed([chunk.text for chunk in batch.chunks])
    memory._engine.store.queue.write_vectors(space_name, batch.chunks, vectors)
    assert space.stats().vectors_pending == 0
    assert cosines(space, "bread") == {"m2": pytest.approx(1.0, abs=1e-3)}


def test_while_the_embedder_is_down_vectors_wait(memory, space_name, embedder, clock):
    space = memory.space(space_name)
    fill(space)
    embedder.is_down = True
    with pytest.raises(FlushTimeout, match=r"2 vectors .*ConnectionError: no route") as caught:
        memory.space(space_name).flush(timeout=0.0)
    assert caught.value.pending >= 2
    assert space.stats().vectors_pending == 2
    embedder.is_down = False
    clock.advance(timedelta(minutes=1))
    space.flush()
    assert cosines(space, "ship")["m1"] == pytest.approx(1.0, abs=1e-3)


_KILLED = """
import json, os, signal, sys
from cognigraph import Memory
from tests.contract.test_embed_background import Topics, fill
options = json.loads(sys.argv[1])
options["auth"] = tuple(options["auth"]) if options.get("auth") else None
space = Memory(**options, embedder=Topics(), embed="background", enrich="manual").space(sys.argv[2])
fill(space)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_vectors_of_a_killed_process_are_made_by_the_next(
    location, open_memory, space_name, embedder
):
    options = json.dumps(location, default=str)
    done = subprocess.run(
        [sys.executable, "-c", _KILLED, options, space_name], capture_output=True, check=False
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    space = open_memory(embedder=embedder).space(space_name)
    assert (space.stats().messages, space.stats().vectors_pending) == (2, 2)
    space.flush()
    assert space.stats().vectors_pending == 0
    assert cosines(space, "ship")["m1"] == pytest.approx(1.0, abs=1e-3)
