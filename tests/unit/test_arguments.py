"""Wrong arguments of public operations: each is refused at once with a CogniGraphError.

The operations and their parameters are found by inspection, so that a new one is tested too.
"""

from __future__ import annotations

import asyncio
import collections.abc
import inspect
import time
import types
import typing
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from cognigraph import (
    AsyncMemory,
    AsyncSpace,
    CogniGraphError,
    ConfigurationError,
    InsertSettings,
    InvalidMessageError,
    Memory,
    Message,
    QueryError,
    SearchSettings,
    Settings,
    Space,
)
from cognigraph.ingest.queue.step import Limits
from tests.cases import each
from tests.operations import bound, operations, parameters

NAN, INFINITE = float("nan"), float("inf")
GOOD: dict[str, Any] = {
    "bookmarks": (),
    "text": "Ann moved to Oslo.", "messages": [{"text": "Bob."}], "question": "Who?",
    "expect": "m1", "id": "m1", "session": "s1", "a": "Ann", "b": "Cid", "into": "Bob",
    "name": "x", "path": "no-such-folder/file",
    "query": "MATCH (c:Chunk) RETURN c.text",
    "entity": "Ann", "spaces": ["x"], "subject": "Ann", "relation": "likes", "object": "tea",
    "fact": "0" * 32, "old": "0" * 32, "new": "1" * 32,
}  # fmt: skip
"""Valid values of the parameters that have no default."""

WRONG_TYPES: list[Any] = [
    None, True, 7, 1.5, b"bytes", "text", "2026-05-20T09:00:00Z", 2j, object(), [], {}, ["x"],
    Message(text="x"), lambda *_: None, Settings(), SearchSettings(), 10**5000,
    NAN, INFINITE, Path("x"),
]  # fmt: skip
BAD_VALUES: dict[Any, list[Any]] = {
    int: [-1, -(2**63), 2**63, 2**31, 10**5000, True, "3", 2.0],
    float: [NAN, INFINITE, -INFINITE, -1, -0.001, 1e300, 10**400, "3", True],
    str: ["\0", "a\0b", "\ud800", b"x", bytearray(b"x")],
    datetime: ["", "yesterday", "2026-13-45", "2026-05-20", "\ud800", datetime(2026, 1, 1)],
    bool: ["yes", 1, 0, None],
}


def hinted(verb: Callable[..., Any]) -> dict[str, Any]:
    return typing.get_type_hints(verb, include_extras=True)


def kinds(hint: Any) -> Iterator[Any]:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        for item in typing.get_args(hint):
            yield from kinds(item)
    else:
        yield hint


def wrong_values(hint: Any) -> list[Any]:
    special = [value for kind in kinds(hint) for value in BAD_VALUES.get(kind, ())]
    return [*special, *WRONG_TYPES]


def cases(face: type) -> list[tuple[str, str]]:
    return [
        (name, parameter)
        for name, verb in operations(face).items()
        for parameter in parameters(verb)
    ]


def own_cases(face: type, other: type) -> list[tuple[str, str]]:
    """Those of the operations that a face does not have in common with another one."""
    own, others = operations(face), operations(other)
    return [case for case in cases(face) if own[case[0]] is not others.get(case[0])]


def arguments(verb: Callable[..., Any], wrong: str, value: Any) -> tuple[list[Any], dict[str, Any]]:
    """Valid arguments for a call, but for one."""
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for parameter in parameters(verb).values():
        if parameter.name == wrong:
            chosen = value
        elif parameter.default is parameter.empty and parameter.name in GOOD:
            chosen = GOOD[parameter.name]
        else:
            continue
        if parameter.kind is parameter.POSITIONAL_ONLY:
            positional.append(chosen)
        elif parameter.kind is parameter.VAR_KEYWORD:
            named["parameter"] = chosen
        else:
            named[parameter.name] = chosen
    if "cypher" in verb.__qualname__ and wrong not in ("query", "name"):
        positional = [GOOD["query"]]
    if "forget" in verb.__qualname__ and wrong != "dry_run":
        named["dry_run"] = True  # what the other tests ask for stays
    if "update" in verb.__qualname__ and wrong != "id":
        named["id"] = "no-such-message"
    return positional, named


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some values are names of files that are written."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    path = tmp_path_factory.mktemp("arguments") / "ann.db"
    with Memory(path, enrich="manual", timezone="UTC") as opened:
        opened.add("Ann moved to Oslo in May.", id="m1", session="s1", speaker="Ann")
        opened.flush()
        opened.search("Ann?")
        yield opened


