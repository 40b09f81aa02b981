"""The two diagrams of the architecture page: the way of a message and the way of a question."""

from __future__ import annotations

from dataclasses import dataclass

from docs.draw.svg import LINE, Drawing, wrapped

WIDTH = 900
_LEFT, _MIDDLE, _RIGHT = 24, 330, 640
_WIDE, _STORE = 250, 236
_STEP = 78
_TALL = 52


@dataclass(frozen=True)
class Stage:
    """One stage: its name, its module, what it does, and what it reads from or writes to the store.

    Modules are paths in ``cognigraph`` as it is imported; ``stores/*`` stands for each store.
    """

    name: str
    module: str
    does: str
    store: str = ""
    reads: bool = False


MESSAGE = (
    Stage(
        "add, add_many",
        "operations/, ingest/pieces.py",
        "check the message, split long text at sentence ends, embed each chunk",
    ),
    Stage(
        "one transaction",
        "stores/*/messages.py",
        "write chunks, order in time, word statistics, queue entry",
        "Session, Chunk, NEXT, terms, vectors",
    ),
    Stage(
        "add returns",
        "",
        "the message is durable and can be found; no model was called",
    ),
    Stage(
        "claim",
        "ingest/queue/",
        "a worker leases the next chunks of one session",
        "queue: pending → leased",
    ),
    Stage(
        "extractor",
        "ingest/rules/, ingest/model/",
        "rules or a model read the window: entities, facts, keys, summary",
    ),
    Stage(
        "derive",
        "ingest/derive.py",
        "check evidence, names and dates; give ids; embed names and facts",
    ),
    Stage(
        "resolution",
        "resolution/, states/",
        "in the transaction: join names that mean the same, decide which facts are current",
        "Entity, Alias",
    ),
    Stage(
        "commit",
        "stores/*/derive.py",
        "facts with their evidence and times, keys and summary, end of the lease",
        "Triple, Entity, Key, Theme; leased → done",
    ),
)

QUESTION = (
    Stage(
        "analyse",
        "operations/, retrieve/question/",
        "words, entity names, speaker, form of the answer, time window, order, as_of",
    ),
    Stage(
        "event",
        "retrieve/plan.py",
        'only for "before she moved": the event is looked up and dates the window',
    ),
    Stage(
        "candidates",
        "retrieve/plan.py",
        "nearest chunks by vector and by words, facts, sessions; nothing later than as_of",
        "stores/*/search.py: vectors, terms, Triple, Theme, NEXT",
        reads=True,
    ),
    Stage(
        "rank",
        "retrieve/rank/",
        "the ranking scores each candidate; decay separates near-equals",
    ),
    Stage("reranker", "retrieve/rank/", "only if there is one: order the first 50 again"),
    Stage(
        "time order",
        "retrieve/standing.py",
        'only for "now", "first": newest or oldest of the best first',
    ),
    Stage(
        "fetch",
        "retrieve/results.py",
        "hits with their reasons, the best facts and sessions",
        "Chunk, Triple, Entity, Session",
        reads=True,
    ),
    Stage(
        "context",
        "retrieve/assemble.py",
        "fill the token budget: sessions, facts, messages; newest message last",
    ),
)


def draw(stages: tuple[Stage, ...], title: str) -> str:
    """The SVG file: stages from top to bottom, the store on the right."""
    height = 24 + len(stages) * _STEP
    drawing = Drawing(WIDTH, height, title)
    for number, stage in enumerate(stages):
        y = 24 + number * _STEP
        centre = y + _TALL // 2
        lines = [(stage.name, "strong"), *wrapped(stage.module, 42, "faint")]
        drawing.box(_LEFT, y, _WIDE, lines, "step", _TALL)
        if number:
            drawing.line((_LEFT + _WIDE // 2, y - _STEP + _TALL), (_LEFT + _WIDE // 2, y))
        does = wrapped(stage.does, 42)
        for row, (text, _) in enumerate(does):
            drawing.text(
                _MIDDLE - 32,
                centre + 5 - (len(does) - 1) * LINE // 2 + row * LINE,
                text,
                "",
                "start",
            )
        if stage.store:
            store = wrapped(stage.store, 30)
            drawing.box(_RIGHT, y, _STORE, store, "store", _TALL)
            ends = (_RIGHT - 42, centre), (_RIGHT, centre)
            drawing.line(*(reversed(ends) if stage.reads else ends))
    return drawing.svg()
