"""``cognigraph ask``: answers a question by a loop and shows its rounds."""

from __future__ import annotations

from datetime import timedelta

from rich.text import Text

from cognigraph.cli import render
from cognigraph.cli.commands import FOUND_PROBLEM, OK, CommandRun
from cognigraph.cli.format_values import plural
from cognigraph.cli.open_memory import existing, in_our_words, moment, opened
from cognigraph.cli.terminal import Terminal, one_line
from cognigraph.ingest.queue.run_limits import Limits
from cognigraph.loop.data import Answer, Round

_MOST_SHOWN = 6


def ask(run: CommandRun) -> int:
    """Answer a question."""
    arguments, options, terminal = run.arguments, run.options, run.terminal
    now = moment(arguments.now, options, "--now")
    as_of = moment(arguments.as_of, options, "--as-of")
    with opened(options, model=model_name(run)) as memory:
        answer = existing(memory, options).ask(
            arguments.question,
            arguments.history,
            strategy=arguments.strategy,
            limits=_limits(run),
            repair=arguments.repair,
            on_round=lambda one: show_round(one, terminal),
            max_tokens=arguments.max_tokens,
            now=now,
            as_of=as_of,
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


def _limits(run: CommandRun) -> Limits:
    arguments = run.arguments
    seconds = arguments.deadline
    return Limits(
        rounds=arguments.max_rounds,
        calls=arguments.max_calls,
        tokens=arguments.limit_tokens,
        cost=arguments.max_cost,
        time=None if seconds is None else timedelta(seconds=seconds),
    )


def show_round(one: Round, terminal: Terminal) -> None:
    """Print one round: what was asked, what was new, and what was made of it."""
    plan = one.plan
    title = Text(f"round {one.number}", style="bold")
    title.append(f"  {plan.layer}", style="cyan")
    title.append(f", {plural(len(one.found), 'new item')}", style="default not bold")
    terminal.show(title)
    for query in plan.queries or ("related messages",):
        terminal.show(Text(f"  ? {one_line(query, terminal.wide - 5)}"))
    for item in one.found[:_MOST_SHOWN]:
        line = Text(f"  {item.label:>4} ", style="dim")
        line.append(f"{item.at:%Y-%m-%d} ", style="cyan")
        line.append(one_line(item.text, max(30, terminal.wide - len(line) - 1)), style="default")
        terminal.show(line)
    if len(one.found) > _MOST_SHOWN:
        terminal.show(Text(f"       and {len(one.found) - _MOST_SHOWN} more", style="dim"))
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
