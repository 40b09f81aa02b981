"""Calls of every verb of a space, in the order in which they are made: reads, changes, reads."""

from __future__ import annotations

from typing import Any

from cognigraph import LicoMemorySettings, SearchSettings
from cognigraph.cypher import named_queries
from tests.isolation.world import LATER, NOW, Uid

Call = tuple[str, dict[str, Any]]

MINE, COPY, FILE, TABLE, CURSOR = "<mine>", "<copy>", "<file>", "<table>", "<cursor>"
"""Stand for the name of the space, of a copy of it, a file to write, one to read, and a page."""

QUESTION = "Where does Ann live now?"
_WIDE = LicoMemorySettings(candidates="wide")
_SEARCHES: list[Call] = [
    ("search", {"question": QUESTION, "k": 5, "now": NOW, "explain": True}),
    ("search", {"question": "Klara Berg", "also": ["jazz", "bike chain"], "now": NOW, "k": 6}),
    ("search", {"question": QUESTION, "now": NOW, "layer": "facts"}),
    ("search", {"question": "What about the bike?", "now": NOW, "layer": "episodes"}),
    ("search", {"question": QUESTION, "now": NOW, "as_of": "2026-03-01T00:00:00Z"}),
    ("search", {"question": QUESTION, "now": NOW, "valid_at": "2026-03-01T00:00:00Z"}),
    ("search", {"question": QUESTION, "now": NOW,
                "settings": SearchSettings(profile="licomemory", licomemory=_WIDE)}),
    ("context", {"question": "Who is Clara?", "max_tokens": 400, "now": NOW}),
    ("why", {"question": QUESTION, "expect": "m1", "now": NOW}),
    ("stats", {}),
]  # fmt: skip
_NAMED = {"session": "home", "message": "m1"}
_LISTS: list[Call] = [
    ("get", {"id": "m0"}),
    ("get", {"id": "m0-1"}),
    ("messages", {"limit": 4, "order": "newest"}),
    ("messages", {"after": CURSOR, "limit": 3}),
    ("versions", {"id": "m6"}),
    ("sessions", {}),
    ("sessions", {"limit": 1, "offset": 1}),
    ("summaries", {"session": "home"}),
    ("episodes", {}),
    ("entities", {}),
    ("entities", {"match": "ar", "limit": 2}),
    ("triples", {}),
    ("triples", {"entity": "Ann", "limit": 2, "offset": 1}),
    ("history", {"entity": "Ann"}),
    ("profile", {"entity": "Ann", "earlier": True}),
    ("conflicts", {}),
    ("suspected_duplicates", {}),
    ("merges", {}),
    ("core_profile", {}),
    ("procedures", {}),
    ("failures", {}),
    ("estimate", {"redo": True}),
    ("cypher", {"": "MATCH (e:Entity) RETURN count(e) AS n"}),
    ("cypher", {"": "MATCH (c:Chunk) RETURN c.text AS text ORDER BY text"}),
]
NAMED: list[Call] = [
    (
        "cypher",
        {"name": name}
        | {one.name: _NAMED.get(one.name, "Ann") for one in query.parameters if one.required},
    )
    for name, query in named_queries().items()
]
"""Calls of every named query. They only read, and take long where SQLite parses them."""

_CHANGES: list[Call] = [
    ("add", {"text": "I live in Bergen with my sister Klara Berg.", "id": "m0", "session": "home",
             "speaker": "Ann", "at": "2026-02-01T10:00:00Z"}),
    ("add", {"text": "Another text under a known id.", "id": "m1", "session": "home", "at": LATER}),
    ("add", {"text": "I sold my bike.", "id": "m8", "session": "bike", "speaker": "Ben",
             "at": LATER}),
    ("add_many", {"messages": [{"text": "Luna barks.", "id": "m9", "session": "oslo",
                                "speaker": "Ann", "at": LATER}]}),
    ("add_exchange", {"user": "Where is Luna?", "assistant": "In Oslo.", "session": "chat",
                      "id": "x", "at": LATER}),
    ("add_fact", {"subject": "Ann", "relation": "lives in", "object": "Lima", "id": "f1",
                  "at": LATER}),
    ("flush", {}),
    ("enrich", {}),
    ("update", {"id": "m6", "text": "My bike broke, the brake this time."}),
    ("supersede", {"old": Uid("Fish Market"), "new": Uid("Luna"), "reason": "a test"}),
    ("retract", {"triple": Uid("Fish Market"), "reason": "a test"}),
    ("restore", {"triple": Uid("Fish Market")}),
    ("merge", {"a": "Luna", "into": "Ben"}),
    ("merges", {}),
    ("split", {"name": "Luna", "type": "person"}),
    ("redo", {}),
    ("retry_failed", {}),
    ("flush", {}),
    ("forget", {"message": "m7", "dry_run": True}),
    ("forget", {"message": "m7"}),
    ("forget", {"speaker": "Ben", "dry_run": True}),
    ("expire", {"dry_run": True}),
    ("expire", {}),
    ("import_file", {"path": TABLE, "columns": {"id": "key"}}),
    ("flush", {}),
    ("ask", {"question": QUESTION, "now": NOW}),
    ("export_space", {"path": FILE, "derived": True}),
]  # fmt: skip
_END: list[Call] = [
    ("forget", {"everything": True, "allow_again": True}),
    ("import_space", {"path": FILE}),
    ("stats", {}),
]
_CHANGED = ("sessions", "entities", "triples", "history", "merges", "failures")
SPACE: list[Call] = [
    *_SEARCHES,
    *_LISTS,
    *_CHANGES,
    *_SEARCHES,
    *(call for call in _LISTS if call[0] in _CHANGED),
    *_END,
]

MEMORY: list[Call] = [
    ("spaces", {}),
    ("space", {"name": MINE}),
    ("search_spaces", {"spaces": [MINE], "question": QUESTION, "now": NOW}),
    ("copy_space", {"a": MINE, "b": COPY}),
    ("search_spaces", {"spaces": [MINE, COPY], "question": QUESTION, "now": NOW}),
    ("delete_space", {"name": COPY}),
]
"""Calls of what a memory has beside the verbs of a space."""

NOT_OF_A_SPACE = {
    "backup": "a copy of the whole file",
    "bookmarks": "the state of a whole database",
    "catch_up": "the state of a whole database",
    "check": "counts the rows of the whole store",
    "close": "ends the work with all spaces",
    "longest_wait": "of the whole queue",
    "reindex": "changes the embedder of all spaces",
    "waiting": "counts what waits in all spaces",
}
