"""Calls of every tool of the MCP server."""

from __future__ import annotations

from typing import Any

from tests.isolation.verbs import QUESTION
from tests.isolation.world import LATER, Uid

_READS: list[tuple[str, dict[str, Any]]] = [
    ("search_memories", {"question": QUESTION, "k": 5, "also": ["jazz"]}),
    ("search_memories", {"question": "What about the bike?", "layer": "episodes"}),
    ("get_context", {"question": "Who is Clara?", "max_tokens": 400}),
    ("look_up", {"what": "memory", "id": "m0"}),
    ("look_up", {"what": "memory", "id": "m0-1"}),
    ("look_up", {"what": "memories", "limit": 4}),
    ("look_up", {"what": "facts", "entity": "Ann"}),
    ("look_up", {"what": "facts", "valid_at": "2026-03-01T00:00:00Z"}),
    ("look_up", {"what": "history", "entity": "Ann"}),
    ("look_up", {"what": "profile", "entity": "Ann"}),
    ("look_up", {"what": "why", "question": QUESTION, "id": "m1"}),
    ("look_up", {"what": "entities", "limit": 5}),
    ("look_up", {"what": "entities", "entity": "ar"}),
    ("look_up", {"what": "sessions"}),
    ("cypher", {"query": "MATCH (c:Chunk) RETURN c.text AS text ORDER BY text"}),
]
TOOLS: list[tuple[str, dict[str, Any]]] = [
    *_READS,
    ("add_memories", {"session": "bike", "memories": [
        {"text": "I sold my bike.", "id": "m8", "at": LATER},
        {"text": "Take it to the repair cafe on Saturday.", "id": "m7", "speaker": "Ann",
         "at": "2026-06-11T10:07:00Z"},
    ]}),
    ("change_memory", {"action": "update", "id": "m6",
                       "text": "My bike broke, the brake this time."}),
    ("change_memory", {"action": "retract", "id": Uid("Fish Market"), "reason": "a test"}),
    ("look_up", {"what": "facts"}),
    ("change_memory", {"action": "restore", "id": Uid("Fish Market")}),
    ("change_memory", {"action": "supersede", "id": Uid("Fish Market"), "new": Uid("Luna")}),
    ("change_memory", {"action": "delete", "id": "m7", "dry_run": True}),
    ("change_memory", {"action": "delete", "id": "m7"}),
    *_READS,
]  # fmt: skip
RESOURCES = ["memory://profile", "memory://profile/Ann", "memory://sessions/recent"]
