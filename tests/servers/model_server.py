"""A loopback server that speaks OpenAI's chat completions, as well or as badly as a test wants.

::

    with ModelServer(good({"facts": []})) as server:
        model = ChatModel("test", base_url=server.url)

A behaviour is a function ``(Exchange) -> None`` that answers one request. A server is given one
behaviour for all requests, or several: one for each request in turn, the last for all that follow.
``server.requests`` records what was asked. ``pages`` are what it says to GET, by path: JSON.
``OLLAMA``, ``LM_STUDIO``, ``LLAMA_CPP`` and ``VLLM`` are those of servers that run a model.

    ==========================  ==================================================================
    good(answer)                a chat completion; the answer is a text, something JSON can hold,
                                or a function from the request's messages to either
    completion(...)             a chat completion spelled out: finish reason, usage, refusal
    status(code, ...)           an HTTP error with a message, headers, Retry-After
    raw(body, ...)              any body
    hang()                      reads the request and says nothing
    drip(...)                   a byte every so often, without end
    cut(...)                    closes the connection in the middle of the body
    drop()                      closes the connection without a word
    rejecting(word, ...)        refuses requests that have a parameter, serves the others
    endless(piece, ...)         a body that repeats a piece of bytes for ever
    many_headers()              headers without end
    redirect(url, ...)          sends the client elsewhere
    ==========================  ==================================================================
"""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any

Messages = list[dict[str, str]]
Reply = str | Mapping[str, Any] | Sequence[Any] | Callable[[Messages], Any]


def _models(owner: str, *names: str) -> dict[str, Any]:
    rows = [{"id": name, "object": "model", "owned_by": owner} for name in names]
    return {"object": "list", "data": rows}


OLLAMA = {
    "/api/tags": {"models": [{"name": "nomic-embed-text:latest"}, {"name": "qwen3:4b"}]},
    "/v1/models": _models("library", "nomic-embed-text:latest", "qwen3:4b"),
}
OLD_OLLAMA = {"/api/tags": OLLAMA["/api/tags"]}
LM_STUDIO = {"/v1/models": _models("organization_owner", "gemma-3-4b", "text-embedding-nomic")}
LLAMA_CPP = {
    "/health": {"status": "ok"},
    "/v1/models": {"models": [], **_models("llamacpp", "/models/qwen3-4b.gguf")},
}
VLLM = {"/health": {}, "/v1/models": _models("vllm", "Qwen/Qwen3-8B")}


