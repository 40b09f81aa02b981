"""Kill, starve and crowd both stores, and count what is lost, half stored or doubled.

python -m bench.torture --store sqlite|neo4j|URI --kills 200 --server-kills 20 --json FILE

It also kills imports, copies, backups, changes of the embedder and enrichment of a file
(``--operation-kills``): each is whole afterwards, or can be repeated.

``neo4j`` starts a server of its own, which alone can be killed (``--server-kills``); a URI names a
running one. Every trial adds turns of an endless conversation and notes each id when ``add`` or
``add_many`` has returned. Afterwards every noted turn must be there, whole and once, every queue
entry must be done, and the graph must be the one that an undisturbed run writes. Trials that need
a small or read-only file system use a tmpfs, which takes root on Linux; without it they are
reported as not run. The exit code is 1 if anything was lost, half stored, doubled or different.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

from bench.measure import machine, write
from cognigraph import EnrichSettings, Memory, Message, Settings, Space
from cognigraph.errors import CogniGraphError, EmbedderMismatchError
from cognigraph.testing import FrozenClock, HashEmbedder

DIMENSION = 128
START = datetime(2026, 5, 20, 9, tzinfo=UTC)
NAMES = ("Ann", "Ben", "Clara", "David", "Eva")
CITIES = ("Oslo", "Bergen", "Lisbon", "Kyoto", "Lima")
THINGS = ("kayak", "piano", "bicycle", "garden", "camera")
BATCH = 5
ENRICH_EVERY = 15
EVERYTHING = 1_000_000
READY = "ready"
OPERATIONS = ("restore", "copy_space", "backup", "reindex", "enrich")
FULL, FULL_TURNS = "full", 200

_processes = multiprocessing.get_context("forkserver")


def turn(number: int) -> Message:
    """Return turn ``number``; every seventh is long enough to be split."""
    city, thing = CITIES[number // 5 % 5], THINGS[number // 3 % 5]
    text = f"I moved to {city} in May 2023 and I bought a {thing}, word{number}."
    if number % 7 == 3:
        text += f" We visited {city} together and ate fish, word{number}." * 60
    return Message(
        text=text, id=f"m{number}", session=f"s{number // 20}", speaker=NAMES[number % 5],
        at=START + timedelta(minutes=number),
    )  # fmt: skip


def open_memory(location: str, **options: Any) -> Memory:
    """Open a memory with a small embedder and leases that end soon after a crash."""
    enrich = EnrichSettings(
        batch=8, lease=timedelta(seconds=1), retry_after=timedelta(milliseconds=1)
    )
    defaults = {
        "embedder": HashEmbedder(DIMENSION), "enrich": "manual",
        "settings": Settings(enrich=enrich),
    }  # fmt: skip
    return Memory(location, **(defaults | options))


@dataclass
class Outcome:
    """What a trial found. ``notes`` are figures that belong to one trial only."""

    acknowledged: int = 0
    lost: int = 0
    half: int = 0
    doubled: int = 0
    failed_checks: list[str] = field(default_factory=list)
    graph_equal: bool = True
    seconds: float = 0.0
    notes: dict[str, Any] = field(default_factory=dict)

    @property
    def good(self) -> bool:
        """Whether nothing was lost, half stored, doubled or different."""
        return (
            bool(self.acknowledged)
            and self.graph_equal
            and not (self.lost or self.half or self.doubled or self.failed_checks)
        )


# --- what a memory holds ---------------------------------------------------------------------


def graph(space: Space) -> dict[str, Any]:
    """Return everything that enrichment wrote, without what is specific to the space."""
    return {
        "triples": sorted(
            (
                t.subject, t.relation, t.object, str(t.when), t.first_observed, t.last_observed,
                sorted((source.id, source.session) for source in t.sources),
            )
            for t in space.facts(limit=EVERYTHING)
        ),
        "entities": sorted(
            (e.name, e.type, e.triples, e.mentions) for e in space.entities(limit=EVERYTHING)
        ),
        "sessions": sorted(
            (s.id, s.messages, s.keys, repr(s.themes))
            for s in space.overview.sessions(limit=EVERYTHING)
        ),
    }  # fmt: skip


def compare(memory: Memory, space: str, acknowledged: Iterable[int], reference: str) -> Outcome:
    """Compare a space with the turns that were acknowledged, and with an undisturbed run."""
    own, known = memory.space(space), set(acknowledged)
    own.flush(timeout=3600)
    stored = own.messages(limit=EVERYTHING)
    copies = Counter(message.id for message in stored)
    texts = {message.id: message.text for message in stored}
    half = [id for id, text in texts.items() if text != turn(int(id[1:])).text]
    bad = [check.name for check in memory.admin.check() if not check.ok and check.name != "disk"]
    stats = own.stats()
    if stats.pending or stats.failed or stats.leased:
        bad.append(f"{stats.pending} pending, {stats.failed} failed, {stats.leased} leased")
    calm = memory.space(reference)
    calm.add_many([turn(int(id[1:])) for id in sorted(texts, key=lambda id: int(id[1:]))])
    calm.flush(timeout=3600)
    return Outcome(
        acknowledged=len(known),
        lost=sum(f"m{number}" not in texts for number in known),
        half=len(half),
        doubled=sum(count > 1 for count in copies.values()),
        failed_checks=bad,
        graph_equal=graph(own) == graph(calm),
    )


# --- programs that are killed ----------------------------------------------------------------


def add_for_ever(location: str, space: str, first: int, tell: Connection) -> None:
    """Add turns one by one and in batches, enrich now and then, and tell what was acknowledged."""
    with open_memory(location) as memory:
        own, number = memory.space(space), first
        tell.send(READY)
        while True:
            if number % BATCH == 0:
                own.add_many([turn(number + n) for n in range(BATCH)])
                tell.send(list(range(number, number + BATCH)))
                number += BATCH
            else:
                said = turn(number)
                own.add(
                    said.text, id=said.id, session=said.session, speaker=said.speaker, at=said.at
                )
                tell.send([number])
                number += 1
            if number % ENRICH_EVERY == 0:
                own.queue.enrich()


def add_with_threads(
    location: str, space: str, numbers: list[int], threads: int, tell: Connection
) -> None:
    """Add turns from several threads of one process while a worker enriches them."""
    errors: list[str] = []
    with open_memory(location, enrich="background") as memory:
        own = memory.space(space)

        def add(part: list[int]) -> None:
            for number in part:
                try:
                    own.add_many([turn(number)])
                    tell_of(number)
                except CogniGraphError as error:
                    errors.append(f"{type(error).__name__}: {error}"[:200])

        lock = threading.Lock()

        def tell_of(number: int) -> None:
            with lock:
                tell.send([number])

        workers = [
            threading.Thread(target=add, args=(numbers[n::threads],)) for n in range(threads)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    tell.send(errors)
    tell.close()


@contextmanager
def child(program: Callable[..., None], *arguments: Any) -> Iterator[tuple[Any, Connection]]:
    """Run a program in a process of its own, which is killed at the latest at the end."""
    hear, tell = _processes.Pipe(duplex=False)
    process = _processes.Process(target=program, args=(*arguments, tell), daemon=True)
    process.start()
    tell.close()
    try:
        yield process, hear
    finally:
        process.kill()
        process.join()
        hear.close()


def heard(hear: Connection) -> Iterator[Any]:
    """Yield what a process has told until its end."""
    with suppress(EOFError, OSError):
        while True:
            yield hear.recv()


# --- trials ----------------------------------------------------------------------------------


def kill_clients(location: str, kills: int, seed: int = 20260520) -> Outcome:
    """Kill the process that adds and enriches; the next one repeats what was not acknowledged."""
    random, space = Random(seed), f"killed-{uuid4().hex[:8]}"
    acknowledged: set[int] = set()
    first = 0
    with open_memory(location) as memory:
        memory.space(space).stats()
        for _ in range(kills):
            with child(add_for_ever, location, space, first) as (process, hear):
                if hear.recv() != READY:
                    raise RuntimeError("the writer did not open the memory")
                # After a random number of acknowledgements: a busy machine is killed as far into
                # its work as a quiet one. The delay spreads the kills over the next add.
                told = [hear.recv() for _ in range(random.randint(0, 12))]
                time.sleep(random.uniform(0, 0.01))
                process.kill()
                told += heard(hear)
                new = [number for numbers in told for number in numbers]
            acknowledged.update(new)
            own = memory.space(space)
            missing = [number for number in new if own.get(f"m{number}") is None]
            if missing:
                print("lost at once:", missing, file=sys.stderr)
            first = max(acknowledged, default=-1) + 1
        found = compare(memory, space, acknowledged, f"calm-{space}")
    found.notes["kills"] = kills
    return found


def work(location: str, operation: str, name: str, folder: str, tell: Connection) -> None:
    """Do one long operation; tell when it begins, and at its end how many seconds it took."""
    with open_either(location) as memory:
        started = time.perf_counter()
        if operation == "enrich":  # it is killed after batches that have ended
            memory.space(name).queue.enrich(lambda step: tell.send(READY))
            tell.send(time.perf_counter() - started)
            return
        tell.send(READY)
        if operation == "restore":
            memory.space(name).files.load(Path(folder, "export.jsonl"))
        elif operation == "copy_space":
            memory.admin.copy_space(FULL, name)
        elif operation == "backup":
            memory.admin.backup(Path(folder, name))
        else:
            now = memory.info.embedder.dimension
            memory.admin.reindex(HashEmbedder(2 * DIMENSION if now == DIMENSION else DIMENSION))
        tell.send(time.perf_counter() - started)


def open_either(location: str) -> Memory:
    """Open a memory whose embedder an operation may have changed."""
    try:
        return open_memory(location)
    except EmbedderMismatchError:
        return open_memory(location, embedder=HashEmbedder(2 * DIMENSION))


def kill_operations(folder: Path, kills: int, seed: int = 24) -> Outcome:
    """Kill long operations: what was there stays, and each is whole, or is repeated."""
    random, location, found = Random(seed), str(folder / "operations.db"), Outcome(FULL_TURNS)
    with open_memory(location) as memory:
        full = memory.space(FULL)
        full.add_many([turn(number) for number in range(FULL_TURNS)])
        full.queue.enrich()
        full.files.export(folder / "export.jsonl", derived=True)
        expected = graph(full)
    takes: dict[str, float] = {}
    for number in range(-len(OPERATIONS), kills):  # the first of each is only timed
        operation = OPERATIONS[number % len(OPERATIONS)]
        name = f"{operation}{number}"
        if operation == "enrich":
            with open_either(location) as memory:
                memory.space(name).add_many([turn(each) for each in range(FULL_TURNS)])
        with child(work, location, operation, name, str(folder)) as (process, hear):
            hear.recv()
            if number >= 0:
                time.sleep(random.uniform(0, takes[operation]))
                process.kill()
            ended = [item for item in heard(hear) if item != READY]
            takes[operation] = min([*ended, takes.get(operation, EVERYTHING)])
        counts = found.notes.setdefault(operation, {"kills": 0, "unfinished": 0, "problems": 0})
        counts["kills"] += number >= 0
        counts["unfinished"] += not ended
        with open_either(location) as memory:
            bad = [
                c.name
                for c in memory.admin.check()
                if not c.ok and c.name not in ("disk", "imports")
            ]
            if graph(memory.space(FULL)) != expected:
                bad.append(f"{FULL} differs")
            bad += after(memory, operation, name, folder, bool(ended), expected)
        counts["problems"] += len(bad)
        found.failed_checks += [f"{name}: {item}" for item in bad]
    found.notes["kills"] = kills
    return found


def after(
    memory: Memory, operation: str, name: str, folder: Path, done: bool, expected: dict[str, Any]
) -> list[str]:
    """What is wrong after an operation was killed, or after it is repeated."""
    own, bad = memory.space(name), []
    if operation == "backup":
        copy = folder / name
        if done or copy.exists():
            with open_either(str(copy)) as copied:
                if graph(copied.space(FULL)) != expected:
                    bad.append("the backup is not whole")
        for part in folder.glob(f"{name}*"):
            part.unlink()
    elif operation == "reindex":
        if "m7" not in [hit.id for hit in memory.space(FULL).search(turn(7).text, k=5)]:
            bad.append("a message is not found")
    elif operation == "enrich":
        own.flush(timeout=3600)
        if graph(own) != expected:
            bad.append("the graph differs")
    else:
        if (done or name in memory.spaces()) and graph(own) != expected:
            bad.append("a part of the space looks whole")
        if name not in memory.spaces():
            if operation == "restore":
                own.files.load(folder / "export.jsonl")
            else:
                memory.admin.copy_space(FULL, name)
            if graph(own) != expected:
                bad.append("it is not whole after it was repeated")
    memory.admin.delete_space(name)
    return bad


def kill_server(start: Callable[[], Any], kills: int, seed: int = 7) -> Outcome:
    """Kill the Neo4j server under a client that adds and enriches; start it on the same data."""
    random, space = Random(seed), f"server-{uuid4().hex[:8]}"
    acknowledged: list[int] = []
    for _ in range(kills):
        with start() as server:
            writer = Writer(server.uri, space, len(acknowledged))
            writer.ready.wait(120)
            time.sleep(random.uniform(0.1, 2.0))
            os.kill(server.pid, signal.SIGKILL)
            acknowledged += writer.finish()
    with start() as server, open_memory(server.uri) as memory:
        found = compare(memory, space, acknowledged, f"calm-{space}")
    found.notes["kills"] = kills
    return found


class Writer:
    """A thread that adds and enriches until the store fails."""

    def __init__(self, location: str, space: str, first: int) -> None:
        self.ready = threading.Event()
        self._acknowledged: list[int] = []
        self._location, self._space, self._first = location, space, first
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with suppress(CogniGraphError), open_memory(self._location) as memory:
            own, number = memory.space(self._space), self._first
            while True:
                own.add_many([turn(number)])
                self._acknowledged.append(number)
                self.ready.set()
                number += 1
                if number % ENRICH_EVERY == 0:
                    own.queue.enrich()

    def finish(self) -> list[int]:
        """Wait for the end and return what was acknowledged."""
        self._thread.join(300)
        if self._thread.is_alive():
            raise RuntimeError("the writer hangs although the server is gone")
        return self._acknowledged


def crowd(location: str, processes: int = 8, threads: int = 8, turns: int = 400) -> Outcome:
    """Many processes with many threads add the same turns, each beginning somewhere else."""
    space = f"crowd-{uuid4().hex[:8]}"
    with open_memory(location) as memory:
        memory.space(space).stats()
        each = turns // processes
        shares = [
            [(n * each + k) % turns for k in range(2 * each)] for n in range(processes)
        ]  # every turn is added by two processes
        running = []
        for share in shares:
            hear, tell = _processes.Pipe(duplex=False)
            process = _processes.Process(
                target=add_with_threads, args=(location, space, share, threads, tell), daemon=True
            )
            process.start()
            tell.close()
            running.append((process, hear))
        told = [list(heard(hear)) for _, hear in running]
        for process, hear in running:
            process.join()
            hear.close()
        refused = [one for lists in told for item in lists for one in item if isinstance(one, str)]
        acknowledged = {n for lists in told for item in lists for n in item if isinstance(n, int)}
        found = compare(memory, space, acknowledged, f"calm-{space}")
    found.notes |= {"processes": processes, "threads": threads, "refused": len(refused)}
    return found


def step_clock(location: str, turns: int = 200, seed: int = 11) -> Outcome:
    """Move the clock forward and back by up to a day between adds and while leases are held."""
    random, clock, space = Random(seed), FrozenClock(START), f"clock-{uuid4().hex[:8]}"
    with open_memory(location, clock=clock) as memory:
        own = memory.space(space)
        for number in range(turns):
            own.add_many([turn(number)])
            clock.advance(timedelta(seconds=random.uniform(-86_400, 86_400)))
            if number % ENRICH_EVERY == 0:
                own.queue.enrich()
        found = compare(memory, space, range(turns), f"calm-{space}")
    found.notes["steps"] = turns
    return found


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """Mount a tmpfs of this size; raises ``PermissionError`` where that is not possible."""
    at = folder / f"disk-{uuid4().hex[:6]}"
    at.mkdir()
    if not mount("-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(at)):
        raise PermissionError("mounting a tmpfs takes root on Linux")
    try:
        yield at
    finally:
        subprocess.run(["umount", str(at)], check=False)


def mount(*arguments: str) -> bool:
    """Run ``mount``; return whether it worked."""
    try:
        return subprocess.run(["mount", *arguments], check=False).returncode == 0
    except OSError:
        return False


def fill_disk(folder: Path) -> Outcome:
    """Add until the disk is full, read what is there, make room, and go on."""
    with small_disk(folder, 5) as disk:
        acknowledged: list[int] = []
        refused = ""
        with open_memory(str(disk / "m.db")) as memory:
            own = memory.space("full")
            for number in range(3, 100_000, 7):  # the long ones
                try:
                    own.add_many([turn(number)])
                    acknowledged.append(number)
                except CogniGraphError as error:
                    refused = f"{type(error).__name__}: {error}"
                    break
            readable = own.search(turn(acknowledged[-1]).text, k=5)
            mount("-o", "remount,size=200m", str(disk))
            own.add_many([turn(number)])
            acknowledged.append(number)
            found = compare(memory, "full", acknowledged, "calm")
        found.notes |= {
            "refused_with": refused.replace(str(disk), "DISK")[:200],
            "searchable_while_full": bool(readable),
        }
        return found


def read_only_disk(folder: Path) -> Outcome:
    """Store, make the disk read-only, try to add, make it writable, and go on."""
    with small_disk(folder, 60) as disk:
        location, refused = str(disk / "m.db"), ""
        with open_memory(location) as memory:
            memory.space("x").add_many([turn(number) for number in range(40)])
        mount("-o", "remount,ro", str(disk))
        try:
            with open_memory(location) as memory:
                memory.space("x").add_many([turn(40)])
        except CogniGraphError as error:
            refused = f"{type(error).__name__}: {error}"
        mount("-o", "remount,rw", str(disk))
        with open_memory(location) as memory:
            memory.space("x").add_many([turn(41)])
            found = compare(memory, "x", [*range(40), 41], "calm")
        found.notes["refused_with"] = refused.replace(str(disk), "DISK")[:200]
        if not refused:
            found.failed_checks.append("an add on a read-only disk was acknowledged")
        return found


# --- the whole -------------------------------------------------------------------------------


def run(arguments: argparse.Namespace, folder: Path) -> dict[str, Outcome | str]:
    """Run every trial that applies to the store; a text says why one was not run."""
    results: dict[str, Outcome | str] = {}

    def trial(name: str, call: Callable[[], Outcome]) -> None:
        started = time.perf_counter()
        try:
            found = call()
        except PermissionError as error:
            results[name] = str(error)
            return
        found.seconds = round(time.perf_counter() - started, 1)
        results[name] = found
        print(f"{name}: {found}", file=sys.stderr, flush=True)

    def on(location: str) -> None:
        trial("client killed", lambda: kill_clients(location, arguments.kills))
        trial("crowd", lambda: crowd(location))
        trial("clock steps", lambda: step_clock(location))

    if arguments.store == "sqlite":
        on(str(folder / "m.db"))
        if arguments.operation_kills:
            kills = arguments.operation_kills
            trial("operation killed", lambda: kill_operations(folder, kills))
        trial("disk full", lambda: fill_disk(folder))
        trial("read-only disk", lambda: read_only_disk(folder))
    elif arguments.store == "neo4j":
        from tests.servers.neo4j_server import Sizes, running_server

        kept = Sizes(folder=folder / "server")
        with running_server("5.26", kept) as server:
            on(server.uri)
        if arguments.server_kills:
            kills = arguments.server_kills
            trial("server killed", lambda: kill_server(lambda: running_server("5.26", kept), kills))
    else:
        on(arguments.store)
    return results


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", default="sqlite")
    parser.add_argument("--kills", type=int, default=200, help="of the client")
    parser.add_argument("--server-kills", type=int, default=20, help="of a server started here")
    parser.add_argument(
        "--operation-kills", type=int, default=100, help="of an import, copy, backup and so on"
    )
    parser.add_argument("--json")
    arguments = parser.parse_args()
    _processes.set_forkserver_preload(["cognigraph", "cognigraph.testing"])
    with tempfile.TemporaryDirectory() as folder:
        results = run(arguments, Path(folder))
    trials = {
        name: found if isinstance(found, str) else {**vars(found)}
        for name, found in results.items()
    }
    store = "neo4j" if "://" in arguments.store else arguments.store
    write({"store": store, "trials": trials, "machine": machine()}, arguments.json)
    return int(any(isinstance(found, Outcome) and not found.good for found in results.values()))


if __name__ == "__main__":
    sys.exit(main())
