"""The gate: what every request passes before its route, and what is measured of it.

It refuses requests that are too many, too large, from another web page, or without a valid key.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
import time
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cognigraph.errors import CogniGraphError
from cognigraph.server.access import Doorkeeper
from cognigraph.server.long_work import FairShare
from cognigraph.server.metrics import Metrics
from cognigraph.server.problems import Problem, of_error

logger = logging.getLogger("cognigraph.server")
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
"""Names of this machine, as a browser would send them."""
_WRONG_KEYS_A_SECOND = 5.0
_PLACES_OF_ALL = 2
"""How many times the places of one client all clients together have."""
_SLOWEST = 8 * 1024
"""How many bytes of a body must come in a second, once the patience is over."""
_UPLOAD = re.compile(r"/v1/spaces/[^/]*/files/(?:import-file|load)")
"""The paths whose bodies go to a file; every other body is held in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """What the server takes.

    ``body`` is the size in bytes of a request, ``upload`` that of an import. ``rate`` is the number
    of requests per second of one key, or without keys of one address, over a longer time; 0 is no
    limit. ``requests`` is how many may be in work or wait at once, of which one key may have half;
    ``places`` is how many of one key alone are in work, and twice as many of all, which the keys
    share evenly. ``long`` is the same for imports, enrichments, exports and questions to a model,
    of which all keys have four times as many. ``patience`` is how many seconds one side waits
    for the other: a request for its turn at long work, and the server for a body that comes more
    slowly than 8 KB a second. ``body_seconds`` is how long it waits for a whole body in all.
    """

    body: int = 8 * 2**20
    upload: int = 2 * 2**30
    rate: float = 100.0
    requests: int = 512
    places: int = 8
    long: int = 4
    patience: float = 30.0
    body_seconds: float = 3600.0


class Gate:
    """ASGI middleware around the whole application."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        doorkeeper: Doorkeeper,
        limits: ServerLimits,
        metrics: Metrics,
        is_local: bool,
        origins: Collection[str] = (),
    ) -> None:
        self._app = app
        self._origins = frozenset(origins)
        self._doorkeeper = doorkeeper
        self._limits = limits
        self._metrics = metrics
        self._is_local = is_local
        self._rate = Rate(limits.rate)
        self._failures = Rate(min(limits.rate, _WRONG_KEYS_A_SECOND))
        self._share = FairShare(limits.places, limits.places * _PLACES_OF_ALL)
        self._requests: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer it with a problem."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        raw = scope.get("raw_path") or scope["path"].encode()
        scope["path"] = raw.decode("ascii", "replace")  # so that names in it may have slashes
        response = _Response(send)
        started = time.perf_counter()
        self._metrics.in_flight += 1
        try:
            await self._pass(scope, receive, response)
        finally:
            self._metrics.in_flight -= 1
            self._metrics.observe(scope, response.status, time.perf_counter() - started)

    async def _pass(self, scope: Scope, receive: Receive, response: _Response) -> None:
        headers = Headers(scope=scope)
        try:
            is_busy = self._metrics.in_flight > self._limits.requests
            if is_busy and not is_public(scope["path"]):
                raise Problem(
                    503, "Too many requests at once", "the server is busy; try again", wait=1
                )
            self._check_origin(headers)
            client = self._admit(scope, headers)
            body = _Body(receive, headers, self._most(scope), self._limits)
            if client is None:
                await self._app(scope, body, response)
            else:
                with self._counted(client):
                    async with self._share.turn(client) as turn:
                        scope["cognigraph.turn"] = turn
                        await self._app(scope, body, response)
        except Problem as refused:
            await response.replace(scope, receive, refused)
        except CogniGraphError as error:
            if response.status:
                raise
            await of_error(error)(scope, receive, response)

    def _most(self, scope: Scope) -> int:
        is_upload = _UPLOAD.fullmatch(scope["path"])
        return self._limits.upload if is_upload else self._limits.body

    def _check_origin(self, headers: Headers) -> None:
        """Refuse requests that another web page makes a browser send.

        A page on the internet may give its name the address of this machine. So without a key,
        which it cannot know, the host must be one of loopback. The page that this server delivers
        is of the same origin; pages of the ``origins`` are those that the operator named.
        """
        host = headers.get("host", "")
        if self._is_local and _name(host) not in LOOPBACK and not self._doorkeeper.needs_key():
            raise Problem(
                403,
                "Unknown host",
                f"without keys the server is for this machine alone, and its host cannot be "
                f"{host[:100]!r}; `cognigraph keys create` makes a key",
            )
        origin = headers.get("origin")
        if origin is None or origin in self._origins:
            return
        if not host or _host(origin) != host.lower():
            raise Problem(
                403,
                "Another origin",
                "web pages of other origins cannot use this API, unless its operator names them: "
                "cognigraph serve --allow-origin https://app.example",
            )

    def _admit(self, scope: Scope, headers: Headers) -> str | None:
        """Who sends a request: its key, or without one its address; ``None`` if all may send it."""
        address = str((scope.get("client") or ("unknown", 0))[0])
        if is_public(scope["path"]):
            self._rate.take(address)
            return None
        try:
            grant = self._doorkeeper.grant(headers.get("authorization"))
        except Problem:
            self._failures.take(address)
            raise
        client = address if grant.key is None else grant.key.id
        self._rate.take(client)
        most = max(1, self._limits.requests // 2)
        if grant.key is not None and self._requests[client] >= most:
            raise Problem(
                429,
                "Too many requests at once",
                "one key may have half of the requests that the server takes; wait for answers",
                wait=1,
            )
        scope["cognigraph.grant"] = grant
        return client

    @contextmanager
    def _counted(self, client: str) -> Iterator[None]:
        self._requests[client] += 1
        try:
            yield
        finally:
            self._requests[client] -= 1
            if not self._requests[client]:
                del self._requests[client]


def is_public(path: str) -> bool:
    """Whether a path needs no key: the page itself, health, and the description of the API."""
    return not path.startswith("/v1/") and path != "/metrics"


def _host(origin: str) -> str:
    """The host and port of an origin; empty if it has none."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:  # such as an IPv6 address without its end
        return ""


