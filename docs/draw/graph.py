"""The picture of the graph: three sessions of the sample conversation as the engine stores them."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import shorten

from cognigraph import Memory, Session, StoredMessage, Triple
from cognigraph.english.verbs import denied
from docs.draw.conversation import sample_memory
from docs.draw.svg import LINE, Drawing, wrapped

MESSAGES = {
    "feb-bike": {"m004": "is uncle of", "m013": "is sister of"},
    "apr-flat": {"m033": "is colleague of"},
    "may-move": {"m048": "lives in", "m055": "is allergic to"},
}
"""The messages in the picture by session, each with the relation of the fact that is shown."""

CAPTION = (
    "From top to bottom: sessions, messages, facts, entities. A fact points up to the message it "
    "was read from; its left line leads to the subject, its right line to the object."
)
WIDTH = 1000
_LANE, _GAP, _MARGIN, _PAD = 312, 16, 16, 12
_BOX = (_LANE - 3 * _PAD) // 2
_COLUMNS = 18


@dataclass(frozen=True)
class Shown:
    """One message in the picture with one fact that was read from it."""

    message: StoredMessage
    triple: Triple


def sample() -> tuple[list[Session], dict[str, list[Shown]]]:
    """The sessions of the picture and what is shown of each."""
    with sample_memory() as memory:
        sessions = {session.id: session for session in memory.overview.sessions()}
        triples = sorted(memory.facts(limit=1000), key=lambda triple: triple.text)
        shown = {
            name: [_shown(memory, triples, name, *item) for item in chosen.items()]
            for name, chosen in MESSAGES.items()
        }
    return [sessions[name] for name in MESSAGES], shown


def _shown(memory: Memory, triples: list[Triple], session: str, id: str, relation: str) -> Shown:
    message = memory.get(id, session)
    read = [
        triple
        for triple in triples
        if id in {source.id for source in triple.sources} and triple.relation == relation
    ]
    if message is None or not read:
        raise LookupError(f"no fact {relation!r} was read from {id}; choose another message")
    return Shown(message, read[0])


def draw() -> str:
    """The SVG file."""
    sessions, shown = sample()
    rows = [row for found in shown.values() for row in found]
    said = max(len(_said(row)) for row in rows) * LINE + 14
    told = max(len(_told(row)) for row in rows) * LINE + 14
    heads = max(len(_head(session)) for session in sessions) * LINE + 14
    top = 40
    messages = top + heads + 44
    facts = messages + said + 50
    lane_end = facts + told + _PAD
    entities = lane_end + 70
    drawing = Drawing(WIDTH, entities + LINE + 14 + 20, "Sessions, messages, facts and entities")
    drawing.text(_MARGIN, 25, CAPTION, "faint", "start")
    ends: list[tuple[tuple[int, int], Triple]] = []
    for number, session in enumerate(sessions):
        left = _MARGIN + number * (_LANE + _GAP)
        drawing.panel(left, top - _PAD + 4, _LANE, lane_end - top + _PAD, "lane")
        drawing.box(left + _PAD, top + 4, _LANE - 2 * _PAD, _head(session), "session", heads)
        for index, row in enumerate(shown[session.id]):
            x = left + _PAD + index * (_BOX + _PAD)
            middle = x + _BOX // 2
            drawing.edge((middle, top + 4 + heads), (middle, messages))
            drawing.box(x, messages, _BOX, _said(row), "message", said)
            drawing.edge((middle, facts), (middle, messages + said))
            drawing.box(x, facts, _BOX, _told(row), "fact", told)
            ends.append(((middle, facts + told), row.triple))
        drawing.text(left + _LANE // 2, top + heads + 28, "HAS_CHUNK", "faint")
        drawing.text(left + _LANE // 2, messages + said + 29, "EVIDENCE", "faint")
    _entities(drawing, entities, ends)
    return drawing.svg()


def _head(session: Session) -> list[tuple[str, str]]:
    keys = ", ".join(session.keys[:4])
    return [(f"{session.id}, {session.started_at:%d %B %Y}", "strong"), *wrapped(keys, 38)]


def _said(row: Shown) -> list[tuple[str, str]]:
    return [
        (f"{row.message.id} {row.message.speaker}", "strong"),
        *wrapped(shorten(row.message.text, 105, placeholder=" …"), _COLUMNS),
    ]


def _told(row: Shown) -> list[tuple[str, str]]:
    when = f"true {row.triple.when}".replace("/", " to ") if row.triple.when else ""
    relation = denied(row.triple.relation) if row.triple.negated else row.triple.relation
    return [(relation, "strong"), *wrapped(when, 16, "faint")]


def _entities(drawing: Drawing, y: int, ends: list[tuple[tuple[int, int], Triple]]) -> None:
    """The row of entities, each about where its facts are, with an edge from every fact."""
    where: dict[str, list[int]] = {}
    for (x, _), triple in ends:
        for name in (triple.subject, triple.object):
            where.setdefault(name, []).append(x)
    names = sorted(where, key=lambda name: (sum(where[name]) / len(where[name]), name))
    widths = [max(64, 26 + 8 * len(name)) for name in names]
    gap = (WIDTH - 2 * _MARGIN - sum(widths)) // max(1, len(names) - 1)
    centre: dict[str, int] = {}
    x = _MARGIN
    for name, width in zip(names, widths, strict=True):
        drawing.box(x, y, width, [(name, "strong")], "entity")
        centre[name] = x + width // 2
        x += width + gap
    for (x, bottom), triple in ends:
        drawing.edge((x - 14, bottom), (centre[triple.subject], y))
        drawing.edge((x + 14, bottom), (centre[triple.object], y))
