"""``cognigraph setup`` and what follows from it, with real servers on loopback."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from cognigraph import ConfigurationError, Memory
from cognigraph.llm.choice import ModelServerFound, look, models_at
from tests.e2e.command_line import Cli, document, environment, error_of
from tests.servers import model_server
from tests.servers.model_server import ModelServer, drop, good, status

READ = {"entities": [], "facts": ["1 | Vera | moves to | Bergen", "1 | Vera | works at | Equinor"],
        "keys": ["Vera"], "themes": [{"n": 0, "title": "Vera", "summary": "Moved."}]}  # fmt: skip
SAID = ("add", "Vera moved to Bergen.", "--speaker", "Tom", "--at", "2026-05-20T09:00:00Z")


@pytest.fixture
def ollama():
    with ModelServer(good(READ), pages=model_server.OLLAMA) as server:
        yield server


@pytest.fixture
def set_up(quick: Cli, ollama: ModelServer, tmp_path: Path):
    """The command line of a user whose Ollama is the server."""
    own = {
        "COGNIGRAPH_CONFIG": str(tmp_path / "config" / "own.toml"),
        "OLLAMA_HOST": urlsplit(ollama.url).netloc,
    }
    return lambda *arguments, **extra: quick(*arguments, **own, **extra)


def test_servers_are_found_by_the_dialect_they_speak(ollama):
    pages = ("LM_STUDIO", "LLAMA_CPP", "VLLM", "OLD_OLLAMA")
    servers = [ModelServer(drop(), pages=getattr(model_server, name)) for name in pages]
    web = ModelServer(drop(), pages={"/": {}, "/v1/models": ["x", {"data": 7}]})
    with servers[0], servers[1], servers[2], servers[3], web:
        roots = [item.url.removesuffix("/v1") for item in (ollama, *servers, web)]
        names = ("Ollama", "LM Studio", "vLLM", "llama.cpp", "Ollama", "llama.cpp")  # two swapped
        found = look([*zip(names, roots, strict=True), ("vLLM", "http://127.0.0.1:9")])
        assert models_at(servers[2].url) == ("Qwen/Qwen3-8B",)
    assert found == [
        ModelServerFound("Ollama", ollama.url, ("qwen3:4b",)),
        ModelServerFound("LM Studio", servers[0].url, ("gemma-3-4b",)),
        ModelServerFound("llama.cpp", servers[1].url, ("/models/qwen3-4b.gguf",)),
        ModelServerFound("vLLM", servers[2].url, ("Qwen/Qwen3-8B",)),
        ModelServerFound("Ollama", servers[3].url, ("qwen3:4b",)),
    ]
    assert ollama.calls == 0  # nothing was asked of a model


@pytest.mark.slow
def test_a_choice_is_tried_written_and_read(set_up, ollama, tmp_path, monkeypatch):
    file = tmp_path / "config" / "own.toml"
    looked = set_up("setup", "--json", OPENAI_API_KEY="sk-secret")
    report = document(looked, 1)
    first = {"name": "Ollama", "base_url": ollama.url, "models": ["qwen3:4b"]}
    assert report["servers"][0] == first and report["keys"] == ["OPENAI_API_KEY"]
    assert (report["chosen"], file.exists(), ollama.calls) == (None, False, 0)
    assert "add --yes, or --model NAME" in looked.stderr
    assert "https://api.openai.com/v1 was not called" in looked.stderr
    document(set_up(*SAID, "--json"))
    assert ollama.calls == 0  # without a choice the rules read, although there is a model

    done = document(set_up("setup", "--yes", "--json", OPENAI_API_KEY="sk-secret"))
    assert done["chosen"] == {"model": "qwen3:4b", "base_url": ollama.url, "key_variable": None}
    assert done["facts"] == ["Vera moves to Bergen", "Vera works at Equinor"]
    assert "secret" not in file.read_text() and done["file"] == str(file)
    calls = ollama.calls
    read = document(set_up(*SAID, "--id", "m2", "--json", OPENAI_API_KEY="sk-secret"))
    assert read["enriched"]["triples"] == 2
    assert ollama.calls > calls
    assert {request.headers["Authorization"] for request in ollama.requests} == {"Bearer no-key"}
    calls = ollama.calls
    document(set_up(*SAID, "--id", "m3", "--extractor", "rules", "--json"))
    document(set_up(*SAID, "--id", "m4", "--json", COGNIGRAPH_EXTRACTOR="rules"))
    assert ollama.calls == calls  # arguments and the environment come before the file
    for name, value in environment(COGNIGRAPH_CONFIG=str(file)).items():
        monkeypatch.setenv(name, value)
    with Memory(tmp_path / "own.db", extractor="auto", enrich="manual") as memory:
        assert memory._engine.extractor.name.endswith(":qwen3:4b")
    monkeypatch.setenv("COGNIGRAPH_CONFIG", str(tmp_path / "none.toml"))
    with Memory(tmp_path / "own.db", extractor="auto", enrich="manual") as memory:
        assert memory._engine.extractor.name.startswith("rules-")
    file.write_text("[model]\nname = 7\n")
    monkeypatch.setenv("COGNIGRAPH_CONFIG", str(file))
    with pytest.raises(ConfigurationError, match=r"has no valid .model.*run `cognigraph setup`"):
        Memory(tmp_path / "own.db", extractor="auto")


@pytest.mark.slow
def test_a_model_that_does_not_work_is_not_chosen(set_up, ollama, tmp_path):
    ollama.then(status(404, "model not found"))
    assert "nothing is written" in error_of(_quiet(set_up("setup", "--yes")), 2)
    ollama.then(good({"entities": [], "facts": []}))
    empty = set_up("setup", "--model", "qwen3:4b")
    assert empty.returncode == 1 and "it read no fact out of" in empty.stderr
    assert not (tmp_path / "config" / "own.toml").exists()
    refused = error_of(_quiet(set_up("setup", "--model", "no-such")), 2)
    assert "no server here has the model 'no-such'; give --base-url" in refused
    ollama.then(good(READ))
    named = document(set_up("setup", "--base-url", ollama.url + "/", "--json"))
    assert (named["chosen"]["model"], named["servers"]) == ("qwen3:4b", [])
    assert json.loads(json.dumps(named))["file"].endswith("own.toml")


def _quiet(result):
    """The result with only its last line, after what it has found."""
    result.stderr = result.stderr.splitlines()[-1] + "\n"
    return result
