"""The picture of a question and its block, on the sample conversation."""

from __future__ import annotations

from collections import Counter

from cognigraph import Context, StoredMessage
from docs.draw.conversation import sample_memory
from docs.draw.svg import LINE, Drawing, wrapped

QUESTION = "What became of Lisbon?"
NOW = "2025-10-20T09:00:00+02:00"
TOKENS = 260

CAPTION = "What was said in eight months"
WIDTH = 1000
_LEFT, _RIGHT, _MARGIN, _GAP = 250, 640, 16, 12
_COLUMNS = 96


def asked() -> tuple[list[StoredMessage], Context]:
    """All messages of the sample conversation, and the block for the question."""
    with sample_memory() as memory:
        messages = [*memory.messages(limit=1000)]
        return messages, memory.context(QUESTION, max_tokens=TOKENS, now=NOW)


def draw() -> str:
    """The SVG file."""
    messages, block = asked()
    said = {(message.session, message.id): message for message in messages}
    if any(citation.kind != "message" for citation in block.citations):
        raise ValueError(f"the picture draws messages only; choose another question:\n{block}")
    shown = [said[citation.session, citation.id] for citation in block.citations]
    right = WIDTH - _MARGIN - _RIGHT
    rows = [
        [
            (f"[{citation.label}] {message.at:%Y-%m-%d} {message.speaker}", "strong"),
            *wrapped(message.text, _COLUMNS),
        ]
        for citation, message in zip(block.citations, shown, strict=True)
    ]
    top = 92
    tops, y = [], top
    for row in rows:
        tops.append(y)
        y += len(row) * LINE + 14 + _GAP
    counts = Counter(message.session for message in messages)
    step = (y - _GAP - 48) // len(counts)
    drawing = Drawing(WIDTH, y + 34, f"The question {QUESTION!r} and the block for a prompt")
    drawing.text(_MARGIN, 30, CAPTION, "faint", "start")
    drawing.box(right, 14, _RIGHT, [(QUESTION, "strong")], "fact")
    drawing.text(right, 70, "[memory]", "faint", "start")
    drawing.text(
        right, y + 14, f"[/memory]   {block.tokens} tokens, for a prompt", "faint", "start"
    )
    begins = {session: next(m for m in messages if m.session == session) for session in counts}
    middle = {}
    for number, (session, count) in enumerate(counts.items()):
        place = 48 + number * step
        day = begins[session].at
        head = [(f"{day.day} {day:%B %Y}, {count} messages", "strong")]
        middle[session] = place + drawing.box(_MARGIN, place, _LEFT, head, "session") // 2
    for row, message, place in zip(rows, shown, tops, strict=True):
        height = drawing.box(right, place, _RIGHT, row, "message")
        drawing.line((_MARGIN + _LEFT, middle[message.session]), (right - 4, place + height // 2))
    return drawing.svg()
