"""What is lost when the model fails, when the process is killed, and when five write at once.

Only messages that state a fact are used, so that every memory has something to keep of each.
``lost`` are messages whose ``add`` returned and of which nothing is kept at the end; a refused
message is the caller's to send again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from random import Random
from typing import Any

from bench.peers import driver, scoring
from bench.peers.catalog import WRITERS, Memory, Variant
from bench.peers.driver import Limit, OverTimeError, Peer, PeerDiedError, PeerError
from bench.peers.measures import Bench

ADD_TIMEOUT = 120
OPEN_TIMEOUT = 240
SHARED = "trials"
"""The folder of all trials in which no process is killed."""
KILLS = 4
EACH = 4
"""Messages of each writer."""

Message = dict[str, Any]
Start = Callable[[str], Peer]
"""Starts the memory in the folder of this name."""
Outcome = dict[str, Any]


def run(bench: Bench, memory: Memory, variant: Variant, add_ms: float, limit: Limit) -> Outcome:
    """Run all trials that apply, each within ``limit``; an ``add`` takes ``add_ms``."""
    stating = _stating(bench)

    def start(name: str) -> Peer:
        return bench.peer(memory, variant, name, limit)

    trials: dict[str, Callable[[Peer], Outcome]] = {
        "embedder_fails": lambda peer: _failing(bench, peer, stating, "embeddings"),
        "delivered_twice": lambda peer: _twice(peer, stating),
        "five_threads": lambda peer: _threads(peer, stating),
    }
    if variant.model:
        model_fails = partial(_failing, bench, messages=stating, what="chat/completions")
        trials = {"model_fails": model_fails, **trials}
    results = in_one_process(start, trials, limit)
    if variant.lasting:
        results["killed"] = limited(lambda: _killed(start, stating, add_ms), limit)
        results["five_processes"] = limited(lambda: _processes(start, stating), limit)
    return results


def in_one_process(
    start: Start, trials: Mapping[str, Callable[[Peer], Outcome]], limit: Limit
) -> Outcome:
    """Run trials one after another in one process, or in a further one after a trial was stopped.

    A process whose trial was stopped is still busy with it and therefore killed.
    """
    waiting = dict(trials)
    results: Outcome = {}
    while waiting:
        with start(SHARED) as peer:
            limit.begin()
            try:
                peer.open()
            except (PeerError, PeerDiedError, OverTimeError) as error:
                if not results:
                    raise
                return results | {name: {"unusable": str(error)[:300]} for name in waiting}
            results |= _until_one_is_stopped(peer, waiting, limit)
    return results


def _until_one_is_stopped(
    peer: Peer, waiting: dict[str, Callable[[Peer], Outcome]], limit: Limit
) -> Outcome:
    """Run trials and take them off ``waiting``; close the memory after the last."""
    results: Outcome = {}
    while waiting:
        name = next(iter(waiting))
        results[name] = limited(partial(waiting.pop(name), peer), limit)
        if "stopped_after_s" in results[name]:
            return results
    limit.begin()
    with suppress(PeerError, PeerDiedError, OverTimeError):
        peer.close()
    return results


def limited(trial: Callable[[], Outcome], limit: Limit) -> Outcome:
    """Run a trial; say so if it takes too long, or if the memory does not work any more."""
    limit.begin()
    try:
        return trial()
    except OverTimeError:
        return {"stopped_after_s": limit.seconds}
    except (PeerError, PeerDiedError) as error:
        return {"unusable": str(error)[:300]}


def _stating(bench: Bench) -> list[Message]:
    """Return the messages of the first conversation that state a fact."""
    first = bench.conversations[0]
    facts = first.facts()
    return [message for message in first.messages if facts[message["id"]]]


def _failing(bench: Bench, peer: Peer, messages: Sequence[Message], what: str) -> dict[str, Any]:
    """Add messages before, while and after the endpoint answers with 500."""
    space = f"trial-{what.partition('/')[0]}-fails"
    tried = Attempts(messages)
    try:
        for number, message in enumerate(messages[:12]):
            bench.stub.failing = {what} if 4 <= number < 8 else set()
            tried.add(peer, space, message)
            if number == 7:  # what works in the background fails, too
                with suppress(PeerError):
                    peer.ask("settle", space=space, seconds=5)
    finally:
        bench.stub.failing = set()
    return tried.outcome(peer, space)


def _twice(peer: Peer, messages: Sequence[Message]) -> dict[str, Any]:
    """Deliver each message twice, as a queue does after a lost acknowledgement."""
    space, tried = "trial-twice", Attempts(messages)
    for message in [*messages[:6], *messages[:6]]:
        tried.add(peer, space, message)
    return tried.outcome(peer, space)


def _threads(peer: Peer, messages: Sequence[Message]) -> dict[str, Any]:
    """Five threads (or tasks) of one process add at the same time, four times."""
    space, tried = "trial-threads", Attempts(messages)
    for first in range(0, min(WRITERS * EACH, len(messages)), WRITERS):
        batch = messages[first : first + WRITERS]
        tried.errors += peer.ask("add_at_once", ADD_TIMEOUT * 2, space=space, messages=batch).result
        tried.acknowledged |= {message["id"] for message in batch}
    found = tried.outcome(peer, space)
    # Errors do not say which message they are about, so refusals are taken off what is missing.
    refused = len(tried.errors)
    found["acknowledged"] -= refused
    found["refused"] = refused
    found["lost"] = max(0, found["lost"] - refused)
    return found


def _killed(start: Start, messages: Sequence[Message], add_ms: float) -> dict[str, Any]:
    """Kill the process in the middle of an ``add``, open again, and deliver that message again."""
    space, tried, random = "trial-killed", Attempts(messages), Random(7)
    waiting, opened = list(messages[: KILLS * 4]), []
    for _ in range(min(KILLS, len(waiting) // 4)):
        with start("killed") as peer:
            opened.append(peer.open())
            for _ in range(3):
                tried.add(peer, space, waiting.pop(0))
            peer.send("add", space=space, message=waiting[0])
            driver.wait_a_moment(random.uniform(0.1, 0.9) * add_ms / 1000)
            peer.kill()
        # The message in progress is the first one that the next process gets.
    with start("killed") as peer:
        opened.append(peer.open())
        while waiting:
            tried.add(peer, space, waiting.pop(0))
        slowest = round(max(opened), 2)
        return tried.outcome(peer, space) | {"kills": len(opened) - 1, "open_s": slowest}


def _processes(start: Start, messages: Sequence[Message]) -> dict[str, Any]:
    """Five processes open the same memory and add at the same time."""
    space, tried, unopened = "trial-processes", Attempts(messages), []
    with ExitStack() as stack:
        peers = [stack.enter_context(start(SHARED)) for _ in range(WRITERS)]
        for peer in peers:
            peer.send("open", settings=peer.settings)
        ready = []
        for peer in peers:
            try:
                peer.receive(OPEN_TIMEOUT)
                ready.append(peer)
            except (PeerError, PeerDiedError) as error:
                unopened.append(str(error)[:200])
        parts = [messages[n * EACH : (n + 1) * EACH] for n in range(len(ready))]
        for peer, part in zip(ready, parts, strict=True):
            for message in part:
                peer.send("add", space=space, message=message)
        for peer, part in zip(ready, parts, strict=True):
            for message in part:
                tried.note(message["id"], partial(peer.receive, ADD_TIMEOUT))
        for peer in ready:
            with suppress(PeerError, PeerDiedError):
                peer.close()
    with start(SHARED) as peer:
        peer.open()
        return tried.outcome(peer, space) | {"could_not_open": len(unopened), "why": unopened[:1]}


class Attempts:
    """Which messages were acknowledged and which were refused."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._texts = {message["id"]: message["text"] for message in messages}
        self.acknowledged: set[str] = set()
        self.refused: set[str] = set()
        self.errors: list[str] = []

    def add(self, peer: Peer, space: str, message: Message) -> None:
        """Add one message and note what came of it."""
        self.note(message["id"], lambda: peer.ask("add", ADD_TIMEOUT, space=space, message=message))

    def note(self, id: str, call: Callable[[], Any]) -> None:
        """Note whether a call succeeds."""
        try:
            call()
            self.acknowledged.add(id)
        except (PeerError, PeerDiedError) as error:
            self.errors.append(str(error)[:200])
            self.refused.add(id)

    def outcome(self, peer: Peer, space: str) -> dict[str, Any]:
        """Wait for background work, ask what is stored, and compare."""
        with suppress(PeerError):
            peer.ask("settle", space=space, seconds=120)
        stored = peer.ask("stored", space=space).result
        if "texts" in stored:
            stored["ids"] = [
                id for text in stored["texts"] for id in scoring.contained(text, self._texts)
            ]
        refused = self.refused - self.acknowledged
        found: dict[str, Any] = scoring.kept(stored["ids"], self.acknowledged, refused)
        if "names" in stored:
            names = Counter(name.casefold() for name in stored["names"])
            found["surplus_entities"] = sum(count - 1 for count in names.values())
        if stored.get("pending"):
            found["pending"] = stored["pending"]
        if self.errors:
            found["error"] = self.errors[0]
        return found
