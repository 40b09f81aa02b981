"""Run the server over standard input and output, or over HTTP."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from typing import Any

from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from cognigraph.listening import is_loopback, serve_app

_PATH = "/mcp"


def run_stdio(server: MCPServer[Any]) -> None:
    """Serve one client over standard input and output until it closes them."""
    server.run("stdio")


def run_http(
    server: MCPServer[Any],
    host: str,
    port: int,
    token: str | None,
    on_ready: Callable[[str], None],
) -> None:
    """Serve clients at ``/mcp`` until the process is told to stop."""
    local = [f"{name}:*" for name in ("127.0.0.1", "localhost", "[::1]")]
    security = TransportSecuritySettings(
        # Elsewhere the token protects, and the name by which clients know the host is unknown.
        enable_dns_rebinding_protection=is_loopback(host),
        allowed_hosts=local,
        allowed_origins=[f"http://{name}" for name in local],
    )
    app: ASGIApp = server.streamable_http_app(
        streamable_http_path=_PATH, transport_security=security, host=host
    )
    if token is not None:
        app = BearerToken(app, token)
    serve_app(app, host, port, lambda address: on_ready(address + _PATH))


class BearerToken:
    """ASGI middleware that refuses requests without the token."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on if it has the token."""
        if scope["type"] == "http" and not self._is_right(Headers(scope=scope)):
            refusal = PlainTextResponse(
                "send the header 'Authorization: Bearer TOKEN' with the token of --token",
                401,
                {"WWW-Authenticate": "Bearer"},
            )
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_right(self, headers: Headers) -> bool:
        given = headers.get("authorization", "").encode("utf-8", "surrogateescape")
        return hmac.compare_digest(given, self._expected)
