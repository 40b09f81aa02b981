"""The operations of a space over HTTP, and how the server answers what it cannot do."""

from __future__ import annotations

import json

import pytest

from cognigraph import Memory
from cognigraph.server.bodies import (
    MOST_HITS,
    MOST_QUERIES,
    MOST_ROWS,
    MOST_SECONDS,
    MOST_SPACES,
    MOST_TOKENS,
)
from cognigraph.server.gate import ServerLimits
from tests.cases import each
from tests.conftest import START

SPACE = "/v1/spaces/ann"
OSLO = {
    "text": "I moved to Oslo in May.",
    "speaker": "Ann",
    "session": "s1",
    "id": "m1",
    "at": "2026-05-20T09:00:00Z",
}
BERGEN = {**OSLO, "text": "My sister Klara lives in Bergen.", "id": "m2", "session": "s2"}


@pytest.fixture
def filled(client):
    """A space with two messages, both enriched."""
    assert client.post(f"{SPACE}/messages/batch", json={"messages": [OSLO, BERGEN]}).json()[
        "new"
    ] == ["m1", "m2"]
    done = client.post(f"{SPACE}/queue/enrich", json={}).json()
    assert done == {"chunks": 2, "pending": 0, "failed": 0, "stopped": None}
    return client


def problem(response, status):
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    found = response.json()
    assert found["status"] == status and found["title"] and found["detail"]
    return found


@pytest.mark.slow
def test_a_message_is_stored_found_corrected_and_forgotten(filled):
    found = filled.post(f"{SPACE}/search", json={"question": "Where did Ann move to?"}).json()
    assert found["hits"][0]["id"] == "m1"
    block = filled.post(
        f"{SPACE}/context", json={"question": "When did I move to Oslo?", "max_tokens": 200}
    ).json()
    assert "I moved to Oslo in May." in block["text"] and block["tokens"] <= 200
    changed = filled.patch(f"{SPACE}/messages/m1", json={"text": "I moved to Hamar in May."})
    assert changed.json()["text"] == "I moved to Hamar in May."
    texts = filled.get(f"{SPACE}/messages/m1/versions").json()["items"]
    assert [text["text"] for text in texts] == [OSLO["text"], "I moved to Hamar in May."]
    counted = filled.post(f"{SPACE}/forget", json={"message": "m1", "dry_run": True}).json()
    assert (counted["messages"], counted["dry_run"]) == (1, True)
    assert filled.delete(f"{SPACE}/messages/m1").json()["messages"] == 1
    problem(filled.get(f"{SPACE}/messages/m1"), 404)
    problem(filled.delete(f"{SPACE}/messages/m1"), 404)
    assert filled.post(f"{SPACE}/messages", json=OSLO).json()["forgotten"] == ["m1"]


@pytest.mark.slow
def test_messages_are_listed_by_role_tag_and_metadata(client):
    marked = {**OSLO, "id": "m9", "tags": ["move"], "metadata": {"topic": "home"}, "role": "user"}
    client.post(f"{SPACE}/messages/batch", json={"messages": [BERGEN, marked]})

    def listed(**parameters):
        found = client.get(f"{SPACE}/messages", params=parameters)
        return [item["id"] for item in found.json()["items"]]

    assert sorted(listed()) == sorted([BERGEN["id"], "m9"])
    assert listed(roles="user") == listed(tags="move") == ["m9"]
    assert listed(metadata='{"topic": "home"}') == ["m9"]
    assert listed(metadata='{"topic": "work"}') == []
    assert "JSON" in problem(client.get(f"{SPACE}/messages?metadata=home"), 400)["detail"]


@pytest.mark.slow
def test_adding_again_by_id_changes_nothing_and_another_text_is_a_conflict(client):
    first = client.post(f"{SPACE}/messages", json=OSLO)
    assert first.status_code == 201
    there = client.get(first.headers["location"])
    assert there.json()["text"] == OSLO["text"]
    again = client.post(f"{SPACE}/messages", json=OSLO)
    assert (again.status_code, again.json()["new"]) == (200, [])
    conflict = problem(client.post(f"{SPACE}/messages", json={**OSLO, "text": "No."}), 409)
    assert conflict["ids"] == ["m1"]
    assert client.get(f"{SPACE}/stats").json()["messages"] == 1


