"""HTTP requests to one endpoint, each with a deadline for the whole reply, and limits on it.

Answers are requested whole, not as a stream. An answer can only be validated as a whole, every
server sends token counts with it (with streams only on request, in a way that not all servers
understand), and there is one form of answer to guard against instead of two.

A timeout of the HTTP client restarts with each byte, so a server that sends one byte at a time
would block a worker forever. The calls therefore run as tasks of one asyncio loop in a daemon
thread, which cancels them and closes their connections when a whole call takes too long.

An endpoint may be hostile or broken. Its replies, error pages included, are read to a limit and no
further; they are requested without compression, because a small one may expand to a gigabyte.
Requests go only to the scheme, host and port of the base URL: a redirect to another origin is
rejected before anything is sent there. The HTTP library limits headers (100 KB).
"""

from __future__ import annotations

import asyncio
import atexit
import os
import time
import weakref
from base64 import b64encode
from collections.abc import AsyncIterator, Coroutine, Mapping
from concurrent.futures import Future
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import lru_cache
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from urllib.parse import urlsplit

from cognigraph.errors import ConfigurationError
from cognigraph.forks import ProcessLock
from cognigraph.text.redaction import quoting, without_credentials

if TYPE_CHECKING:
    import ssl

    import httpx
    import openai

OPENAI_URL = "https://api.openai.com/v1"
MAX_REPLY_BYTES = 4_000_000
"""Limit on an answer. The longest answers of current models are under one megabyte."""
_MAX_REDIRECTS = 3
_NO_KEY = "no-key"  # the client requires a key; servers without keys ignore it
_CONNECT_SECONDS = 10.0
_CLOSE_SECONDS = 2.0
_R = TypeVar("_R")
_max_bytes: ContextVar[int] = ContextVar("_max_bytes", default=MAX_REPLY_BYTES)
"""Limit on the reply to the current request."""


class UnsafeReplyError(Exception):
    """A reply is too large, compressed, or a redirect to another origin; it is unused."""

    def __init__(self, kind: Literal["size", "redirect", "connection"], reason: str) -> None:
        super().__init__(reason)
        self.kind = kind
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP status and body, or a failure (status 0) with its reason.

    ``failure`` is ``"size"`` for a reply that is too large, and ``"redirect"`` for a redirect to
    another server.
    """

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    failure: Literal["", "timeout", "connection", "size", "redirect"] = ""
    reason: str = ""
    seconds: float = 0.0


class Endpoint:
    """An OpenAI-compatible endpoint, accessed with the ``openai`` client. Thread-safe.

    Raises:
        ConfigurationError: the base URL is not one, or the extra ``openai`` is not installed.
    """

    def __init__(self, base_url: str, api_key: str | None) -> None:
        # The HTTP library logs the address of each request, so it gets the password apart from it.
        address, self._login = without_credentials(base_url)
        if not _is_base(address):
            raise ConfigurationError(
                "base_url must be a URL such as http://localhost:11434/v1, without a query"
            )
        self.base_url = address.rstrip("/")
        self._key = api_key or _NO_KEY
        login = ":".join(self._login) if self._login else ""
        password = self._login[1] if self._login else ""
        sent = b64encode(login.encode()).decode()
        self.quoted = quoting([api_key or "", login, password, sent])
        """Makes what the server says fit to be shown: it may quote the key or the password."""
        self._client: openai.AsyncOpenAI | None = None
        self._pid = 0
        self._lock = Lock()
        _openai()

    def post(self, body: Mapping[str, Any], timeout: float) -> Reply:
        """Send a chat completion request; the reply comes within ``timeout`` seconds."""
        # Resolved before the clock starts: the first access imports modules.
        create = self._open().chat.completions.with_raw_response.create
        start = time.monotonic()
        reply = shared_loop().run(self._post(create, body, timeout, MAX_REPLY_BYTES))
        return replace(reply, seconds=time.monotonic() - start)

    async def _post(self, create: Any, body: Mapping[str, Any], timeout: float, most: int) -> Reply:
        import openai

        _max_bytes.set(most)  # for this task only
        try:
            async with asyncio.timeout(timeout):
                raw = await create(
                    model=body["model"],
                    messages=body["messages"],
                    extra_body={k: v for k, v in body.items() if k not in ("model", "messages")},
                    timeout=openai.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS)),
                )
                response = raw.http_response
        except TimeoutError:
            return Reply(
                0, failure="timeout", reason=f"no complete answer within {timeout:.3g} seconds"
            )
        except openai.APIStatusError as error:
            response = error.response
        except openai.APITimeoutError:
            return Reply(0, failure="timeout", reason="it did not accept a connection in time")
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            if isinstance(cause, UnsafeReplyError):
                return Reply(0, failure=cause.kind, reason=cause.reason)
            return Reply(
                0,
                failure="connection",
                reason=self.quoted(f"{type(cause).__name__}: {cause}".rstrip(": ")),
            )
        return Reply(response.status_code, response.content, dict(response.headers))

    def _open(self) -> openai.AsyncOpenAI:
        """The client. Its connections belong to the event loop; a forked process opens its own."""
        with self._lock:
            if self._client is None or self._pid != os.getpid():
                library = _openai()
                self._client = library.AsyncOpenAI(
                    base_url=self.base_url,
                    api_key=self._key,
                    max_retries=0,
                    http_client=library.DefaultAsyncHttpxClient(
                        verify=_tls(),
                        auth=self._login,
                        headers={"Accept-Encoding": "identity"},
                        max_redirects=_MAX_REDIRECTS,
                        event_hooks={
                            "request": [self._check_origin],
                            "response": [_limit_reply],
                        },
                    ),
                )
                self._pid = os.getpid()
                if self.base_url != OPENAI_URL:  # OPENAI_ORG_ID must not reach other servers
                    self._client.organization = self._client.project = None
                _opened.add(self)
                weakref.finalize(self, _close, self._client, self._pid).atexit = False
            return self._client

    async def _check_origin(self, request: httpx.Request) -> None:
        import httpx

        base = httpx.URL(self.base_url)
        target = request.url
        if (target.scheme, target.host, target.port) != (base.scheme, base.host, base.port):
            where = f"{target.scheme}://{target.host}" + (f":{target.port}" if target.port else "")
            raise UnsafeReplyError(
                "redirect", f"it redirects to another server, {where}; nothing was sent there"
            )

    def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None and (closing := _close(client, self._pid)) is not None:
            with suppress(TimeoutError):
                closing.result(_CLOSE_SECONDS)


async def _limit_reply(response: httpx.Response) -> None:
    """Let reading the reply fail as soon as it is larger than allowed."""
    import httpx

    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity"):
        raise UnsafeReplyError(
            "connection", f"its reply is encoded as {encoding[:40]!r}, which was not requested"
        )
    source: Any = response.stream
    limit = _max_bytes.get()

    class LimitedStream(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for data in source:
                size += len(data)
                if size > limit:
                    raise UnsafeReplyError("size", f"its reply is larger than {limit:,} bytes")
                yield data

        async def aclose(self) -> None:
            await source.aclose()

    response.encoding = "utf-8"  # as JSON requires; some other codecs take quadratic time
    response.stream = LimitedStream()


def check_credentials(base_url: str | None, api_key: str | None) -> None:
    """Raise :class:`ConfigurationError` if OpenAI's key is missing, or a key cannot be one."""
    if base_url is None and not api_key:
        raise ConfigurationError(
            "OpenAI needs a key (api_key=... or OPENAI_API_KEY); a server without keys needs "
            "base_url=... (or OPENAI_BASE_URL), such as http://localhost:11434/v1"
        )
    if api_key and not (api_key.isascii() and api_key.isprintable() and " " not in api_key):
        raise ConfigurationError(
            "the API key contains characters that no key may have; was it pasted correctly?"
        )


