"""Many clients of `cognigraph serve` at once: latency, memory, errors and lost messages.

    python bench/serve.py --out bench/results/serve-sqlite.json
    python bench/serve.py --neo4j 5.26 --out bench/results/serve-neo4j.json

The server runs as a process of its own; the clients are tasks of this one, each with a key and a
connection. Each waits for its answer before it sends the next request: half of them add a message,
half search. Every message that was acknowledged must be in the store at the end, and the resident
memory of the server is noted every second: ``growth_mb_per_minute`` is its slope over the second
half. With ``--repeat 20`` each client adds the same 20 messages again and again, so that the data
do not grow and memory must not either. On a machine with other work compare ``cpu_ms_per_request``,
not the latencies. ``--neo4j`` starts a server of that line for the load, as the tests do; ``--db``
and ``--auth`` name one that runs already. The space is deleted afterwards.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import httpx
from measure import machine, percentiles, write

from cognigraph import Memory
from cognigraph.server.access import KeyFile

SPACE = "bench-serve"
PEOPLE = ("Ann", "Ben", "Cid", "Dora", "Emil", "Frida", "Georg", "Hanna")
PLACES = ("Oslo", "Bergen", "Hamar", "Narvik", "Bodo", "Skien", "Moss", "Molde")
THINGS = "ferry garden letter recipe concert bridge camera ticket village mountain".split()


def text(random: Random) -> str:
    """A message that names a person, a place and a thing."""
    person, place, thing = (random.choice(names) for names in (PEOPLE, PLACES, THINGS))
    number = random.randrange(1_000_000)
    return f"My friend {person} moved to {place} and told me of the {thing} number {number}."


def question(random: Random) -> str:
    """A question about the same."""
    person, place, thing = (random.choice(names) for names in (PEOPLE, PLACES, THINGS))
    return f"Who of us in {place} knows {person} and the {thing}?"


@dataclass
class Record:
    """What the clients saw."""

    milliseconds: dict[str, list[float]] = field(default_factory=lambda: {"add": [], "search": []})
    failures: Counter[str] = field(default_factory=Counter)
    acknowledged: set[str] = field(default_factory=set)
    repeat: int = 0


class Client:
    """One client that sends a request when the one before is answered."""

    def __init__(self, number: int, url: str, key: str, record: Record) -> None:
        self._number, self._random, self._record = number, Random(number), record
        self._url = f"{url}/v1/spaces/{SPACE}"
        self._headers = {"Authorization": f"Bearer {key}"}

    async def run(self, until: float) -> None:
        """Send requests until a time."""
        limits = httpx.Limits(max_connections=1)
        async with httpx.AsyncClient(headers=self._headers, timeout=120, limits=limits) as http:
            count, known = 0, set[str]()
            while time.monotonic() < until:
                count += 1
                if self._random.random() < 0.5:
                    number = count % self._record.repeat if self._record.repeat else count
                    await self._add(http, f"c{self._number}-{number}", known)
                else:
                    body = {"question": question(self._random), "k": 10}
                    await self._send(http, "search", "/search", body, 200)

    async def _add(self, http: httpx.AsyncClient, id: str, known: set[str]) -> None:
        session = f"s{self._number}"
        body = {"id": id, "session": session, "speaker": "Ann", "text": text(Random(id))}
        if await self._send(http, "add", "/messages", body, 200 if id in known else 201):
            known.add(id)
            self._record.acknowledged.add(id)

    async def _send(
        self, http: httpx.AsyncClient, what: str, path: str, body: dict[str, Any], expected: int
    ) -> bool:
        started = time.perf_counter()
        try:
            answer = await http.post(self._url + path, json=body)
        except httpx.HTTPError as error:
            self._record.failures[f"{what}: {type(error).__name__}"] += 1
            return False
        self._record.milliseconds[what].append((time.perf_counter() - started) * 1000)
        if answer.status_code != expected:
            self._record.failures[f"{what}: {answer.status_code}"] += 1
        return answer.status_code == expected


async def load(url: str, keys: list[str], seconds: float, record: Record, pid: int) -> list[float]:
    """Let all clients work, and note the server's resident memory each second."""
    until = time.monotonic() + seconds
    clients = [Client(number, url, key, record) for number, key in enumerate(keys)]
    tasks = [asyncio.create_task(client.run(until)) for client in clients]
    resident = []
    while not all(task.done() for task in tasks):
        resident.append(resident_mb(pid))
        await asyncio.sleep(1)
    await asyncio.gather(*tasks)
    return resident


def resident_mb(pid: int) -> float:
    """The resident memory of a process."""
    status = Path(f"/proc/{pid}/status").read_text("ascii")
    found = re.search(r"VmRSS:\s+(\d+)", status)
    return round(int(found[1]) / 1024, 1) if found else 0.0