@pytest.mark.slow
def test_the_etag_stands_for_the_text_and_refuses_a_lost_update(filled):
    tag = filled.get(f"{SPACE}/messages/m1").headers["etag"]
    same = filled.get(f"{SPACE}/messages/m1", headers={"If-None-Match": tag})
    assert (same.status_code, same.content) == (304, b"")
    text = {"text": "I moved to Hamar."}
    changed = filled.patch(f"{SPACE}/messages/m1", json=text, headers={"If-Match": tag})
    assert changed.status_code == 200 and changed.headers["etag"] != tag
    problem(filled.patch(f"{SPACE}/messages/m1", json=text, headers={"If-Match": tag}), 412)
    problem(filled.delete(f"{SPACE}/messages/m1", headers={"If-Match": tag}), 412)
    assert filled.get(f"{SPACE}/messages/m1", headers={"If-None-Match": tag}).status_code == 200


@pytest.mark.slow
def test_chat_messages_are_taken_as_they_are(client):
    call = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
    chat = {"role": "assistant", "content": None, "tool_calls": [call], "id": "t1", "channel": "x"}
    assert client.post(f"{SPACE}/messages", json=chat).status_code == 201
    stored = client.get(f"{SPACE}/messages/t1").json()
    assert stored["raw"]["tool_calls"] == [call]
    assert stored["metadata"] == {"channel": "x"}
    talk = [
        {"role": "user", "content": "Call me Ann.", "id": "x1"},
        {"role": "assistant", "content": "Hello Ann!", "id": "x2"},
    ]
    sent = client.post(f"{SPACE}/messages/batch", json={"messages": talk})
    assert sent.json()["ids"] == ["x1", "x2"]
    assert client.get(f"{SPACE}/messages/x2").json()["speaker"] == "assistant"


@pytest.mark.slow
@each("name", ["a/b", "100%", "%2F", "é ü", "?#&", "a%2e%2e%2fb", "*"])
def test_any_name_fits_into_a_path(client, name):
    space, id = f"/v1/spaces/{_quoted(name)}", _quoted(name)
    made = client.post(f"{space}/messages", json={**OSLO, "id": name, "session": name})
    assert client.get(made.headers["location"]).json()["id"] == name
    assert client.get(f"{space}/messages/{id}").json()["session"] == name
    assert client.get(f"{space}/overview/summaries?session={id}").status_code == 200
    assert name in client.get("/v1/spaces").json()["items"]


def _quoted(name):
    return "".join(f"%{byte:02X}" for byte in name.encode())


@pytest.mark.slow
@each(
    "text",
    ["a\r\nSet-Cookie: x=y", "<script>alert(1)</script>", "' OR 1=1 --", "`}) DETACH DELETE n //"],
)
def test_what_looks_like_code_is_kept_as_it_is(client, text):
    """In every field that is stored, and in every place that a name comes from."""
    sent = {"id": text, "session": text, "speaker": text, "text": text, "tags": [text]}
    sent["metadata"] = {"key": text, text: "value"}
    before = client.get(f"{SPACE}/stats").json()["messages"]
    made = client.post(f"{SPACE}/messages", json=sent)
    assert made.status_code == 201 and "set-cookie" not in made.headers
    stored = client.get(made.headers["location"]).json()
    assert {**stored, **sent} == stored
    where = {"where": {"session": text, "speaker": text, "tags": [text], "metadata": {"key": text}}}
    found = client.post(f"{SPACE}/search", json={"question": f"What is {text}?", **where})
    assert [hit["id"] for hit in found.json()["hits"]] == [text]
    assert client.get(f"{SPACE}/messages", params={"session": text}).json()["items"] == [stored]
    body = {"query": "MATCH (c:Chunk {message_id: $id}) RETURN c.message_id AS id"}
    rows = client.post(f"{SPACE}/cypher", json={**body, "parameters": {"id": text}}).json()["rows"]
    assert rows == [{"id": text}]
    assert client.get(f"{SPACE}/entities", params={"match": text}).status_code == 200
    assert client.get(f"{SPACE}/stats").json()["messages"] == before + 1


