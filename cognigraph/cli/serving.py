"""``cognigraph serve``, ``mcp`` and ``setup``: memories for other programs."""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime, timedelta
from importlib import import_module
from os import environ
from typing import Any

from cognigraph.cli.command_run import FOUND_PROBLEM, OK, CommandRun
from cognigraph.cli.keys import key_file
from cognigraph.cli.memory_options import opened
from cognigraph.engine import EnrichMode
from cognigraph.errors import CogniGraphError, ConfigurationError
from cognigraph.ingest.extraction import Window
from cognigraph.llm import ChatModel
from cognigraph.llm.choice import (
    SERVICES,
    Choice,
    ModelServerFound,
    environment_of,
    is_local,
    local_addresses,
    look,
    models_at,
    write_choice,
)
from cognigraph.settings import EnrichSettings, Settings
from cognigraph.stores.records import WorkChunk

_MEGABYTE = 2**20


def serve(run: CommandRun) -> int:
    """Serve the memory over HTTP until interrupted."""
    try:
        from cognigraph.listening import is_loopback, serve_app
        from cognigraph.server.app import ServerSettings, create_app
        from cognigraph.server.gate import ServerLimits
    except ImportError as error:
        raise ConfigurationError(
            "serving needs the extra 'server': pip install 'cognigraph-memory[server]'"
        ) from error
    given, keys = run.arguments, key_file(run)
    is_local = is_loopback(given.host)
    if not is_local and keys.is_empty():
        raise ConfigurationError(
            f"other machines can connect to {given.host}, so a key is needed first: "
            f"cognigraph keys create NAME --keys {keys.path} (or --host 127.0.0.1)"
        )
    limits = ServerLimits(
        body=given.max_body * _MEGABYTE, rate=given.rate, requests=given.max_requests
    )
    settings = ServerSettings(
        keys=keys, is_local=is_local, limits=limits, origins=given.allow_origin
    )
    model = "openai" if run.options.model else None  # answers /ask, whatever the extractor
    enrich = Settings(enrich=EnrichSettings(calls=given.calls))
    with opened(
        run.options, create=True, enrich="background", model=model, settings=enrich
    ) as memory:
        if "openai" in sys.modules:  # of a model that was chosen; its first call loads the rest,
            import_module("openai.resources.chat")  # which would hold up all requests for seconds
        app = create_app(memory, settings)
        serve_app(
            app,
            given.host,
            given.port,
            lambda address: run.terminal.note(f"serving {run.options.db} at {address}"),
            on_stop=app.state.stopping.set,
            drain=given.drain,
            grace=given.grace,
        )
    return OK


def mcp(run: CommandRun) -> int:
    """Serve one space of the memory to agents."""
    try:
        from cognigraph.listening import is_loopback
        from cognigraph.mcp_server.build import build_server, run_http
    except ImportError as error:
        raise ConfigurationError(
            "the MCP server needs the extra 'mcp': pip install 'cognigraph-memory[mcp]'"
        ) from error
    given, options = run.arguments, run.options
    is_http = given.transport == "streamable-http"
    token = given.token or options.mcp_token
    if is_http and not token and not is_loopback(given.host):
        raise ConfigurationError(
            f"other machines can connect to {given.host}, so a token is needed: set "
            "COGNIGRAPH_MCP_TOKEN or give --token (or --host 127.0.0.1)"
        )
    enrich: EnrichMode = "manual" if given.read_only else "background"
    with opened(options, create=not given.read_only, enrich=enrich) as memory:
        server = build_server(memory.space(options.space), read_only=given.read_only)
        if is_http:
            run_http(
                server,
                given.host,
                given.port,
                token,
                lambda address: run.terminal.note(f"serving {options.db} at {address}"),
            )
        else:
            server.run("stdio")
    return OK


_SETUP = """\
Look for model servers on this machine (Ollama, LM Studio, llama.cpp, vLLM on their usual ports) and
for API keys in the environment, try one small extraction with the model you choose, and write the
choice to a file (~/.config/cognigraph/config.toml, or COGNIGRAPH_CONFIG). The commands, the server
and MCP then read messages with it, as extractor="auto" does in a program. Keys are not written to
the file, and no service on the network is called unless you choose it. Delete the file to go back
to the rules."""
_SENTENCE = "My sister Vera moved from Turin to Bergen in March and works at Equinor now."
_TRY_SECONDS = 120


