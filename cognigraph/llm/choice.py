"""Which language model a user has chosen: find model servers on this machine, keep the choice.

Servers are only looked for when a user asks for it. At other times the file of the choice is read,
and nothing else.
"""

from __future__ import annotations

import json
import os
import tomllib
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cognigraph.errors import ConfigurationError

SERVICES: Mapping[str, str] = {
    "OPENAI_API_KEY": "https://api.openai.com/v1",
    "OPENROUTER_API_KEY": "https://openrouter.ai/api/v1",
    "MISTRAL_API_KEY": "https://api.mistral.ai/v1",
    "GROQ_API_KEY": "https://api.groq.com/openai/v1",
    "DEEPSEEK_API_KEY": "https://api.deepseek.com/v1",
}
"""OpenAI-compatible services, by the variable that holds a key for them."""
_SECONDS = 2.0
_MOST_BYTES = 4 * 1024 * 1024
_OWNERS = {"llamacpp": "llama.cpp", "vllm": "vLLM", "organization_owner": "LM Studio",
           "library": "Ollama"}  # fmt: skip
"""What servers write as the owner of a model in ``/v1/models``."""
_NO_CHAT = ("embed", "rerank", "whisper", "tts", "bge-")


@dataclass(frozen=True, slots=True)
class Choice:
    """A model and its endpoint; ``key_variable`` names the variable with the key, if it needs one.

    A key is never written to the file.
    """

    model: str
    base_url: str
    key_variable: str | None = None


@dataclass(frozen=True, slots=True)
class ModelServerFound:
    """A server that answers: its name, its address for clients, and its chat models."""

    name: str
    base_url: str
    models: tuple[str, ...]


# --- The file --------------------------------------------------------------------------------


def choice_file(environ: Mapping[str, str] | None = None) -> Path:
    """Where the choice is: ``COGNIGRAPH_CONFIG``, else ``config.toml`` in the user's folder."""
    environ = os.environ if environ is None else environ
    if given := environ.get("COGNIGRAPH_CONFIG", "").strip():
        return Path(given).expanduser()
    base = environ.get("XDG_CONFIG_HOME", "").strip()
    return (Path(base) if base else Path("~/.config").expanduser()) / "cognigraph" / "config.toml"


def read_choice(environ: Mapping[str, str] | None = None) -> Choice | None:
    """The choice that was made; ``None`` if none was.

    Raises:
        ConfigurationError: the file cannot be read, or is not such a file.
    """
    path = choice_file(environ)
    try:
        fields = tomllib.loads(path.read_text("utf-8")).get("model")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"cannot read {path}: {error}") from error
    if fields is None:
        return None
    try:
        choice = Choice(**fields)
        texts = (choice.model, choice.base_url, choice.key_variable or "-")
        if not all(isinstance(text, str) and text.strip() for text in texts):
            raise TypeError("its fields must be texts")
    except TypeError as error:
        raise ConfigurationError(
            f"{path} has no valid [model]: {error}; run `cognigraph setup` again"
        ) from error
    return choice


def write_choice(choice: Choice, environ: Mapping[str, str] | None = None) -> Path:
    """Write the choice to the file, in place of an earlier one; return its path.

    Raises:
        ConfigurationError: the file cannot be written.
    """
    path = choice_file(environ)
    fields = {name: value for name, value in asdict(choice).items() if value is not None}
    # A text of JSON is also one of TOML.
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]
    text = "# Written by `cognigraph setup`.\n[model]\n" + "\n".join(lines) + "\n"
    new = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(text, "utf-8")
        new.replace(path)
    except OSError as error:
        raise ConfigurationError(f"cannot write {path}: {error.strerror or error}") from error
    return path


