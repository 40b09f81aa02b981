"""The sync and the async face: the same operations, and every type of theirs is public."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import typing
from collections.abc import AsyncIterable, Callable, Iterator
from types import UnionType
from typing import Any

import pytest

import cognigraph
from cognigraph import AsyncMemory, AsyncSpace, Memory, Space, StoreError
from cognigraph.aio import AsyncAdmin, AsyncFiles, AsyncOverview, AsyncQueue, AsyncReview
from cognigraph.memory import Admin
from cognigraph.operations.files import Files
from cognigraph.operations.overview import Overview
from cognigraph.operations.queue import Queue
from cognigraph.operations.review import Review
from tests.cases import each
from tests.operations import (
    GROUPS,
    bound,
    groups,
    operations,
    own_operations,
    parameters,
    properties,
)
from tests.unit.test_arguments import arguments

TWINS: dict[Any, type] = {
    Memory: AsyncMemory,
    Space: AsyncSpace,
    Queue: AsyncQueue,
    Review: AsyncReview,
    Overview: AsyncOverview,
    Files: AsyncFiles,
    Admin: AsyncAdmin,
}
FACES = [*TWINS, *TWINS.values()]


def hints(verb: Callable[..., Any]) -> dict[str, Any]:
    return typing.get_type_hints(verb, include_extras=True)


def test_every_group_is_a_property_of_its_face():
    assert groups(Memory) == {**groups(Space), "admin": Admin}
    assert groups(Space) == {
        "queue": Queue, "review": Review, "overview": Overview, "files": Files,
    }  # fmt: skip
    for face in (Memory, Space):
        twins = {name: TWINS[group] for name, group in groups(face).items()}
        assert groups(TWINS[face]) == twins
    assert set(GROUPS) == {*groups(Memory).values(), *groups(AsyncMemory).values()}


@each(("sync", "other"), TWINS.items())
def test_both_faces_have_the_same_operations(sync, other):
    assert own_operations(sync).keys() == own_operations(other).keys()
    assert len(own_operations(sync)) >= 3
    # A group of the asynchronous face does not repeat its space's name.
    named = properties(sync).keys() - ({"name"} if sync in groups(Space).values() else set())
    assert named == properties(other).keys()


@each(
    ("sync", "other", "name"),
    [(*pair, name) for pair in TWINS.items() for name in ("__init__", *own_operations(pair[0]))
     if name != "__init__" or pair[0] is Memory],
)  # fmt: skip
def test_an_operation_takes_and_returns_the_same_on_both(sync, other, name):
    ours, theirs = getattr(sync, name), getattr(other, name)
    assert [(p.name, p.kind, p.default) for p in parameters(ours).values()] == [
        (p.name, p.kind, p.default) for p in parameters(theirs).values()
    ]
    expected, found = hints(ours), hints(theirs)
    expected["return"] = TWINS.get(expected["return"], expected["return"])
    if name == "add_many":  # the async one also takes an async iterable
        expected["messages"] |= AsyncIterable[typing.get_args(expected["messages"])[0]]
    assert found == expected


@each("face", FACES)
def test_every_operation_has_a_docstring_of_its_own(face):
    for name, verb in own_operations(face).items():
        assert inspect.getdoc(verb), name
    for name, value in properties(face).items():
        assert value.__doc__, name


@each("face", TWINS.values())
def test_async_operations_are_awaited(face):
    own = own_operations(face)
    plain = {name for name, verb in own.items() if not inspect.iscoroutinefunction(verb)}
    assert plain == {"space"} & own.keys()


def test_a_closed_async_memory_refuses_every_operation_with_our_error(tmp_path):
    async def run() -> None:
        memory = AsyncMemory(tmp_path / "ann.db", enrich="manual", timezone="UTC")
        space = memory.space("other")
        await asyncio.gather(memory.close(), memory.close())
        for target in (memory, space):
            for name, verb in operations(type(target)).items():
                if name in ("close", "space"):
                    continue
                positional, named = arguments(verb, "", None)
                with pytest.raises(StoreError, match="this memory is closed; open it again"):
                    await bound(target, name)(*positional, **named)
        await memory.close()

    asyncio.run(run())


def parts(hint: Any) -> Iterator[Any]:
    """A type and the types it is made of."""
    yield hint
    for part in typing.get_args(hint):
        for item in part if isinstance(part, list) else [part]:
            yield from parts(item)


def reachable(start: set[type]) -> set[type]:
    """Our own classes that one gets to through fields and properties."""
    found: set[type] = set()
    waiting = set(start)
    while waiting:
        one = waiting.pop()
        found.add(one)
        fields = hints(one) if dataclasses.is_dataclass(one) else {}
        shown = [hint for name, hint in fields.items() if not name.startswith("_")]
        waiting |= {part for hint in shown for part in parts(hint) if is_ours(part)} - found
    return found


def is_ours(part: Any) -> bool:
    return inspect.isclass(part) and part.__module__.split(".")[0] == "cognigraph"


def constructors(face: Any) -> list[Callable[..., Any]]:
    """What opens a face, if a program may call it."""
    return [face.__init__] if face in (Memory, AsyncMemory) else []


def test_every_type_of_an_operation_is_public():
    used = {
        part
        for face in FACES
        for verb in (*own_operations(face).values(), *constructors(face))
        for hint in hints(verb).values()
        for part in parts(hint)
        if is_ours(part)
    } | {hints(Memory.info.fget)["return"]}  # type: ignore[arg-type]
    assert len(used) > 20
    public = {getattr(cognigraph, name) for name in cognigraph.__all__ if name != "__version__"}
    hidden = {f"{kind.__module__}.{kind.__name__}" for kind in reachable(used) - public}
    assert hidden == set()


def test_named_types_of_arguments_are_public():
    """Aliases leave no trace in a signature, so they are listed by the name in the source."""
    names = set()
    for face in TWINS:
        for verb in (face.__init__, *own_operations(face).values()):
            for text in inspect.unwrap(verb).__annotations__.values():
                names |= {word for word in _words(text) if word in _aliases(verb)}
    assert names >= {
        "Progress",
        "Precision",
        "EmbedMode",
        "EnrichMode",
        "Clock",
        "OnVectors",
        "Reranker",
    }
    assert names <= set(cognigraph.__all__)


def _words(text: str) -> set[str]:
    return {word for word in text.replace("[", " ").replace("]", " ").replace(",", " ").split()}


def _aliases(verb: Callable[..., Any]) -> set[str]:
    known = inspect.unwrap(verb).__globals__
    return {
        name
        for name, value in known.items()
        if isinstance(value, UnionType) or typing.get_origin(value) not in (None, Any)
    }
