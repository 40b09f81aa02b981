"""Labels and relationship types of a query that no memory has: usually they are misspelled."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from cognigraph.cypher.guard.lexer import QueryToken, tokenize
from cognigraph.errors import QueryError

LABELS = frozenset(
    "Session Key Theme Revision Triple Entity Alias Chunk Profile Procedure Version "
    "Forgotten".split()
)
TYPES = frozenset(
    "HAS_CHUNK NEXT HAS_KEY HAS_THEME HAS_REVISION COVERS SUBJECT OBJECT EVIDENCE IN_SESSION "
    "SUPERSEDES MENTIONS SAME_AS RESEMBLES RULED STATED_IN DERIVED_FROM".split()
)


def unknown_names(query: str) -> list[str]:
    """Say which labels and types of a query match nothing, and what they are perhaps meant to be.

    A query that cannot be read has none; running it reports the error.
    """
    try:
        tokens = tokenize(query)
    except QueryError:
        return []
    return list(dict.fromkeys(_unknown(tokens)))


def _unknown(tokens: list[QueryToken]) -> Iterator[str]:
    opened: list[str] = []
    labels: set[int] = set()
    for index, token in enumerate(tokens):
        if token.text in ("(", "[", "{"):
            opened.append(token.text)
        elif token.text in (")", "]", "}") and opened:
            opened.pop()
        before = tokens[index - 1].text if index else ""
        # In [x IN list | x.name] the bar does not follow a type or label.
        named = before == ":" or (before in ("|", "&") and index - 2 in labels)
        if not named or not token.named or "{" in opened:
            continue
        labels.add(index)
        is_type = bool(opened) and opened[-1] == "["
        what, known = ("relationship type", TYPES) if is_type else ("label", LABELS)
        if token.value not in LABELS | TYPES:
            near = get_close_matches(token.value, known, 1)
            meant = f"; did you mean {near[0]}?" if near else ""
            yield f"no memory has the {what} {token.value}{meant}"