@dataclass
class Exchange:
    """One request and the means to answer it."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    closing: Event
    _handler: BaseHTTPRequestHandler = field(repr=False)

    @property
    def messages(self) -> Messages:
        return self.body["messages"]

    @property
    def mode(self) -> str:
        return self.body.get("response_format", {}).get("type", "text")

    def send(
        self,
        body: bytes | str,
        *,
        status: int = 200,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        data = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
        self.start(len(data), status=status, content_type=content_type, headers=headers)
        self.write(data)

    def start(
        self,
        length: int | None,
        *,
        status: int = 200,
        content_type: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        handler = self._handler
        handler.send_response(status)
        handler.send_header("Content-Type", content_type)
        if length is None:  # the body ends where the connection does
            handler.send_header("Connection", "close")
        else:
            handler.send_header("Content-Length", str(length))
        for name, value in (headers or {}).items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.flush()

    def write(self, data: bytes) -> None:
        self._handler.wfile.write(data)
        self._handler.wfile.flush()

    def reset(self) -> None:
        """Close with RST, as a server that dies does."""
        linger = struct.pack("ii", 1, 0)
        self._handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.hang_up()

    def hang_up(self) -> None:
        self._handler.close_connection = True
        self._handler.connection.close()


Behaviour = Callable[[Exchange], None]


class ModelServer:
    """The server; a context manager. ``url`` is the base URL to give to a client."""

    def __init__(self, *behaviours: Behaviour, pages: Mapping[str, Any] | None = None) -> None:
        self._behaviours = list(behaviours)
        self._pages = pages or {}
        self._served = 0
        self._lock = Lock()
        self._closing = Event()
        self.requests: list[Exchange] = []
        self.running = 0
        self.most_running = 0
        self._server = _Server(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = Thread(target=self._server.serve_forever, args=(0.005,), daemon=True)

    def then(self, *behaviours: Behaviour) -> None:
        """Answer like this from now on."""
        with self._lock:
            self._behaviours = list(behaviours)
            self._served = 0

    @property
    def calls(self) -> int:
        return len(self.requests)

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _serve(self, exchange: Exchange) -> None:
        with self._lock:
            index = min(self._served, len(self._behaviours) - 1)
            behaviour = self._behaviours[index]
            self._served += 1
            self.requests.append(exchange)
            self.running += 1
            self.most_running = max(self.most_running, self.running)
        try:
            behaviour(exchange)
        finally:
            with self._lock:
                self.running -= 1

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        serve, closing, pages = self._serve, self._closing, self._pages

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                try:
                    serve(Exchange(self.path, dict(self.headers), body, closing, self))
                except OSError:  # the client went away
                    self.close_connection = True

            def do_GET(self) -> None:
                body = pages.get(self.path)
                text = json.dumps({"error": "not found"} if body is None else body)
                Exchange(self.path, dict(self.headers), {}, closing, self).send(
                    text, status=404 if body is None else 200
                )

            def log_message(self, *_: object) -> None:
                pass

        return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # connections that were broken on purpose


def completion(
    content: Any = "{}",
    *,
    finish: str | None = "stop",
    usage: Mapping[str, Any] | None = None,
    refusal: str | None = None,
) -> Behaviour:
    """A chat completion; ``usage`` is 100 tokens in and 10 out, or what is given (``{}`` none)."""
    counts = {"prompt_tokens": 100, "completion_tokens": 10} if usage is None else usage
    message = {"role": "assistant", "content": content, "refusal": refusal}
    body = {
        "id": "1", "object": "chat.completion", "created": 1, "model": "test",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        **({"usage": counts} if counts else {}),
    }  # fmt: skip
    return raw(json.dumps(body))


def good(answer: Reply, **options: Any) -> Behaviour:
    """A chat completion with this answer, or with what a function makes of the messages."""

    def behave(exchange: Exchange) -> None:
        value = answer(exchange.messages) if callable(answer) else answer
        text = value if isinstance(value, str) else json.dumps(value)
        completion(text, **options)(exchange)

    return behave


def raw(
    body: bytes | str,
    *,
    code: int = 200,
    content_type: str = "application/json",
    headers: Mapping[str, str] | None = None,
) -> Behaviour:
    """Any body."""

    def behave(exchange: Exchange) -> None:
        exchange.send(body, status=code, content_type=content_type, headers=headers)

    return behave


def status(
    code: int,
    message: str = "no",
    *,
    retry_after: str | float | None = None,
    error_code: str | None = None,
    param: str | None = None,
) -> Behaviour:
    """An error as OpenAI words it."""
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    error = {"message": message, "type": "error", "code": error_code, "param": param}
    return raw(json.dumps({"error": error}), code=code, headers=headers)


def hang(seconds: float = 30.0) -> Behaviour:
    """Say nothing for so long (or until the server is closed)."""

    def behave(exchange: Exchange) -> None:
        exchange.closing.wait(seconds)
        exchange.hang_up()

    return behave


def drip(every: float = 0.02, *, headers: bool = True, seconds: float = 30.0) -> Behaviour:
    """A byte every so often: of the body, or (``headers=False``) of the headers already."""

    def behave(exchange: Exchange) -> None:
        if headers:
            exchange.start(1_000_000)
        else:
            exchange.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        end = time.monotonic() + seconds
        while time.monotonic() < end and not exchange.closing.wait(every):
            exchange.write(b" " if headers else b"x")

    return behave


def cut(body: bytes | str = b'{"choices": [{"message": {"content": "{', *, reset: bool = False):
    """Close in the middle of the body, politely or with a reset."""

    def behave(exchange: Exchange) -> None:
        data = body.encode() if isinstance(body, str) else body
        exchange.start(len(data) + 1000)
        exchange.write(data)
        exchange.reset() if reset else exchange.hang_up()

    return behave


def drop(*, reset: bool = False) -> Behaviour:
    """Close the connection without a word."""
    return lambda exchange: exchange.reset() if reset else exchange.hang_up()


def rejecting(
    refuses: Callable[[dict[str, Any]], bool], refusal: Behaviour, otherwise: Behaviour
) -> Behaviour:
    """Refuse requests by their body, serve the others."""

    def behave(exchange: Exchange) -> None:
        (refusal if refuses(exchange.body) else otherwise)(exchange)

    return behave


def endless(
    piece: bytes,
    *,
    code: int = 200,
    content_type: str = "application/json",
    headers: Mapping[str, str] | None = None,
    first: bytes = b"",
) -> Behaviour:
    """A body that repeats a piece of bytes until the client goes away."""

    def behave(exchange: Exchange) -> None:
        exchange.start(None, status=code, content_type=content_type, headers=headers)
        exchange.write(first)
        while not exchange.closing.is_set():
            exchange.write(piece)

    return behave


def many_headers() -> Behaviour:
    """Headers without end."""

    def behave(exchange: Exchange) -> None:
        exchange.write(b"HTTP/1.1 200 OK\r\n")
        while not exchange.closing.is_set():
            exchange.write(b"X-Header: " + b"x" * 10_000 + b"\r\n")

    return behave


def redirect(url: str, code: int = 307) -> Behaviour:
    """Send the client elsewhere."""
    return raw(b"", code=code, headers={"Location": url})
