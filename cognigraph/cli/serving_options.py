"""The arguments of the commands that serve a memory to other programs."""

from __future__ import annotations

from typing import Any

from cognigraph.cli.numbers import amount, count, port
from cognigraph.cli.setup import add_setup

_SERVE = """\
Serve the memory over HTTP, as REST with OpenAPI and as a page to look at, until interrupted. What
is added is enriched in the background. On loopback no key is needed until the first one is made
with `cognigraph keys create`; on any other address one is. It needs the extra `server`."""

_MCP = """\
Serve the space of --space to agents over the Model Context Protocol: on standard input and output
for a client that starts this command, or over HTTP at /mcp. What is added is enriched in the
background, except with --read-only. It needs the extra `mcp`."""

_KEYS = """\
Make, list and revoke the API keys of `serve`. `keys create NAME` prints a new key, once: only its
hash is kept. A key is for the space of --space, for each --for SPACE, or for --all-spaces."""


def add_serving(command: Any) -> None:
    """Add the commands."""
    add_setup(command)
    serve = command("serve", "serve the memory over HTTP (extra server)", _SERVE)
    _address(serve, 8700)
    serve.add_argument(
        "--rate",
        type=amount,
        default=100.0,
        metavar="N",
        help="requests per second of one key or address; 0 is no limit (default: 100)",
    )
    serve.add_argument(
        "--max-body",
        type=count,
        default=8,
        metavar="MB",
        help="largest size of a request other than an import (default: 8)",
    )
    serve.add_argument(
        "--max-requests",
        type=count,
        default=512,
        metavar="N",
        help="most requests at once, those that wait included (default: 512)",
    )
    _key_file(serve)
    mcp = command("mcp", "serve one space to agents over MCP (extra mcp)", _MCP)
    mcp.add_argument("--read-only", action="store_true", help="no tool that changes the memory")
    mcp.add_argument(
        "--transport",
        choices=("stdio", "streamable-http"),
        default="stdio",
        help="how clients connect (default: stdio)",
    )
    _address(mcp, 8701)
    mcp.add_argument(
        "--token",
        metavar="TOKEN",
        help="what HTTP clients must send; visible in the process list, unlike "
        "COGNIGRAPH_MCP_TOKEN",
    )
    keys = command("keys", "make, list and revoke API keys of `serve`", _KEYS)
    keys.add_argument("action", choices=("create", "list", "revoke"))
    keys.add_argument(
        "name", metavar="NAME_OR_ID", nargs="?", help="name to create, or id to revoke"
    )
    keys.add_argument(
        "--permission",
        choices=("read", "write", "admin"),
        default="write",
        help="write includes read; admin may also delete whole spaces (default: write)",
    )
    keys.add_argument(
        "--for", action="append", dest="spaces", metavar="SPACE", help="a space; may be repeated"
    )
    keys.add_argument("--all-spaces", action="store_true", help="every space, also future ones")
    _key_file(keys)


def _address(parser: Any, default: int) -> None:
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS", help="address (default: 127.0.0.1)"
    )
    parser.add_argument(
        "--port", type=port, default=default, metavar="N", help=f"port (default: {default})"
    )


def _key_file(parser: Any) -> None:
    parser.add_argument(
        "--keys",
        metavar="FILE",
        help="file of the keys (default: COGNIGRAPH_KEYS, else beside the memory's file)",
    )