def refused(call: Callable[[], object], what: str) -> None:
    """Check that the call returns or raises a CogniGraphError, and does not hang.

    The bound is for calls that would never end; it leaves a busy machine ample time.
    """
    started = time.perf_counter()
    try:
        call()
    except CogniGraphError as error:
        assert 0 < len(str(error)) < 500, what
    assert time.perf_counter() - started < 30, what


@pytest.mark.slow
@each(("verb", "parameter"), cases(Space))
def test_no_argument_of_a_space_raises_anything_but_our_errors(memory, verb, parameter):
    _try_all(memory.space("other"), Space, verb, parameter)


@pytest.mark.slow
@each(("verb", "parameter"), own_cases(Memory, Space))
def test_no_argument_of_a_memory_raises_anything_but_our_errors(memory, verb, parameter):
    _try_all(memory, Memory, verb, parameter)


def _try_all(target: Any, face: type, name: str, parameter: str) -> None:
    verb = operations(face)[name]
    if name == "admin.reindex" and parameter == "embedder":
        values = [value for value in WRONG_TYPES if not callable(value) and value is not None]
    else:
        values = wrong_values(hinted(verb).get(parameter))
    for value in values:
        positional, named = arguments(verb, parameter, value)
        refused(
            lambda p=positional, n=named: bound(target, name)(*p, **n),
            f"{name}({parameter}={type(value).__name__})",
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("face", "tried"),
    [(AsyncSpace, cases(AsyncSpace)), (AsyncMemory, own_cases(AsyncMemory, AsyncSpace))],
    ids=["space", "memory"],
)
def test_no_argument_of_the_async_face_raises_anything_but_our_errors(face, tried, tmp_path):
    async def run() -> None:
        async with AsyncMemory(tmp_path / "a.db", enrich="manual", timezone="UTC") as opened:
            await opened.add("Ann moved to Oslo in May.", id="m1", session="s1", speaker="Ann")
            target = opened if face is AsyncMemory else opened.space("other")
            for name, parameter in tried:
                if name in ("admin.reindex", "close"):
                    continue  # the sync face tests it: it is slow, or has no arguments
                verb = operations(face)[name]
                # It hands them on to the face above, which gets them all.
                for value in wrong_values(hinted(verb).get(parameter))[::3]:
                    positional, named = arguments(verb, parameter, value)
                    try:
                        pending = bound(target, name)(*positional, **named)
                        if inspect.isawaitable(pending):
                            await asyncio.wait_for(pending, 30)
                    except CogniGraphError as error:
                        assert str(error)

    asyncio.run(run())


