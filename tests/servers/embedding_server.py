"""A loopback ``/v1/embeddings`` server that answers correctly until a test makes it misbehave."""

from __future__ import annotations

import base64
import json
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from cognigraph.testing import HashEmbedder


@dataclass
class Request:
    """What a client sent."""

    path: str
    key: str
    body: dict[str, Any]


@dataclass
class Response:
    """What the server sends instead of an answer; ``drip`` sends single bytes without end."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    drip: bool = False


Misbehave = Callable[[Request, list[Any]], Response | None]
"""Given the request and the answer's items: another response, or None after changing the items."""


class EmbeddingServer(ThreadingHTTPServer):
    """Records requests, and plays queued misbehaviours, one for each request."""

    daemon_threads = True

    def __init__(self, dimension: int = 16) -> None:
        self.requests: list[Request] = []
        self.misbehave: list[Misbehave] = []
        self.always: Misbehave | None = None
        self.embedder = HashEmbedder(dimension)
        self.lock = threading.Lock()
        self.stopped = threading.Event()
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        """Base URL."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def items(self, body: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the correct embeddings."""
        vectors = self.embedder.embed(body["input"])[:, : body.get("dimensions", 1 << 20)]
        return [
            {"object": "embedding", "index": index, "embedding": vector.tolist()}
            for index, vector in enumerate(vectors)
        ]


class _Handler(BaseHTTPRequestHandler):
    server: EmbeddingServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        body = json.loads(self.rfile.read(size))
        key = self.headers.get("Authorization", "").removeprefix("Bearer ")
        request = Request(self.path, key, body)
        server = self.server
        with server.lock:
            server.requests.append(request)
            step = server.misbehave.pop(0) if server.misbehave else server.always
        items: list[Any] = server.items(body)
        response = step(request, items) if step else None
        if response is None:
            response = Response(200, json.dumps({"object": "list", "data": items}).encode())
        self._send(response)

    def _send(self, response: Response) -> None:
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(response.body) + (1 << 20) * response.drip))
        self.end_headers()
        try:
            self.wfile.write(response.body)
            while response.drip and not self.server.stopped.wait(0.02):
                self.wfile.write(b" ")
        except OSError:
            self.close_connection = True
        if response.drip:
            self.close_connection = True


@contextmanager
def embedding_server(dimension: int = 16) -> Iterator[EmbeddingServer]:
    """A running server on a free port of the loopback interface."""
    with EmbeddingServer(dimension) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.005,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.stopped.set()
            server.shutdown()
            thread.join(10)


def status(code: int, message: str = "no", **headers: str) -> Misbehave:
    """Answer with an error."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = json.dumps({"error": {"message": message}}).encode()
    return lambda request, items: Response(code, body, named)


def says(body: bytes) -> Misbehave:
    """Answer with 200 and this body."""
    return lambda request, items: Response(200, body)


def backwards(request: Request, items: list[Any]) -> None:
    """Answer in the opposite order; the index says which is which."""
    items.reverse()


def without_index(request: Request, items: list[Any]) -> None:
    """Leave the index out."""
    for item in items:
        del item["index"]


def as_base64(request: Request, items: list[Any]) -> None:
    """Pack the vectors."""
    for item in items:
        packed = struct.pack(f"<{len(item['embedding'])}f", *item["embedding"])
        item["embedding"] = base64.b64encode(packed).decode()


def shorter(request: Request, items: list[Any]) -> None:
    """Another model with shorter vectors."""
    for item in items:
        item["embedding"] = item["embedding"][:5]


def drip(request: Request, items: list[Any]) -> Response:
    """Never finish."""
    time.sleep(0.01)
    return Response(200, b"{", drip=True)
