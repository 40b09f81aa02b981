"""A server for many users: sessions are with a model at once, and connections stay open."""

from __future__ import annotations

import threading
import time

import pytest

from cognigraph import EnrichSettings
from tests.servers.model_server import Exchange, ModelServer, good
from tests.servers.served import served

pytest.importorskip("fastapi")
httpx = pytest.importorskip("httpx")
pytestmark = pytest.mark.slow

USERS = 12
EMPTY = good({"entities": [], "facts": [], "keys": [], "themes": []})


def local_address(http: httpx.Client) -> tuple[str, int]:
    """The address from which a client is connected; another one after it has connected anew."""
    (connection,) = http._transport._pool.connections
    return connection._connection._network_stream.get_extra_info("client_addr")


def test_several_sessions_are_with_the_model_at_once_and_an_idle_connection_stays_open(tmp_path):
    together = threading.Barrier(USERS)

    def all_at_once(exchange: Exchange) -> None:
        together.wait(60)
        EMPTY(exchange)

    with ModelServer(all_at_once) as model:
        arguments = ("serve", "--port", 0, "--db", tmp_path / "m.db", "--calls", USERS)
        patient = httpx.Limits(keepalive_expiry=60)
        options = {"OPENAI_BASE_URL": model.url, "COGNIGRAPH_MODEL": "test"}
        with (
            served(*arguments, "--extractor", "openai", **options) as server,
            httpx.Client(base_url=f"{server.url}/v1/spaces", timeout=60, limits=patient) as http,
        ):
            batch = EnrichSettings().batch  # so many are read at once, and not after a pause
            for number in range(USERS):
                some = batch // USERS if number else batch - batch // USERS * (USERS - 1)
                said = [{"text": f"I am in room {n}.", "session": "s"} for n in range(some)]
                added = http.post(f"user-{number}/messages/batch", json={"messages": said})
                assert len(added.json()["new"]) == some
            address = local_address(http)
            until = time.monotonic() + 90
            while model.calls < USERS and time.monotonic() < until:
                time.sleep(6)  # longer than the 5 s after which uvicorn by itself would close it
                assert http.get("user-0").status_code == 200
                assert local_address(http) == address
        assert model.calls >= USERS  # each session is read, and may have got its summary
        assert model.most_running == USERS
