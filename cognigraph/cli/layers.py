"""What a search of one layer prints: messages, facts with their messages, or episodes."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import tzinfo
from typing import Any, get_args

from rich.table import Table
from rich.text import Text

from cognigraph.cli import format_values, render
from cognigraph.cli.terminal import Terminal, one_line
from cognigraph.errors import ConfigurationError
from cognigraph.model import Episode, Hit, Layer, SearchResult, Triple

_TEXT_MOST = 300


def add_layer(parser: Any) -> None:
    """Add the option that chooses what a search ranks."""
    parser.add_argument(
        "--layer",
        choices=get_args(Layer),
        default="messages",
        help="what to rank: messages (default), facts with the messages that state them, or "
        "episodes with the messages that they cover",
    )


def check_layer(layer: Layer, *, why: bool, spaces: bool) -> None:
    """Refuse combinations of ``--layer`` with options that exist for messages only."""
    if layer == "episodes" and why:
        raise ConfigurationError("--why explains messages and facts; leave out --layer episodes")
    if layer != "messages" and spaces:
        raise ConfigurationError(f"--in searches messages; search {layer} in one space (--space)")


def show(result: SearchResult, terminal: Terminal, zone: tzinfo, *, why: bool) -> None:
    """Print a result in the form of its layer."""
    if result.layer == "episodes":
        terminal.show(_episodes(result, zone))
        return
    if result.layer == "facts":
        terminal.show(_facts(result.triples, zone), render.text("stated in", "bold"))
    terminal.show((render.hits_with_reasons if why else render.hits)(result, zone))


def _facts(found: Iterable[Triple], zone: tzinfo) -> Table:
    """Ranked facts, each with its sources."""
    made = render.table(">#", ">score", "fact", "when true", "said", "source")
    for index, triple in enumerate(found, 1):
        made.add_row(
            str(index),
            f"{triple.score or 0.0:.2f}",
            render.text(triple.text, "bold"),
            render.text(triple.when, "cyan"),
            Text(render.observed_days(triple, zone), style="cyan"),
            render.text(format_values.sources(triple), "dim"),
        )
    return made


def _episodes(result: SearchResult, zone: tzinfo) -> Table:
    """Ranked episodes, each with its summary and the messages that it covers."""
    hits: dict[tuple[str, str], list[Hit]] = {}
    for hit in result.hits:
        hits.setdefault((hit.session, hit.id), []).append(hit)
    made = Table.grid(padding=(0, 1))
    made.add_column(justify="right", no_wrap=True)
    made.add_column()
    for index, episode in enumerate(result.episodes, 1):
        cell = _heading(episode, zone)
        covered = [hit for id in episode.messages for hit in hits.get((episode.session, id), ())]
        for hit in covered:
            cell.append("\n  ")
            cell.append(f"{one_line(hit.speaker)}: " if hit.speaker else "", style="bold")
            cell.append(one_line(hit.text, _TEXT_MOST))
        made.add_row(f"{index}.", cell)
    return made


def _heading(episode: Episode, zone: tzinfo) -> Text:
    first, last = (format_values.stamp(at, zone) for at in (episode.started_at, episode.ended_at))
    until = last if first[:10] != last[:10] else last[11:]
    cell = Text(one_line(episode.title or "(no title)"), style="bold")
    cell.append(f"  {first} to {until}", style="not bold cyan")
    cell.append(f"  {one_line(episode.session)}", style="not bold default")
    if episode.summary:
        cell.append("\n" + one_line(episode.summary, _TEXT_MOST), style="not bold dim")
    return cell
