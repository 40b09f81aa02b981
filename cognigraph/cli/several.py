"""Search several spaces: ``cognigraph search QUESTION --in SPACE --in SPACE``."""

from __future__ import annotations

from argparse import Namespace

from cognigraph.cli import format_values, render
from cognigraph.cli.commands import FOUND_PROBLEM, OK, CommandRun
from cognigraph.cli.commands import search as search_one
from cognigraph.cli.filter_options import filter_of, times_of
from cognigraph.cli.layers import check_layer
from cognigraph.cli.open_memory import moment, opened
from cognigraph.errors import ConfigurationError

_TEXT_MOST = 300
_FOR_ONE_SPACE = ("also", "without", "per_session", "min_confidence", "profile", "why")


def search(run: CommandRun) -> int:
    """Find messages for a question, in one space or in those that are named."""
    given, options = run.arguments, run.options
    check_layer(given.layer, why=given.why, spaces=bool(given.spaces))
    if not given.spaces:
        return search_one(run)
    _check_alone(given)
    as_of, valid_at = times_of(given, options)
    now = moment(given.now, options, "--now")
    with opened(options) as memory:
        result = memory.search_spaces(
            given.spaces,
            given.question,
            given.k,
            now,
            as_of=as_of,
            valid_at=valid_at,
            where=filter_of(given, options),
        )
    run.terminal.document({"question": result.question, "hits": result.hits})
    if not result:
        run.terminal.note("nothing found")
        return FOUND_PROBLEM
    table = render.table("space", "id", "when", "speaker", "text")
    for one in result:
        table.add_row(
            render.text(one.space, "bold"),
            render.text(one.hit.id),
            render.text(format_values.stamp(one.hit.at, options.reader)),
            render.text(one.hit.speaker),
            render.text(one.hit.text, most=_TEXT_MOST),
        )
    run.terminal.show(table)
    return OK


def _check_alone(given: Namespace) -> None:
    """Refuse options that a search of several spaces does not have."""
    for name in _FOR_ONE_SPACE:
        if getattr(given, name):
            option = "--" + name.replace("_", "-")
            raise ConfigurationError(f"{option} is for one space: leave out --in, or {option}")
