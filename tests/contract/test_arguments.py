"""Unusual values of the right types, on each store: accepted, or refused with a clear error.

Values of wrong types never reach a store; ``tests/unit/test_arguments.py`` tests those too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from cognigraph import (
    CogniGraphError,
    Settings,
    Space,
    StorageSettings,
    StoreUnavailableError,
)
from tests.operations import bound, operations
from tests.unit.test_arguments import BAD_VALUES, arguments, cases, hinted, kinds


def odd_calls() -> Iterator[tuple[str, str, Any]]:
    """Yield operation, parameter and value, for every parameter that accepts the type."""
    for name, parameter in cases(Space):
        for kind in kinds(hinted(operations(Space)[name]).get(parameter)):
            for value in BAD_VALUES.get(kind, ()):
                yield name, parameter, value


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_unusual_values_raise_only_errors_of_cognigraph_on_every_store(
    open_memory, space_name, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)  # some values are names of files that are written
    # A new server plans nearly all statements here for the first time.
    patient = StorageSettings(read_timeout=120, write_timeout=120)
    memory = open_memory(timezone="UTC", settings=Settings(storage=patient))
    space = memory.space(space_name)
    space.add("Ann moved to Oslo in May.", id="m1", session="s1", speaker="Ann")
    space.flush()
    served: set[str] = set()
    refused: set[str] = set()
    for name, parameter, value in odd_calls():
        what = f"{name}({parameter}={type(value).__name__})"
        positional, named = arguments(operations(Space)[name], parameter, value)
        try:
            bound(space, name)(*positional, **named)
            served.add(name)
        except StoreUnavailableError as error:  # the call took longer than its timeout
            pytest.fail(f"{what}: {error}")
        except CogniGraphError as error:
            assert 0 < len(str(error)) < 500, what
            refused.add(name)
    assert served >= {"add", "context", "get", "search", "overview.summaries", "facts", "why"}
    assert refused >= {"add", "context", "cypher", "entities", "search", "facts"}
    assert refused >= {"overview.sessions", "review.merges", "queue.redo", "files.export"}
    assert space.get("m1").text == "Ann moved to Oslo in May."