@pytest.mark.parametrize("face", [Memory, Space])
def test_every_operation_checks_its_arguments(face):
    unchecked = {
        name for name, verb in operations(face).items() if not getattr(verb, "__checked__", False)
    }
    # add() checks its message like those of add_many(); names of spaces are never changed to fit.
    own = {"add", "space", "admin.copy_space", "admin.delete_space"}
    assert unchecked == own & operations(face).keys()


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("overview.sessions", {"limit": -1}, "limit must be at least 0, not -1"),
    ("overview.sessions", {"limit": True}, "limit must be a whole number, not True"),
    ("overview.sessions", {"limit": 2**63}, "limit must be at most 2,147,483,647, not 92233"),
    ("overview.sessions", {"offset": -5}, "offset must be at least 0"),
    ("entities", {"match": "\0"}, "match must not contain the character NUL"),
    ("entities", {"match": b"x"}, "match must be a string or None, not a bytes"),
    ("facts", {"offset": 1.5}, "offset must be a whole number, not 1.5"),
    ("review.merges", {"limit": None}, "limit must be a whole number, not None"),
    ("review.duplicates", {"limit": -1}, "limit must be at least 0"),
    ("get", {"id": None}, "id must be a string, not None"),
    ("get", {"id": "m", "session": 5}, "session must be a string or None, not 5"),
    ("overview.summaries", {"session": None}, "session must be a string, not None"),
    ("flush", {"timeout": NAN}, "timeout must be a finite number, not nan"),
    ("flush", {"timeout": INFINITE}, "timeout must be a finite number, not inf"),
    ("flush", {"timeout": -1}, "timeout must be at least 0, not -1"),
    ("flush", {"timeout": None}, "timeout must be a finite number, not None"),
    ("search", {"question": None}, "question must be a string, not None"),
    ("search", {"question": b"x"}, "question must be a string, not a bytes"),
    ("search", {"question": "x", "k": 0}, "k must be at least 1"),
    ("search", {"question": "x", "k": True}, "k must be a whole number or None, not True"),
    ("search", {"question": "x", "settings": Settings()}, "a SearchSettings or None"),
    ("search", {"question": "x", "explain": "yes"}, "explain must be True or False"),
    ("search", {"question": "x", "now": 5}, "now must be a datetime or a string or None, not 5"),
    ("context", {"question": "x", "max_tokens": 0}, "max_tokens must be at least 1"),
    ("context", {"question": "x", "settings": SearchSettings()}, "a Settings or None"),
    ("context", {"question": "x", "timezone": 5}, "timezone must be a string or a tzinfo or None"),
    ("why", {"question": "x", "expect": None}, "expect must be a string, not None"),
    ("queue.enrich", {"on_step": 5}, "on_step must be a function or None, not 5"),
    ("queue.enrich", {"limits": {"calls": 1}}, "limits must be a Limits or None, not a dict"),
    ("queue.redo", {"older_than": True}, "older_than must be a string or a whole number or None"),
    ("add_many", {"messages": "abc"}, "messages must be an iterable of a Message or a mapping"),
    ("add_many", {"messages": {"text": "x"}}, "messages must be an iterable of"),
    ("add_many", {"messages": None}, "messages must be an iterable of"),
    ("add_many", {"messages": [], "on_progress": 1}, "on_progress must be a function or None"),
    ("add_many", {"messages": [], "skip_invalid": 1}, "skip_invalid must be True or False"),
    ("review.merge", {"name": None, "into": "x"}, "name must be a string, not None"),
    ("review.split", {"name": 5}, "name must be a string, not 5"),
    ("history", {"entity": 5}, "entity must be a string, not 5"),
    ("review.retract", {"fact": 5}, "fact must be"),
    ("cypher", {"name": 5}, "name must be a string or None"),
    ("cypher", {"name": "about", "timeout": NAN}, "timeout must be a finite number"),
    ("cypher", {"name": "about", "parameters": [1]}, "parameters must be a mapping"),
]  # fmt: skip


@each(("verb", "given", "said"), REFUSED)
@pytest.mark.slow
def test_the_error_says_what_to_give(memory, verb, given, said):
    with pytest.raises(ConfigurationError) as caught:
        bound(memory, verb)(**given)
    assert said in str(caught.value)


@each(
    ("value", "said"),
    [
        (2**63, "must fit into 64 bits"),
        ("\ud800", "must not contain lone surrogates"),
        (object(), "must be of a type that Cypher knows, not an object"),
        ({5: 1}, "must have strings as keys"),
        ([[2**64]], "must fit into 64 bits"),
    ],
)
def test_parameters_of_a_query(memory, value, said):
    with pytest.raises(ConfigurationError, match=said):
        memory.cypher("MATCH (c:Chunk) WHERE c.text = $p RETURN c.text", p=value)


def test_a_parameter_that_is_nested_too_deeply(memory):
    value: list[Any] = []
    value.append(value)
    with pytest.raises(QueryError, match="nested more than 20 levels deep"):
        memory.cypher("MATCH (c:Chunk) WHERE c.text = $p RETURN c.text", p=value)


@each(
    ("field", "value"),
    [("text", None), ("text", b"x"), ("session", None), ("session", 5), ("speaker", True),
     ("at", 5), ("at", True), ("id", 3), ("id", "\0"), ("speaker", "\ud800")],
)  # fmt: skip
def test_wrong_fields_of_a_message(memory, field, value):
    with pytest.raises(InvalidMessageError):
        memory.add(**{"text": "x", field: value})


