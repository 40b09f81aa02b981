"""``cognigraph why`` and ``cognigraph ask``: explain a rank; answer with a model, in rounds."""

from __future__ import annotations

from rich.text import Text

from cognigraph.cli import render
from cognigraph.cli.command_run import FOUND_PROBLEM, OK, CommandRun
from cognigraph.cli.memory_options import existing, in_our_words, opened, reading
from cognigraph.cli.render import plural
from cognigraph.cli.terminal import Terminal, one_line
from cognigraph.loop.data import Answer, Round
from cognigraph.plain_data import plain


def why(run: CommandRun) -> int:
    """Explain the rank of one message; the exit code says whether it is among the hits."""
    options, terminal = run.options, run.terminal
    with reading(options) as space:
        found = space.why(**run.given())
    terminal.document({**plain(found), "is_found": found.is_found})
    message = found.expected
    speaker = f"{message.speaker}: " if message.speaker else ""
    at = render.stamp(message.at, options.reader)
    terminal.show(render.text(f"{at} {message.session} {speaker}{message.text}", most=300))
    if message.written_by:
        terminal.note(f"written by {message.written_by}")
    terminal.show(render.text(found.verdict, "bold green" if found.is_found else "bold red"))
    zone = options.reader
    terminal.show(
        "its rank in each candidate source",
        render.listing(found.candidate_sources, zone, "source=name", ">rank", ">limit", ">value"),
        "points from each signal, the largest loss first",
        render.listing(
            found.signals, zone, "signal=name", ">message=points", f">hit {found.k}=points_at_k",
            ">first hit=points_of_best", ">rank",
        ),
        "its rank in other rankings",
        render.listing(
            [("as asked", found.rank), *found.variants], zone,
            ("ranking", lambda item: item[0]), (">rank", lambda item: item[1]),
        ),
    )  # fmt: skip
    for triple in found.triples[:5]:
        terminal.note(f"fact from this message: {triple.text}")
    for remark in found.remarks:
        terminal.note(remark)
    for proposal in found.proposals:
        rank = "" if proposal.rank is None else f" -> rank {proposal.rank}"
        terminal.note(f"would improve its rank: {proposal.what}{rank}")
    return OK if found.is_found else FOUND_PROBLEM


_MOST_SHOWN = 6


def ask(run: CommandRun) -> int:
    """Answer a question."""
    arguments, options, terminal = run.arguments, run.options, run.terminal
    given = run.given()
    with opened(options, model=model_name(run)) as memory:
        answer = existing(memory, options).ask(
            **given,
            on_round=lambda done: show_round(done, terminal),
            timezone=options.reader,
        )
    terminal.document(answer)
    show_answer(answer, terminal)
    if arguments.trace:
        _show_calls(answer, terminal)
    return OK if answer.text or (answer.context and answer.stopped == "no model") else FOUND_PROBLEM


def model_name(run: CommandRun) -> str | None:
    """The model of --model or of the environment; ``None`` without either."""
    if name := run.arguments.model:
        return f"openai:{name}"
    return "openai" if run.options.model else None


def show_round(one: Round, terminal: Terminal) -> None:
    """Print one round: what was asked, what was new, and what was made of it."""
    plan = one.plan
    new = plural(len(one.found), "new item")
    terminal.show(Text(f"round {one.number}  {plan.layer}, {new}", style="bold"))
    for query in plan.queries or ("related messages",):
        terminal.show(Text(f"  ? {one_line(query, terminal.wide - 5)}"))
    for item in one.found[:_MOST_SHOWN]:
        said = f"{item.label:>4} {item.at:%Y-%m-%d} {item.text}"
        terminal.show(Text(f"  {one_line(said, terminal.wide - 3)}"))
    if len(one.found) > _MOST_SHOWN:
        terminal.show(f"  and {len(one.found) - _MOST_SHOWN} more")
    if one.deepened:
        terminal.show(Text(f"  deepened: {plural(len(one.deepened), 'more item')}"))
    if (found := one.assessment) is not None:
        why = found.missing or found.reason
        told = f"  {found.verdict}{f': {one_line(why)}' if why else ''}"
        terminal.show(Text(told, style="green" if found.verdict == "enough" else "yellow"))
    for note in one.notes:
        terminal.show(Text(f"  note: {one_line(note)}", style="dim"))


def show_answer(answer: Answer, terminal: Terminal) -> None:
    """Print the answer with what it cites, or the prompt block if there is none."""
    if answer.text:
        terminal.show("", Text(one_line(answer.text), style="bold"))
        lines = {line.split("]")[0].lstrip("["): line for line in str(answer.context).splitlines()}
        for cited in answer.citations:
            line = one_line(lines.get(cited.label, cited.id), terminal.wide - 3)
            terminal.show(Text(f"  {line}", style="dim"))
    elif answer.context:
        terminal.write(str(answer.context))
    for repair in answer.proposals:
        terminal.show(render.text(one_line(str(repair))))
    for note in answer.notes:
        terminal.note(in_our_words(note))
    used = answer.usage
    cost = f", cost {used.cost:.4f}" if used.cost else ""
    terminal.note(
        f"{answer.strategy}: {plural(len(answer.rounds), 'round')}, {plural(used.calls, 'call')}, "
        f"{used.input_tokens + used.output_tokens:,} tokens{cost}; stopped: {answer.stopped}"
    )


def _show_calls(answer: Answer, terminal: Terminal) -> None:
    for number, call in enumerate(answer.all_calls, 1):
        terminal.show("", Text(f"call {number}: {call.prompt}", style="bold"))
        terminal.write(f"{call.system}\n\n{call.user}\n\n{call}")
