"""What is remembered of a project and of the person, as text for the agent."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from cognigraph.hooks.agents import PERSON, Event
from cognigraph.hooks.spool import Spool
from cognigraph.ingest.extractors import chosen_extractor
from cognigraph.memory import Memory
from cognigraph.model import Filter
from cognigraph.space import Space
from cognigraph.stores import start_blocks

PROJECT_TOKENS = 900
PERSON_TOKENS = 300
SURE = 0.5
"""The least confidence of what is shown with a prompt. Nobody has asked for it, and it stays in the
conversation, so it must be likelier to help than not."""
_IN_VIEW = 50
"""The newest messages of the conversation itself, which the agent is taken to see anyway."""
_RECENT = 4
_MOST_QUESTION = 2_000


@contextmanager
def opened(spool: Spool) -> Iterator[Memory]:
    """The memory of coding agents, as the other commands would open it."""
    with Memory(
        spool.db,
        embedder=os.environ.get("COGNIGRAPH_EMBEDDER") or "wordllama",
        extractor=os.environ.get("COGNIGRAPH_EXTRACTOR") or chosen_extractor(),
        enrich="manual",
    ) as memory:
        yield memory


def recalled(memory: Memory, prompt: Event) -> Iterator[str]:
    """Yield what is remembered of what the user says: of the project first, then of the person."""
    question = prompt.text[:_MOST_QUESTION]
    there = set(memory.spaces())
    for name in (prompt.space, PERSON):
        if name in there:
            space = memory.space(name)
            block = space.context(question, _tokens(name), without=_in_view(space, prompt))
            if block and (block.confidence is None or block.confidence >= SURE):
                yield str(block)


def make_ready(memory: Memory, path: str, project: str) -> None:
    """Keep what is to be shown when a conversation about a project begins, where it has changed.

    Raises:
        sqlite3.Error: the memory cannot be read, or is locked.
    """
    for name, state in start_blocks.outdated(path, project, PERSON).items():
        question = _worked_on(memory.space(project))
        block = memory.space(name).context(question, _tokens(name)) if question else None
        start_blocks.write(path, project, name, state, str(block) if block else "")


def warm(memory: Memory, project: str) -> None:
    """Load what an answer needs, which takes a second with the first one."""
    for name in {project, PERSON} & set(memory.spaces()):
        memory.space(name).context(project, PERSON_TOKENS)


def _tokens(name: str) -> int:
    return PERSON_TOKENS if name == PERSON else PROJECT_TOKENS


def _worked_on(project: Space) -> str:
    """What the user said last in this project, which stands for the question that nobody asked."""
    latest = project.messages(order="newest", limit=_RECENT, where=Filter(roles=("user",)))
    return "\n".join(message.text for message in reversed(list(latest)))[-_MOST_QUESTION:]


def _in_view(space: Space, event: Event) -> list[str]:
    page = space.messages(session=event.session, order="newest", limit=_IN_VIEW)
    return [message.id for message in page]