@pytest.mark.slow
def test_listings_come_in_pages_that_hold_everything_once(filled):
    for path, names in (
        ("messages", ["m1", "m2"]),
        ("overview/sessions", ["s2", "s1"]),
        ("entities", None),
        ("facts", None),
    ):
        whole = filled.get(f"{SPACE}/{path}").json()
        assert whole["next"] is None
        found, cursor = [], ""
        while cursor is not None:
            page = filled.get(f"{SPACE}/{path}", params={"limit": 1, **_after(cursor)}).json()
            assert len(page["items"]) <= 1
            found += page["items"]
            cursor = page["next"]
        assert found == whole["items"], path
        assert len(found) >= 2
        if names:
            assert sorted(item["id"] for item in found) == sorted(names)


def _after(cursor):
    return {"cursor": cursor} if cursor else {}


@pytest.mark.slow
def test_facts_are_listed_explained_and_decided_on(filled):
    (home,) = filled.get(f"{SPACE}/history", params={"entity": "Ann"}).json()["items"]
    (triple,) = home["triples"]
    assert (triple["text"], triple["status"]) == ("Ann moved to Oslo", "current")
    given, review = {"fact": triple["uid"]}, f"{SPACE}/review"
    told = filled.post(f"{review}/retract", json={**given, "reason": "a joke"})
    assert (told.status_code, told.content) == (204, b"")
    listed = filled.get(f"{SPACE}/facts", params={"entity": "Ann"}).json()["items"]
    assert {item["uid"]: item["status"] for item in listed}[triple["uid"]] == "retracted"
    (home,) = filled.get(f"{SPACE}/history", params={"entity": "Ann"}).json()["items"]
    assert home["triples"][0]["reason"] == "a joke"
    assert filled.post(f"{review}/restore", json=given).status_code == 204
    why = filled.post(f"{SPACE}/why", json={"question": "Where is Klara?", "expect": "m2"}).json()
    assert why["expected"]["id"] == "m2" and why["rank"] == 1
    rows = filled.post(f"{SPACE}/cypher", json={"query": "MATCH (e:Entity) RETURN e.name AS n"})
    assert "Oslo" in {row["n"] for row in rows.json()["rows"]}
    problem(filled.post(f"{review}/retract", json={"fact": "none"}), 404)
    problem(filled.post(f"{review}/retract", json={}), 422)
    problem(filled.post(f"{SPACE}/cypher", json={"query": "MATCH (n) DELETE n"}), 400)


@pytest.mark.slow
def test_a_fact_of_the_application_is_stated(client):
    fact = {"subject": "Ann", "relation": "works at", "object": "DNB", "valid_from": "2026-01"}
    (id,) = client.post(f"{SPACE}/facts", json={**fact, "source": "crm"}).json()["new"]
    assert client.post(f"{SPACE}/queue/enrich", json={}).json()["chunks"] == 1
    (triple,) = client.get(f"{SPACE}/facts", params={"entity": "Ann"}).json()["items"]
    assert (triple["text"], triple["sources"][0]["id"]) == ("Ann works at DNB", id)


@pytest.mark.slow
def test_facts_are_sent_with_the_message_that_says_them(client):
    tidal = {"subject": "user", "relation": "uses", "object": "Tidal", "types": ["person", None]}
    sent = {"text": "I use Tidal.", "role": "user", "id": "m1", "facts": [tidal]}
    assert client.post(f"{SPACE}/messages", json=sent).status_code == 201
    vim = {"text": "Vim now.", "role": "user", "facts": [{**tidal, "object": "Vim"}]}
    client.post(f"{SPACE}/messages", json={**vim, "session_summary": "On tools."})
    odd = client.post(f"{SPACE}/messages", json={**sent, "facts": [{**tidal, "relation": ""}]})
    assert "facts[0].relation must have 1 to 300 characters" in problem(odd, 422)["detail"]
    problem(client.post(f"{SPACE}/messages", json={**sent, "facts": [{"subject": "Ann"}]}), 422)
    client.post(f"{SPACE}/queue/enrich", json={})
    facts = client.get(f"{SPACE}/facts", params={"entity": "user"}).json()["items"]
    assert {fact["text"] for fact in facts} == {"user uses Tidal", "user uses Vim"}
    assert (
        client.get(f"{SPACE}/overview/sessions").json()["items"][0]["themes"][0]["summary"]
        == "On tools."
    )


