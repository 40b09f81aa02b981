"""A space to work in, and others beside it that have all names, ids and texts in common with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from inspect import isawaitable
from typing import Any

from cognigraph import Memory, Message, Space
from cognigraph.errors import CogniGraphError, ExtractionError
from cognigraph.ingest import Extraction, Window
from cognigraph.ingest.membuilder.extractor import MemBuilderExtractor
from cognigraph.ingest.rules.extractor import RulesExtractor
from cognigraph.llm import Prompt
from cognigraph.plain_data import plain
from cognigraph.testing import FrozenClock, ScriptedModel
from tests.contract.rounding import rounded

SECRET = "Zyxwvut"
NOW = "2026-08-01T09:00:00Z"
LATER = "2026-06-20T09:00:00Z"
TALK = [
    ("m0", "home", "Ann", "2026-02-01", "I live in Bergen with my sister Klara Berg."),
    ("m1", "home", "Ann", "2026-02-01", "I work at the Nordnes Fish Market."),
    ("m2", "home", "Ben", "2026-02-01", "Is the fish market far from your flat?"),
    ("m3", "oslo", "Ann", "2026-06-10", "I moved to Oslo last week."),
    ("m4", "oslo", "Ann", "2026-06-10", "I have a dog called Luna."),
    ("m5", "oslo", "Ben", "2026-06-10", "Clara Berg told me that you like jazz."),
    ("m6", "bike", "Ben", "2026-06-11", "My bike broke again, the chain this time."),
    ("m7", "bike", "Ann", "2026-06-11", "Take it to the repair cafe on Saturday."),
]
UNREADABLE = "This is unreadable."


class Reader(RulesExtractor):
    """The rules, which give up on one message, so that there are failures to list."""

    def extract(self, window: Window) -> Extraction:
        if any(UNREADABLE in chunk.text for chunk in window.chunks):
            raise ExtractionError("it cannot be read", retryable=False)
        return super().extract(window)


def written(prompt: Prompt) -> object:
    """What the writers of a profile and of procedures answer."""
    if prompt.name == "core":
        return {"operation": "APPEND", "content": "Works night shifts."}
    if prompt.name == "procedural":
        coffee = {"title": "Coffee", "context": "French press", "steps": ["grind", "press"]}
        return {"operations": [{"action": "ADD", **coffee, "turns": "1"}]}
    return {"operations": []}


def answered(prompt: Prompt) -> object:
    """What the model of a loop answers; it quotes what it was asked with, which is compared."""
    if prompt.name == "loop-answer":
        return {"answer": f"in Oslo ({len(prompt.user)} characters read)", "labels": ["C1"]}
    return {"reason": "", "action": "pass", "kept": [], "conflicts": [], "sufficient": True}


class World:
    """A store that is opened for a while, with what the calls need."""

    def __init__(self, location: dict[str, Any]) -> None:
        self.location = location

    def options(self) -> dict[str, Any]:
        """Arguments for a memory."""
        return self.location | {
            "enrich": "manual",
            "clock": FrozenClock(datetime(2026, 7, 1, tzinfo=UTC)),
            "extractor": Reader(),
            "model": ScriptedModel(answered),
        }

    def open(self, **options: Any) -> Memory:
        return Memory(**(self.options() | options))

    def snapshots(self, names: list[str]) -> Any:
        """All that can be seen of some spaces."""
        with self.open() as memory:
            return [snapshot(memory.space(name)) for name in names]


def fill(open_memory: Callable[..., Memory], name: str, *, more: str = "") -> None:
    """Store the talk in a space, with everything that a space can hold."""
    with open_memory(extractor=MemBuilderExtractor(ScriptedModel(written))) as memory:
        memory.space(name).add("I press my coffee.", id="w", session="coffee", speaker="Ann",
                               at="2026-01-05T07:00:00Z")  # fmt: skip
        memory.space(name).flush()
    with open_memory() as memory:
        space = memory.space(name)
        space.add_many(
            Message(text=text + more, id=id, session=session, speaker=speaker,
                    at=f"{day}T10:0{id[1]}:00Z", tags=["talk"])
            for id, session, speaker, day, text in TALK
        )  # fmt: skip
        space.add(UNREADABLE, id="bad", session="bad", speaker="Ann", at="2026-06-12T09:00:00Z")
        space.add("A note for a day.", id="short", session="bike", expires="2026-06-30T09:00:01Z",
                  at="2026-05-20T09:00:00Z")  # fmt: skip
        space.flush()


def fill_rival(open_memory: Callable[..., Memory], name: str) -> None:
    """Store the same in another space, then more like it, and let its users correct and forget."""
    fill(open_memory, name)
    with open_memory() as memory:
        space = memory.space(name)
        space.add_many(
            Message(text=f"{text} {SECRET} {number}.", id=f"{id}-{number}", session=session,
                    speaker=speaker, at=f"{day}T11:0{id[1]}:{number:02}Z")
            for number in range(8)
            for id, session, speaker, day, text in TALK
        )  # fmt: skip
        space.add_fact("Ann", "lives in", SECRET, id="f1", at=LATER)
        space.add_fact("Klara Berg", "is", "Clara Berg", id="f2", at=LATER)
        space.flush()
        triples = space.facts()
        space.review.retract(next(triple for triple in triples if "Oslo" in triple.text))
        space.review.supersede(
            *(next(o for o in triples if t in o.text) for t in ("Market", "Luna"))
        )
        space.review.merge("Ben", into="Ann")
        space.forget(message="m7")
        space.update("m6", f"My bike is {SECRET}.")
        space.add("This waits.", id="waits", session="home", at=LATER)


def snapshot(space: Space) -> Any:
    """All that can be seen of a space."""
    return settled(
        [space.stats(), list(space.messages(limit=1000)), space.facts(limit=1000),
         space.entities(limit=1000), space.overview.sessions(), space.review.merges(),
         space.queue.failures(), space.overview.core_profile(), space.overview.procedures(),
         space.review.conflicts()]
    )  # fmt: skip


DURATIONS = frozenset({"timings", "milliseconds", "seconds", "took", "embed_ms", "write_ms"})
"""Fields that say how long something took, which no two runs have in common."""

CURSORS = frozenset({"cursor", "next"})
"""They are sealed with the key of their file."""

SEALED = frozenset({"state"})
"""Fields that are for the store alone: the notes of a summariser in an export."""


def settled(value: Any) -> Any:
    """A result as plain data, without durations, and without the last digits of scores."""
    return rounded(_without(plain(value)))


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: _without(item) for name, item in value.items() if name not in DURATIONS | SEALED
        }
    return [_without(item) for item in value] if isinstance(value, list) else value


class Uid:
    """Stands for the uid of the first triple with a word in a table of arguments."""

    def __init__(self, word: str) -> None:
        self._word = word

    def of(self, space: Space) -> str:
        triples = sorted(space.facts(limit=1000), key=lambda fact: fact.uid)
        return next(triple.uid for triple in triples if self._word in triple.text)


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns, or the error that it raises."""
    try:
        return settled(call())
    except CogniGraphError as error:
        return f"{type(error).__name__}: {error}"


