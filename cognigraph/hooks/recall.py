"""What is remembered of a project and of the person, as text for the agent."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from cognigraph.hooks.agents import PERSON, Event
from cognigraph.hooks.spool import Spool
from cognigraph.ingest.extractors import DEFAULT_EXTRACTOR
from cognigraph.llm.choice import choice_file
from cognigraph.memory import Memory
from cognigraph.model import Filter
from cognigraph.space import Space

PROJECT_TOKENS = 900
PERSON_TOKENS = 300
SURE = 0.5
"""The least confidence of what is shown with a prompt. Nobody has asked for it, and it stays in the
conversation, so it must be likelier to help than not."""
_IN_VIEW = 50
"""So many of the newest messages of the conversation itself are taken to be in the agent's view."""
_RECENT = 4
_MOST_QUESTION = 2_000


@contextmanager
def opened(spool: Spool) -> Iterator[Memory]:
    """The memory of coding agents, as the other commands would open it."""
    chosen = "auto" if choice_file().exists() else DEFAULT_EXTRACTOR
    with Memory(
        spool.db,
        embedder=os.environ.get("COGNIGRAPH_EMBEDDER") or "wordllama",
        extractor=os.environ.get("COGNIGRAPH_EXTRACTOR") or chosen,
        enrich="manual",
    ) as memory:
        yield memory


def recall_from(spool: Spool, event: Event) -> str:
    """As :func:`recall`, from a memory that is opened for it."""
    with opened(spool) as memory:
        return recall(memory, event)


def recall(memory: Memory, event: Event) -> str:
    """What is remembered at an event: of the project first, then of the person."""
    there = set(memory.spaces())
    project = memory.space(event.space) if event.space in there else None
    person = memory.space(PERSON) if PERSON in there else None
    if event.kind == "start":
        question, sure = _worked_on(project), 0.0
    else:
        question, sure = event.text[:_MOST_QUESTION], SURE
    blocks = []
    for space, tokens in ((project, PROJECT_TOKENS), (person, PERSON_TOKENS)):
        if space is not None and question:
            seen = _in_view(space, event) if event.kind == "prompt" else []
            block = space.context(question, tokens, without=seen)
            if block and (block.confidence is None or block.confidence >= sure):
                blocks.append(str(block))
    return "\n".join(blocks)


def _worked_on(project: Space | None) -> str:
    """What the user said last in this project, which stands for the question that nobody asked."""
    if project is None:
        return ""
    latest = project.messages(order="newest", limit=_RECENT, where=Filter(roles=("user",)))
    return "\n".join(message.text for message in reversed(list(latest)))[-_MOST_QUESTION:]


def _in_view(space: Space, event: Event) -> list[str]:
    page = space.messages(session=event.session, order="newest", limit=_IN_VIEW)
    return [message.id for message in page]
