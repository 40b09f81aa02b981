"""Command lines of every command that works on a space."""

from __future__ import annotations

from tests.isolation.verbs import FILE, QUESTION, TABLE
from tests.isolation.world import LATER, NOW, Uid

Line = list[str | Uid]

COMMANDS: list[Line] = [
    ["search", QUESTION, "--now", NOW, "-k", "5"],
    ["search", "Klara", "--now", NOW, "--layer", "facts"],
    ["why", QUESTION, "--expect", "m1", "--now", NOW],
    ["context", "Who is Clara?", "--max-tokens", "400", "--now", NOW],
    ["ask", QUESTION, "--now", NOW],
    ["cypher", "MATCH (c:Chunk) RETURN c.text AS text ORDER BY text"],
    ["messages", "--limit", "4"],
    ["sessions"],
    ["episodes"],
    ["core-profile"],
    ["procedures"],
    ["entities"],
    ["facts"],
    ["duplicates"],
    ["history", "Ann"],
    ["profile", "Ann"],
    ["conflicts"],
    ["stats"],
    ["add", "I sold my bike.", "--id", "m8", "--session", "bike", "--at", LATER],
    ["add-fact", "Ann", "lives in", "Lima", "--at", LATER],
    ["update", "m6", "My bike broke, the brake this time."],
    ["supersede", Uid("Fish Market"), Uid("Luna")],
    ["retract", Uid("Fish Market")],
    ["restore", Uid("Fish Market")],
    ["merge", "Klara Berg", "--into", "Ben"],
    ["split", "Klara Berg", "--type", "person"],
    ["import", TABLE, "--columns", "id=key"],
    ["enrich", "--redo", "--retry-failed"],
    ["forget", "--message", "m7", "--yes"],
    ["forget", "--expired", "--yes"],
    ["search", QUESTION, "--now", NOW, "-k", "5"],
    ["facts"],
    ["stats"],
    ["audit", "--limit", "3"],
    ["export", FILE, "--derived"],
]
NOT_OF_A_SPACE = {
    "backup": "a copy of the whole file",
    "completion": "opens no memory",
    "demo": "a memory of its own",
    "doctor": "counts the rows of the whole store",
    "eval": "the same calls, and searches, as of the verbs",
    "export-training": "reads a recording",
    "training-questions": "the same listing and context as of the verbs",
    "hooks": "opens no memory",
    "keys": "opens no memory",
    "mcp": "tested by its tools",
    "reindex": "changes the embedder of all spaces",
    "serve": "tested by its routes",
    "setup": "opens no memory",
    "spaces": "lists all spaces for the operator",
    "watch": "imports, as `import` does, until it is stopped",
}
NOTHING_FOUND = ["duplicates", "conflicts", "add", "add-fact", "import"]
"""The commands that exit with 1: they find nothing, or could not enrich the unreadable message."""
