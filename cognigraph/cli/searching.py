"""``cognigraph search``: what is ranked, and how it is printed."""

from __future__ import annotations

from datetime import tzinfo

from rich.table import Table
from rich.text import Text

from cognigraph.cli import render
from cognigraph.cli.command_run import FOUND_PROBLEM, OK, CommandRun
from cognigraph.cli.memory_options import reading
from cognigraph.cli.terminal import Terminal, one_line
from cognigraph.errors import ConfigurationError
from cognigraph.model import Episode, Hit, SearchResult
from cognigraph.space import Space


def show(result: SearchResult, terminal: Terminal, zone: tzinfo, *, why: bool) -> None:
    """Print a result in the form of its layer."""
    if result.layer == "episodes":
        terminal.show(_episodes(result, zone))
        return
    if result.layer == "facts":
        score = (">score", lambda triple: f"{triple.score or 0.0:.2f}")
        facts = render.triples_with_ids(result.triples, zone, score)
        terminal.show(facts, render.text("stated in", "bold"))
    terminal.show((render.hits_with_reasons if why else render.hits)(result, zone))


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
    first, last = (render.stamp(at, zone) for at in (episode.started_at, episode.ended_at))
    until = last if first[:10] != last[:10] else last[11:]
    cell = Text(one_line(episode.title or "(no title)"), style="bold")
    cell.append(f"  {first} to {until}", style="not bold cyan")
    cell.append(f"  {one_line(episode.session)}", style="not bold default")
    if episode.summary:
        cell.append("\n" + one_line(episode.summary, _TEXT_MOST), style="not bold dim")
    return cell


_TEXT_MOST = 300


def search(run: CommandRun) -> int:
    """Find messages for a question."""
    arguments, options = run.arguments, run.options
    if arguments.layer == "episodes" and arguments.why:
        raise ConfigurationError("--why explains messages and facts; leave out --layer episodes")
    with reading(options) as space:
        result = space.search(**run.given())
        enriched = _is_enriched(space)
    run.terminal.document(result)
    hint = None if enriched else "some messages are not enriched yet: cognigraph enrich"
    if not (result.hits or result.episodes):
        notes = [*result.trace.notes, *([hint + options.flags] if hint else [])]
        run.terminal.note("; ".join(["nothing found", *notes]))
        return FOUND_PROBLEM
    show(result, run.terminal, options.reader, why=arguments.why)
    if arguments.why:
        counts, trace = result.trace.counts, result.trace
        run.terminal.note(
            f"{counts.get('chunks', 0)} chunks and {counts.get('triples', 0)} triples ranked in "
            f"{trace.timings.get('total', 0):.0f} ms, ranking {trace.ranking}"
        )
    if hint:
        run.terminal.note(hint + options.flags)
    return OK


def _is_enriched(space: Space) -> bool:
    stats = space.stats()
    return not (stats.pending or stats.leased)
