"""Imports, exports and enrichment: files, progress as events, and an early end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.requests import Request
from starlette.types import Message

from cognigraph.server.access import Doorkeeper, Grant
from cognigraph.server.gate import ServerLimits
from cognigraph.server.keys import KeyFile
from cognigraph.server.long_work import FairShare, LongWork, Turn, run_long
from cognigraph.server.problems import Problem
from tests.cases import each
from tests.unit.test_new_file import files_of_at_most

SPACE = "/v1/spaces/ann"
EVENTS = {"Accept": "text/event-stream"}
LINES = "".join(
    json.dumps({"text": f"Ann likes tea number {n}.", "id": f"m{n}", "at": "2026-05-20T09:00:00Z"})
    + "\n"
    for n in range(1100)
)
FEWER_LINES = "".join(LINES.splitlines(keepends=True)[:300])


def events(text: str) -> list[tuple[str, Any]]:
    found = []
    for block in text.strip().split("\n\n"):
        if block.startswith(":"):  # a sign of life, on a slow machine
            continue
        name, data = block.split("\n")
        found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


@pytest.mark.slow
def test_an_import_tells_its_progress_and_can_be_repeated(client):
    told = events(client.post(f"{SPACE}/files/import-file", content=LINES, headers=EVENTS).text)
    assert [name for name, _ in told] == ["progress", "progress", "progress", "result"]
    counts = [data["read"] for name, data in told if name == "progress"]
    assert counts == [512, 1024, 1100]
    assert told[0][1]["total_bytes"] == len(LINES)
    assert told[-1][1]["new"] == 1100
    again = client.post(f"{SPACE}/files/import-file", content=LINES).json()
    assert (again["new"], again["known"], again["read"]) == (0, 1100, 1100)


@pytest.mark.slow
def test_a_bad_line_ends_an_import_or_is_left_out_with_its_number(client):
    bad = LINES.splitlines()[0] + "\n{nonsense\n" + LINES.splitlines()[1]
    refused = client.post(f"{SPACE}/files/import-file", content=bad)
    assert refused.status_code == 422
    assert refused.json()["position"] == "line 2" and "line 2" in refused.json()["detail"]
    ((name, told),) = events(
        client.post(f"{SPACE}/files/import-file", content=bad, headers=EVENTS).text
    )
    assert (name, told["status"], told["position"]) == ("problem", 422, "line 2")
    report = client.post(f"{SPACE}/files/import-file?skip_invalid=true", content=bad).json()
    assert (report["new"] + report["known"], report["rejected"][0]["line"]) == (2, 2)


@pytest.mark.slow
def test_other_formats_are_read_and_a_dry_run_stores_nothing(client):
    notes = "# Trip\n\n## Plan\n\nAnn flies to Lisbon on 3 June 2026.\n"
    path = f"{SPACE}/files/import-file?name=trip.md"
    assert client.post(f"{path}&dry_run=true", content=notes).json()["new"] == 1
    assert client.get(f"{SPACE}/stats").json()["messages"] == 0
    assert client.post(path, content=notes).json()["formats"] == ["markdown"]
    table = "who,said\nAnn,I moved to Oslo.\n"
    columns = "text=said,speaker=who"
    done = client.post(
        f"{SPACE}/files/import-file?format=csv&columns={columns}", content=table
    ).json()
    assert done["new"] == 1
    texts = [item["text"] for item in client.get(f"{SPACE}/messages").json()["items"]]
    assert "I moved to Oslo." in texts and any("Lisbon" in text for text in texts)


@pytest.mark.slow
@each(
    "name",
    ["../x.md", "/etc/passwd", "a/b", "..", ".hidden", "", "a\0b", "~", "\u6f22" * 100],
)
def test_a_file_name_cannot_be_a_path(client, name, temporary):
    answer = client.post(f"{SPACE}/files/import-file", params={"name": name}, content=LINES)
    assert answer.status_code == 400
    assert "without a folder" in answer.json()["detail"]
    assert client.get(f"{SPACE}/stats").json()["messages"] == 0
    assert list(temporary.iterdir()) == []


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder of temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.mark.slow
def test_an_export_is_restored_into_another_space(client):
    client.post(f"{SPACE}/files/import-file", content=FEWER_LINES)
    client.post(f"{SPACE}/queue/enrich", json={})
    export = client.get(f"{SPACE}/files/export?derived=true")
    assert export.headers["content-disposition"] == 'attachment; filename="space.jsonl"'
    restored = client.post("/v1/spaces/ben/files/load", content=export.content)
    assert restored.json() == {"messages": 300}
    ours, theirs = (client.get(f"/v1/spaces/{name}/stats").json() for name in ("ann", "ben"))
    assert {**ours, "space": ""} == {**theirs, "space": ""}
    assert ours["pending"] == 0
    assert client.post("/v1/spaces/ben/files/load", content=export.content).status_code == 400
    assert client.post("/v1/spaces/eve/files/load", content="nonsense").status_code == 400


@pytest.mark.slow
def test_enrichment_tells_its_progress(client):
    client.post(f"{SPACE}/files/import-file", content=FEWER_LINES)
    told = events(client.post(f"{SPACE}/queue/enrich", json={}, headers=EVENTS).text)
    assert {name for name, _ in told[:-1]} == {"progress"}
    assert told[-2][1]["done"] == told[-2][1]["total"] == 300
    assert told[-1] == ("result", {"chunks": 300, "pending": 0, "failed": 0, "stopped": None})
    assert client.post(f"{SPACE}/flush").status_code == 204


@pytest.mark.slow
def test_temporary_files_are_removed(client, temporary):
    client.post(f"{SPACE}/files/import-file", content=LINES, headers=EVENTS)
    client.post(f"{SPACE}/files/import-file", content="{nonsense")
    client.get(f"{SPACE}/files/export")
    assert list(temporary.iterdir()) == []


@pytest.mark.slow
def test_a_file_for_which_there_is_no_room_is_refused_and_removed(client, temporary):
    client.post(f"{SPACE}/files/import-file", content=LINES)
    with files_of_at_most(20_000):
        answers = [
            client.get(f"{SPACE}/files/export"),
            client.post(f"{SPACE}/files/import-file", content=LINES),
            client.post(f"{SPACE}/files/load", content=LINES),
        ]
    for answer in answers:
        assert (answer.status_code, answer.json()["title"]) == (507, "No room for the file")
        assert "File too large; its operator must make room" in answer.json()["detail"]
    assert list(temporary.iterdir()) == []
    assert client.get(f"{SPACE}/files/export").status_code == 200


@pytest.mark.slow
def test_an_upload_has_a_limit_of_its_own(serve):
    client = serve(limits=ServerLimits(body=100, upload=1000))
    assert client.post(f"{SPACE}/files/import-file", content=LINES[:500]).status_code != 413
    assert client.post(f"{SPACE}/files/import-file", content=LINES).status_code == 413


def request(
    state: LongWork, accept: str = "text/event-stream", left: asyncio.Event | None = None
) -> Request:
    app = SimpleNamespace(state=SimpleNamespace(long_work=state))
    scope = {
        "type": "http",
        "app": app,
        "cognigraph.grant": Grant(None),
        "cognigraph.turn": Turn(FairShare(1), "ann"),
        "headers": [(b"accept", accept.encode())],
    }

    async def receive() -> Message:
        await (left or asyncio.Event()).wait()
        return {"type": "http.disconnect"}

    return Request(scope, receive)


def endless(began: Event) -> Callable[..., None]:
    def work(report: Callable[[Any], None]) -> None:
        while True:
            report({"at": "work"})
            began.set()

    return work


def test_work_ends_when_its_client_has_left():
    ended, began = Event(), Event()

    async def leave() -> None:
        response = await run_long(request(LongWork(1, patience=0.05)), endless(began), ended.set)
        stream = response.body_iterator  # type: ignore[attr-defined]
        assert (await anext(stream)).startswith("event: progress")
        await stream.aclose()
        assert await asyncio.to_thread(ended.wait, 60)

    asyncio.run(leave())


def test_work_ends_when_the_server_stops():
    began = Event()

    async def stop() -> str:
        state = LongWork(1, patience=0.05)
        response = await run_long(request(state), endless(began))
        last = ""
        async for event in response.body_iterator:  # type: ignore[attr-defined]
            last = event
            state.stopping.set()
        return last

    assert "about to stop" in asyncio.run(stop())


def test_more_long_work_than_a_client_may_have_waits_and_is_then_refused():
    began, left = Event(), Event()

    async def two() -> None:
        state = LongWork(1, patience=0.05)

        def work(report: Any) -> None:
            began.set()
            left.wait(60)

        first = asyncio.create_task(run_long(request(state, "*/*"), work))
        await asyncio.to_thread(began.wait, 60)
        cleaned = Event()
        with pytest.raises(Problem) as refused:
            await run_long(request(state, "*/*"), work, cleaned.set)
        assert (refused.value.status, refused.value.wait, cleaned.is_set()) == (429, 5, True)
        assert "1 of yours run already" in refused.value.detail
        waiting = asyncio.create_task(LongWork.place(state, state.running, request(state)))
        await asyncio.sleep(0)
        left.set()
        assert (await first).status_code == 204
        (await waiting).end()

    asyncio.run(two())


def test_who_leaves_while_waiting_takes_no_place():
    async def leave() -> None:
        state = LongWork(1, patience=60)
        first = await state.place(state.running, request(state))
        gone, cleaned = asyncio.Event(), Event()
        work = run_long(request(state, left=gone), lambda report: None, cleaned.set)
        waiting = asyncio.create_task(work)
        while not state.running.waiting("ann"):
            await asyncio.sleep(0)
        gone.set()
        with pytest.raises(Problem) as refused:
            await waiting
        assert (refused.value.status, cleaned.is_set()) == (499, True)
        first.end()
        assert (state.running.working("ann"), state.running.waiting("ann")) == (0, 0)

    asyncio.run(leave())


def test_work_whose_result_is_waited_for_ends_when_its_client_has_left():
    ended, began = Event(), Event()

    async def leave() -> None:
        gone = asyncio.Event()
        sent = request(LongWork(1, patience=60), "application/json", gone)
        working = asyncio.create_task(run_long(sent, endless(began), ended.set))
        await asyncio.to_thread(began.wait, 60)
        gone.set()
        with pytest.raises(Problem) as refused:
            await working
        assert (refused.value.status, ended.is_set()) == (499, True)

    asyncio.run(leave())


def test_a_key_that_is_revoked_ends_the_work_that_it_began(tmp_path):
    keys = KeyFile(tmp_path / "keys")
    header = f"Bearer {keys.create('agent', ['read', 'write'], ['ann'])}"
    doorkeeper = Doorkeeper(keys, is_open=False)
    sent = request(LongWork(1, patience=0.05))
    sent.app.state.doorkeeper = doorkeeper
    sent.scope["cognigraph.grant"] = doorkeeper.grant(header)
    sent.scope["headers"].append((b"authorization", header.encode()))

    def work(report: Callable[[Any], None]) -> None:
        report(1)
        keys.revoke(keys.list()[0].id)
        report(2)

    async def told() -> str:
        response = await run_long(sent, work)
        return "".join([event async for event in response.body_iterator])  # type: ignore[attr-defined]

    ((first, number), (last, problem)) = events(asyncio.run(told()))
    assert (first, number, last) == ("progress", 1, "problem")
    assert "revoked" in problem["detail"]
