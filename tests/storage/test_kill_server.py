"""A server that is stopped or killed under load loses no message that it acknowledged."""

from __future__ import annotations

import threading
from pathlib import Path

import httpx
import pytest

from cognigraph import Memory
from tests.servers.served import Served, served

pytestmark = pytest.mark.slow
CLIENTS = 4
ENOUGH = 60


class Load:
    """Clients that add messages until the server is gone, and note what was acknowledged."""

    def __init__(self, server: Served) -> None:
        self._url = server.url
        self.acknowledged: dict[str, str] = {}
        self.enough = threading.Event()
        self._threads = [
            threading.Thread(target=self._add, args=(number,)) for number in range(CLIENTS)
        ]
        for thread in self._threads:
            thread.start()

    def _add(self, client: int) -> None:
        path = f"{self._url}/v1/spaces/s{client % 2}/messages"
        with httpx.Client(timeout=60) as http:
            for number in range(100_000):
                message = {"id": f"c{client}-{number}", "text": f"Ann moved to town {number}."}
                try:
                    answer = http.post(path, json=message)
                except httpx.TransportError:
                    return
                if answer.status_code == 201:
                    self.acknowledged[message["id"]] = message["text"]
                    if len(self.acknowledged) >= ENOUGH:
                        self.enough.set()

    def join(self) -> None:
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive()


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_what_was_acknowledged_is_there(tmp_path: Path, end: str) -> None:
    db = tmp_path / "memory.db"
    with served("serve", "--db", db, "--port", 0, "--rate", 0) as server:
        load = Load(server)
        assert load.enough.wait(120)
        if end == "kill":
            server.process.kill()
            server.process.wait(60)
        else:
            server.stop()
        load.join()
    with Memory(db, enrich="manual") as memory:
        if end == "stop":  # leases were given back
            assert sum(memory.space(name).stats().leased for name in memory.spaces()) == 0
        stored = {
            message.id: message.text
            for name in memory.spaces()
            for message in memory.space(name).messages(limit=1_000_000)
        }
        assert stored.items() >= load.acknowledged.items()
        assert len(stored) <= len(load.acknowledged) + CLIENTS
        memory.flush(120)
        assert all(check.ok for check in memory.admin.check())
