"""Requests for every route of the REST server: the operation, its parameters, and its body."""

from __future__ import annotations

from typing import Any

from tests.isolation.verbs import COPY, MINE, QUESTION
from tests.isolation.world import LATER, NOW, Uid

Request = tuple[str, dict[str, Any], Any]

EXPORTED = "<exported>"
"""Stands for the last export."""

_FACT = {"fact": Uid("Fish Market")}
_READS: list[Request] = [
    ("search", {}, {"question": QUESTION, "now": NOW, "k": 5, "explain": True}),
    ("search", {}, {"question": "Klara", "also": ["jazz"], "now": NOW, "layer": "facts"}),
    ("search_spaces", {}, {"question": QUESTION, "now": NOW, "spaces": [MINE]}),
    ("context", {}, {"question": "Who is Clara?", "max_tokens": 400, "now": NOW}),
    ("why", {}, {"question": QUESTION, "expect": "m1", "now": NOW}),
    ("ask", {}, {"question": QUESTION, "now": NOW}),
    ("cypher", {}, {"query": "MATCH (c:Chunk) RETURN c.text AS text ORDER BY text"}),
    ("queries", {}, None),
    ("spaces", {}, None),
    ("space", {}, None),
    ("stats", {}, None),
    ("messages", {"limit": 4}, None),
    ("get", {"id": "m0"}, None),
    ("get", {"id": "m0-1"}, None),
    ("versions", {"id": "m6"}, None),
    ("sessions", {"limit": 2}, None),
    ("summaries", {"session": "home"}, None),
    ("episodes", {}, None),
    ("entities", {"match": "ar"}, None),
    ("facts", {"entity": "Ann"}, None),
    ("history", {"entity": "Ann"}, None),
    ("profile", {"entity": "Ann"}, None),
    ("core_profile", {}, None),
    ("procedures", {}, None),
    ("conflicts", {}, None),
    ("duplicates", {}, None),
    ("merges", {}, None),
    ("failures", {}, None),
    ("estimate", {"redo": True}, None),
]
REQUESTS: list[Request] = [
    *_READS,
    ("add", {}, {"text": "I sold my bike.", "id": "m8", "session": "bike", "at": LATER}),
    ("add", {}, {"text": "Another text.", "id": "m1", "session": "home", "at": LATER}),
    ("add_many", {}, {"messages": [{"text": "Luna barks.", "id": "m9", "at": LATER}]}),
    ("add_many", {}, {"messages": [
        {"role": "user", "content": "Where is Luna?", "id": "x1", "at": LATER},
        {"role": "assistant", "content": "In Oslo.", "id": "x2", "at": LATER},
    ]}),
    ("add_fact", {}, {"subject": "Ann", "relation": "lives in", "object": "Lima", "id": "f1",
                      "at": LATER}),
    ("enrich", {}, {}),
    ("update", {"id": "m6"}, {"text": "My bike broke, the brake this time."}),
    ("supersede", {}, {"old": Uid("Fish Market"), "new": Uid("Luna")}),
    ("retract", {}, {**_FACT, "reason": "a test"}),
    ("restore", {}, _FACT),
    ("merge", {}, {"name": "Klara Berg", "into": "Ben"}),
    ("split", {}, {"name": "Klara Berg", "type": "person"}),
    ("redo", {}, {}),
    ("retry", {}, {}),
    ("flush", {}, {}),
    ("forget", {}, {"speaker": "Ben", "dry_run": True}),
    ("forget", {}, {"message": "m7"}),
    ("delete", {"id": "m5"}, None),
    ("forget", {}, {"expired": True, "dry_run": True}),
    ("forget", {}, {"expired": True}),
    ("import_file", {"name": "t.csv", "columns": "id=key"},
     b"key,text,at\nc1,Luna is brown.,2026-06-13T09:00:00Z\n"),
    ("flush", {}, {}),
    *_READS,
    ("export", {"derived": True}, None),
    ("copy_space", {}, {"to": COPY}),
    ("audit", {"limit": 3}, None),
    ("search_spaces", {}, {"question": QUESTION, "now": NOW, "spaces": [MINE, COPY]}),
    ("delete_space", {}, None),
    ("load", {}, EXPORTED),
    ("stats", {}, None),
]  # fmt: skip
NOT_OF_A_SPACE = {
    "audit_log": "of the whole store, for its operators",
    "check": "counts the rows of the whole store",
    "info": "names the store, which is another one in this comparison",
    "health": "says nothing of spaces",
    "ready": "says nothing of spaces",
    "metrics": "of the whole server, for its operators",
}
REFUSED = [("get", 404), ("add", 409), ("get", 404)]
"""The requests that are refused, alone and beside others."""
