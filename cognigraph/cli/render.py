"""Texts and tables for people: scores, times, usage, messages, facts, sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from cognigraph.cli.terminal import one_line
from cognigraph.cypher import NamedQuery
from cognigraph.model import (
    Entity,
    Episode,
    Hit,
    SearchResult,
    Session,
    Stats,
    Summary,
    SuspectedDuplicate,
    Triple,
    Usage,
    Why,
)
from cognigraph.model.storage import Check
from cognigraph.stores.records import Failure

_UNITS = (
    ("year", 365.25 * 86400),
    ("month", 30.44 * 86400),
    ("week", 7 * 86400),
    ("day", 86400),
    ("hour", 3600),
    ("minute", 60),
)
_PARTS_SHOWN = 4


def gap(seconds: float | None) -> str:
    """A time difference in words, such as ``3 weeks``."""
    if seconds is None:
        return "unknown"
    for name, size in _UNITS:
        # At least two of a unit: "9 days" is more precise than "1 week".
        if seconds >= 2 * size or (name == "minute" and seconds >= size):
            count = round(seconds / size)
            return f"{count} {name}{'s' if count > 1 else ''}"
    return "moments"


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
    return f"said {gap(reasons.gap_seconds)} before the question"


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


def sources(triple: Triple, most: int = 2) -> str:
    """The first sources of a triple as ``session/id``, and the number of others."""
    shown = [f"{source.session}/{source.id}" for source in triple.sources[:most]]
    more = len(triple.sources) - len(shown)
    return " ".join([*shown, f"+{more}"] if more > 0 else shown)


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
_SUMMARY_MOST = 320


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
            no_wrap=number or column.startswith(("when", "said")),
            overflow="fold",
        )
    return made


Column = tuple[str, str | Callable[[Any], object]] | tuple[str, str | Callable[[Any], object], str]
"""A name as :func:`table` takes it, the cell of an item, and a style. The cell is an attribute, or
what a function returns: a styled text or a value."""


def listing(found: Iterable[Any], *columns: Column) -> Table:
    """A table with a row for each item."""
    made = table(*(column[0] for column in columns))
    for item in found:
        made.add_row(*(_cell_of(item, *column[1:]) for column in columns))
    return made


def _cell_of(item: Any, cell: str | Callable[[Any], object], style: str = "") -> Text:
    value = getattr(item, cell) if isinstance(cell, str) else cell(item)
    return value if isinstance(value, Text) else text(value, style)


def hits(result: SearchResult, zone: tzinfo) -> Table:
    """Ranked hits, one per row, with their confidence, or their score if it is not known."""
    measure = "score" if result.confidence is None else "confidence"
    return listing(
        enumerate(result.hits, 1), (">#", lambda hit: hit[0]),
        (f">{measure}", lambda hit: f"{getattr(hit[1], measure):.2f}"),
        (f"when ({zone_name(zone)})", lambda hit: stamp(hit[1].at, zone), "cyan"),
        ("session", lambda hit: hit[1].session), ("id", lambda hit: hit[1].id, "dim"),
        ("speaker", lambda hit: hit[1].speaker, "bold"), ("text", lambda hit: _words_of(hit[1])),
    )  # fmt: skip


def hits_with_reasons(result: SearchResult, zone: tzinfo) -> Table:
    """Ranked hits, each followed by the reasons for its rank."""
    made = Table.grid(padding=(0, 1))
    made.add_column(justify="right", no_wrap=True)
    made.add_column()
    for index, hit in enumerate(result.hits, 1):
        cell = Text()
        cell.append(f"{stamp(hit.at, zone)} ", style="cyan")
        cell.append(f"{one_line(hit.session)} ")
        cell.append(f"{one_line(hit.speaker)}: " if hit.speaker else "", style="bold")
        cell.append_text(_words_of(hit))
        cell.append(f" ({one_line(hit.id)})", style="dim")
        for line in reasons(hit):
            cell.append(f"\n{line}", style="dim")
        made.add_row(f"{index}.", cell)
    return made


def _words_of(hit: Hit) -> Text:
    cell = text(hit.text, most=_TEXT_MOST)
    if hit.parts > 1:
        cell.append(f" [part {hit.part + 1} of {hit.parts}]", style="dim")
    return cell


def reasons(hit: Hit) -> list[str]:
    """The reasons for the rank of a hit, and the triples extracted from it."""
    lines = [one_line(line) for line in why(hit.why)]
    if hit.triples:
        known = "; ".join(one_line(triple.text, 80) for triple in hit.triples[:3])
        lines.append(f"facts: {known}")
    return lines


def _about(keys: Sequence[str], summary: str) -> Text:
    cell = text(", ".join(keys[:8]) or "(not enriched yet)", "green")
    if summary:
        cell.append("\n" + one_line(summary, _SUMMARY_MOST), style="default")
    return cell


def sessions(found: Iterable[Session], zone: tzinfo) -> Table:
    """Sessions with their keys and summaries."""
    return listing(
        found, ("session", "id", "bold"), ("when", lambda item: day(item.started_at, zone), "cyan"),
        (">turns", "messages"),
        ("keys and summary", lambda item: _about(item.keys, item.summary if item.themes else "")),
    )  # fmt: skip


def episodes(found: Iterable[Episode], zone: tzinfo) -> Table:
    """Episodes with the messages that they cover."""

    def covering(one: Episode) -> Text:
        cell = text(one.title, "green")
        cell.append("\n" + one_line(one.summary, _SUMMARY_MOST), style="default")
        return cell.append(f"\n{one_line(', '.join(one.messages), _TEXT_MOST)}", style="dim")

    return listing(
        found, (f"when ({zone_name(zone)})", lambda item: stamp(item.started_at, zone), "cyan"),
        ("session", "session", "bold"), ("begins", "reason"), ("episode", covering),
    )  # fmt: skip


def revisions(found: Iterable[Summary], zone: tzinfo) -> Table:
    """The revisions of a session's keys and summary, newest first."""
    return listing(
        found, (">version", "version"),
        (f"when ({zone_name(zone)})", lambda item: stamp(item.at, zone), "cyan"),
        ("extractor", "extractor"), ("keys and summary", lambda item: _about(item.keys, item.text)),
    )  # fmt: skip


