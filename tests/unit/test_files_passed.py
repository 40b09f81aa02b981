"""How many files of ours a call passes: a reader who follows it opens so many."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType

import pytest

from cognigraph import Memory
from cognigraph.llm import Prompt
from cognigraph.testing import ScriptedModel

ROOT = Path(__file__).resolve().parents[2]
PRODUCT = tuple(f"{ROOT / folder}/" for folder in ("cognigraph", "cypher", "ingest", "retrieve"))


def files_passed(call: Callable[[], object]) -> set[str]:
    """The files of the product in which a function runs during a call, in this thread."""
    passed: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            passed.add(frame.f_code.co_filename)

    earlier = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(earlier)
    model = sys.modules[ScriptedModel.__module__].__file__  # it stands for one behind a network
    return {file for file in passed if file.startswith(PRODUCT) and file != model}


@pytest.mark.slow
def test_a_reader_can_follow_a_call_through_few_files(tmp_path: Path) -> None:
    def reply(prompt: Prompt) -> dict[str, object]:
        if prompt.name == "loop-answer":
            return {"answer": "in Oslo", "labels": ["C1"]}
        return {"verdict": "partial", "missing": "the dog", "queries": ["Who is Rex?"]}

    with Memory(tmp_path / "m.db", enrich="manual", model=ScriptedModel(reply)) as memory:
        space = memory.space("ann")
        for day in range(1, 21):
            space.add(f"I live in Oslo and ran {day} km with Rex.", at=f"2024-05-{day:02d}T09:00Z")
        space.flush()
        calls: dict[str, Callable[[str], object]] = {
            "add": partial(space.add, speaker="Ann"),
            "search": space.search,
            "ask": space.ask,
        }
        for call in calls.values():
            call("Where do I live?")  # what is loaded once is no part of the way
        counted = {
            name: len(files_passed(partial(call, "Where does Rex sleep?")))
            for name, call in calls.items()
        }
    most = {"add": 15, "search": 35, "ask": 60}
    assert counted.keys() == most.keys()
    assert all(5 <= counted[name] <= most[name] for name in most), counted
