"""Many clients of `cognigraph serve` at once: latency, memory, errors and lost messages.

    python -m bench.serve --out bench/results/serve-sqlite.json
    python -m bench.serve --neo4j 5.26 --out bench/results/serve-neo4j.json
    python -m bench.serve --spaces 10000 --minutes 30 --pause 5 --greedy 32 --model-seconds 3 \\
        --calls 16 --out bench/results/serve-many-sqlite.json

The server runs as a process of its own, and so do the clients, which are tasks of one event loop,
each with a key and a connection. Each waits for its answer, pauses for ``--pause`` seconds on
average (0: not at all) and sends the next request: half of them add a message, half search. With
``--spaces`` each client acts for its share of the spaces, a random one for each request, and its
key opens these alone. Every message that was acknowledged must be in the store at the end. The
resident memory of the server is noted every ten seconds: ``growth_mb_per_minute`` is its slope over
the second half. With ``--repeat 20`` each client adds the same 20 messages again and again, so that
the data do not grow and memory must not either.

``--greedy N`` adds one client that sends N requests at once without a pause, with one key, in the
second third of the time: ``fairness`` compares what the others see then and before and after. With
``--model-seconds`` messages are read by a model behind the real client: a server on loopback that
takes about so many seconds for an answer. Without it, rules read them in the server. An operator
asks each ten seconds for the metrics and the list of spaces.

On a machine with other work compare ``cpu_ms_per_request``, not the latencies; ``load_average`` is
that of the machine. ``--neo4j`` starts a server of that line for the load, as the tests do.
``--db`` and ``--auth`` name a store for this purpose alone, which keeps its spaces: where they hold
messages already, none are stored before.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import re
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import httpx

from bench.measure import machine, percentiles, write
from cognigraph import FlushTimeout, Memory
from cognigraph.server.access import KeyFile
from tests.servers.model_server import Exchange, ModelServer, good

PEOPLE = ("Ann", "Ben", "Cid", "Dora", "Emil", "Frida", "Georg", "Hanna")
PLACES = ("Oslo", "Bergen", "Hamar", "Narvik", "Bodo", "Skien", "Moss", "Molde")
THINGS = "ferry garden letter recipe concert bridge camera ticket village mountain".split()
EVERY = 10.0
"""Seconds between two looks at the server."""


def text(random: Random) -> str:
    """A message that names a person, a place and a thing."""
    person, place, thing = (random.choice(names) for names in (PEOPLE, PLACES, THINGS))
    number = random.randrange(1_000_000)
    return f"My friend {person} moved to {place} and told me of the {thing} number {number}."


def question(random: Random) -> str:
    """A question about the same."""
    person, place, thing = (random.choice(names) for names in (PEOPLE, PLACES, THINGS))
    return f"Who of us in {place} knows {person} and the {thing}?"


def space_name(number: int) -> str:
    """The name of a space."""
    return f"user-{number}"


# The clients


class Sent(NamedTuple):
    """A request: seconds since the beginning, what it was and of whom, and its milliseconds."""

    at: float
    what: str
    by: str
    milliseconds: float


@dataclass(frozen=True)
class Plan:
    """What the clients do. Times are in seconds; a client has ``keys[i]`` and ``spaces[i]``."""

    url: str
    keys: list[str]
    spaces: list[list[str]]
    operator: str
    run: str
    seconds: float
    pause: float
    repeat: int
    greedy_key: str | None
    greedy_requests: int

    @property
    def greedy_time(self) -> tuple[float, float]:
        """When the greedy client sends: the second third."""
        return self.seconds / 3, self.seconds * 2 / 3


@dataclass
class Record:
    """What the clients saw; ``acknowledged`` has the ids of messages by space."""

    sent: list[Sent] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)
    acknowledged: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    queue: list[tuple[float, float]] = field(default_factory=list)


_TLS = ssl.create_default_context()
"""For all clients, because it takes long to make and none of them needs it."""


class Client:
    """Sends a request when the one before is answered."""

    def __init__(self, plan: Plan, record: Record, name: str, key: str, spaces: list[str]) -> None:
        self._plan, self._record, self._name, self._spaces = plan, record, name, spaces
        self._by = "greedy" if name.startswith("greedy") else "client"
        self._random = Random(name)
        limits = httpx.Limits(max_connections=1)
        headers = {"Authorization": f"Bearer {key}"}
        self._http = httpx.AsyncClient(headers=headers, timeout=120, limits=limits, verify=_TLS)
        self._known = set[str]()

    async def run(self, started: float, begin: float, end: float, pause: float) -> None:
        """Send requests from one time to another, in seconds since the start."""
        self._started = started
        first = self._random.uniform(0, pause)
        await asyncio.sleep(max(0.0, started + begin + first - time.monotonic()))
        count = 0
        while time.monotonic() < started + end:
            count += 1
            space = self._random.choice(self._spaces)
            if self._random.random() < 0.5:
                await self._add(space, count)
            else:
                body = {"question": question(self._random), "k": 10}
                await self._send(space, "search", body, 200)
            if pause:
                await asyncio.sleep(self._random.expovariate(1 / pause))
        await self._http.aclose()

    async def _add(self, space: str, count: int) -> None:
        repeat = self._plan.repeat
        id = f"{self._name}-{count % repeat if repeat else f'{self._plan.run}-{count}'}"
        body = {"id": id, "session": self._name, "speaker": "Ann", "text": text(Random(id))}
        expected = 200 if f"{space} {id}" in self._known else 201
        if await self._send(space, "add", body, expected):
            self._known.add(f"{space} {id}")
            self._record.acknowledged[space].add(id)

    async def _send(self, space: str, what: str, body: dict[str, Any], expected: int) -> bool:
        path = {"add": "messages", "search": "search"}[what]
        begun = time.perf_counter()
        try:
            answer = await self._http.post(f"{self._plan.url}/v1/spaces/{space}/{path}", json=body)
        except httpx.HTTPError as error:
            self._record.failures[f"{self._by} {what}: {type(error).__name__}"] += 1
            return False
        taken = (time.perf_counter() - begun) * 1000
        at = time.monotonic() - self._started
        self._record.sent.append(Sent(round(at, 2), what, self._by, round(taken, 1)))
        if answer.status_code != expected:
            self._record.failures[f"{self._by} {what}: {answer.status_code}"] += 1
        return answer.status_code == expected


_QUEUE = re.compile(r"^cognigraph_queue (\S+)", re.MULTILINE)


async def operate(plan: Plan, record: Record, started: float) -> None:
    """Ask for the metrics and the list of spaces, every ten seconds."""
    headers = {"Authorization": f"Bearer {plan.operator}"}
    async with httpx.AsyncClient(base_url=plan.url, headers=headers, timeout=120) as http:
        while (at := time.monotonic() - started) < plan.seconds:
            for what, path in (("metrics", "/metrics"), ("list spaces", "/v1/spaces")):
                begun = time.perf_counter()
                try:
                    answer = (await http.get(path)).raise_for_status()
                except httpx.HTTPError as error:
                    record.failures[f"operator {what}: {type(error).__name__}"] += 1
                    continue
                taken = (time.perf_counter() - begun) * 1000
                record.sent.append(Sent(round(at, 2), what, "operator", round(taken, 1)))
                if counted := _QUEUE.search(answer.text):
                    record.queue.append((round(at, 1), float(counted[1])))
            await asyncio.sleep(max(0.0, started + at + EVERY - time.monotonic()))


def run_clients(plan: Plan) -> Record:
    """Let all clients work; called in a process of their own."""
    record = Record()

    async def work() -> None:
        clients = [
            Client(plan, record, f"c{number}", *of)
            for number, of in enumerate(zip(plan.keys, plan.spaces, strict=True))
        ]
        greedy = [
            Client(plan, record, f"greedy-{number}", plan.greedy_key or "", ["greedy"])
            for number in range(plan.greedy_requests)
        ]
        started = time.monotonic()
        await asyncio.gather(
            operate(plan, record, started),
            *(client.run(started, 0.0, plan.seconds, plan.pause) for client in clients),
            *(client.run(started, *plan.greedy_time, 0.0) for client in greedy),
        )

    asyncio.run(work())
    return record


# The model


_TURN = re.compile(r"^\[(\d+)\][^\n]*?My friend (\w+) moved to (\w+)", re.MULTILINE)


def read_turns(messages: list[dict[str, str]]) -> dict[str, Any]:
    """What a model would read out of the turns of a prompt: who moved where."""
    turns = _TURN.findall(messages[1]["content"])
    names = [f"{person} | person" for _, person, _ in turns]
    names += [f"{place} | location" for *_, place in turns]
    return {
        "entities": list(dict.fromkeys(names)),
        "facts": [f"{number} | {person} | moved to | {place}" for number, person, place in turns],
        "keys": sorted({place for *_, place in turns}),
        "themes": [],
    }


def slow(seconds: float) -> Callable[[Exchange], None]:
    """Answer after half to one and a half times so many seconds."""
    random, answer = Random("model"), good(read_turns)

    def behave(exchange: Exchange) -> None:
        exchange.closing.wait(random.uniform(0.5, 1.5) * seconds)
        answer(exchange)

    return behave


# The server


class Server:
    """A server in a process of its own.

    Its log goes to a file: a pipe that nobody reads fills up and stops the server.
    """

    def __init__(
        self, store: Store, keys: Path, log: Path, model: str | None = None, calls: int = 1
    ) -> None:
        command = [sys.executable, "-m", "cognigraph", "serve", "--db", store.db]
        command += ["--keys", str(keys), "--calls", str(calls)]
        environment = os.environ | ({"COGNIGRAPH_AUTH": store.auth} if store.auth else {})
        if model is not None:
            command += ["--extractor", "openai"]
            environment |= {"OPENAI_BASE_URL": model, "COGNIGRAPH_MODEL": "slow"}
        started = time.perf_counter()
        with log.open("wb") as sink:
            self.process = subprocess.Popen(
                [*command, "--port", "0", "--rate", "0"], stderr=sink, env=environment
            )
        self.url = self._address(log)
        self._wait_for("health")
        self.seconds_to_answer = round(time.perf_counter() - started, 2)
        self._wait_for("ready")
        self.seconds_to_be_ready = round(time.perf_counter() - started, 2)

    def _address(self, log: Path) -> str:
        until = time.monotonic() + 120
        while self.process.poll() is None and time.monotonic() < until:
            if address := re.search(r"http://\S+(?=\s)", log.read_text("utf-8", "replace")):
                return address[0]
            time.sleep(0.02)
        self.process.kill()
        raise SystemExit(f"the server did not start:\n{log.read_text('utf-8', 'replace')}")

    def _wait_for(self, path: str) -> None:
        until = time.monotonic() + 300
        while httpx.get(f"{self.url}/{path}", timeout=300).status_code != 200:
            if time.monotonic() > until:
                self.process.kill()
                raise SystemExit(f"the server did not say that it is fine at /{path}")
            time.sleep(0.02)

    def stop(self) -> int:
        """End it as an operator does; its exit code."""
        self.process.terminate()
        return self.process.wait(120)

    def resident_mb(self) -> float:
        """The resident memory of the process."""
        status = Path(f"/proc/{self.process.pid}/status").read_text("ascii")
        resident = re.search(r"VmRSS:\s+(\d+)", status)
        return round(int(resident[1]) / 1024, 1) if resident else 0.0

    def open_files(self) -> int:
        """How many files and connections it has open."""
        return sum(1 for _ in Path(f"/proc/{self.process.pid}/fd").iterdir())

    def threads(self) -> int:
        """How many threads it has."""
        return sum(1 for _ in Path(f"/proc/{self.process.pid}/task").iterdir())

    def cpu_seconds(self) -> float:
        """The processor time that it has used."""
        stat = Path(f"/proc/{self.process.pid}/stat").read_text("ascii").rpartition(")")[2].split()
        return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")


class Look(NamedTuple):
    """The server at one time."""

    resident_mb: float
    open_files: int
    threads: int
    load_average: float


def watch(server: Server, clients: Future[Record]) -> list[Look]:
    """Look at the server every ten seconds until the clients have ended."""
    looks: list[Look] = []
    started = time.monotonic()
    while not clients.done():
        load = round(os.getloadavg()[0], 1)
        looks.append(Look(server.resident_mb(), server.open_files(), server.threads(), load))
        due = started + len(looks) * EVERY
        while not clients.done() and time.monotonic() < due:
            time.sleep(0.1)
    return looks


def growth(resident: list[float]) -> float:
    """By how many megabytes a minute memory grows over the second half of the samples."""
    half = resident[len(resident) // 2 :]
    if len(half) < 2:
        return 0.0
    return round(statistics.linear_regression(range(len(half)), half).slope * 60 / EVERY, 2)


# The run


class Store:
    """The store that is served, opened by itself before and after."""

    def __init__(self, db: str, auth: str | None) -> None:
        self.db, self.auth = db, auth

    def opened(self) -> Memory:
        """The store as a memory."""
        login = None if self.auth is None else (self.auth.split(":")[0], self.auth.split(":", 1)[1])
        return Memory(self.db, auth=login, enrich="manual")

    def fill(self, spaces: int, before: int, seconds: float) -> tuple[int, float]:
        """Store messages in each space, for so many seconds at most; how many spaces, and how long.

        Rules read them, as far as there is time.
        """
        started = time.monotonic()
        with self.opened() as memory:
            present = set(memory.spaces())
            for number in range(spaces):
                if time.monotonic() - started > seconds:
                    spaces = number
                    break
                if space_name(number) not in present:
                    memory.space(space_name(number)).add_many(_first_messages(number, before))
            with suppress(FlushTimeout):
                memory.flush(max(0.0, started + seconds - time.monotonic()))
        return spaces, round(time.monotonic() - started, 1)

    def lost(self, acknowledged: dict[str, set[str]]) -> tuple[int, int, str]:
        """How many acknowledged messages are not stored, how many wait, and the kind of store."""
        with self.opened() as memory:
            lost = 0
            for name, ids in acknowledged.items():
                space, stored, cursor = memory.space(name), set[str](), None
                while page := space.messages(limit=1000, after=cursor):
                    stored |= {message.id for message in page}
                    cursor = page.cursor
                lost += len(ids - stored)
            return lost, memory.admin.waiting(), memory.info.kind


def _first_messages(number: int, count: int) -> Iterator[dict[str, str]]:
    random = Random(number)
    for at in range(count):
        yield {"text": text(random), "id": f"w{at}", "session": f"w{at // 20}", "speaker": "Ann"}


def plan_of(given: argparse.Namespace, spaces: int, url: str, keys: KeyFile) -> Plan:
    """Make the keys, and the plan of the clients."""
    names = [space_name(number) for number in range(spaces)]
    shares = [names[number :: given.clients] or names for number in range(given.clients)]
    if spaces < given.clients:
        shares = [names] * given.clients
    made = [
        keys.create(f"client-{number}", ["read", "write"], share)
        for number, share in enumerate(shares)
    ]
    greedy = keys.create("greedy", ["read", "write"], ["greedy"]) if given.greedy else None
    return Plan(
        url=url, keys=made, spaces=shares, operator=keys.create("operator", ["admin"], None),
        run=f"{int(time.time()):x}", seconds=given.minutes * 60, pause=given.pause,
        repeat=given.repeat, greedy_key=greedy, greedy_requests=given.greedy,
    )  # fmt: skip


def measure(given: argparse.Namespace, store: Store, folder: Path) -> dict[str, Any]:
    """Run the load and return the figures."""
    log = Path(given.log or folder / "server.log")
    spaces, filled_in = store.fill(given.spaces, given.before, given.fill_minutes * 60)
    keys = KeyFile(folder / "keys")
    with ExitStack() as stack:
        model = None
        if given.model_seconds:
            model = stack.enter_context(ModelServer(slow(given.model_seconds)))
        server = Server(store, keys.path, log, model and model.url, given.calls)
        try:
            plan = plan_of(given, spaces, server.url, keys)
            spawning = multiprocessing.get_context("spawn")
            pool = stack.enter_context(ProcessPoolExecutor(1, mp_context=spawning))
            used = server.cpu_seconds()
            clients = pool.submit(run_clients, plan)
            looks = watch(server, clients)
            used = server.cpu_seconds() - used
            record = clients.result()
        finally:
            code = server.stop()
        calls = 0 if model is None else model.calls
    again = Server(store, keys.path, folder / "again.log")
    again.stop()
    lost, waiting, kind = store.lost(record.acknowledged)
    mine = [sent for sent in record.sent if sent.by != "operator"]
    resident = [look.resident_mb for look in looks]
    return {
        "store": kind,
        "clients": given.clients,
        "spaces": spaces,
        "messages_before": given.before,
        "filled_in_seconds": filled_in,
        "seconds": plan.seconds,
        "pause_seconds": given.pause,
        "repeat": given.repeat,
        "seconds_to_start": {
            "answers": again.seconds_to_answer,
            "ready": again.seconds_to_be_ready,
        },
        "requests": len(mine),
        "requests_per_second": round(len(mine) / plan.seconds, 1),
        "failures": dict(record.failures),
        "acknowledged": sum(map(len, record.acknowledged.values())),
        "lost": lost,
        "left_to_enrich": waiting,
        "model": None
        if model is None
        else {"seconds": given.model_seconds, "at_once": given.calls, "calls": calls},
        "exit_code": code,
        "cpu_ms_per_request": round(used / max(1, len(mine)) * 1000, 2),
        "load_average": _spread(look.load_average for look in looks),
        "open_files": max(look.open_files for look in looks),
        "threads": max(look.threads for look in looks),
        "resident_mb": {"start": resident[0], "most": max(resident), "end": resident[-1]},
        "resident_mb_each_10_s": resident,
        "growth_mb_per_minute": growth(resident),
        "queue_each_10_s": [count for _, count in record.queue],
        **_times(sent for sent in mine if sent.by == "client"),
        "operator": _times(sent for sent in record.sent if sent.by == "operator"),
        "fairness": fairness(plan, mine) if plan.greedy_key is not None else None,
        "by_minute": by_minute(mine),
    }


def _spread(values: Iterable[float]) -> dict[str, float]:
    each = list(values)
    return {"least": min(each), "mean": round(statistics.fmean(each), 1), "most": max(each)}


def _times(sent: Iterable[Sent]) -> dict[str, dict[str, float]]:
    """Percentiles of what was sent, by what it was."""
    taken: dict[str, list[float]] = defaultdict(list)
    for request in sent:
        taken[request.what].append(request.milliseconds)
    return {what: percentiles(times, 1) for what, times in taken.items() if len(times) > 1}


def fairness(plan: Plan, sent: list[Sent]) -> dict[str, Any]:
    """What the clients see beside the greedy one and without it, and its share of the answers."""
    begin, end = plan.greedy_time
    beside = [request for request in sent if begin <= request.at < end]
    client = [request for request in sent if request.by == "client"]
    alone = [request for request in client if not begin <= request.at < end + EVERY]
    greedy = [request for request in beside if request.by == "greedy"]
    others = [request for request in client if begin <= request.at < end]
    return {
        "greedy_requests_at_once": plan.greedy_requests,
        "greedy_share": round(len(greedy) / max(1, len(beside)), 3),
        "greedy_per_second": round(len(greedy) / (end - begin), 1),
        "greedy": _times(greedy),
        "others_per_second": {
            "alone": round(len(alone) / (plan.seconds - (end - begin) - EVERY), 1),
            "beside": round(len(others) / (end - begin), 1),
        },
        "alone": _times(alone),
        "beside": _times(others),
    }


def by_minute(sent: list[Sent]) -> list[dict[str, Any]]:
    """Percentiles of each minute of the well-behaved clients, and the greedy one's requests."""
    minutes: dict[int, list[Sent]] = defaultdict(list)
    for request in sent:
        minutes[int(request.at // 60)].append(request)
    return [
        {
            "minute": minute,
            "greedy": sum(request.by == "greedy" for request in minutes[minute]),
            **_times(request for request in minutes[minute] if request.by == "client"),
        }
        for minute in sorted(minutes)
    ]


def main() -> None:
    """Parse the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--db", help="default: a new SQLite file")
    parser.add_argument("--auth", metavar="USER:PASSWORD")
    parser.add_argument("--neo4j", metavar="LINE", help="start a Neo4j of this line: 5.26 or 2026")
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--spaces", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--pause", type=float, default=0, help="seconds between two requests")
    parser.add_argument("--greedy", type=int, default=0, help="requests at once of a greedy key")
    parser.add_argument("--model-seconds", type=float, default=0, help="time of a model's answer")
    parser.add_argument("--calls", type=int, default=1, help="calls of the model at once")
    parser.add_argument("--repeat", type=int, default=0, help="messages that each client repeats")
    parser.add_argument("--before", type=int, default=500, help="messages stored in each space")
    parser.add_argument("--fill-minutes", type=float, default=60, help="for these, at most")
    parser.add_argument("--out")
    parser.add_argument("--log", help="where the server writes its log (default: kept nowhere)")
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        db = given.db or str(folder / "memory.db")
        if given.neo4j:
            from tests.servers.neo4j_server import running_server

            db = stack.enter_context(running_server(given.neo4j)).uri
        result = measure(given, Store(db, given.auth), folder)
    write({**machine(), **result}, given.out)


if __name__ == "__main__":
    main()