async def awaited_outcome(call: Callable[[], Any]) -> Any:
    """As :func:`outcome`; not every method of the asyncio classes is awaited."""
    try:
        result = call()
        return settled(await result if isawaitable(result) else result)
    except CogniGraphError as error:
        return f"{type(error).__name__}: {error}"


def assert_alike(alone: Sequence[Any], beside: Sequence[Any]) -> None:
    """Compare call by call; a failure names the calls and the values that differ."""
    assert len(alone) == len(beside)
    found = [
        f"{first[:-1]}: {difference}"
        for first, second in zip(alone, beside, strict=True)
        for difference in differences(first, second)
    ]
    assert not found, "\n".join(found[:20])
    assert SECRET not in str(beside)


def differences(first: Any, second: Any, path: str = "") -> Iterator[str]:
    """Where two values of plain data differ."""
    if isinstance(first, dict) and isinstance(second, dict) and first.keys() == second.keys():
        for name in sorted(first.keys() - CURSORS):
            yield from differences(first[name], second[name], f"{path}.{name}")
    elif isinstance(first, list | tuple) and len(first) == len(second):
        for index, pair in enumerate(zip(first, second, strict=True)):
            yield from differences(*pair, f"{path}[{index}]")
    elif first != second:
        yield f"{path}: {str(first)[:200]} alone, {str(second)[:200]} beside others"