def _is_base(url: str) -> bool:
    try:
        parts = urlsplit(url)
        is_web = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # an invalid port, or brackets without an IPv6 address
        return False
    return is_web and not parts.query and not parts.fragment


def _openai() -> Any:
    try:
        import openai
    except ImportError as error:
        raise ConfigurationError(
            "a language model needs an extra: pip install 'cognigraph-memory[openai]'"
        ) from error
    return openai


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    """The TLS context of all clients: loading certificates is the slowest part of opening one."""
    import httpx

    return httpx.create_ssl_context()


class _Loop:
    """An asyncio loop in a daemon thread; other threads submit tasks to it."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, name="cognigraph-llm", daemon=True)
        self._thread.start()

    def submit(self, task: Coroutine[Any, Any, _R]) -> Future[_R]:
        """Start a task."""
        return asyncio.run_coroutine_threadsafe(task, self._loop)

    def run(self, task: Coroutine[Any, Any, _R]) -> _R:
        """Run a task and wait for it; an interrupt cancels it."""
        future = self.submit(task)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def stop(self) -> None:
        """Stop the loop and its thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_CLOSE_SECONDS)
        if not self._thread.is_alive():
            self._loop.close()


_loops: list[_Loop] = []  # the last one is in use; loops of a parent process are left alone
_starting = ProcessLock()
_opened: weakref.WeakSet[Endpoint] = weakref.WeakSet()


def shared_loop() -> _Loop:
    """The event loop of this process, in its own thread; a forked process gets a new one."""
    with _starting:
        if not _loops or _loops[-1].pid != os.getpid():
            _loops.append(_Loop())
            atexit.register(_stop, _loops[-1])
        return _loops[-1]


def _stop(loop: _Loop) -> None:
    """Close all endpoints, then the loop, when the process exits."""
    if loop.pid == os.getpid():
        for endpoint in list(_opened):
            endpoint.close()
        loop.stop()


def _close(client: openai.AsyncOpenAI, pid: int) -> Future[None] | None:
    """Start closing a client in its loop; in a forked process it belongs to the parent."""
    return shared_loop().submit(client.close()) if pid == os.getpid() else None