def session_keys(found: Iterable[Session], zone: tzinfo, most: int) -> Table:
    """Sessions with their keys only, one line each."""
    return listing(
        found, ("session", "id", "bold"), ("when", lambda item: day(item.started_at, zone), "cyan"),
        (">turns", "messages"), ("keys", lambda item: ", ".join(item.keys[:most]), "green"),
    )  # fmt: skip


def entities(found: Iterable[Entity]) -> Table:
    """Entities with their aliases and the numbers of their triples and mentions."""

    def name(entity: Entity) -> Text:
        cell = text(entity.name, "bold")
        if entity.aliases:
            cell.append(f"\n= {one_line(', '.join(entity.aliases), _TEXT_MOST)}", style="dim")
        return cell

    return listing(
        found, ("entity", name), ("type", "type"), (">triples", "triples"),
        (">mentions", "mentions"),
    )  # fmt: skip


def duplicates(found: Iterable[SuspectedDuplicate]) -> Table:
    """Pairs of entities that may be the same."""
    return listing(
        found, (">score", lambda pair: f"{pair.score:.2f}"), ("entity", "name", "bold"),
        ("type", "type"), ("and", "other", "bold"), ("type", "other_type"),
        ("because", "reason", "dim"),
    )  # fmt: skip


def triples(found: Iterable[Triple], zone: tzinfo) -> Table:
    """Triples with their valid time, when they were said, and their sources."""
    return listing(
        found, ("subject", "subject", "bold"),
        ("relation", lambda item: f"not {item.relation}" if item.negated else item.relation),
        ("object", "object", "bold"), *_said(zone),
    )  # fmt: skip


def _said(zone: tzinfo) -> tuple[Column, ...]:
    return (
        ("when true", "when", "cyan"),
        ("said", lambda item: observed_days(item, zone), "cyan"),
        ("source", sources, "dim"),
    )


def triples_with_ids(found: Iterable[Triple], zone: tzinfo, *first: Column) -> Table:
    """Triples as sentences, each with its id, which other commands take."""
    return with_ids(listing(found, *first, ("fact", "text", "bold"), *_said(zone), _ID))