@pytest.mark.slow
def test_a_message_expires(client):
    sent = {"text": "The code is 7.", "id": "x", "at": "2026-05-20T07:00:00Z"}
    problem(client.post(f"{SPACE}/messages", json={**sent, "expires": "soon"}), 422)
    client.post(f"{SPACE}/messages", json={**sent, "expires": "2026-05-20T08:00:00Z"})
    assert (
        client.post(f"{SPACE}/forget", json={"expired": True, "dry_run": True}).json()["messages"]
        == 1
    )
    assert client.post(f"{SPACE}/forget", json={"expired": True}).json()["messages"] == 1
    assert client.get(f"{SPACE}/stats").json()["messages"] == 0


@pytest.mark.slow
def test_profiles_and_several_spaces(filled):
    profile = filled.get(f"{SPACE}/overview/profile", params={"entity": "Ann"}).json()
    assert "Ann moved to Oslo" in {f["text"] for e in profile["entries"] for f in e["facts"]}
    problem(filled.get(f"{SPACE}/overview/profile", params={"entity": "Nobody"}), 404)
    problem(filled.get(f"{SPACE}/overview/core-profile"), 404)
    assert filled.get(f"{SPACE}/overview/procedures").json() == {"items": [], "next": None}
    filled.post("/v1/spaces/ben/messages", json={"text": "Klara likes tea.", "id": "b1"})
    body = {"question": "What of Klara?", "spaces": ["ann", "ben"]}
    found = filled.post("/v1/search", json=body).json()["hits"]
    assert {(item["space"], item["hit"]["id"]) for item in found} >= {("ann", "m2"), ("ben", "b1")}


@pytest.mark.slow
def test_entities_are_merged_and_split(filled):
    assert filled.post(f"{SPACE}/review/merge", json={"name": "Klara", "into": "Ann"}).is_success
    assert filled.get(f"{SPACE}/review/merges").json()["items"][0]["by"] == "user"
    assert filled.post(f"{SPACE}/review/split", json={"name": "Klara"}).status_code == 204
    names = [item["name"] for item in filled.get(f"{SPACE}/entities").json()["items"]]
    assert {"Ann", "Klara"} <= set(names)


@pytest.mark.slow
def test_the_filter_and_the_settings_of_a_search_count(filled):
    question = {"question": "Where do they live?", "where": {"session": "s2"}}
    found = filled.post(f"{SPACE}/search", json=question).json()
    assert [hit["id"] for hit in found["hits"]] == ["m2"]
    other = {**question, "settings": {"ranking": "licomemory"}}
    explained = filled.post(f"{SPACE}/search", json={**other, "explain": True}).json()
    assert explained["trace"]["ranking"] == "licomemory"
    for settings in ({"profile": "default"}, {"rerank": 10**6}, {"ranking": "none"}):
        problem(filled.post(f"{SPACE}/search", json={**question, "settings": settings}), 400)


@pytest.mark.slow
def test_what_waits_is_counted_and_read_again(filled):
    assert filled.post(f"{SPACE}/queue/redo", json={"older_than": 1}).json() == {"count": 0}
    assert filled.post(f"{SPACE}/queue/redo", json={}).json() == {"count": 2}
    estimate = filled.get(f"{SPACE}/queue/estimate").json()
    assert estimate["turns"] == 2
    assert filled.post(f"{SPACE}/queue/retry", json={}).json() == {"count": 0}
    done = filled.post(f"{SPACE}/queue/enrich", json={"limits": {"seconds": 60}}).json()
    assert (done["chunks"], done["pending"]) == (2, 0)


ASK = {"question": "Where?"}


