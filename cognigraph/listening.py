"""Listen on an address, and serve an ASGI application there until the process is to stop.

It needs ``uvicorn``, which the extras ``server`` and ``mcp`` install.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
import sys
from collections.abc import Callable
from contextlib import suppress

import uvicorn
from starlette.types import ASGIApp

from cognigraph.errors import ConfigurationError


def is_loopback(host: str) -> bool:
    """Whether only this machine can connect to an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def serve_app(
    app: ASGIApp,
    host: str,
    port: int,
    on_ready: Callable[[str], None],
    *,
    on_stop: Callable[[], None] = lambda: None,
    drain: float = 0.0,
    grace: float = 10.0,
) -> None:
    """Serve until SIGINT or SIGTERM.

    ``on_ready`` is called with the address as soon as connections are taken; port 0 is any free
    one. ``on_stop`` is called at the signal. For ``drain`` seconds after it everything is answered
    as before; then no connection is taken any more, and requests in work are given ``grace``
    seconds to end.

    Raises:
        ConfigurationError: the address cannot be used.
    """
    with _listening(host, port) as listener:
        sys.setswitchinterval(min(sys.getswitchinterval(), _SWITCH))
        on_ready(_address(listener))
        # When it has ended, uvicorn raises the signal again that stopped it.
        with suppress(KeyboardInterrupt, SystemExit):
            _Server(_config(app, grace), on_stop, drain).run(sockets=[listener])


_KEEP_ALIVE = 75
"""Seconds for which an idle connection stays open: longer than those of clients and of load
balancers (60 s), which would else send a request into a connection that is just being closed."""

_SWITCH = 0.0005
"""Seconds after which a thread lets others run. With the 5 ms of Python, a request whose thread
has waited for a disk or for another thread a hundred times takes half a second longer while
messages are being read in the background."""


def _config(app: ASGIApp, grace: float = 10.0) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        # uvicorn itself would believe X-Forwarded-For of every program on this machine.
        forwarded_allow_ips=os.environ.get("FORWARDED_ALLOW_IPS", ""),
        lifespan="on",
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=grace,  # type: ignore[arg-type]  # seconds for asyncio
    )


class _Server(uvicorn.Server):
    """Answers for a while after it was told to stop, so that a load balancer sees that it will."""

    def __init__(self, config: uvicorn.Config, on_stop: Callable[[], None], drain: float) -> None:
        super().__init__(config)
        self._on_stop, self._drain = on_stop, drain

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._on_stop()
        until = asyncio.get_running_loop().time() + self._drain
        while not self.force_exit and (left := until - asyncio.get_running_loop().time()) > 0:
            await asyncio.sleep(min(left, 0.1))  # a second Ctrl-C ends it at once
        await super().shutdown(sockets)


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigurationError(
            f"cannot listen on {host} port {port}: {reason}; choose another with --host and --port"
        ) from error
    # Connections inherit it. asyncio sets it only for sockets made with the protocol's number, and
    # without it a client waits 40 ms for the body that follows the head of a response.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