def _name(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


class _Response:
    """Sends a response and notes its status."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        await self._send(message)

    async def replace(self, scope: Scope, receive: Receive, refused: Problem) -> None:
        """Answer with a problem, unless an answer was begun."""
        if not self.status:
            await refused.response()(scope, receive, self)


class _Body:
    """Receives the body of a request up to a size, and not slower than a rate.

    Only the time counts for which the server waits for the client, not that for which the client
    waits for the server.
    """

    def __init__(self, receive: Receive, headers: Headers, most: int, limits: ServerLimits) -> None:
        self._receive = receive
        self._left = self._most = most
        self._limits = limits
        self._credit = limits.patience
        self._seconds = limits.body_seconds
        self._is_whole = False
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > most:
            raise self._too_large()

    async def __call__(self) -> Message:
        if self._is_whole:
            return await self._receive()
        started = time.monotonic()
        try:
            message = await asyncio.wait_for(self._receive(), min(self._credit, self._seconds))
        except TimeoutError:
            raise Problem(
                408,
                "The request is too slow",
                f"its body must come with at least {_SLOWEST // 1024} KB a second and be whole "
                f"after {self._limits.body_seconds:g} seconds; send less at once, or over a faster "
                "connection",
            ) from None
        self._is_whole = not message.get("more_body", False)
        size, waited = len(message.get("body", b"")), time.monotonic() - started
        self._left -= size
        self._seconds -= waited
        # What came faster does not make up for a long pause later.
        self._credit = min(self._limits.patience, self._credit - waited + size / _SLOWEST)
        if self._left < 0:
            raise self._too_large()
        return message

    def _too_large(self) -> Problem:
        return Problem(
            413,
            "The request is too large",
            f"at most {self._most:,} bytes are taken; send fewer messages at once, or raise "
            "--max-body",
        )


_BURST_SECONDS = 2.0
_MOST_CLIENTS = 10_000


class Rate:
    """A rate for each client. A bucket holds what two seconds give; 0 is no limit."""

    def __init__(self, per_second: float) -> None:
        self._per_second = per_second
        self._most = max(1.0, per_second * _BURST_SECONDS)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str, now: float | None = None) -> None:
        """Count one request of a client.

        Raises:
            Problem: it has made too many.
        """
        if not self._per_second:
            return
        moment = time.monotonic() if now is None else now
        left, since = self._buckets.pop(client, (self._most, moment))
        left = min(self._most, left + (moment - since) * self._per_second)
        self._buckets[client] = (left - 1 if left >= 1 else left, moment)
        if len(self._buckets) > _MOST_CLIENTS:
            self._buckets.popitem(last=False)
        if left < 1:
            wait = math.ceil((1 - left) / self._per_second)
            raise Problem(
                429,
                "Too many requests",
                f"{self._per_second:g} a second are allowed; wait, or raise --rate",
                wait=wait,
            )
