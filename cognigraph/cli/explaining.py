"""``cognigraph why``: the rank of an expected message, and what would improve it."""

from __future__ import annotations

from rich.table import Table

from cognigraph.cli import format_values, render
from cognigraph.cli.commands import FOUND_PROBLEM, OK, CommandRun
from cognigraph.cli.open_memory import moment, reading
from cognigraph.model import Explanation


def why(run: CommandRun) -> int:
    """Explain the rank of one message; the exit code says whether it is among the hits."""
    arguments, options, terminal = run.arguments, run.options, run.terminal
    now = moment(arguments.now, options, "--now")
    as_of = moment(arguments.as_of, options, "--as-of")
    with reading(options) as space:
        found = space.why(
            arguments.question, arguments.expect, arguments.k, now,
            session=arguments.session, as_of=as_of,
        )  # fmt: skip
    terminal.document({**_fields(found), "verdict": found.verdict, "is_found": found.is_found})
    message = found.expected
    speaker = f"{message.speaker}: " if message.speaker else ""
    at = format_values.stamp(message.at, options.reader)
    terminal.show(render.text(f"{at} {message.session} {speaker}{message.text}", most=300))
    terminal.show(render.text(found.verdict, "bold green" if found.is_found else "bold red"))
    terminal.show(_sources(found))
    if found.signals:
        terminal.show(_signals(found))
    terminal.show(_variants(found))
    for triple in found.triples[:5]:
        terminal.note(f"fact from this message: {triple.text}")
    for remark in found.remarks:
        terminal.note(remark)
    for proposal in found.proposals:
        rank = "" if proposal.rank is None else f" -> rank {proposal.rank}"
        terminal.note(f"would improve its rank: {proposal.what}{rank}")
    return OK if found.is_found else FOUND_PROBLEM


def _fields(found: Explanation) -> dict[str, object]:
    return {name: getattr(found, name) for name in found.__dataclass_fields__}


def _sources(found: Explanation) -> Table:
    made = render.table(
        "source", ">rank", ">limit", ">value", title="Its rank in each candidate source"
    )
    for source in found.candidate_sources:
        rank = "not found" if source.rank is None else f"{source.rank:,}"
        value = "" if source.value is None else f"{source.value:.3f}"
        is_candidate = source.rank is not None and source.rank <= source.limit
        made.add_row(
            source.name, rank, str(source.limit), value, style="" if is_candidate else "dim"
        )
    return made


def _signals(found: Explanation) -> Table:
    made = render.table(
        "signal", ">message", f">hit {found.k}", ">first hit", ">rank",
        title="Points from each signal, the largest loss first",
    )  # fmt: skip
    for signal in found.signals:
        lost = signal.points < signal.points_at_k - 1e-9
        made.add_row(
            signal.name,
            f"{signal.points:+.3f}",
            f"{signal.points_at_k:+.3f}",
            f"{signal.points_of_best:+.3f}",
            str(signal.rank),
            style="red" if lost else "",
        )
    return made


def _variants(found: Explanation) -> Table:
    made = render.table("ranking", ">rank", title="Its rank in other rankings")
    made.add_row("as asked", "not a candidate" if found.rank is None else str(found.rank))
    for name, rank in found.variants:
        made.add_row(name, "not a candidate" if rank is None else str(rank))
    return made