def chosen_environment(environ: Mapping[str, str] | None = None) -> Mapping[str, str] | None:
    """The environment with the model of the choice; ``None`` if no model is chosen.

    ``COGNIGRAPH_MODEL`` in the environment is a choice and comes before the file. With the file,
    the endpoint is the file's, and no key for another one is sent to it.
    """
    environ = os.environ if environ is None else environ
    if environ.get("COGNIGRAPH_MODEL", "").strip():
        return environ
    choice = read_choice(environ)
    return None if choice is None else environment_of(choice, environ)


def environment_of(choice: Choice, environ: Mapping[str, str]) -> Mapping[str, str]:
    """The environment with a choice in place of what it says of a model."""
    return {
        **environ,
        "COGNIGRAPH_MODEL": choice.model,
        "OPENAI_BASE_URL": choice.base_url,
        "OPENAI_API_KEY": environ.get(choice.key_variable, "") if choice.key_variable else "",
    }


# --- Servers ---------------------------------------------------------------------------------


def local_addresses(environ: Mapping[str, str] | None = None) -> list[tuple[str, str]]:
    """The names of model servers, and where each of them listens unless told otherwise."""
    environ = os.environ if environ is None else environ
    return [
        ("Ollama", _ollama(environ.get("OLLAMA_HOST", ""))),
        ("LM Studio", "http://127.0.0.1:1234"),
        ("llama.cpp", "http://127.0.0.1:8080"),
        ("vLLM", "http://127.0.0.1:8000"),
    ]


def _ollama(host: str) -> str:
    """The address in ``OLLAMA_HOST``, which may lack a scheme or a port; of this machine only."""
    try:
        parts = urlsplit(host if "://" in host else f"http://{host}")
        port = parts.port or 11434
    except ValueError:
        port = 11434
    return f"http://127.0.0.1:{port}"


def look(addresses: Sequence[tuple[str, str]]) -> list[ModelServerFound]:
    """The model servers at some addresses that answer, in this order."""
    with ThreadPoolExecutor(max(1, len(addresses))) as threads:
        servers = list(threads.map(lambda server: _server(*server), addresses))
    return [server for server in servers if server is not None]


def models_at(base_url: str, key: str | None = None) -> tuple[str, ...]:
    """The chat models that an OpenAI-compatible endpoint lists; none if it lists none."""
    listed = _listed(base_url.rstrip("/") + "/models", key)
    return _chat_models(model.get("id") for model in listed)


def _server(name: str, address: str) -> ModelServerFound | None:
    base_url = f"{address}/v1"
    listed = _listed(f"{base_url}/models")
    owners = [_OWNERS.get(str(model.get("owned_by"))) for model in listed]
    models = _chat_models(model.get("id") for model in listed)
    if not models and name == "Ollama":  # versions without /v1/models
        tags = _get(f"{address}/api/tags")
        rows = tags.get("models") if isinstance(tags, dict) else None
        models = _chat_models(row.get("name") for row in (rows or ()) if isinstance(row, dict))
    if not models:
        return None
    return ModelServerFound(next((model for model in owners if model), name), base_url, models)


def _listed(url: str, key: str | None = None) -> list[dict[str, Any]]:
    reply = _get(url, key)
    rows = reply.get("data") if isinstance(reply, dict) else None
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _chat_models(names: Any) -> tuple[str, ...]:
    kept = (name for name in names if isinstance(name, str) and name.strip())
    return tuple(name for name in kept if not any(word in name.lower() for word in _NO_CHAT))


def _get(url: str, key: str | None = None) -> Any:
    """The JSON at an address; ``None`` if there is none. No proxy, no redirect."""
    request = urllib.request.Request(url, headers={"Accept": "application/json"})
    if key:
        request.add_header("Authorization", f"Bearer {key}")
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect())
    try:
        with opener.open(request, timeout=_SECONDS) as reply:
            return json.loads(reply.read(_MOST_BYTES))
    except (OSError, ValueError, HTTPException, RecursionError):
        return None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuses redirects: a server on this machine must not send the request elsewhere."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def is_local(base_url: str) -> bool:
    """Whether an address is on this machine."""
    host = urlsplit(base_url).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")