def add_setup(command: Any) -> None:
    """Describe the command to the parser."""
    setup = command("setup", "choose a language model that reads messages", _SETUP)
    setup.add_argument("--model", metavar="NAME", help="this model; it is not asked for")
    setup.add_argument("--base-url", metavar="URL", help="this OpenAI-compatible endpoint")
    setup.add_argument(
        "--yes", action="store_true", help="take the first model of the first server found here"
    )


def setup(run: CommandRun) -> int:
    """Find models, try one, and write the choice."""
    arguments, terminal = run.arguments, run.terminal
    keys = [name for name in SERVICES if environ.get(name, "").strip()]
    found = [] if arguments.base_url else look(local_addresses(environ))
    for server in found:
        terminal.note(f"{server.name} at {server.base_url}: {', '.join(server.models[:8])}")
    for name in keys:
        terminal.note(f"{name} is set; {SERVICES[name]} was not called")
    report: dict[str, Any] = {"servers": found, "keys": keys, "chosen": None, "file": None}
    choice = _chosen(arguments.model, arguments.base_url, found, keys)
    if choice is None and not arguments.base_url and found:
        first = Choice(found[0].models[0], found[0].base_url)
        choice = first if arguments.yes or _agrees(first, run) else None
    if choice is None:
        terminal.document(report)
        terminal.note(_advice(found, keys))
        return FOUND_PROBLEM
    terminal.note(f"trying {choice.model} at {choice.base_url} ...")
    facts, seconds = _try(choice)
    report |= {"chosen": choice, "facts": facts, "seconds": round(seconds, 1)}
    if not facts:
        terminal.document(report)
        terminal.note(
            f"it read no fact out of {_SENTENCE!r}; nothing is written, try another model"
        )
        return FOUND_PROBLEM
    report["file"] = str(write_choice(choice, environ))
    terminal.document(report)
    terminal.note(f"in {seconds:.1f} s it read: {'; '.join(facts)}")
    terminal.note(f"written to {report['file']}")
    return OK


def _chosen(
    model: str | None, base_url: str | None, found: list[ModelServerFound], keys: list[str]
) -> Choice | None:
    """What the options choose; ``None`` if they leave it open."""
    if base_url:
        url = base_url.rstrip("/")
        key = next((name for name in keys if url == SERVICES[name]), None)
        if key is None and not is_local(url) and "OPENAI_API_KEY" in keys:
            key = "OPENAI_API_KEY"
        if model is None:
            listed = models_at(url, environ.get(key) if key else None)
            if len(listed) != 1:
                what = f"it has {', '.join(listed[:8])}" if listed else "it lists no model"
                raise ConfigurationError(f"give --model for {url}; {what}")
            (model,) = listed
        return Choice(model, url, key)
    if model is None:
        return None
    for server in found:
        if model in server.models:
            return Choice(model, server.base_url)
    if len(keys) != 1:
        raise ConfigurationError(f"no server here has the model {model!r}; give --base-url")
    return Choice(model, SERVICES[keys[0]], keys[0])


def _agrees(choice: Choice, run: CommandRun) -> bool:
    if run.options.json or not sys.stdin.isatty():
        return False
    answer = input(f"Use {choice.model} at {choice.base_url}? [Y/n] ")
    return answer.strip().lower() in ("", "y", "yes")


def _advice(found: list[ModelServerFound], keys: list[str]) -> str:
    if found:
        return "nothing is chosen: add --yes, or --model NAME"
    if keys:
        return (
            f"no model server runs here; for a service: --base-url {SERVICES[keys[0]]} --model NAME"
        )
    return (
        "no model server runs here: start one (such as `ollama run qwen3:4b`) and run this again, "
        "or give --base-url and --model"
    )


def _try(choice: Choice) -> tuple[list[str], float]:
    """The facts that the model reads out of one sentence, and how long it takes.

    Raises:
        ConfigurationError: the model cannot be called.
    """
    model = ChatModel.from_environment(
        environment_of(choice, environ), timeout=timedelta(seconds=_TRY_SECONDS), attempts=1
    )

    from cognigraph.ingest.model.extractor import ModelExtractor  # after the check for the extra

    at = datetime(2026, 5, 20, 9, tzinfo=UTC)
    chunk = WorkChunk("0" * 32, "try", "try", "Tom", at, _SENTENCE)
    started = time.monotonic()
    try:
        read = ModelExtractor(model).extract(Window("try", "try", (chunk,)))
    except CogniGraphError as error:
        raise ConfigurationError(
            f"{choice.model} at {choice.base_url} cannot be used, nothing is written: {error}"
        ) from error
    facts = [f"{fact.subject} {fact.relation} {fact.object}" for fact in read.facts]
    return facts, time.monotonic() - started
