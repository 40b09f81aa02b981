"""Commands that serve a memory to other programs, and the keys of those programs."""

from __future__ import annotations

from datetime import tzinfo

from rich.table import Table

from cognigraph.cli import format_values, render
from cognigraph.cli.commands import FOUND_PROBLEM, OK, CommandRun
from cognigraph.cli.open_memory import Options, opened
from cognigraph.engine import EnrichMode
from cognigraph.errors import ConfigurationError
from cognigraph.server.keys import Key, KeyFile

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
    given, keys = run.arguments, _key_file(run)
    is_local = is_loopback(given.host)
    if not is_local and keys.is_empty():
        raise ConfigurationError(
            f"other machines can connect to {given.host}, so a key is needed first: "
            f"cognigraph keys create NAME --keys {keys.path} (or --host 127.0.0.1)"
        )
    limits = ServerLimits(
        body=given.max_body * _MEGABYTE, rate=given.rate, requests=given.max_requests
    )
    settings = ServerSettings(keys=keys, is_local=is_local, limits=limits)
    model = "openai" if run.options.model else None  # answers /ask, whatever the extractor
    with opened(run.options, create=True, enrich="background", model=model) as memory:
        serve_app(
            create_app(memory, settings),
            given.host,
            given.port,
            lambda address: run.terminal.note(f"serving {run.options.db} at {address}"),
        )
    return OK


def mcp(run: CommandRun) -> int:
    """Serve one space of the memory to agents."""
    try:
        from cognigraph.listening import is_loopback
        from cognigraph.mcp_server.build import build_server
        from cognigraph.mcp_server.run import run_http, run_stdio
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
            run_stdio(server)
    return OK


def keys(run: CommandRun) -> int:
    """Make, list or revoke keys."""
    action, name = run.arguments.action, run.arguments.name
    if (action == "list") != (name is None):
        needs = {"create": "a name: keys create NAME", "revoke": "an id: keys revoke ID"}
        raise ConfigurationError(f"keys {action} needs {needs.get(action, 'no name')}")
    return {"create": _create, "list": _list, "revoke": _revoke}[action](run, _key_file(run))


def _create(run: CommandRun, keys: KeyFile) -> int:
    given = run.arguments
    if given.spaces and given.all_spaces:
        raise ConfigurationError("give either --for or --all-spaces, not both")
    spaces = None if given.all_spaces else given.spaces or [run.options.space]
    key = keys.create(given.name, given.permission, spaces)
    run.terminal.document({"key": key})
    run.terminal.write(key)
    where = "all spaces" if spaces is None else f"the space {', '.join(spaces)}"
    run.terminal.note(
        f"this key has the permission {given.permission} for {where}; keep it: only its hash is "
        "stored, so it cannot be shown again"
    )
    return OK


def _list(run: CommandRun, keys: KeyFile) -> int:
    found = keys.list()
    run.terminal.document({"keys": found})
    if not found:
        run.terminal.note(f"no keys in {keys.path}")
        return FOUND_PROBLEM
    run.terminal.show(_table(found, run.options.reader))
    return OK


def _revoke(run: CommandRun, keys: KeyFile) -> int:
    key = keys.revoke(run.arguments.name)
    run.terminal.document({"revoked": key})
    run.terminal.show(render.text(f"the key {key.id} ({key.name}) is no longer valid"))
    return OK


def _table(found: list[Key], zone: tzinfo) -> Table:
    made = render.table("id", "name", "permission", "spaces", "made", "revoked")
    for key in found:
        made.add_row(
            render.text(key.id),
            render.text(key.name),
            render.text(key.permission),
            render.text("all" if key.spaces is None else ", ".join(key.spaces)),
            render.text(format_values.day(key.created_at, zone)),
            render.text("" if key.revoked_at is None else format_values.day(key.revoked_at, zone)),
        )
    return made


def _key_file(run: CommandRun) -> KeyFile:
    return KeyFile(run.arguments.keys or run.options.keys or _beside(run.options))


def _beside(options: Options) -> str:
    return f"{options.db}.keys" if options.is_file else "cognigraph.keys"
