"""``cognigraph search``: what is ranked, and how it is printed."""

from __future__ import annotations

from datetime import tzinfo

from cognigraph.cli import render
from cognigraph.cli.command_run import FOUND_PROBLEM, OK, CommandRun
from cognigraph.cli.memory_options import reading
from cognigraph.cli.terminal import Terminal
from cognigraph.errors import ConfigurationError
from cognigraph.model import SearchResult
from cognigraph.space import Space


def show(result: SearchResult, terminal: Terminal, zone: tzinfo, *, why: bool) -> None:
    """Print a result in the form of its layer."""
    if result.layer == "facts":
        terminal.show(render.listing(result.triples, zone, ">score", *render.FACTS))
        terminal.show(render.text("stated in", "bold"))
    elif result.layer == "episodes":
        terminal.show(render.listing(result.episodes, zone, *render.EPISODES))
        terminal.show(render.text("with the messages", "bold"))
    terminal.show((render.hits_with_reasons if why else render.hits)(result, zone))


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
