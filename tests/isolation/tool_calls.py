"""Calls of every tool of the MCP server."""

from __future__ import annotations

from typing import Any

from tests.isolation.verbs import QUESTION
from tests.isolation.world import LATER

_READS: list[tuple[str, dict[str, Any]]] = [
    ("search_memories", {"question": QUESTION, "k": 5, "also": ["jazz"]}),
    ("search_memories", {"question": "What about the bike?", "layer": "episodes"}),
    ("get_context", {"question": "Who is Clara?", "max_tokens": 400}),
    ("get_memory", {"id": "m0"}),
    ("get_memory", {"id": "m0-1"}),
    ("get_memories", {"limit": 4, "newest_first": True}),
    ("get_facts", {"entity": "Ann"}),
    ("history", {"entity": "Ann"}),
    ("why", {"question": QUESTION, "id": "m1"}),
    ("list_entities", {"limit": 5}),
    ("list_sessions", {}),
    ("cypher", {"query": "MATCH (c:Chunk) RETURN c.text AS text ORDER BY text"}),
]
TOOLS: list[tuple[str, dict[str, Any]]] = [
    *_READS,
    ("add_memory", {"text": "I sold my bike.", "id": "m8", "session": "bike", "at": LATER}),
    ("update_memory", {"id": "m6", "text": "My bike broke, the brake this time."}),
    ("delete_memory", {"id": "m7", "dry_run": True}),
    ("delete_memory", {"id": "m7"}),
    *_READS,
]
RESOURCES = ["memory://profile", "memory://profile/Ann", "memory://sessions/recent"]
