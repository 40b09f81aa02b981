"""The names of the user: what the user says their name is, and "user" for a user with a name.

Questions say "I" and "my", and answers "Ann". Both must lead to one entity, whatever extractor read
the messages. The names are therefore added to each extraction as aliases of the speaker.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from cognigraph.ids import normalise
from cognigraph.ingest.extraction import Mention
from cognigraph.model.messages import ANONYMOUS
from cognigraph.stores.records import WorkChunk

_BEGINNING = 400
"""People say who they are at the beginning; further on stands what they quote."""
_NAME = r"([A-ZÀ-ÖØ-Þ][\w’'-]*\w(?:[ \t]+[A-ZÀ-ÖØ-Þ][\w’'-]*\w){0,2})"
_SAYS = re.compile(
    r"(?<!not )(?<!n't )(?<!n’t )(?<!never )\b"
    r"(?i:my name is|my name['’]s|call me|I go by|I am called|I['’]m called)"
    rf"[ \t]+{_NAME}"
)
_GREETS = re.compile(
    r"(?:\A\s*|\b(?i:hi|hello|hey|good (?:morning|afternoon|evening))(?i:[ \t]+there)?[,!.][ \t]*)"
    rf"(?i:I['’]m|I am|this is)[ \t]+{_NAME}(?=[ \t]*(?:[,.!;–—(\n-]|and\b|from\b|\Z))"
)
_NO_NAMES = frozenset(
    """monday tuesday wednesday thursday friday saturday sunday january february march april june
    july august september october november december back later maybe when if i christian catholic
    muslim jewish hindu buddhist american british english german french spanish italian dutch
    norwegian swedish danish finnish swiss austrian polish russian ukrainian greek turkish chinese
    japanese korean indian canadian australian mexican brazilian african european asian irish
    scottish welsh portuguese vegan""".split()
)


def own_names(text: str) -> tuple[str, ...]:
    """The names that a speaker says are their own: "My name is Ann", "Call me Sam", "Hi, I'm Al".

    Nothing is taken from quotations and code.
    """
    text = text[:_BEGINNING]
    found = [
        match[1]
        for pattern in (_SAYS, _GREETS)
        for match in pattern.finditer(text)
        if match[1].split()[0].lower() not in _NO_NAMES and not _is_quoted(text, match.start(1))
    ]
    return tuple(dict.fromkeys(found))


def _is_quoted(text: str, index: int) -> bool:
    """Whether a text at ``index`` stands in quotation marks, in code or in a quoted line."""
    before = text[:index]
    line = before.rpartition("\n")[2]
    opened = before.count("“") > before.count("”")
    return (
        opened
        or before.count('"') % 2 == 1
        or "`" in before
        or line.lstrip().startswith((">", "|"))
    )


def users(chunks: Sequence[WorkChunk]) -> list[Mention]:
    """Mentions of the users among the speakers, with their other names as aliases."""
    found = []
    for index, chunk in enumerate(chunks):
        if chunk.role != "user":
            continue
        speaker = chunk.speaker or ANONYMOUS
        names = dict.fromkeys((*own_names(chunk.text), ANONYMOUS))
        aliases = tuple(name for name in names if normalise(name) != normalise(speaker))
        if aliases:
            found.append(Mention(speaker, "person", (index,), aliases))
    return found
