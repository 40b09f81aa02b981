"""CrewAI's tools."""

from __future__ import annotations

import pytest

from cognigraph import Memory

pytest.importorskip("crewai.tools")
from crewai.tools import BaseTool

from cognigraph.integrations.crewai import memory_tools

pytestmark = pytest.mark.slow


def test_tools_remember_and_recall(memory: Memory) -> None:
    recall, remember = memory_tools(memory, session="s")
    assert isinstance(recall, BaseTool) and (recall.name, remember.name) == ("recall", "remember")
    assert recall.run(question="Where do I live?") == "Nothing is known about that."
    assert remember.run(text="I moved to Oslo.").startswith("Remembered as ")
    assert "I moved to Oslo." in recall.run(question="Where did I move to?")
    assert "question" in recall.args_schema.model_json_schema()["properties"]
