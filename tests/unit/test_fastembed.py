"""fastembed through its real loading code, on a model of a few kilobytes made here."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from cognigraph import Memory
from cognigraph.embed import CheckedEmbedder, FastEmbedEmbedder, Prefixes, prefixes_for, resolve
from cognigraph.embed.models import MULTILINGUAL
from tests import tiny_onnx

pytestmark = pytest.mark.slow
fastembed = pytest.importorskip("fastembed")

SHORT, LONG = "kayak", "Ann moved to Oslo the fjord is cold"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_onnx.write_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def embedder(folder: Path) -> FastEmbedEmbedder:
    return FastEmbedEmbedder(str(folder))


def test_a_vector_does_not_depend_on_the_other_texts(embedder):
    together = embedder.embed([SHORT, LONG, SHORT])
    assert together.shape == (3, tiny_onnx.DIMENSION)
    assert np.array_equal(together[0], together[2])
    assert np.array_equal(embedder.embed([SHORT])[0], together[0])
    assert np.array_equal(embedder.embed([LONG])[0], together[1])
    # The model itself gives another vector to a text that is padded.
    padded = next(iter(embedder._model.embed([SHORT, LONG])))
    assert not np.allclose(padded, together[0], atol=1e-3)


def test_a_long_text_is_truncated_at_the_limit_of_the_model(embedder):
    words = ("fjord " * tiny_onnx.LIMIT).split()
    read, longer = embedder.embed([" ".join(words), " ".join(words + ["bread"] * 5000)])
    assert np.array_equal(read, longer)
    fewer = embedder.embed([" ".join([*words[:-1], "bread", "fjord"])])[0]
    assert not np.allclose(fewer, read, atol=1e-3)


def test_memory_does_not_grow_and_threads_are_bounded(embedder, folder):
    options = embedder._model.model.model.get_session_options()
    assert (options.enable_cpu_mem_arena, options.intra_op_num_threads) == (False, 1)
    two = FastEmbedEmbedder(str(folder), threads=2)
    assert two._model.model.model.get_session_options().intra_op_num_threads == 2
    assert two.name == embedder.name


def test_prefixes_are_put_before_questions_and_passages(folder, embedder):
    e5 = FastEmbedEmbedder(str(folder), query_prefix="query: ", passage_prefix="passage: ")
    assert np.array_equal(e5.embed(["bread"])[0], embedder.embed(["passage: bread"])[0])
    assert np.array_equal(e5.embed_query("bread"), embedder.embed(["query: bread"])[0])
    assert not np.allclose(e5.embed(["bread"])[0], e5.embed_query("bread"), atol=1e-3)
    assert e5.name == f"{embedder.name} after 'passage: '"


def test_a_folder_named_after_a_model_has_its_prefixes(tmp_path):
    folder = tiny_onnx.write_model(tmp_path / "multilingual-e5-small")
    e5, plain = FastEmbedEmbedder(str(folder)), FastEmbedEmbedder(str(folder), passage_prefix="")
    assert np.array_equal(e5.embed(["bread"])[0], plain.embed(["passage: bread"])[0])


def test_a_memory_finds_by_the_vectors_of_the_model(tmp_path, folder):
    with Memory(tmp_path / "m.db", embedder=f"fastembed:{folder}", enrich="manual") as memory:
        memory.add("The fjord is cold.", id="m1")
        memory.add("Ben and the piano", id="m2")
        hits = memory.search("piano")
        assert hits[0].id == "m2"
        assert memory.info.embedder.dimension == tiny_onnx.DIMENSION


def test_the_multilingual_model_is_one_that_fastembed_knows():
    known = {model["model"]: model for model in fastembed.TextEmbedding.list_supported_models()}
    chosen = known[MULTILINGUAL]
    assert (chosen["dim"], chosen["license"], chosen["size_in_GB"]) == (384, "apache-2.0", 0.22)
    assert prefixes_for(MULTILINGUAL) == Prefixes()


_UNREACHABLE = """
import sys, time
import fastembed, huggingface_hub
from cognigraph import ConfigurationError
from cognigraph.embed import resolve
for name in sys.argv[1:]:
    started = time.monotonic()
    try:
        resolve(name)
    except ConfigurationError as error:
        print(round(time.monotonic() - started, 1), error)
"""


def _deny(server: socket.socket) -> None:
    """Answer as a proxy that lets nobody through to the hub, until the server is closed."""
    with suppress(OSError):
        while True:
            connection, _ = server.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")


NAMES = ("multilingual", "fastembed:intfloat/multilingual-e5-small")


@pytest.mark.parametrize("way", ["refused", "silent", "a proxy answers"])
def test_a_model_that_cannot_be_fetched_is_an_error_within_seconds(tmp_path, way):
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        if way != "refused":
            server.listen()  # accepts, and never says anything
        if way == "a proxy answers":
            Thread(target=_deny, args=(server,), daemon=True).start()
        environment = {
            **os.environ, "HF_ENDPOINT": f"http://127.0.0.1:{server.getsockname()[1]}",
            "HF_HOME": str(tmp_path), "FASTEMBED_CACHE_PATH": str(tmp_path / "fastembed"),
        }  # fmt: skip
        environment.pop("HF_HUB_OFFLINE", None)
        done = subprocess.run(
            [sys.executable, "-c", _UNREACHABLE, *NAMES], env=environment, capture_output=True,
            text=True, timeout=60, check=True,
        )  # fmt: skip
    errors = done.stdout.splitlines()
    assert len(errors) == len(NAMES)
    for line in errors:
        seconds, _, message = line.partition(" ")
        assert float(seconds) < 5
        assert "multilingual" in message
        assert "fastembed:/path/to/folder" in message


def test_the_command_line_says_it_in_one_line(tmp_path):
    environment = {
        **os.environ, "HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(tmp_path),
        "FASTEMBED_CACHE_PATH": str(tmp_path / "fastembed"),
    }  # fmt: skip
    environment.pop("HF_HUB_OFFLINE", None)
    words = ["add", "Hi.", "--db", str(tmp_path / "m.db"), "--embedder", "multilingual"]
    done = subprocess.run(
        [sys.executable, "-m", "cognigraph", *words], env=environment, capture_output=True,
        text=True, timeout=60, check=False,
    )  # fmt: skip
    (line,) = done.stderr.splitlines()
    assert done.returncode == 2 and line.startswith("cognigraph: error: the model 'Qdrant/")
    assert "copy the folder of the model" in line


def test_checked_vectors_of_the_model_are_unit_vectors(folder):
    vectors = CheckedEmbedder(resolve(f"fastembed:{folder}")).embed([SHORT, LONG, ""])
    assert np.linalg.norm(vectors[:2], axis=1) == pytest.approx([1.0, 1.0], abs=1e-5)