def cpu_seconds(pid: int) -> float:
    """The processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def growth(resident: list[float]) -> float:
    """By how many megabytes a minute memory grows over the second half of the samples."""
    half = resident[len(resident) // 2 :]
    if len(half) < 2:
        return 0.0
    return round(statistics.linear_regression(range(len(half)), half).slope * 60, 2)


def start(db: str, auth: str | None, keys: Path, log: Path) -> tuple[subprocess.Popen[bytes], str]:
    """Start the server; its process and address.

    Its log goes to a file: a pipe that nobody reads fills up and stops the server.
    """
    command = [sys.executable, "-m", "cognigraph", "serve", "--db", db, "--keys", str(keys)]
    environment = os.environ | ({"COGNIGRAPH_AUTH": auth} if auth else {})
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [*command, "--port", "0", "--rate", "0"], stderr=sink, env=environment
        )
    until = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < until:
        if found := re.search(r"http://\S+(?=\s)", log.read_text("utf-8", "replace")):
            return process, found[0]
        time.sleep(0.1)
    process.kill()
    raise SystemExit(f"the server did not start:\n{log.read_text('utf-8', 'replace')}")


def measure(
    db: str,
    auth: str | None,
    clients: int,
    seconds: float,
    repeat: int,
    before: int,
    folder: Path,
    log: Path,
) -> dict[str, Any]:
    """Run the load and return the figures."""
    login = None if auth is None else (auth.split(":")[0], auth.partition(":")[2])
    with Memory(db, auth=login, enrich="manual") as memory:
        memory.admin.delete_space(SPACE)
        random = Random("warm-up")
        memory.space(SPACE).add_many(
            {"text": text(random), "id": f"w{n}", "session": f"w{n // 20}"} for n in range(before)
        )
        memory.space(SPACE).flush(600)
    keys = KeyFile(folder / "keys")
    texts = [keys.create(f"client-{n}", ["read", "write"], [SPACE]) for n in range(clients)]
    process, url = start(db, auth, keys.path, log)
    record = Record(repeat=repeat)
    try:
        httpx.get(f"{url}/health", timeout=120).raise_for_status()
        used = cpu_seconds(process.pid)
        resident = asyncio.run(load(url, texts, seconds, record, process.pid))
        used = cpu_seconds(process.pid) - used
    finally:
        process.terminate()
        code = process.wait(60)
    with Memory(db, auth=login, enrich="manual") as memory:
        space = memory.space(SPACE)
        stored, cursor = set[str](), None
        while page := space.messages(limit=1000, after=cursor):
            stored |= {message.id for message in page}
            cursor = page.cursor
        waiting, kind = space.stats().pending, memory.info.kind
        memory.admin.delete_space(SPACE)
    requests = sum(map(len, record.milliseconds.values()))
    return {
        "store": kind,
        "clients": clients,
        "seconds": seconds,
        "repeat": repeat,
        "requests": requests,
        "requests_per_second": round(requests / seconds, 1),
        "failures": dict(record.failures),
        "acknowledged": len(record.acknowledged),
        "lost": len(record.acknowledged - stored),
        "left_to_enrich": waiting,
        "exit_code": code,
        "cpu_ms_per_request": round(used / max(1, requests) * 1000, 2),
        "resident_mb": {"start": resident[0], "most": max(resident), "end": resident[-1]},
        "resident_mb_each_10_s": resident[::10],
        "growth_mb_per_minute": growth(resident),
        **{what: percentiles(taken, 1) for what, taken in record.milliseconds.items()},
    }


def main() -> None:
    """Parse the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--db", help="default: a new SQLite file")
    parser.add_argument("--auth", metavar="USER:PASSWORD")
    parser.add_argument("--neo4j", metavar="LINE", help="start a Neo4j of this line: 5.26 or 2026")
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--repeat", type=int, default=0, help="messages that each client repeats")
    parser.add_argument("--before", type=int, default=500, help="messages stored before")
    parser.add_argument("--out")
    parser.add_argument("--log", help="where the server writes its log (default: kept nowhere)")
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        db = given.db or str(Path(folder) / "memory.db")
        if given.neo4j:
            sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
            from tests.servers.neo4j_server import running_server

            db = stack.enter_context(running_server(given.neo4j)).uri
        load_of = (given.clients, given.seconds, given.repeat, given.before)
        log = Path(given.log or Path(folder) / "server.log")
        found = measure(db, given.auth, *load_of, Path(folder), log)
    write({**machine(), **found}, given.out)


if __name__ == "__main__":
    main()
