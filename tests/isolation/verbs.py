"""Calls of every operation of a space, in order: reads, changes, reads."""

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
                "settings": SearchSettings(ranking="licomemory", licomemory=_WIDE)}),
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
    ("overview.versions", {"id": "m6"}),
    ("overview.sessions", {}),
    ("overview.sessions", {"limit": 1, "offset": 1}),
    ("overview.summaries", {"session": "home"}),
    ("overview.episodes", {}),
    ("entities", {}),
    ("entities", {"match": "ar", "limit": 2}),
    ("facts", {}),
    ("facts", {"entity": "Ann", "limit": 2, "offset": 1}),
    ("history", {"entity": "Ann"}),
    ("overview.profile", {"entity": "Ann", "earlier": True}),
    ("review.conflicts", {}),
    ("review.duplicates", {}),
    ("review.merges", {}),
    ("overview.core_profile", {}),
    ("overview.procedures", {}),
    ("queue.failures", {}),
    ("queue.estimate", {"redo": True}),
    ("cypher", {"": "MATCH (e:Entity) RETURN count(e) AS n"}),
    ("cypher", {"": "MATCH (c:Chunk) RETURN c.text AS text ORDER BY text"}),
]
NAMED: list[Call] = [
    (
        "cypher",
        {"name": name}
        | {
            parameter.name: _NAMED.get(parameter.name, "Ann")
            for parameter in query.parameters
            if parameter.required
        },
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
    ("add_many", {"messages": [
        {"role": "user", "content": "Where is Luna?", "session": "chat", "id": "x1", "at": LATER},
        {"role": "assistant", "content": "In Oslo.", "session": "chat", "id": "x2", "at": LATER},
    ]}),
    ("add_fact", {"subject": "Ann", "relation": "lives in", "object": "Lima", "id": "f1",
                  "at": LATER}),
    ("flush", {}),
    ("queue.enrich", {}),
    ("update", {"id": "m6", "text": "My bike broke, the brake this time."}),
    ("review.supersede", {"old": Uid("Fish Market"), "new": Uid("Luna"), "reason": "a test"}),
    ("review.retract", {"fact": Uid("Fish Market"), "reason": "a test"}),
    ("review.restore", {"fact": Uid("Fish Market")}),
    ("review.merge", {"name": "Klara Berg", "into": "Ben"}),
    ("review.merges", {}),
    ("review.split", {"name": "Klara Berg", "type": "person"}),
    ("queue.redo", {}),
    ("queue.retry", {}),
    ("flush", {}),
    ("forget", {"message": "m7", "dry_run": True}),
    ("forget", {"message": "m7"}),
    ("forget", {"speaker": "Ben", "dry_run": True}),
    ("forget", {"expired": True, "dry_run": True}),
    ("forget", {"expired": True}),
    ("files.import_file", {"path": TABLE, "columns": {"id": "key"}}),
    ("flush", {}),
    ("ask", {"question": QUESTION, "now": NOW}),
    ("files.export", {"path": FILE, "derived": True}),
]  # fmt: skip
_END: list[Call] = [
    ("forget", {"everything": True, "allow_again": True}),
    ("files.load", {"path": FILE}),
    ("stats", {}),
]
_CHANGED = (
    "overview.sessions", "entities", "facts", "history", "review.merges", "queue.failures",
)  # fmt: skip
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
    ("admin.copy_space", {"a": MINE, "b": COPY}),
    ("search_spaces", {"spaces": [MINE, COPY], "question": QUESTION, "now": NOW}),
    ("admin.delete_space", {"name": COPY}),
    ("admin.audit", {"space": MINE, "limit": 3}),
]
"""Calls of what a memory has beside the verbs of a space."""

NOT_OF_A_SPACE = {
    "admin.backup": "a copy of the whole file",
    "admin.bookmarks": "the state of a whole database",
    "admin.catch_up": "the state of a whole database",
    "admin.check": "counts the rows of the whole store",
    "close": "ends the work with all spaces",
    "admin.import_spaces": "each message is stored in the space of its owner",
    "admin.longest_wait": "of the whole queue",
    "admin.reindex": "changes the embedder of all spaces",
    "admin.waiting": "counts what waits in all spaces",
}