@pytest.mark.slow
@each(
    ("path", "body", "bound"),
    [
        ("search", {**ASK, "k": MOST_HITS}, "k"),
        ("context", {**ASK, "max_tokens": MOST_TOKENS}, "max_tokens"),
        ("why", {**ASK, "expect": "m1", "k": MOST_HITS}, "k"),
        ("cypher", {"query": "MATCH (c:Chunk) RETURN c.text", "limit": MOST_ROWS}, "limit"),
        ("cypher", {"query": "MATCH (c:Chunk) RETURN c.text", "timeout": MOST_SECONDS}, "timeout"),
        ("search", {**ASK, "min_confidence": 1}, "min_confidence"),
    ],
)
def test_no_request_takes_more_than_its_share(client, path, body, bound):
    client.post(f"{SPACE}/messages", json=OSLO)
    assert client.post(f"{SPACE}/{path}", json=body).status_code == 200
    for wrong in (body[bound] + 1, -1):
        said = problem(client.post(f"{SPACE}/{path}", json={**body, bound: wrong}), 422)
        assert f"{bound}: " in said["detail"]


@pytest.mark.slow
@each(
    ("path", "name", "most"),
    [(f"{SPACE}/search", "also", MOST_QUERIES), ("/v1/search", "spaces", MOST_SPACES)],
)
def test_no_list_is_longer_than_its_share(client, path, name, most):
    client.post(f"{SPACE}/messages", json=OSLO)
    body = {**ASK, name: ["ann"] * most}
    assert client.post(path, json=body).status_code == 200
    problem(client.post(path, json={**body, name: ["ann"] * (most + 1)}), 422)


@pytest.mark.slow
def test_several_queries_and_what_was_seen(filled):
    def ids(**more):
        body = {"question": "Where is Klara?", **more}
        return [hit["id"] for hit in filled.post(f"{SPACE}/search", json=body).json()["hits"]]

    assert ids(also=["move to Oslo"], k=2) == ["m2", "m1"]
    assert ids(also=["move to Oslo"], without=["m2"]) == ["m1"]
    assert ids(also=["move to Oslo"], k=2, per_session=1, where={"session": "s2"}) == ["m2"]
    block = {"question": "Where is Klara?", "without": ["m2"]}
    shown = filled.post(f"{SPACE}/context", json=block).json()
    assert "m2" not in {cited["id"] for cited in shown["citations"]}


@pytest.mark.slow
def test_a_question_without_a_model_gets_the_block_and_a_note(filled):
    answer = filled.post(f"{SPACE}/ask", json={"question": "Where is Klara?"}).json()
    assert (answer["text"], answer["stopped"]) == ("", "no model")
    assert BERGEN["text"] in answer["context"]["text"] and answer["notes"]


@pytest.mark.slow
@each(
    ("method", "path", "body", "status", "says"),
    [
        ("POST", "/messages", {"tex": "x"}, 422, "has no 'text'"),
        ("POST", "/messages", {"text": "x", "sesion": "y"}, 422, "did you mean 'session'?"),
        ("POST", "/messages", {"text": "x", "at": "2026-05-20"}, 422, "timezone"),
        ("POST", "/search", {"question": "x", "k": 0}, 422, "k: "),
        ("POST", "/search", {"question": "x", "where": {"roles": ["boss"]}}, 422, "where.roles"),
        ("POST", "/why", {"question": "x", "expect": "none"}, 404, "no message 'none'"),
        ("GET", "/messages?cursor=zzz", None, 400, "cursor"),
        ("GET", "/entities?cursor=xyz", None, 400, "give the `next` of a page"),
        ("GET", "/messages?limit=100000", None, 422, "limit"),
        ("GET", "/nowhere", None, 404, "GET /openapi.json"),
        ("PUT", "/messages", {}, 405, "GET /openapi.json"),
        ("POST", "/forget", {}, 400, "say what to forget"),
    ],
)
def test_a_refusal_says_what_is_wrong_and_what_to_do(client, method, path, body, status, says):
    found = problem(client.request(method, SPACE + path, json=body), status)
    assert says in found["detail"]
    assert found["retryable"] is False


@pytest.mark.slow
def test_a_body_that_is_no_json_or_too_large_is_refused(serve):
    client = serve(limits=ServerLimits(body=1000))
    assert (
        "JSON"
        in problem(client.post(f"{SPACE}/messages", content="{", headers=JSON), 422)["detail"]
    )
    large = json.dumps({"text": "x" * 1000})
    problem(client.post(f"{SPACE}/messages", content=large, headers=JSON), 413)
    parts = iter([large[:500].encode(), large[500:].encode()])  # without Content-Length
    found = problem(client.post(f"{SPACE}/messages", content=parts, headers=JSON), 413)
    assert "at most 1,000 bytes" in found["detail"]
    assert client.get(f"{SPACE}/stats").json()["messages"] == 0


