"""What answers have, how large they are, and which pages of others may read them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cognigraph.errors import ConfigurationError
from cognigraph.server.app import ServerSettings
from tests.cases import each

SPACE = "/v1/spaces/ann"
SAID = [
    {"id": f"m{n}", "speaker": ("Ann", "Ben")[n % 2], "at": f"2026-05-{n % 28 + 1:02}T09:00:00Z",
     "text": f"I moved to flat {n} in Oslo, and my sister Klara lives in Bergen with dog {n}."}
    for n in range(60)
]  # fmt: skip
ASKED = {"question": "Where does Klara live?", "now": "2026-11-01T09:00:00Z"}


@pytest.fixture
def filled(client: Any) -> Any:
    assert client.post(f"{SPACE}/messages/batch", json={"messages": SAID}).status_code == 201
    assert client.post(f"{SPACE}/queue/enrich", json={}).status_code == 200
    return client


@pytest.mark.slow
def test_an_answer_is_small_unless_it_is_to_explain_itself(filled: Any) -> None:
    block = filled.post(f"{SPACE}/context", json={**ASKED, "max_tokens": 1300})
    assert set(block.json()) == {"text", "tokens", "confidence", "citations", "notes"}
    text = block.json()["text"]
    assert "Klara" in text and len(block.content) < 3 * len(text) < 20_000
    whole = filled.post(f"{SPACE}/context?explain=true", json={**ASKED, "max_tokens": 1300})
    assert whole.json()["text"] == text and whole.json()["hits"][0]["why"]["score"] > 0
    assert len(whole.content) > 5 * len(block.content)
    found = filled.post(f"{SPACE}/search", json=ASKED).json()
    assert not {"trace", "others"} & set(found) and found["notes"] == []
    assert found["confidence"] is not None and found["triples"]
    assert all(not {"why", "triples"} & set(hit) and hit["text"] for hit in found["hits"])
    in_body = filled.post(f"{SPACE}/search", json={**ASKED, "explain": True}).json()
    in_query = filled.post(f"{SPACE}/search?explain=true", json=ASKED).json()
    assert in_body["others"] and not in_query["others"]
    assert in_body["trace"]["ranking"] == in_query["trace"]["ranking"] == "default"
    assert [hit["id"] for hit in in_query["hits"]] == [hit["id"] for hit in found["hits"]]
    several = filled.post("/v1/search", json={**ASKED, "spaces": ["ann"]}).json()
    assert "why" not in several["hits"][0]["hit"] and "results" not in several


@pytest.mark.slow
def test_an_answer_has_only_the_fields_that_are_named(filled: Any) -> None:
    asked = {**ASKED, "max_tokens": 1300}
    block = filled.post(f"{SPACE}/context", json=asked)
    lean = filled.post(f"{SPACE}/context?fields=text,confidence", json=asked)
    assert lean.json() == {name: block.json()[name] for name in ("text", "confidence")}
    size = len(lean.content)
    assert size < 1.1 * len(block.json()["text"].encode()) and size < 0.6 * len(block.content)
    cited = filled.post(f"{SPACE}/context?fields=citations.id,%20citations.label", json=asked)
    assert [set(item) for item in cited.json()["citations"]] == [{"id", "label"}] * len(
        block.json()["citations"]
    )
    found = filled.post(f"{SPACE}/search", json=ASKED).json()
    path = f"{SPACE}/search?fields=hits.id,hits.why.score,notes,confidence"
    picked = filled.post(path, json=ASKED).json()
    assert picked.keys() == {"hits", "notes", "confidence"} and picked["notes"] == []
    assert [hit["id"] for hit in picked["hits"]] == [hit["id"] for hit in found["hits"]]
    assert all(hit.keys() == {"id", "why"} and hit["why"].keys() == {"score"} for hit in
               picked["hits"])  # fmt: skip
    whole = filled.post(f"{SPACE}/search?fields=hits.id,hits", json=ASKED).json()["hits"][0]
    assert {"id", "text", "why", "triples"} <= whole.keys()
    several = filled.post("/v1/search?fields=hits.hit.id,hits.space", json=ASKED).json()
    assert several["hits"][0] == {"hit": {"id": found["hits"][0]["id"]}, "space": "ann"}

    page = filled.get(f"{SPACE}/messages?fields=id,text&limit=2").json()
    assert page["items"] == [
        {"id": said["id"], "text": said["text"]} for said in (SAID[0], SAID[28])
    ]
    after = filled.get(f"{SPACE}/messages?fields=id&limit=1&cursor={page['next']}").json()
    assert after["items"] == [{"id": "m56"}]
    facts = filled.get(f"{SPACE}/facts?fields=subject,object").json()["items"]
    assert facts and all(fact.keys() == {"subject", "object"} for fact in facts)
    assert filled.get(f"{SPACE}/messages/m1?fields=text").json() == {"text": SAID[1]["text"]}
    assert filled.get(f"{SPACE}/stats?fields=messages").json() == {"messages": 60}


@pytest.mark.slow
@each(
    ("path", "fields", "said"),
    [
        ("messages", "id,txt", "there is no field 'txt'; there are id, session"),
        ("messages", "id.x", "'id' has no fields inside"),
        ("facts", "sources.x", "there is no field 'sources.x'; there are"),
        ("facts", ",", "fields names no field; leave it out for all"),
    ],
)
def test_a_field_that_is_not_there_is_refused(
    client: Any, path: str, fields: str, said: str
) -> None:
    answer = client.get(f"{SPACE}/{path}", params={"fields": fields})
    assert (answer.status_code, answer.json()["detail"][: len(said)]) == (400, said)


def test_a_misspelt_parameter_is_refused(client: Any) -> None:
    client.post(f"{SPACE}/messages/batch", json={"messages": SAID[:2]})
    assert len(client.get(f"{SPACE}/messages?limit=1").json()["items"]) == 1
    refused = client.get(f"{SPACE}/messages?limt=1")
    assert refused.status_code == 422
    (error,) = refused.json()["errors"]
    assert error["field"] == "limt"
    assert "limit" in error["problem"]
    refused = client.post(f"{SPACE}/flush?a=1&b=2", json={})
    said = "a, b: no such parameter; this operation has timeout, existing"
    assert refused.json()["detail"] == said


@pytest.mark.slow
def test_what_was_made_is_said_by_the_status(client: Any) -> None:
    batch = {"messages": SAID[:2]}
    assert client.post(f"{SPACE}/messages/batch", json=batch).status_code == 201
    assert client.post(f"{SPACE}/messages/batch", json=batch).status_code == 200
    fact = {"subject": "Ann", "relation": "lives in", "object": "Oslo"}
    assert client.post(f"{SPACE}/facts", json=fact).status_code == 201
    assert client.post(f"{SPACE}/facts", json=fact).status_code == 200
    assert client.post(f"{SPACE}/copy", json={"to": "ben"}).status_code == 201
    mixed = {"messages": [{"text": " "}, SAID[3], SAID[0]]}
    refused = client.post(f"{SPACE}/messages/batch", json=mixed)
    assert (refused.status_code, refused.json()["index"]) == (422, 0)
    assert refused.json()["title"] == "A value of the request cannot be used"
    assert 'send "skip_invalid": true' in refused.json()["detail"]
    kept = client.post(f"{SPACE}/messages/batch", json={**mixed, "skip_invalid": True})
    assert (kept.status_code, kept.json()["new"]) == (201, ["m3"])
    assert [item["index"] for item in kept.json()["rejected"]] == [0]


@pytest.mark.slow
def test_a_misspelled_space_is_not_found_if_it_has_to_be_there(client: Any) -> None:
    client.post(f"{SPACE}/messages", json=SAID[0])
    assert client.post(f"{SPACE}/search?existing=true", json=ASKED).status_code == 200
    missing = client.post("/v1/spaces/anne/search?existing=true", json=ASKED)
    assert (missing.status_code, missing.json()["title"]) == (404, "No such space")
    missing = client.post("/v1/spaces/anne/messages?existing=true", json=SAID[0])
    assert missing.status_code == 404 and client.get("/v1/spaces").json() == {"items": ["ann"]}
    assert client.post("/v1/spaces/anne/search", json=ASKED).json()["hits"] == []


@pytest.mark.slow
def test_problems_say_what_a_client_can_do(client: Any) -> None:
    naive = client.post(f"{SPACE}/messages", json={**SAID[0], "at": "2026-05-20T09:00:00"})
    assert "start the server with --timezone 'Europe/Oslo'" in naive.json()["detail"]
    missing = client.patch(f"{SPACE}/messages/none", json={"text": "x"})
    assert (missing.status_code, missing.json()["title"]) == (404, "Not found")
    for answer in (naive, missing):
        assert not any(word in answer.json()["detail"] for word in ("()", "=True", "Memory("))


@pytest.mark.slow
def test_pages_of_named_origins_may_use_the_api(serve: Any) -> None:
    client = serve(origins=["https://app.example"])
    named, other = {"Origin": "https://app.example"}, {"Origin": "https://evil.example"}
    asks = {"Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "content-type,authorization"}  # fmt: skip
    allowed = client.options(f"{SPACE}/search", headers={**named, **asks})
    assert allowed.status_code == 200
    assert allowed.headers["access-control-allow-origin"] == "https://app.example"
    answer = client.post(f"{SPACE}/messages", json=SAID[0], headers=named)
    assert answer.status_code == 201
    assert answer.headers["access-control-allow-origin"] == "https://app.example"
    assert "Location" in answer.headers["access-control-expose-headers"]
    refused = client.post(f"{SPACE}/messages", json=SAID[0], headers=other)
    assert refused.status_code == 403 and "--allow-origin" in refused.json()["detail"]
    assert (
        "access-control-allow-origin"
        not in client.options(f"{SPACE}/search", headers={**other, **asks}).headers
    )
    assert "access-control-allow-origin" not in refused.headers
    for wrong in ("*", "app.example", "https://app.example/", "https://*.example"):
        with pytest.raises(ConfigurationError, match="no origin of web pages"):
            ServerSettings(origins=[wrong])


def test_without_named_origins_no_other_page_may(client: Any) -> None:
    answer = client.get("/v1/spaces", headers={"Origin": "https://app.example"})
    assert answer.status_code == 403 and json.loads(answer.content)["status"] == 403
