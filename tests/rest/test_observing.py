"""What those who run a server see of it: metrics, spans and the API's description."""

from __future__ import annotations

import re
import sys
from datetime import timedelta
from threading import Event
from time import monotonic, sleep

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from cognigraph import EnrichSettings, Extraction, ExtractionError, Memory, Settings, Space
from cognigraph.ingest.extraction import Extractor
from cognigraph.server.app import HEADERS
from tests.rest.test_rest import BERGEN, OSLO, SPACE


@pytest.mark.slow
def test_metrics_count_requests_without_names(client):
    client.post(f"{SPACE}/messages", json=OSLO)
    client.post(f"{SPACE}/messages", json=OSLO)
    client.get(f"{SPACE}/nowhere")
    client.request("BREW", f"{SPACE}/messages")
    text = client.get("/metrics").text
    assert 'cognigraph_requests_total{method="POST",operation="add",status="201"} 1' in text
    assert 'cognigraph_requests_total{method="POST",operation="add",status="200"} 1' in text
    assert 'cognigraph_request_seconds_count{method="POST",operation="add"} 2' in text
    assert 'le="+Inf",method="POST",operation="add"} 2' in text
    assert 'method="other"' in text and "BREW" not in text
    assert "cognigraph_queue 1" in text
    assert "ann" not in re.sub(r"# .*", "", text) and "m1" not in text
    assert all(re.fullmatch(r"#.*|\w+(\{[^{}]*\})? [\d.e+-]+", line) for line in text.splitlines())