@pytest.mark.parametrize("face", [Memory, AsyncMemory])
@each(
    ("given", "said"),
    [
        ({"location": None}, "location must be a string or a path, not None"),
        ({"location": b"x"}, "location must be a string or a path, not a bytes"),
        ({"location": "a\0b"}, "location must not contain the character NUL"),
        ({"location": Path("a\0b")}, "location must not contain the character NUL"),
        ({"auth": "neo4j:x"}, "auth must be a tuple (a string, a string) or None, not 'neo4j:x'"),
        ({"auth": ("a", 5)}, "auth must be a tuple (a string, a string) or None"),
        ({"database": 5}, "database must be a string or a function or None, not 5"),
        (
            {"embedder": 5},
            "embedder must be a string or an Embedder (an object with dimension, embed, name)",
        ),
        ({"embedder": None}, "embedder must be a string or"),
        (
            {"extractor": 5},
            "extractor must be a string or an Extractor, not 5",
        ),
        ({"extractor": None}, "extractor must be a string or an Extractor"),
        ({"reader": 5}, "reader must be a QuestionReader (an object with read) or None, not 5"),
        ({"enrich": "later"}, "enrich must be 'background' or 'manual', not 'later'"),
        ({"timezone": 5}, "timezone must be a string or a tzinfo or None, not 5"),
        ({"clock": 5}, "clock must be a function, not 5"),
        ({"settings": {}}, "settings must be a Settings or None, not a dict"),
        ({"settings": SearchSettings()}, "settings must be a Settings or None"),
        ({"reranker": 5}, "reranker must be a string or a function or None, not 5"),
    ],
)
def test_opening_with_a_wrong_argument(face, tmp_path, given, said):
    with pytest.raises(ConfigurationError) as caught:
        face(**{"location": tmp_path / "a.db", **given})
    assert said in str(caught.value)
    assert not (tmp_path / "a.db").exists()


@each("name", [None, 5, b"x", "", " ", "\0", "\ud800", "x" * 513, True])
def test_a_space_needs_a_name(memory, name):
    admin = memory.admin
    for verb in (memory.space, admin.delete_space, lambda name: admin.copy_space("other", name)):
        with pytest.raises(ConfigurationError, match="the name of a space must be"):
            verb(name)


@pytest.mark.parametrize("group", [SearchSettings, Limits])
def test_settings_of_a_wrong_type_are_refused_by_name(group):
    for field, hint in typing.get_type_hints(group).items():
        for value in ("a wrong text", b"x", object(), NAN, 10**5000, [1]):
            with pytest.raises(ConfigurationError, match=field):
                group(**{field: value})
        if bool not in kinds(hint):
            with pytest.raises(ConfigurationError, match=field):
                group(**{field: True})


@pytest.mark.slow
def test_an_error_of_the_callers_own_generator_passes_and_full_batches_are_kept(tmp_path):
    class Broken(Exception):
        pass

    def messages() -> collections.abc.Iterator[dict[str, str]]:
        for number in range(batch + 44):
            yield {"text": f"message {number}", "id": f"m{number}"}
        raise Broken

    batch = InsertSettings().batch

    with Memory(tmp_path / "a.db", enrich="manual") as opened:
        with pytest.raises(Broken):
            opened.add_many(messages())
        assert opened.stats().messages == batch
        done = opened.add_many({"text": f"message {n}", "id": f"m{n}"} for n in range(batch + 44))
        assert (len(done.new), opened.stats().messages) == (44, batch + 44)


@pytest.mark.slow
def test_numpy_numbers_are_numbers(memory):
    import numpy as np

    assert len(memory.overview.sessions(limit=np.int64(1))) == 1
    memory.flush(timeout=np.float32(5))
    assert len(memory.search("Ann?", k=np.int32(1))) == 1


def test_a_wrong_argument_is_an_error_as_in_python(memory):
    with pytest.raises(TypeError, match=r"Space\.search\(\) got an unexpected .* 'limitt'"):
        memory.search("Ann?", limitt=3)
    with pytest.raises(TypeError, match=r"Space\.search\(\) missing 1 .*: 'question'"):
        memory.search()
