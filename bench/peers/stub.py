"""A loopback endpoint in the form of OpenAI's: embeddings, and a model that answers at once.

Each memory has a base URL of its own (``/NAME/v1``), under which its calls are counted. While
``failing`` is set, the calls it names are answered with status 500.
"""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from bench.peers.answers import Answers, text_of
from cognigraph.embed import Embedder

CHARACTERS_PER_TOKEN = 4
"""A rough count: a prompt may have 40,000 characters, and an exact one would take too long."""


class Stub(ThreadingHTTPServer):
    """The endpoint."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, answers: Answers, embedder: Embedder) -> None:
        self.answers, self.embedder = answers, embedder
        self.failing: set[str] = set()
        self.calls: dict[str, int] = {}
        """Calls of the model, by memory."""
        self.lock = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that were killed."""

    def url(self, memory: str) -> str:
        """Return the base URL for a memory, and count anew."""
        self.calls[memory] = 0
        return f"http://127.0.0.1:{self.server_address[1]}/{memory}/v1"

    def embed(self, memory: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a request for embeddings."""
        given = body["input"]
        texts = [given] if isinstance(given, str) else list(given)
        with self.lock:
            vectors = np.asarray(self.embedder.embed(texts), dtype=np.float32)
        packed = body.get("encoding_format") == "base64"
        return {
            "object": "list",
            "model": body.get("model", ""),
            "data": [
                {
                    "object": "embedding",
                    "index": index,
                    "embedding": base64.b64encode(vector.tobytes()).decode()
                    if packed
                    else vector.tolist(),
                }
                for index, vector in enumerate(vectors)
            ],
            "usage": {"prompt_tokens": 0, "total_tokens": 0},
        }

    def complete(self, memory: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Answer a request for a chat completion."""
        answer = self.answers.answer(body)
        text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        asked = sum(len(text_of(each)) for each in body["messages"]) // CHARACTERS_PER_TOKEN
        told = len(text) // CHARACTERS_PER_TOKEN
        with self.lock:
            self.calls[memory] += 1
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if body.get("tools"):
            function = {"name": body["tools"][0]["function"]["name"], "arguments": text}
            call = {"id": "call_1", "type": "function", "function": function}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return {
            "id": "1", "object": "chat.completion", "created": 1, "model": body["model"],
            "choices": [choice],
            "usage": {
                "prompt_tokens": asked, "completion_tokens": told, "total_tokens": asked + told,
            },
        }  # fmt: skip


class _Handler(BaseHTTPRequestHandler):
    server: Stub
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._send(200, {"object": "list", "data": []})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        _, memory, _, *rest = self.path.split("/")
        what = "/".join(rest)
        make = {"embeddings": self.server.embed, "chat/completions": self.server.complete}.get(what)
        if make is None:
            self._send(404, {"error": {"message": f"{what} is not served here"}})
        elif what in self.server.failing:
            self._send(500, {"error": {"message": "the endpoint is out of order"}})
        else:
            self._send(200, make(memory, body))

    def _send(self, status: int, answer: Any) -> None:
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if status == 500:
            self.send_header("retry-after-ms", "20")  # else clients wait for seconds
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def running(answers: Answers, embedder: Embedder) -> Iterator[Stub]:
    """Serve on a free port of the loopback interface."""
    with Stub(answers, embedder) as stub:
        thread = threading.Thread(target=stub.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield stub
        finally:
            stub.shutdown()
            thread.join(10)