@pytest.fixture
def spans(monkeypatch):
    """The spans that a program with the SDK of OpenTelemetry would export."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    return exporter


@pytest.mark.slow
def test_spans_have_stages_and_no_text(client, spans):
    client.post(f"{SPACE}/messages", json=OSLO)
    client.post(f"{SPACE}/search", json={"question": "Where is the secret garden?"})
    client.post(f"{SPACE}/queue/enrich", json={})
    client.post(f"{SPACE}/messages", json={**OSLO, "text": "A secret."})
    found = {span.name: span for span in spans.get_finished_spans()}
    assert {"cognigraph.add", "cognigraph.search", "cognigraph.enrich"} <= found.keys()
    whole = found["cognigraph.search"]
    parts = [value for name, value in found.items() if name.startswith("cognigraph.search.")]
    assert len(parts) >= 3
    assert {part.parent.span_id for part in parts} == {whole.context.span_id}
    assert all(part.start_time <= part.end_time <= whole.end_time for part in parts)
    assert found["cognigraph.add"].status.description == "ConflictError"
    assert "cognigraph.search.total" not in found
    text = "".join(item.to_json() for item in spans.get_finished_spans())
    assert "secret" not in text and "Oslo" not in text


def test_enrichment_in_the_background_has_spans(tmp_path, spans):
    with Memory(tmp_path / "memory.db") as memory:
        memory.space("ann").add("I moved to Oslo in May. The secret is safe.", speaker="Ann")
        memory.flush()
    found = [span for span in spans.get_finished_spans() if span.name == "cognigraph.enrich.batch"]
    assert [span.attributes["cognigraph.space"] for span in found] == ["ann"] * len(found)
    assert sum(span.attributes["cognigraph.chunks"] for span in found) == 1
    assert sum(span.attributes["cognigraph.triples"] for span in found) >= 1
    assert all(span.status.is_ok or span.status.is_unset for span in found)
    assert not any("secret" in span.to_json() for span in found)


def test_a_batch_that_fails_says_so_in_its_span_without_a_text(tmp_path, spans):
    class Failing(Extractor):
        name = "failing"

        def extract(self, window):
            raise ExtractionError("the secret cannot be read")

    with Memory(tmp_path / "memory.db", extractor=Failing(), enrich="manual") as memory:
        memory.add("I moved to Oslo in May.")
        assert memory.queue.enrich()[0].error
    (batch,) = (
        span for span in spans.get_finished_spans() if span.name == "cognigraph.enrich.batch"
    )
    assert batch.status.status_code is trace.StatusCode.ERROR
    assert "secret" not in batch.to_json()


@pytest.mark.slow
def test_the_queue_is_counted_for_all_spaces_at_once(serve, tmp_path, monkeypatch):
    """The cost of the metrics does not grow with the number of spaces."""
    with Memory(tmp_path / "spaces.db", enrich="manual") as memory:
        for number in range(5):
            memory.space(f"s{number}").add("I moved to Oslo.", session="s1")
        client = serve(memory=memory)
        monkeypatch.setattr(Space, "stats", None)
        assert "cognigraph_queue 5" in client.get("/metrics").text
        assert memory.admin.waiting() == 5
        memory.space("s3").flush()
        assert "cognigraph_queue 4" in client.get("/metrics").text


@pytest.mark.slow
def test_the_server_is_ready_when_the_first_question_is_no_slower_than_others(serve, tmp_path):
    begun, go_on = Event(), Event()
    asked = []

    class Slow:
        name, dimension = "slow", 4

        def embed(self, texts):
            asked.extend(texts)
            begun.set()
            assert go_on.wait(30)
            return [[1.0, 0.0, 0.0, 0.0] for _ in texts]

    with Memory(tmp_path / "slow.db", embedder=Slow(), enrich="manual") as memory:
        client = serve(memory=memory, warm_up=True)
        assert begun.wait(30)
        refused = client.get("/ready")
        assert refused.status_code == 503 and "loaded" in refused.json()["detail"]
        assert client.get("/health").status_code == 200
        go_on.set()
        client.app.state.warm_up.stop()
        assert client.get("/ready").json() == {"status": "ready"}
        assert asked


@pytest.mark.slow
def test_a_server_whose_embedder_fails_is_ready_and_says_why_with_each_request(serve, tmp_path):
    class Failing:
        name, dimension = "failing", 4

        def embed(self, texts):
            raise OSError("no network")

    with Memory(tmp_path / "f.db", embedder=Failing(), enrich="manual") as memory:
        client = serve(memory=memory, warm_up=True)
        client.app.state.warm_up.stop()
        assert client.get("/ready").status_code == 200
        answer = client.post(f"{SPACE}/search", json={"question": "Where?"})
        assert answer.status_code == 502 and "the embedder failed" in answer.json()["detail"]
        assert "network" not in answer.text  # nor a path: the log has it


@pytest.mark.slow
def test_a_server_whose_messages_are_not_enriched_says_that_it_is_degraded(serve, tmp_path):
    go_on = Event()

    class Stuck(Extractor):
        name = "stuck-1"

        def extract(self, window):
            assert go_on.wait(60)
            return Extraction()

    settings = Settings(
        enrich=EnrichSettings(lease=timedelta(milliseconds=40), idle_poll=timedelta(seconds=0.01))
    )
    with Memory(tmp_path / "stuck.db", extractor=Stuck(), settings=settings) as memory:
        client = serve(memory=memory)
        assert client.get("/ready").json() == {"status": "ready"}
        assert "cognigraph_worker_degraded 0" in client.get("/metrics").text
        assert "cognigraph_queue_oldest_seconds 0.0" in client.get("/metrics").text
        client.post(f"{SPACE}/messages", json=OSLO)
        wait_for(lambda: client.get("/health").json()["status"] == "degraded")
        for path in ("/health", "/ready"):
            answer = client.get(path)
            assert answer.status_code == 200  # it still answers questions
            assert answer.json()["status"] == "degraded"
            assert answer.json()["reason"].startswith("the background worker has been at one batch")
        [check] = [item for item in client.get("/v1/check").json()["items"] if not item["ok"]]
        assert check["name"] == "worker" and "at one batch" in check["detail"]
        lines = dict(
            line.rsplit(" ", 1) for line in client.get("/metrics").text.splitlines()
            if not line.startswith("#")
        )  # fmt: skip
        assert lines["cognigraph_queue"] == "1.0"
        assert 0.2 <= float(lines["cognigraph_queue_oldest_seconds"]) < 60
        assert 0.2 <= float(lines["cognigraph_worker_last_step_seconds"]) < 60
        assert lines["cognigraph_worker_restarts_total"] == "0.0"
        assert lines["cognigraph_worker_degraded"] == "1.0"
        go_on.set()
        wait_for(lambda: client.get("/health").json()["status"] == "ok")
        assert client.get("/ready").json() == {"status": "ready"}
        assert "cognigraph_worker_degraded 0" in client.get("/metrics").text


def wait_for(true):
    end = monotonic() + 20
    while not true():
        assert monotonic() < end
        sleep(0.02)


@pytest.mark.slow
def test_nothing_is_traced_without_the_package(client, monkeypatch):
    monkeypatch.delitem(sys.modules, "opentelemetry.trace")
    assert client.post(f"{SPACE}/messages", json=OSLO).status_code == 201
    assert client.post(f"{SPACE}/search", json={"question": "Oslo"}).status_code == 200


@pytest.mark.slow
def test_the_page_lets_nothing_in_from_elsewhere(client):
    page = client.get("/")
    assert page.status_code == 200 and page.text.startswith("<!doctype html>")
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    for path in ("/", "/page/index.html", "/v1/spaces", "/v1/nowhere"):
        headers = client.get(path).headers
        assert all(headers[name] == value for name, value in HEADERS.items()), path
    for path in (
        "/page/../app.py",
        "/page/%2e%2e/app.py",
        "/page/..%2fapp.py",
        "/page//etc/passwd",
    ):
        assert client.get(path).status_code == 404, path


@pytest.mark.slow
def test_text_is_described_as_text(client):
    client.post(f"{SPACE}/messages", json=OSLO)
    paths = client.get("/openapi.json").json()["paths"]
    for path, url in (
        ("/metrics", "/metrics"),
        ("/v1/spaces/{space}/files/export", f"{SPACE}/files/export"),
    ):
        content = paths[path]["get"]["responses"]["200"]["content"]
        assert list(content) == [client.get(url).headers["content-type"].partition(";")[0]]
        assert list(content.values()) == [{"schema": {"type": "string"}}]


@pytest.mark.slow
def test_responses_are_as_the_api_describes_them(client):
    """The document promises no field that is missing, and no field comes that it does not name."""
    import jsonschema  # takes two seconds, which every process that collects would pay

    client.post(f"{SPACE}/messages/batch", json={"messages": [OSLO, BERGEN]})
    client.post(f"{SPACE}/queue/enrich", json={})
    client.post(f"{SPACE}/review/merge", json={"name": "Klara", "into": "Ann"})
    api = client.get("/openapi.json").json()
    question = {"question": "Where does Klara live?"}
    for method, path, body in (
        ("POST", "/search", {**question, "explain": True, "also": ["Oslo"]}),
        ("POST", "/search", {**question, "layer": "episodes"}),
        ("POST", "/context", question),
        ("POST", "/ask", question),
        ("POST", "/why", {**question, "expect": "m1"}),
        ("POST", "/messages", OSLO),
        ("POST", "/forget", {"message": "m1", "dry_run": True}),
        ("POST", "/files/import-file", {"text": "x", "id": "i"}),
        ("GET", "/messages", None),
        ("GET", "/overview/sessions", None),
        ("GET", "/overview/episodes", None),
        ("GET", "/entities", None),
        ("GET", "/facts", None),
        ("GET", "/history?entity=Ann", None),
        ("GET", "/review/merges", None),
        ("GET", "/review/duplicates", None),
        ("GET", "/stats", None),
        ("GET", "/queue/estimate", None),
    ):
        answer = client.request(method, SPACE + path, json=body)
        assert answer.status_code == 200, (path, answer.text)
        operation = api["paths"]["/v1/spaces/{space}" + path.split("?")[0]][method.lower()]
        schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
        jsonschema.validate(answer.json(), {**schema, "components": api["components"]})