_ID: Column = ("id", "uid", "dim")


def decided(found: Iterable[Triple], zone: tzinfo) -> Table:
    """Triples with their status, its times and reasons, and their ids."""
    made = listing(
        found,
        ("fact", "text", "bold"),
        ("status", "status"),
        ("from", lambda item: item.valid_from and day(item.valid_from, zone), "cyan"),
        ("until", lambda item: item.valid_to and day(item.valid_to, zone), "cyan"),
        ("because", "reason"),
        _ID,
    )  # fmt: skip
    return with_ids(made)


def with_ids(made: Table) -> Table:
    """The table, whose last column is there to be copied."""
    made.columns[-1].no_wrap = True
    return made


def observed_days(triple: Triple, zone: tzinfo) -> str:
    """The first and last day on which a triple was observed, or the day if they are equal."""
    days = [
        day(triple.first_observed, zone),
        day(triple.last_observed, zone),
    ]
    return days[0] if days[0] == days[1] else f"{days[0]} .. {days[1]}"


def tree(session: Session, facts: Sequence[tuple[Triple, Sequence[tuple[str, str]]]]) -> Tree:
    """One session with its keys, some of its triples, and the chunks they cite."""
    root = Tree(text(session.id, "bold"), guide_style="dim")
    root.add(text(f"keys: {', '.join(session.keys[:6])}", "green"))
    for triple, chunks in facts:
        when = f"  ({triple.when})" if triple.when else ""
        branch = root.add(text(f"triple: {triple.text}{when}"))
        for id, said in chunks:
            branch.add(text(f"chunk {id}: {said}", "dim", most=88))
    return root


_COUNTS = ("sessions", "messages", "chunks", "entities", "triples", "keys", "pending", "failed")


def stats(found: Iterable[Stats]) -> Table:
    """Counts, one row per space."""
    found = [*found]
    # Most memories embed at once, and need no column for this.
    later = any(item.vectors_pending for item in found)
    heads = [*(f">{name}" for name in _COUNTS), ">summaries\ndue", *[">vectors\nwaiting"] * later]
    made = table("space", *heads)
    for item in found:
        values = [getattr(item, name) for name in _COUNTS]
        values[6] += item.leased
        values.append(item.summaries_pending + item.summaries_failed)
        values += [item.vectors_pending] * later
        made.add_row(text(item.space, "bold"), *(f"{value:,}" for value in values))
    return made


def rows(found: Sequence[Mapping[str, Any]]) -> Table:
    """The rows that a query returned."""
    made = table(*(one_line(str(name)).lstrip(">") for name in found[0]))
    for row in found:
        made.add_row(*(text(_cell(value), most=_TEXT_MOST) for value in row.values()))
    return made


def _cell(value: Any) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(" ", "minutes").removesuffix("+00:00")
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_cell(item)}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(str(_cell(item)) for item in value)
    return value


def queries(found: Iterable[NamedQuery]) -> Table:
    """The named queries of the package."""
    return listing(
        found, ("name", "name", "bold"), ("what it shows", "what"),
        ("parameters", lambda query: ", ".join(map(str, query.parameters)), "dim"),
    )  # fmt: skip


def checks(found: Iterable[Check]) -> Table:
    """Results of checks, with advice below those that failed."""

    def finding(check: Check) -> Text:
        cell = text(check.detail)
        if not check.ok and check.advice:
            cell.append(f"\n-> {one_line(check.advice)}", style="yellow")
        return cell

    ok, failed = Text("ok", style="green"), Text("FAIL", style="bold red")
    return listing(
        found, ("", lambda check: ok if check.ok else failed), ("check", "name", "bold"),
        ("finding", finding),
    )  # fmt: skip


def failures(found: Iterable[Failure]) -> Table:
    """Chunks and summaries whose enrichment failed, with the reasons."""
    return listing(
        found, ("session", "session"),
        ("message", lambda item: "(its summary)" if item.message_id is None else item.message_id),
        (">tries", lambda item: item.attempts or item.outages or item.crashes),
        ("state", lambda item: "parked" if item.parked else "to be retried"),
        ("reason", lambda item: text(item.reason, most=_TEXT_MOST)),
    )  # fmt: skip
