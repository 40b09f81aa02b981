"""The memories that are compared: how each is set up, and what its own defaults are.

A new one takes an adapter in ``adapters/`` (see ``line_protocol.py``), its pins in
``requirements/`` and an entry here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

WRITERS = 5
"""So many write at once in a trial."""


@dataclass(frozen=True)
class Variant:
    """One way of running a memory.

    ``searches`` are further settings for searching what this variant has stored, by name.
    """

    name: str
    title: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    searches: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    model: bool = False
    neo4j: bool = False
    lasting: bool = True
    """Whether it keeps anything when the process ends."""
    trials: bool = True
    singly: tuple[int, int] | None = None
    """How many messages at the beginning and at the end are at least added and timed one by
    one, where all would take too long; the others are added a session at a time."""


@dataclass(frozen=True)
class Memory:
    """One memory: its environment and its adapter have the same name, unless stated."""

    name: str
    licence: str
    adapter: str
    variants: tuple[Variant, ...]
    setup: str
    """How it was set up for the bench, in words for the page."""
    defaults: str
    """Where this differs from what it does on its own."""


MEMORIES = (
    Memory(
        "cognigraph", "Apache-2.0", "cognigraph_memory",
        (
            Variant("cognigraph", "cognigraph, rules", {"extractor": "rules"}, trials=False),
            Variant("cognigraph-model", "cognigraph, model", {"extractor": "openai"}, model=True),
            Variant(
                "cognigraph-neo4j", "cognigraph, model, on Neo4j",
                {"extractor": "openai", "on_neo4j": True}, model=True, neo4j=True,
            ),
            Variant(
                "cognigraph-default", "cognigraph as installed",
                {"extractor": "rules", "in_process": True}, trials=False,
            ),
        ),
        "One message an `add`, with speaker and time. Facts and summaries are extracted after all "
        "messages are stored, one session at a time; until then a message is found by its words "
        "and its vector. `as installed` embeds in the process, without the endpoint.",
        "The default extractor is `rules` (no model) and the default embedder runs in the "
        "process.",
    ),
    Memory(
        "graphiti", "Apache-2.0", "graphiti_graph",
        (
            Variant(
                "graphiti", "Graphiti, 10 facts", {"facts": 10}, model=True, neo4j=True,
                searches={
                    "graphiti-50": {"title": "Graphiti, 50 facts", "facts": 50},
                    "graphiti-episodes": {
                        "title": "Graphiti, facts and episodes", "facts": 15, "episodes": True,
                    },
                },
            ),
        ),
        "One episode a message, awaited before the next as its documentation asks; its client for "
        "OpenAI-compatible endpoints; the group is the space; on the same Neo4j server.",
        "A search returns 10 facts by default; 50 facts, and facts and episodes in turn, are "
        "measured beside it. No cross-encoder, no communities.",
    ),
    Memory(
        "mem0", "Apache-2.0", "mem0_memory",
        (
            Variant("mem0", "mem0, model", {"infer": True}, model=True),
            Variant("mem0-raw", "mem0, raw text", {"infer": False}),
            Variant(
                "mem0-keywords", "mem0, model and keywords",
                {"infer": True, "keywords": True}, model=True, trials=False,
            ),
        ),
        "One message an `add`, the speaker before the text, as in its own LoCoMo evaluation; "
        "Qdrant in a folder, its default; `user_id` is the space; 20 results, its default, of "
        "which the messages of the first count up to 15.",
        "`infer=True` (a model extracts facts) is the default. Its keyword signal is off as "
        "installed: it needs `fastembed` and a download; the variant with keywords has the first "
        "and, in place of the second, an English list of stop words. Its entity signal needs a "
        "spaCy model from GitHub, which is on no package index, and is off.",
    ),
    Memory(
        "langgraph", "MIT", "langgraph_store",
        (
            Variant("langgraph", "LangGraph InMemoryStore", lasting=False),
            Variant("langgraph-sqlite", "LangGraph SqliteStore", {"durable": True}),
        ),
        "One item a message, the speaker before the text, in the namespace of the space; the text "
        "is embedded.",
        "Without an index setting it has no semantic search at all.",
    ),
    Memory(
        "mempalace", "MIT", "mempalace_palace",
        (
            Variant(
                "mempalace", "MemPalace, vector", {"strategy": "vector"},
                searches={"mempalace-union": {"title": "MemPalace, union", "strategy": "union"}},
            ),
        ),
        "One drawer a message, the speaker before the text, filed by the function behind its MCP "
        "tool; the wing is the space, the room the session; ChromaDB, its default; its client for "
        "OpenAI-compatible embeddings.",
        "Its default embedder is a MiniLM that is downloaded at first use. `vector` is the "
        "default strategy of a search; `union`, which adds keyword candidates, is measured beside "
        "it.",
    ),
    Memory(
        "cognee", "Apache-2.0", "cognee_graph",
        (
            Variant(
                "cognee", "cognee, chunks", {"search_type": "CHUNKS"}, model=True,
                singly=(30, 10),
            ),
        ),
        "One document a message, the speaker before the text, and `cognify` after each; SQLite, "
        "LanceDB and Ladybug in a folder, its defaults; the dataset is the space. A chunk is "
        "traced to its message by the text.",
        "Its default search has a model write an answer; `CHUNKS` is the search that returns "
        "sources. It counts tokens with a vocabulary that it downloads; the copy that litellm "
        "brings is used.",
    ),
)  # fmt: skip

NOT_MEASURED = {
    "LiCoMemory (official code)": (
        "Its repository, github.com/EverM0re/LiCoMemory at a844d99 of 6 January 2026, has no "
        "licence, so nobody has permission to run or to adapt it. It also has no package and lacks "
        "the requirements file that its README names. The ranking of its paper is the profile "
        "`licomemory` of cognigraph."
    )
}


def chosen(names: list[str]) -> list[Memory]:
    """Return the memories with these names, or all of them."""
    known = {memory.name: memory for memory in MEMORIES}
    unknown = sorted(set(names) - known.keys())
    if unknown:
        raise SystemExit(f"no memory {', '.join(unknown)}; there are {', '.join(known)}")
    return [memory for memory in MEMORIES if not names or memory.name in names]
