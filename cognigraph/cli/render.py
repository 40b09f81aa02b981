"""Texts and tables for people: scores, times, usage, messages, facts, sessions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from operator import attrgetter
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from cognigraph.cli.terminal import one_line
from cognigraph.model import Hit, SearchResult, StoredMessage, Triple, Usage, Why

_PARTS_SHOWN = 4


def stamp(at: datetime, zone: tzinfo) -> str:
    """Date and time in a timezone."""
    return at.astimezone(zone).strftime("%Y-%m-%d %H:%M")


def day(at: datetime, zone: tzinfo) -> str:
    """The date in a timezone."""
    return at.astimezone(zone).strftime("%Y-%m-%d")


def zone_name(zone: tzinfo) -> str:
    """The name of a timezone as it was given."""
    return str(getattr(zone, "key", None) or zone.tzname(None) or zone)


def why(reasons: Why) -> list[str]:
    """Why a hit has its rank: its score, the parts of it, and the scores of the layers."""
    lines = [_score_line(reasons)]
    if reasons.features:
        lines.append(f"relevance: {summands(reasons.features)}")
    if reasons.harmonic_mean is not None:
        lines.append(
            f"layers: session {_score(reasons.session_score)}, triple "
            f"{_score(reasons.triple_score)}, harmonic mean {_score(reasons.harmonic_mean)}"
        )
    lines.extend(reasons.notes)
    return lines


def _score_line(reasons: Why) -> str:
    product = f"relevance {reasons.semantic:.2f} x decay {reasons.decay:.2f}"
    return f"score {reasons.score:.2f} = {product} ({_time_of(reasons)})"


def _time_of(reasons: Why) -> str:
    if reasons.gap_seconds is None:
        return "at an unknown time"
    return f"said {reasons.gap_seconds / 86400:,.1f} days before the question"


def _score(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.2f}"


def summands(features: Mapping[str, float], most: int = _PARTS_SHOWN) -> str:
    """The largest features of a relevance score, and the sum of the others."""
    ranked = sorted(features.items(), key=lambda item: (-abs(item[1]), item[0]))
    ranked = [(name, value) for name, value in ranked if abs(value) >= 0.005]
    parts = ranked[:most]
    if rest := ranked[most:]:
        parts.append((f"{len(rest)} others", sum(value for _, value in rest)))
    signs = ["+" if value >= 0 else "-" for _, value in parts]
    text = " ".join(
        f"{sign} {name} {abs(value):.2f}" for sign, (name, value) in zip(signs, parts, strict=True)
    )
    return text.removeprefix("+ ") or "nothing"


def plural(count: int, noun: str) -> str:
    """A count with its noun: ``1 turn``, ``2 turns``, ``3 entities``."""
    if count == 1:
        return f"1 {noun}"
    return f"{count:,} {noun[:-1]}ies" if noun.endswith("y") else f"{count:,} {noun}s"


def median(values: Sequence[float]) -> float:
    """The median (of an even number of values, the upper middle one); 0 without values."""
    ordered = sorted(values)
    return ordered[len(ordered) // 2] if ordered else 0.0


def spent(usage: Usage) -> str:
    """Calls, tokens and cost in words; ``no model calls`` if there were none."""
    if not (usage.calls or usage.cached or usage.input_tokens):
        return "no model calls"
    parts = [plural(usage.calls, "call")]
    if usage.cached:
        parts.append(f"{usage.cached:,} from the cache")
    cached = f" ({usage.cached_input_tokens:,} cached)" if usage.cached_input_tokens else ""
    parts.append(f"{usage.input_tokens:,} tokens in{cached}, {usage.output_tokens:,} out")
    if usage.cost:
        parts.append(f"cost {usage.cost:.4f}")
    return ", ".join(parts)


_TEXT_MOST = 300
_SOURCES_SHOWN = 2


def text(value: object, style: str = "", most: int | None = None) -> Text:
    """A value as a cell: safe text on one line."""
    return Text(one_line("" if value is None else str(value), most), style=style)


def table(*columns: str, title: str = "") -> Table:
    """An empty table in the common style; a name that begins with ``>`` marks a numeric column."""
    made = Table(
        box=box.SIMPLE_HEAD, title=title or None, title_justify="left", title_style="bold",
        header_style="bold", pad_edge=False, show_edge=False,
    )  # fmt: skip
    for column in columns:
        number = column.startswith(">")
        made.add_column(
            column.removeprefix(">"),
            justify="right" if number else "left",
            no_wrap=number or column.startswith("when"),
            overflow="fold",
        )
    return made


Column = str | tuple[str, Callable[[Any], object]]
"""An attribute of the items, with another heading before it (``session=id``) if it has one; or a
heading and what returns the value. A heading with ``>`` in front marks a numeric column."""


_DAYS = ("said", "from", "until")
"""Headings of the times of which only the day is shown."""


def listing(
    items: Iterable[Any], zone: tzinfo, *columns: Column, most: int | None = _TEXT_MOST
) -> Table:
    """A table with a row for each item. Times are in a timezone, and texts cut to ``most``."""
    named: list[tuple[str, Callable[[Any], object]]] = []
    for column in columns:
        if isinstance(column, str):
            head, _, name = column.rpartition("=")
            named.append((head or name, attrgetter(name.removeprefix(">"))))
        else:
            named.append(column)
    made = table(*(f"when ({zone_name(zone)})" if head == "when" else head for head, _ in named))
    for item in items:
        values = (shown(get(item), zone, is_day=head in _DAYS) for head, get in named)
        made.add_row(*(text(value, most=most) for value in values))
    if named[-1][0] == "id":  # there to be copied
        made.columns[-1].no_wrap = True
    return made


def shown(value: Any, zone: tzinfo = UTC, *, is_day: bool = False) -> object:
    """A value as a table has it."""
    if isinstance(value, datetime):
        return day(value, zone) if is_day else stamp(value, zone)
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {shown(item, zone)}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(str(shown(item, zone)) for item in value)
    return value


def hits(result: SearchResult, zone: tzinfo) -> Table:
    """Ranked hits, one per row, with their confidence, or their score if it is not known."""
    measure = "score" if result.confidence is None else "confidence"
    number = itertools.count(1)
    return listing(
        result.hits, zone, (">#", lambda hit: next(number)), f">{measure}", "when=at",
        "session", "id", "speaker", ("text", _words_of),
    )  # fmt: skip


def hits_with_reasons(result: SearchResult, zone: tzinfo) -> Table:
    """Ranked hits, each followed by the reasons for its rank."""
    made = Table.grid(padding=(0, 1))
    made.add_column(justify="right", no_wrap=True)
    made.add_column()
    for index, hit in enumerate(result.hits, 1):
        speaker = f"{hit.speaker}: " if hit.speaker else ""
        said = f"{stamp(hit.at, zone)} {hit.session} {speaker}{_words_of(hit)} ({hit.id})"
        cell = text(said)
        for line in reasons(hit):
            cell.append(f"\n{line}", style="dim")
        made.add_row(f"{index}.", cell)
    return made


def _words_of(hit: Hit) -> str:
    part = f" [part {hit.part + 1} of {hit.parts}]" if hit.parts > 1 else ""
    return one_line(hit.text, _TEXT_MOST) + part


def reasons(hit: Hit) -> list[str]:
    """The reasons for the rank of a hit, and the triples extracted from it."""
    lines = [one_line(line) for line in why(hit.why)]
    if hit.triples:
        known = "; ".join(one_line(triple.text, 80) for triple in hit.triples[:3])
        lines.append(f"facts: {known}")
    return lines


def sources(triple: Triple) -> str:
    """The first sources of a triple as ``session/id``, and the number of others."""
    first = [f"{source.session}/{source.id}" for source in triple.sources[:_SOURCES_SHOWN]]
    more = len(triple.sources) - len(first)
    return " ".join([*first, f"+{more}"] if more > 0 else first)


SESSIONS: tuple[Column, ...] = (
    "session=id", "when=started_at", ">messages", ("keys", lambda item: item.keys[:8]),
    ("summary", lambda item: item.summary if item.themes else ""),
)  # fmt: skip
EPISODES: tuple[Column, ...] = (
    "when=started_at", "session", "title", "summary", "messages",
)  # fmt: skip
ENTITIES: tuple[Column, ...] = ("entity=name", "type", ">triples", ">mentions", "aliases")
FACTS: tuple[Column, ...] = (
    "fact=text", "when true=when", "said=last_observed", ("source", sources), "id=uid",
)  # fmt: skip
DECIDED: tuple[Column, ...] = (
    "fact=text", "status", "from=valid_from", "until=valid_to", "because=reason", "id=uid",
)  # fmt: skip
FAILURES: tuple[Column, ...] = (
    "session",
    ("message", lambda item: "(its summary)" if item.message_id is None else item.message_id),
    (">tries", lambda item: item.attempts or item.outages or item.crashes),
    ("state", lambda item: "parked" if item.parked else "to be retried"),
    "reason",
)


def messages(found: Iterable[StoredMessage]) -> tuple[Column, ...]:
    """The columns of messages. Most memories have no keys, and need none for who wrote them."""
    by = ["by=written_by"] * any(message.written_by for message in found)
    return ("id", "when=at", "session", *by, "speaker", "text")


def rows(found: Sequence[Mapping[str, Any]]) -> Table:
    """The rows that a query returned."""
    made = table(*(one_line(str(name)).lstrip(">") for name in found[0]))
    for row in found:
        made.add_row(*(text(shown(value), most=_TEXT_MOST) for value in row.values()))
    return made
