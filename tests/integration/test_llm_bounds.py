"""Model endpoints that send too much, for too long, or send the client elsewhere."""

from __future__ import annotations

import gzip
import json
import time
import tracemalloc
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cache

import pytest

pytest.importorskip("openai")

from pydantic import BaseModel

from cognigraph import (
    ConfigurationError,
    ModelAnswerError,
    ModelRefusedError,
    ModelUnavailableError,
)
from cognigraph.llm import ChatModel, Prompt
from cognigraph.llm.modes import Dialects
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
    defaults = {"attempts": 1, "dialects": Dialects(), "api_key": KEY}
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


@cache
def zeros(count: int, wbits: int) -> bytes:
    """Compress zeros without keeping them in memory."""
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits)
    piece = bytes(10 * MEGABYTE)
    return b"".join(packer.compress(piece) for _ in range(count // len(piece))) + packer.flush()


BLOCK = b" " * 65_536
GZIP, ZLIB, RAW = 31, 15, -15
EMPTY_BLOCK = b"\0\0\0\xff\xff"  # of deflate: packed data that unpacks to nothing


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
        endless(EMPTY_BLOCK * 10_000, headers={"Content-Encoding": "deflate"}),
    ],
    ids=["200", "500", "400", "307", "events", "charset", "nothing"],
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
    ("encoding", "wbits"), [("gzip", GZIP), ("x-gzip", GZIP), ("deflate", ZLIB), ("deflate", RAW)]
)
@pytest.mark.parametrize("code", [200, 500])
def test_a_compression_bomb_is_never_unpacked(encoding, wbits, code):
    bomb = zeros(200 * MEGABYTE, wbits)
    answer = raw(bomb, code=code, headers={"Content-Encoding": encoding})
    with (
        connected(answer) as (_, model),
        measured(40 * MEGABYTE),
        pytest.raises(ModelUnavailableError, match="larger than 4,000,000 bytes"),
    ):
        model.ask(PROMPT, Facts)


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "gzip,deflate", "compress"])
def test_encodings_that_were_not_asked_for_are_refused_unread(encoding):
    bomb = gzip.compress(gzip.compress(bytes(MEGABYTE), mtime=0))
    with (
        connected(raw(bomb, headers={"Content-Encoding": encoding})) as (server, model),
        pytest.raises(ModelUnavailableError, match="which was not requested"),
    ):
        model.ask(PROMPT, Facts)
    assert server.requests[0].headers["Accept-Encoding"] == "gzip, deflate"


@pytest.mark.parametrize(
    ("encoding", "wbits"), [("gzip", GZIP), ("deflate", ZLIB), ("deflate", RAW), ("identity", None)]
)
def test_compressed_answers_are_read(encoding, wbits):
    message = {"content": json.dumps(ONE)}
    body = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()
    if wbits is not None:
        packer = zlib.compressobj(wbits=wbits)
        body = packer.compress(body) + packer.flush()
    with connected(raw(body, headers={"Content-Encoding": encoding})) as (_, model):
        assert model.ask(PROMPT, Facts).value == Facts(**ONE)


@pytest.mark.parametrize(
    "body", [b"no gzip", gzip.compress(b"{}" * 100, mtime=0)[:-9]], ids=["not gzip", "cut off"]
)
def test_broken_compressed_answers_are_unusable(body):
    with (
        connected(raw(body, headers={"Content-Encoding": "gzip"})) as (_, model),
        pytest.raises(ModelUnavailableError, match=r"cannot be decompressed|is truncated"),
    ):
        model.ask(PROMPT, Facts)


def test_the_limit_is_a_setting(monkeypatch):
    long = {"facts": ["x" * 10_000]}
    with (
        connected(good(long), max_reply_bytes=10_000) as (_, model),
        pytest.raises(ModelUnavailableError, match="larger than 10,000 bytes"),
    ):
        model.ask(PROMPT, Facts)
    with connected(good(long), max_reply_bytes=11_000) as (server, model):
        assert model.ask(PROMPT, Facts).value == Facts(**long)
        environ = {"COGNIGRAPH_MODEL": "m", "OPENAI_BASE_URL": server.url}
        environ["COGNIGRAPH_MODEL_MAX_REPLY_BYTES"] = "10000"
        with (
            ChatModel.from_environment(environ, attempts=1) as small,
            pytest.raises(ModelUnavailableError, match="larger than 10,000 bytes"),
        ):
            small.ask(PROMPT, Facts)
        with ChatModel.from_environment(environ, max_reply_bytes=11_000) as large:
            assert large.ask(PROMPT, Facts).value == Facts(**long)
    for wrong in ("many", "-1", "1.5", "9" * 30):
        environ["COGNIGRAPH_MODEL_MAX_REPLY_BYTES"] = wrong
        with pytest.raises(ConfigurationError, match="must be a number of bytes"):
            ChatModel.from_environment(environ)
    with pytest.raises(ConfigurationError, match="max_reply_bytes must be positive"):
        ChatModel("m", base_url=server.url, max_reply_bytes=0)


def test_a_drip_of_a_packed_body_ends_with_the_whole_call():
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
        '{"facts": [' + "{}," * 1_200_000 + "{}]}",
        '{"facts": [' + "[],1," * 700_000 + "1]}",
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
@pytest.mark.parametrize("code", [200, 400, 500])
@pytest.mark.parametrize("body", ["{" * 3_900_000, "[" * 3_900_000, "<script" * 500_000])
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
