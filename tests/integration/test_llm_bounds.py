"""Model endpoints that send too much, for too long, or send the client elsewhere."""

from __future__ import annotations

import gzip
import json
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest

pytest.importorskip("openai")

from pydantic import BaseModel

from cognigraph import (
    ModelAnswerError,
    ModelRefusedError,
    ModelUnavailableError,
)
from cognigraph.llm import ChatModel, Prompt
from tests.servers.model_server import (
    Behaviour,
    ModelServer,
    completion,
    drip,
    endless,
    good,
    many_headers,
    raw,
    redirect,
)

KEY = "sk-secret-0123456789"
PROMPT = Prompt("extract", "1", "You read.", "Ann moved to Oslo.")
MEGABYTE = 1_000_000


class Facts(BaseModel):
    facts: list[str]


ONE = {"facts": ["Ann moved"]}


@contextmanager
def connected(*behaviours: Behaviour, **options) -> Iterator[tuple[ModelServer, ChatModel]]:
    defaults = {"attempts": 1, "dialects": {}, "api_key": KEY}
    with (
        ModelServer(*behaviours) as server,
        ChatModel("test", base_url=server.url, **(defaults | options)) as model,
    ):
        yield server, model


@contextmanager
def measured(most: int) -> Iterator[None]:
    """Check that Python allocates less than ``most`` bytes in the block."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < most, f"{peak / MEGABYTE:.0f} MB"


BLOCK = b" " * 65_536


@pytest.mark.slow
@pytest.mark.parametrize(
    "behaviour",
    [
        endless(BLOCK),
        endless(BLOCK, code=500),
        endless(BLOCK, code=400),
        endless(BLOCK, code=307, headers={"Location": "/v1/other"}),
        endless(b"data: {}\n\n" * 5000, content_type="text/event-stream"),
        endless(BLOCK, content_type="text/plain; charset=punycode"),
    ],
    ids=["200", "500", "400", "307", "events", "charset"],
)
def test_an_endless_body_is_left_at_its_limit(behaviour):
    with connected(behaviour) as (server, model), measured(40 * MEGABYTE):
        started = time.monotonic()
        with pytest.raises(ModelUnavailableError, match="larger than 4,000,000 bytes") as caught:
            model.ask(PROMPT, Facts)
        assert time.monotonic() - started < 30
    assert server.calls == 1
    assert caught.value.is_retryable
    assert caught.value.usage.input_tokens > 0  # it was probably read


@pytest.mark.slow
@pytest.mark.parametrize(
    ("encoding", "code"),
    [("gzip", 200), ("gzip", 500), ("deflate", 200), ("zstd", 200), ("gzip, gzip", 200)],
)
def test_compressed_replies_are_refused_unread(encoding, code):
    bomb = gzip.compress(bytes(10 * MEGABYTE))
    with (
        connected(raw(bomb, code=code, headers={"Content-Encoding": encoding})) as (server, model),
        measured(20 * MEGABYTE),
        pytest.raises(ModelUnavailableError, match="which was not requested"),
    ):
        model.ask(PROMPT, Facts)
    assert server.requests[0].headers["Accept-Encoding"] == "identity"


def test_an_answer_that_says_it_is_not_compressed_is_read():
    message = {"content": json.dumps(ONE)}
    body = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()
    with connected(raw(body, headers={"Content-Encoding": "identity"})) as (_, model):
        assert model.ask(PROMPT, Facts).value == Facts(**ONE)


@pytest.mark.slow
def test_a_drip_ends_with_the_whole_call():
    started = time.monotonic()
    with (
        connected(drip(), timeout=timedelta(seconds=0.5)) as (_, model),
        pytest.raises(ModelUnavailableError, match=r"no complete answer within 0.5 seconds"),
    ):
        model.ask(PROMPT, Facts)
    assert time.monotonic() - started < 15


def test_endless_headers_are_unusable():
    with (
        connected(many_headers()) as (_, model),
        measured(20 * MEGABYTE),
        pytest.raises(ModelUnavailableError, match="RemoteProtocolError"),
    ):
        model.ask(PROMPT, Facts)


@pytest.mark.slow
@pytest.mark.parametrize(
    "content",
    [
        "{" * 3_900_000,
        "[" * 3_900_000,
        '{"facts":' * 350_000,
        '{"facts": [' + "{}," * 600_000 + "{}]}",
        '{"facts": [' + "[],1," * 350_000 + "1]}",
        '{"x": [' * 120 + '"Ann"' + "]}" * 120,
    ],
    ids=["braces", "brackets", "keys", "objects", "values", "depth"],
)
def test_an_answer_made_to_be_slow_or_deep_is_refused_at_once(content):
    with connected(completion(content)) as (_, model), measured(300 * MEGABYTE):
        started = time.process_time()
        with pytest.raises(ModelAnswerError, match="no usable answer"):
            model.ask(PROMPT, Facts)
        assert time.process_time() - started < 20


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "code"),
    [
        *((body, code) for body in ("{" * 3_900_000, "<script" * 500_000) for code in (200, 400)),
        ("[" * 3_900_000, 500),
    ],
)
def test_bodies_made_to_be_slow_or_deep_are_no_answer(body, code):
    with connected(raw(body, code=code)) as (_, model), measured(100 * MEGABYTE):
        started = time.process_time()
        with pytest.raises((ModelUnavailableError, ModelRefusedError), match=f"HTTP {code}"):
            model.ask(PROMPT, Facts)
        assert time.process_time() - started < 20


@pytest.mark.slow
def test_a_text_of_twenty_million_braces_is_not_even_parsed():
    with connected(completion("{" * 20 * MEGABYTE)) as (_, model):
        started = time.process_time()
        with pytest.raises(ModelUnavailableError, match="larger than"):
            model.ask(PROMPT, Facts)
        assert time.process_time() - started < 10


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_no_redirect_leads_to_another_server(code):
    with ModelServer(good({"facts": ["Eve was here"]})) as elsewhere:
        with connected(redirect(f"{elsewhere.url}/chat/completions", code), attempts=4) as (
            server,
            model,
        ):
            with pytest.raises(ModelRefusedError, match="redirects to another server") as caught:
                model.ask(PROMPT, Facts)
            assert server.calls == 1
            assert elsewhere.url.removesuffix("/v1") in str(caught.value)
            assert "set it as the base URL" in str(caught.value)
        assert elsewhere.calls == 0


@pytest.mark.parametrize("where", ["https://127.0.0.1:{port}/v1", "http://localhost:{port}/v1"])
def test_another_scheme_or_name_is_another_server(where):
    with connected(good(ONE)) as (server, model):
        port = server.url.split(":")[2].split("/")[0]
        server.then(redirect(where.format(port=port)), good(ONE))
        with pytest.raises(ModelRefusedError, match="redirects to another server"):
            model.ask(PROMPT, Facts)
        assert server.calls == 1


@pytest.mark.parametrize("code", [307, 308])
def test_a_redirect_within_the_server_is_followed(code):
    with connected(redirect("/moved/chat/completions", code), good(ONE)) as (server, model):
        assert model.ask(PROMPT, Facts).value == Facts(**ONE)
        assert [request.path for request in server.requests] == [
            "/v1/chat/completions",
            "/moved/chat/completions",
        ]
        assert server.requests[1].headers["Authorization"] == f"Bearer {KEY}"
        assert server.requests[1].messages == server.requests[0].messages


def test_a_circle_of_redirects_ends():
    with connected(redirect("/v1/chat/completions")) as (server, model):
        with pytest.raises(ModelUnavailableError, match="TooManyRedirects"):
            model.ask(PROMPT, Facts)
        assert server.calls == 4
