"""``cognigraph search``: what is ranked, in one space or several, and how it is printed."""

from __future__ import annotations

from argparse import Namespace
from datetime import tzinfo

from rich.table import Table
from rich.text import Text

from cognigraph.cli import render
from cognigraph.cli.command_run import FOUND_PROBLEM, OK, CommandRun
from cognigraph.cli.memory_options import opened, reading
from cognigraph.cli.terminal import Terminal, one_line
from cognigraph.errors import ConfigurationError
from cognigraph.model import Episode, Hit, Layer, SearchResult
from cognigraph.space import Space


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
_FOR_ONE_SPACE = ("also", "without", "per_session", "min_confidence", "ranking", "why")


def search(run: CommandRun) -> int:
    """Find messages for a question, in one space or in those that are named."""
    given, options = run.arguments, run.options
    several = bool(given.spaces) or given.all_spaces
    check_layer(given.layer, why=given.why, spaces=several)
    if not several:
        return _search_one_space(run)
    _check_alone(given)
    found = run.given()
    for name in ("also", "without", "per_session", "min_confidence", "layer", "settings"):
        found.pop(name)
    with opened(options) as memory:
        result = memory.search_spaces(None if given.all_spaces else given.spaces, **found)
    run.terminal.document({"question": result.question, "hits": result.hits})
    if not result:
        run.terminal.note("nothing found")
        return FOUND_PROBLEM
    table = render.listing(
        result,
        ("space", "space", "bold"),
        ("id", lambda item: item.hit.id),
        ("when", lambda item: render.stamp(item.hit.at, options.reader)),
        ("speaker", lambda item: item.hit.speaker),
        ("text", lambda item: render.text(item.hit.text, most=_TEXT_MOST)),
    )  # fmt: skip
    run.terminal.show(table)
    return OK


def _check_alone(given: Namespace) -> None:
    """Refuse options that a search of several spaces does not have."""
    for name in _FOR_ONE_SPACE:
        if getattr(given, name):
            option = "--" + name.replace("_", "-")
            raise ConfigurationError(
                f"{option} is for one space: leave out --in or --all-spaces, or {option}"
            )


def _search_one_space(run: CommandRun) -> int:
    """Find messages for a question."""
    arguments, options = run.arguments, run.options
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
    if absent := render.absent(result):
        run.terminal.note(f"words in none of these hits: {', '.join(absent)}")
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
