"""Requests that no honest client sends: each is answered, and none harms those that follow."""

from __future__ import annotations

import json

import pytest

from cognigraph.server.gate import ServerLimits

JSON = {"Content-Type": "application/json"}
HALF = "\ud83d"
"""One half of a surrogate pair, as programs send that cut a text in the middle of an emoji."""


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


@pytest.mark.parametrize("headers", [{"Host": "["}, {"Origin": "http://["}])
def test_a_host_or_an_origin_that_is_no_address_is_refused(client, headers):
    assert client.get("/v1/spaces", headers=headers).status_code == 403


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
        ("POST", "/v1/spaces/ann/triples/x%2Frestore/import"),
        ("POST", "/v1/spaces/import"),
    ],
)
def test_only_bodies_that_go_to_a_file_may_have_the_size_of_one(serve, method, path):
    client = serve(limits=ServerLimits(body=1000, upload=10**6))
    answer = client.request(method, path, content=b" " * 1001, headers=JSON)
    assert answer.status_code == 413