JSON = {"Content-Type": "application/json"}


@pytest.mark.slow
def test_a_fault_of_the_server_shows_nothing_of_itself(serve, tmp_path, clock):
    memory = Memory(tmp_path / "memory.db", enrich="manual", clock=clock)
    client = serve(memory=memory)
    assert client.get("/ready").json() == {"status": "ready"}
    memory.close()
    assert problem(client.get("/ready"), 503)["retryable"] is True
    assert client.get("/health").json()["status"] == "ok"
    assert problem(client.get(f"{SPACE}/stats"), 500)["title"] == "Internal error"


@pytest.mark.slow
def test_time_is_that_of_the_memory_unless_given(client):
    client.post(f"{SPACE}/messages", json={"text": "Now.", "id": "n"})
    assert client.get(f"{SPACE}/messages/n").json()["at"] == START.isoformat()


@pytest.mark.slow
def test_whole_spaces_are_copied_and_deleted(filled):
    assert filled.post(f"{SPACE}/copy", json={"to": "ben"}).json() == {"messages": 2}
    assert filled.get("/v1/spaces").json() == {"items": ["ann", "ben"]}
    assert filled.get("/v1/spaces/ben").json()["stats"]["triples"] > 0
    assert filled.delete(SPACE).status_code == 204
    assert filled.get("/v1/spaces").json() == {"items": ["ben"]}
    assert filled.get("/v1/info").json()["kind"] == "sqlite"
    assert all(item["ok"] for item in filled.get("/v1/check").json()["items"])


@pytest.mark.slow
def test_a_fact_that_was_said_often_is_found_with_its_newest_sources(serve, tmp_path):
    with Memory(tmp_path / "often.db", enrich="manual") as memory:
        said = [{**OSLO, "text": "My sister Klara lives in Bergen.", "id": f"m{n}",
                 "at": f"2026-05-{n + 1:02}T09:00:00Z"} for n in range(14)]  # fmt: skip
        memory.space("ann").add_many(said)
        memory.space("ann").flush()
        client, ask = serve(memory=memory), {"question": "Where does Klara live?", "k": 2}
        explain = {"explain": "true"}
        newest = [f"m{n}" for n in range(13, 3, -1)]
        found = client.post(f"{SPACE}/search", json=ask, params=explain).json()
        facts = [fact for hit in found["hits"] for fact in hit["triples"]] + found["triples"]
        body = {**ask, "spaces": ["ann"]}
        several = client.post("/v1/search", json=body, params=explain).json()
        facts += several["hits"][0]["hit"]["triples"] + several["results"]["ann"]["triples"]
        block = client.post(f"{SPACE}/context", json={**ask, "k": 3}, params=explain).json()
        facts += [fact for hit in block["hits"] for fact in hit["triples"]]
        lives = [fact for fact in facts if fact["text"] == "Klara lives in Bergen"]
        assert len(lives) > 5
        assert {tuple(source["id"] for source in fact["sources"]) for fact in lives} == {
            tuple(newest)
        }
        (whole,) = client.get(f"{SPACE}/facts", params={"entity": "Bergen"}).json()["items"]
        assert len(whole["sources"]) == 14


def test_a_question_without_support_gets_nothing(filled):
    ask = {"question": "asdf qwer"}
    block = filled.post(f"{SPACE}/context", json={**ask, "min_confidence": 0.2}).json()
    assert (block["text"], block["confidence"] < 0.2) == ("", True)
    assert block["notes"][-1].startswith("nothing found")
    best = filled.post(f"{SPACE}/context", json={**ask, "min_confidence": 0}).json()
    assert "Weak: perhaps nothing here answers" in best["text"]
    found = filled.post(f"{SPACE}/search", json={**ask, "min_confidence": 0.5}).json()
    assert (found["hits"], found["confidence"]) == ([], block["confidence"])
    assert filled.post(f"{SPACE}/search", json={**ask, "min_confidence": 2}).status_code == 422
