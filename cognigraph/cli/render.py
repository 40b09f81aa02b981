"""Tables and trees for the terminal. Every text from a memory is made safe by ``one_line``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from cognigraph.cli import format_values
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
)
from cognigraph.model.storage import Check
from cognigraph.stores.records import Failure

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


def hits(result: SearchResult, zone: tzinfo) -> Table:
    """Ranked hits, one per row, with their confidence, or their score if it is not known."""
    measure = ">score" if result.confidence is None else ">confidence"
    made = table(
        ">#", measure, f"when ({format_values.zone_name(zone)})", "session", "speaker", "text"
    )
    for index, hit in enumerate(result.hits, 1):
        made.add_row(
            str(index),
            f"{hit.score if hit.confidence is None else hit.confidence:.2f}",
            Text(format_values.stamp(hit.at, zone), style="cyan"),
            text(hit.session),
            text(hit.speaker, "bold"),
            _words_of(hit),
        )
    return made


def hits_with_reasons(result: SearchResult, zone: tzinfo) -> Table:
    """Ranked hits, each followed by the reasons for its rank."""
    made = Table.grid(padding=(0, 1))
    made.add_column(justify="right", no_wrap=True)
    made.add_column()
    for index, hit in enumerate(result.hits, 1):
        cell = Text()
        cell.append(f"{format_values.stamp(hit.at, zone)} ", style="cyan")
        cell.append(f"{one_line(hit.session)} ")
        cell.append(f"{one_line(hit.speaker)}: " if hit.speaker else "", style="bold")
        cell.append_text(_words_of(hit))
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
    lines = [one_line(line) for line in format_values.why(hit.why)]
    if hit.triples:
        known = "; ".join(one_line(triple.text, 80) for triple in hit.triples[:3])
        lines.append(f"facts: {known}")
    return lines


def sessions(found: Iterable[Session], zone: tzinfo) -> Table:
    """Sessions with their keys and summaries."""
    made = table("session", "when", ">turns", "keys and summary")
    for session in found:
        cell = text(", ".join(session.keys[:8]) or "(not enriched yet)", "green")
        if session.themes:
            cell.append("\n" + one_line(session.summary, _SUMMARY_MOST), style="default")
        made.add_row(
            text(session.id, "bold"),
            Text(format_values.day(session.started_at, zone), style="cyan"),
            str(session.messages),
            cell,
        )
    return made


def episodes(found: Iterable[Episode], zone: tzinfo) -> Table:
    """Episodes with the messages that they cover."""
    made = table(f"when ({format_values.zone_name(zone)})", "session", "begins", "episode")
    for one in found:
        cell = text(one.title, "green")
        cell.append("\n" + one_line(one.summary, _SUMMARY_MOST), style="default")
        cell.append(f"\n{one_line(', '.join(one.messages), _TEXT_MOST)}", style="dim")
        made.add_row(
            Text(format_values.stamp(one.started_at, zone), style="cyan"),
            text(one.session, "bold"),
            text(one.reason),
            cell,
        )
    return made


def revisions(found: Iterable[Summary], zone: tzinfo) -> Table:
    """The revisions of a session's keys and summary, newest first."""
    made = table(
        ">version", f"when ({format_values.zone_name(zone)})", "extractor", "keys and summary"
    )
    for one in found:
        cell = text(", ".join(one.keys[:8]), "green")
        cell.append("\n" + one_line(one.text, _SUMMARY_MOST), style="default")
        made.add_row(
            str(one.version),
            Text(format_values.stamp(one.at, zone), style="cyan"),
            text(one.extractor),
            cell,
        )
    return made


def session_keys(found: Iterable[Session], zone: tzinfo, most: int) -> Table:
    """Sessions with their keys only, one line each."""
    made = table("session", "when", ">turns", "keys")
    for session in found:
        made.add_row(
            text(session.id, "bold"),
            Text(format_values.day(session.started_at, zone), style="cyan"),
            str(session.messages),
            text(", ".join(session.keys[:most]), "green"),
        )
    return made


