"""Requests that no honest client sends: each is answered, and none harms those that follow."""

from __future__ import annotations

import asyncio
import io
import json
import socket
import zipfile

import pytest
from starlette.datastructures import Headers
from starlette.types import Message

from cognigraph.errors import StoreError
from cognigraph.listening import _listening
from cognigraph.operations.adding import MAX_DEPTH
from cognigraph.server.gate import ServerLimits, _Body
from cognigraph.server.problems import Problem, of_error

JSON = {"Content-Type": "application/json"}
HALF = "\ud83d"
"""One half of a surrogate pair, as programs send that cut a text in the middle of an emoji."""


@pytest.mark.slow
def test_text_that_is_not_unicode_neither_fails_nor_hides_what_else_is_stored(client):
    space = "/v1/spaces/ann"
    body = {"text": "Cut", "id": "m1", "raw": {HALF: [HALF]}, "metadata": {"a": HALF}}
    sent = client.post(f"{space}/messages", content=json.dumps(body), headers=JSON)
    assert sent.status_code == 201
    found = client.get(f"{space}/messages").json()["items"][0]
    assert found["raw"] == {HALF: [HALF]}
    assert found["metadata"] == {"a": "\ufffd"}
    question = {
        "question": "Cut",
        "without": [HALF],
        "where": {"metadata": {"a": HALF}, "tags": [], "session": ["default", HALF]},
    }
    answer = client.post(f"{space}/search", content=json.dumps(question), headers=JSON)
    assert [hit["id"] for hit in answer.json()["hits"]] == ["m1"]
    body = {"text": "x", "metadata": {HALF: 10**400}}
    refused = client.post(f"{space}/messages", content=json.dumps(body), headers=JSON)
    assert refused.status_code == 422
    assert refused.json()["detail"].startswith(f"message 0: metadata.{HALF} must have at most")


@pytest.mark.slow
def test_what_is_nested_too_deeply_is_refused_and_what_is_stored_can_be_read(client):
    space = "/v1/spaces/ann"

    def nested(levels: int) -> str:
        return "[" * levels + "]" * levels

    for name in ("raw", "other"):
        body = '{"text": "Hi.", "id": "%s", "%s": %s}'
        for levels, status in ((MAX_DEPTH - 1, 201), (MAX_DEPTH + 1, 422), (5000, 400)):
            sent = client.post(
                f"{space}/messages",
                content=body % (f"{name}-{levels}", name, nested(levels)),
                headers=JSON,
            )
            assert sent.status_code == status, (name, levels)
    assert len(client.get(f"{space}/messages").json()["items"]) == 2
    refused = client.get(f"{space}/messages", params={"metadata": nested(5000)})
    assert refused.status_code == 400
    assert refused.json()["detail"].startswith("metadata must be a JSON object")


@pytest.mark.parametrize("headers", [{"Host": "["}, {"Origin": "http://["}])
def test_a_host_or_an_origin_that_is_no_address_is_refused(client, headers):
    assert client.get("/v1/spaces", headers=headers).status_code == 403


@pytest.mark.slow
@pytest.mark.parametrize(
    "where",
    [{"tags": [f"t{n}" for n in range(101)]}, {"metadata": {f"f{n}": 1 for n in range(101)}}],
)
def test_a_filter_has_no_more_conditions_than_a_store_can_check(client, where):
    answer = client.post("/v1/spaces/ann/search", json={"question": "x", "where": where})
    assert answer.status_code == 400
    assert "has 101 items; the most is 100" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PATCH", "/v1/spaces/ann/messages/import"),
        ("PATCH", "/v1/spaces/ann/messages/restore"),
        ("POST", "/v1/spaces/ann%2Ffiles/load"),
        ("POST", "/v1/spaces/ann/review/files/import-file"),
        ("POST", "/v1/spaces/files/load"),
    ],
)
def test_only_bodies_that_go_to_a_file_may_have_the_size_of_one(serve, method, path):
    client = serve(limits=ServerLimits(body=1000, upload=10**6))
    answer = client.request(method, path, content=b" " * 1001, headers=JSON)
    assert answer.status_code == 413


@pytest.mark.parametrize("bodies", [[], [b"a"] * 9])
def test_a_body_that_does_not_come_in_time_is_given_up(bodies):
    async def receive() -> Message:
        if bodies:
            return {"type": "http.request", "body": bodies.pop(), "more_body": True}
        await asyncio.Event().wait()
        raise AssertionError

    async def read() -> None:
        body = _Body(receive, Headers(), 1000, ServerLimits(patience=0.05))
        while True:
            await body()

    with pytest.raises(Problem) as refused:
        asyncio.run(read())
    assert refused.value.status == 408


def test_waiting_for_a_client_to_leave_takes_any_time():
    left = asyncio.Event()

    async def receive() -> Message:
        if not left.is_set():
            left.set()
            return {"type": "http.request", "body": b"", "more_body": False}
        await asyncio.sleep(0.1)
        return {"type": "http.disconnect"}

    async def read() -> list[str]:
        body = _Body(receive, Headers(), 1000, ServerLimits(patience=0.02))
        return [(await body())["type"], (await body())["type"]]

    assert asyncio.run(read()) == ["http.request", "http.disconnect"]


@pytest.mark.slow
def test_what_needs_no_key_has_a_rate_too(serve):
    client = serve(limits=ServerLimits(rate=1))
    assert 429 in {client.get("/ready").status_code for _ in range(30)}


@pytest.mark.slow
def test_an_archive_that_unpacks_to_more_than_an_upload_is_refused(serve):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", b" " * 100_000)
    client = serve(limits=ServerLimits(upload=10_000))
    answer = client.post("/v1/spaces/ann/files/import-file?name=x.zip", content=packed.getvalue())
    assert (answer.status_code, answer.json()["title"]) == (413, "The archive is too large")


@pytest.mark.slow
def test_a_busy_server_still_says_that_it_is_alive(serve):
    client = serve(limits=ServerLimits(requests=0))
    assert client.get("/v1/spaces").status_code == 503
    assert client.get("/health").status_code == 200


def test_connections_do_not_wait_for_acknowledgements():
    with (
        _listening("127.0.0.1", 0) as listener,
        socket.create_connection(listener.getsockname()) as client,
        listener.accept()[0] as accepted,
    ):
        assert client.getpeername() == listener.getsockname()
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


def test_an_unexpected_error_of_the_store_shows_nothing_of_the_machine():
    answer = of_error(StoreError("/home/ann/secret.db: disk I/O error"))
    assert answer.status_code == 500
    assert json.loads(bytes(answer.body))["detail"] == "the log of the server has the reason"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "headers", "problem"),
    [
        ('{"text": "hi"}', {}, "sent with the header 'Content-Type: application/json'"),
        ('["hi"]', JSON, "body: must be a JSON object"),
        ('{"text": "hi"', JSON, "body: is not JSON: Expecting ',' delimiter at character 13"),
    ],
)
def test_a_body_that_is_no_json_object_is_told_what_to_send(client, body, headers, problem):
    refused = client.post("/v1/spaces/ann/messages", content=body, headers=headers)
    assert refused.status_code == 422
    assert refused.json()["detail"].endswith(problem)
    assert [item["field"] for item in refused.json()["errors"]] == ["body"]
