"""``cognigraph eval self``: compares search settings on the messages of a memory itself."""

from __future__ import annotations

from cognigraph.cli import render
from cognigraph.cli.commands import OK, CommandRun
from cognigraph.cli.format_values import plural
from cognigraph.cli.open_memory import reading
from cognigraph.errors import ConfigurationError
from cognigraph.evaluate import SelfEvaluation, evaluate_self


def own_data(run: CommandRun) -> int:
    """Ask for stored messages by some of their words, with several settings."""
    arguments, terminal = run.arguments, run.terminal
    if arguments.file is not None:
        raise ConfigurationError("eval self takes no FILE; --db names the memory")
    wanted = arguments.questions
    with reading(run.options) as space, terminal.progress("asking", wanted) as bar:
        result = evaluate_self(
            space,
            questions=wanted,
            k=cutoffs(arguments.k)[-1],
            seed=arguments.seed,
            progress=lambda done: bar.at(done, plural(done, "question")),
        )
    terminal.document(result.as_dict())
    _show(run, result)
    return OK


def cutoffs(text: str) -> tuple[int, ...]:
    """Read the option -k, such as ``5,10,15``."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise ConfigurationError(f"-k must be numbers such as 5,10,15, not {text!r}") from None


def _show(run: CommandRun, result: SelfEvaluation) -> None:
    terminal = run.terminal
    terminal.show(
        render.text(
            f"{plural(result.questions, 'question')} made from messages of {result.space!r}, such "
            f"as: {result.examples[0].question}"
        )
    )
    table = render.table(
        "setting", f">found k={result.k}", ">mean 1/rank", ">difference", ">95 % interval"
    )
    for each in result.settings:
        table.add_row(
            each.name,
            f"{each.found:.3f}",
            f"{each.reciprocal_rank:.3f}",
            f"{each.difference:+.3f}",
            f"{each.low:+.3f} to {each.high:+.3f}",
        )
    terminal.show(table)
    terminal.note(result.bias)
    terminal.write(result.advice)
