"""``cognigraph reindex`` as a user runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.command_line import Cli, document, error_of
from tests.servers.embedding_server import embedding_server, status


@pytest.mark.slow
def test_reindex_to_another_embedder_and_back(quick: Cli) -> None:
    pytest.importorskip("openai", reason="the extra openai is not installed")
    quick("add", "I moved to Oslo.", "--id", "m1", "--speaker", "Ann")
    quick("add", "The fjord is cold.", "--id", "m2", "--speaker", "Ben")
    with embedding_server() as server:
        server.misbehave = [lambda r, i: None, status(404, "not today")]
        tiny = {"OPENAI_BASE_URL": server.url}
        refused = quick("reindex", "--embedder", "openai:tiny", **tiny)
        assert "refused" in error_of(refused, 2)
        assert document(quick("search", "cold fjord", "--json"))["hits"][0]["id"] == "m2"
        done = document(quick("reindex", "--embedder", "openai:tiny", "--json", **tiny))
        assert done["after"] == {"name": "openai:tiny", "dimension": 16}
        assert done["before"]["name"].startswith("wordllama")
        assert done["vectors"] > 2
        said = error_of(quick("search", "cold fjord"), 3)
        assert "'openai:tiny' (16 dimensions)" in said and "cognigraph reindex" in said
        found = document(
            quick("search", "cold fjord", "--embedder", "openai:tiny", "--json", **tiny)
        )
        assert found["hits"][0]["id"] == "m2"
    # The server is gone: the old embedder is not needed for the way back.
    back = quick("reindex", "--embedder", "wordllama")
    assert back.returncode == 0
    assert "now has the embedder wordllama-l2-256 (256 dimensions)" in back.stdout
    assert "already" in quick("reindex").stdout
    assert document(quick("search", "cold fjord", "--json"))["hits"][0]["id"] == "m2"


def test_reindex_changes_the_format_of_a_file(quick: Cli) -> None:
    quick("add", "I moved to Oslo.", "--id", "m1", "--speaker", "Ann")
    changed = quick("reindex", "--vectors", "float32")
    assert changed.returncode == 0 and "already" not in changed.stdout
    assert "already" in quick("reindex", "--vectors", "float32").stdout


def test_reindex_makes_no_file(quick: Cli, tmp_path: Path) -> None:
    assert "there is no memory" in error_of(quick("reindex"), 3)
    assert list(tmp_path.glob("*.db")) == []
