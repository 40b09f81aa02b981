"""Read the lines of a list of tasks: "TODO: renew the passport", "- [x] renew the passport".

Such a line is no sentence, so the clauses of a message do not show it. What is done ends what was
to do where the same thing is named (:mod:`cognigraph.states.slots`). Lines in code are comments of
programs, and the boxes of an assistant are advice, unless they are ticked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cognigraph.ingest.rules.prose import without_code
from cognigraph.ingest.rules.statements import Statement

TO_DO, DONE = "has the task", "has done the task"
_LINE = re.compile(
    r"[ \t]*(?:[-*+•][ \t]+|\d{1,3}[.)][ \t]+)?(?P<box>\[[ xX]\][ \t]+)?[*_]{0,2}"
    r"(?:(?P<word>TO-?DO|To-?[Dd]o|to-?do|DONE|Done|done)(?:\([^()\n]{1,40}\))?[*_]{0,2}:"
    r"[*_]{0,2}[ \t]+)?(?P<item>\S[^\n]{1,160})"
)
_MARKS = " \t.!;*_"
_MOST = 24
"""Tasks that are read from one message."""


def tasks(text: str, owner: str, *, by_assistant: bool) -> list[Statement]:
    """Return what a message says is to do, and what it says is done.

    ``owner`` is whose tasks they are. Of an assistant, open boxes are left out.
    """
    if ":" not in text and "[" not in text:
        return []
    found = []
    for line in without_code(text).split("\n"):
        found += [
            Statement(owner, "person", relation, item, "task")
            for relation, item in _of_line(line, boxes=not by_assistant)
        ]
    return list(dict.fromkeys(found))[:_MOST]


def _of_line(line: str, *, boxes: bool) -> Iterator[tuple[str, str]]:
    match = _LINE.fullmatch(line.rstrip())
    if match is None or not (match["word"] or match["box"]):
        return
    item = match["item"].strip(_MARKS)
    ticked = "x" in (match["box"] or "").lower()
    done = ticked or (match["word"] or "").lower() == "done"
    if any(letter.isalnum() for letter in item) and (done or boxes or match["word"]):
        yield DONE if done else TO_DO, item
