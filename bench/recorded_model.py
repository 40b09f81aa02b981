"""A loopback model that answers the prompts of ``ModelExtractor`` from recordings.

It allows the calls and tokens of extraction by a model to be measured without one: prompts, client,
parser and graph are real, and tokens are estimated as for the budgets of prompts.
"""

from __future__ import annotations

import json
import re
from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import takewhile
from pathlib import Path
from threading import Thread
from typing import Any

from bench.recorded import RecordedExtractor, RecordedSession
from cognigraph.ingest.model.transcript import one_line
from cognigraph.text.marks import estimate_tokens

_LINE = re.compile(r"(?:\[(?P<number>\d+)\] )?(?:\d\d:\d\d )?(?P<said>.*)")
_TIME_WORDS = "at the time"  # the recordings contain dates, not the words for them
_NO_SUMMARY = "keys and themes are empty lists."
Place = tuple[str, str]
"""A conversation and its session."""


def _section(prompt: str, tag: str) -> list[str]:
    _, _, rest = prompt.partition(f"<{tag}>\n")
    return rest.partition(f"\n</{tag}>")[0].split("\n")


class RecordedModel:
    """Recognises the session in a prompt by its words, and answers with what was recorded of it."""

    def __init__(self) -> None:
        self._sessions: dict[Place, RecordedSession] = {}
        self._said: dict[str, list[tuple[Place, str]]] = defaultdict(list)

    @classmethod
    def of(cls, data: Path) -> RecordedModel:
        """Return a model that knows every conversation of the data folder."""
        from bench.said import talks

        model = cls()
        for talk in talks(data):
            extractor = talk.extractor("recorded")
            assert isinstance(extractor, RecordedExtractor)
            model.learn(talk.name, talk.messages, extractor.sessions)
        return model

    def learn(
        self,
        name: str,
        messages: Iterable[Mapping[str, Any]],
        sessions: Mapping[str, RecordedSession],
    ) -> None:
        """Add a conversation: its messages, and what was recorded of each session."""
        for id, session in sessions.items():
            self._sessions[name, id] = session
        for message in messages:
            line = f"{message['speaker']}: {one_line(message['text'])}"
            self._said[line].append(((name, message["session"]), message["id"]))

    def answer(self, system: str, user: str) -> dict[str, Any]:
        """Return the answer to a prompt."""
        lines = [
            match
            for line in _section(user, "turns")
            if not line.startswith("# ") and (match := _LINE.fullmatch(line))
        ]
        votes = Counter(index for line in lines for index, _ in self._said[line["said"]])
        if not votes:
            return {"entities": [], "facts": [], "keys": [], "themes": []}
        index = votes.most_common(1)[0][0]
        session = self._sessions.get(index)
        if session is None:
            return {"entities": [], "facts": [], "keys": [], "themes": []}
        summary: dict[str, Any] = {
            "keys": list(session.keys),
            "themes": [{"title": t.title, "summary": t.summary} for t in session.themes],
        }
        if "summary of a conversation" in system:
            return summary
        if user.endswith(_NO_SUMMARY):
            summary = {"keys": [], "themes": []}
        numbers: dict[str, int] = {}
        for line in lines:
            for where, id in self._said[line["said"]]:
                if where == index and line["number"] and id not in numbers:
                    numbers[id] = int(line["number"])
                    break
        return _read(session, numbers) | summary


def _read(session: RecordedSession, numbers: dict[str, int]) -> dict[str, Any]:
    entities: dict[str, str] = {}
    facts = []
    for fact in session.facts:
        cited = sorted({numbers[turn] for turn in fact.turns if turn in numbers})
        if not cited:
            continue
        entities.setdefault(fact.subject, fact.subject_type)
        entities.setdefault(fact.object, fact.object_type)
        relation = f"not {fact.relation}" if fact.negated else fact.relation
        turns = ",".join(map(str, cited))
        when = [f"{_TIME_WORDS} = {fact.when}"] if fact.when else []
        facts.append(_line(turns, fact.subject, relation, fact.object, *when))
    return {"entities": [_line(*entity) for entity in entities.items()], "facts": facts}


def _line(*parts: str) -> str:
    return " | ".join(part.replace("|", "/") for part in parts)


class PrefixCache:
    """What an endpoint has in its cache: the beginnings of all prompts so far.

    ``least`` is how many tokens a beginning must have to be kept. Whole blocks of 16 tokens count,
    as in vLLM.
    """

    def __init__(self, least: int = 0) -> None:
        self._least = least
        self._prompts: list[str] = []

    def tokens(self, prompt: str) -> int:
        """Return how many tokens of a prompt are there already, and keep the prompt."""
        at = bisect(self._prompts, prompt)  # the most alike are next to it
        neighbours = self._prompts[max(0, at - 1) : at + 1]
        self._prompts.insert(at, prompt)
        shared = max((_shared(prompt, other) for other in neighbours), default=0)
        tokens = estimate_tokens(prompt[:shared])
        return tokens // 16 * 16 if tokens >= self._least else 0


def _shared(left: str, right: str) -> int:
    return sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False))
    )


class Server:
    """An HTTP server for the model, to be used as a context manager."""

    def __init__(self, model: RecordedModel, cache: PrefixCache | None = None) -> None:
        self.calls = 0
        cache = cache or PrefixCache()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                system, user = (message["content"] for message in body["messages"][:2])
                outer.calls += 1
                cached = cache.tokens(f"{system}\n{user}")
                data = json.dumps(_completion(model, system, user, cached)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self.thread = Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Server:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _completion(model: RecordedModel, system: str, user: str, cached: int) -> dict[str, Any]:
    answer = model.answer(system, user)
    text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))  # as under a schema
    return {
        "id": "1", "object": "chat.completion", "created": 1, "model": "recorded",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        ],
        "usage": {
            "prompt_tokens": estimate_tokens(system) + estimate_tokens(user),
            "completion_tokens": estimate_tokens(text),
            "prompt_tokens_details": {"cached_tokens": cached},
        },
    }  # fmt: skip