def entities(found: Iterable[Entity]) -> Table:
    """Entities with their aliases and the numbers of their triples and mentions."""
    made = table("entity", "type", ">triples", ">mentions")
    for entity in found:
        name = text(entity.name, "bold")
        if entity.aliases:
            name.append(f"\n= {one_line(', '.join(entity.aliases), _TEXT_MOST)}", style="dim")
        made.add_row(name, text(entity.type), str(entity.triples), str(entity.mentions))
    return made


def duplicates(found: Iterable[SuspectedDuplicate]) -> Table:
    """Pairs of entities that may be the same."""
    made = table(">score", "entity", "type", "and", "type", "because")
    for pair in found:
        made.add_row(
            f"{pair.score:.2f}",
            text(pair.name, "bold"),
            text(pair.type),
            text(pair.other, "bold"),
            text(pair.other_type),
            text(pair.reason, "dim"),
        )
    return made


def triples(found: Iterable[Triple], zone: tzinfo) -> Table:
    """Triples with their valid time, when they were said, and their sources."""
    made = table("subject", "relation", "object", "when true", "said", "source")
    for triple in found:
        made.add_row(
            text(triple.subject, "bold"),
            text(f"not {triple.relation}" if triple.negated else triple.relation),
            text(triple.object, "bold"),
            text(triple.when, "cyan"),
            Text(observed_days(triple, zone), style="cyan"),
            text(format_values.sources(triple), "dim"),
        )
    return made


def observed_days(triple: Triple, zone: tzinfo) -> str:
    """The first and last day on which a triple was observed, or the day if they are equal."""
    days = [
        format_values.day(triple.first_observed, zone),
        format_values.day(triple.last_observed, zone),
    ]
    return days[0] if days[0] == days[1] else f"{days[0]} .. {days[1]}"


def tree(session: Session, facts: Sequence[tuple[Triple, Sequence[tuple[str, str]]]]) -> Tree:
    """One session with its keys, some of its triples, and the chunks they cite."""
    root = Tree(text(session.id, "bold"), guide_style="dim")
    root.add(text(f"keys: {', '.join(session.keys[:6])}", "green"))
    for triple, chunks in facts:
        when = f"  ({triple.when})" if triple.when else ""
        branch = root.add(text(f"triple: {triple.text}{when}"))
        for id, spoken in chunks:
            branch.add(text(f"chunk {id}: {spoken}", "dim", most=88))
    return root


_COUNTS = ("sessions", "messages", "chunks", "entities", "triples", "keys", "pending", "failed")


def stats(found: Iterable[Stats]) -> Table:
    """Counts, one row per space."""
    made = table("space", *(f">{name}" for name in _COUNTS), ">summaries\ndue")
    for one in found:
        values = [getattr(one, name) for name in _COUNTS]
        values[6] += one.leased
        values.append(one.summaries_pending + one.summaries_failed)
        made.add_row(text(one.space, "bold"), *(f"{value:,}" for value in values))
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
    made = table("name", "what it shows", "parameters")
    for query in found:
        made.add_row(
            text(query.name, "bold"),
            text(query.what),
            text(", ".join(map(str, query.parameters)), "dim"),
        )
    return made


def checks(found: Iterable[Check]) -> Table:
    """Results of checks, with advice below those that failed."""
    made = table("", "check", "finding")
    for check in found:
        cell = text(check.detail)
        if not check.ok and check.advice:
            cell.append(f"\n-> {one_line(check.advice)}", style="yellow")
        mark = Text("ok", style="green") if check.ok else Text("FAIL", style="bold red")
        made.add_row(mark, text(check.name, "bold"), cell)
    return made


def failures(found: Iterable[Failure]) -> Table:
    """Chunks and summaries whose enrichment failed, with the reasons."""
    made = table("session", "message", ">tries", "state", "reason")
    for failure in found:
        made.add_row(
            text(failure.session),
            text("(its summary)" if failure.message_id is None else failure.message_id),
            str(failure.attempts or failure.outages or failure.crashes),
            "parked" if failure.parked else "to be retried",
            text(failure.reason, most=_TEXT_MOST),
        )
    return made
