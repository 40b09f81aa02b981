"""``cognigraph eval``: run a benchmark file, show the figures, say where the page is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.table import Table

from cognigraph.cli import render
from cognigraph.cli.commands import FOUND_PROBLEM, OK, Interrupted, Run
from cognigraph.errors import ConfigurationError
from cognigraph.evaluate import EvalSettings, Evaluation, Report, write
from cognigraph.evaluate.dataset import HEADLINE


def evaluate(run: Run) -> int:
    """Evaluate the memory on a benchmark file."""
    evaluation = Evaluation(Path(run.arguments.file).expanduser(), _settings(run), _folder(run))
    terminal = run.terminal
    try:
        with terminal.progress("evaluating", None) as bar:
            evaluation.run(lambda what, done: bar.at(done, f"{what}, {done:,} questions answered"))
    except KeyboardInterrupt as error:
        raise Interrupted(
            f"interrupted; what is done is kept in {evaluation.folder}, the same command goes on"
        ) from error
    report = write(evaluation)
    terminal.document({**report.result, "page": str(report.page)})
    _show(run, report)
    return OK if report.result["complete"] else FOUND_PROBLEM


def _settings(run: Run) -> EvalSettings:
    arguments, options = run.arguments, run.options
    return EvalSettings(
        benchmark=arguments.benchmark,
        cutoffs=_cutoffs(arguments.k),
        profile=arguments.profile or "default",
        extractor=options.extractor,
        embedder=options.embedder,
        max_tokens=arguments.max_tokens or EvalSettings(benchmark="locomo").max_tokens,
        limit=arguments.limit,
        location=options.chosen_db,
        auth=options.auth,
        database=options.database,
    )


def _folder(run: Run) -> Path | None:
    return Path(run.arguments.out).expanduser() if run.arguments.out else None


def _cutoffs(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise ConfigurationError(f"-k {text!r} must be numbers such as 5,10,15") from None


def _show(run: Run, report: Report) -> None:
    result, terminal = report.result, run.terminal
    level = HEADLINE[result["benchmark"]]
    terminal.show(
        render.text(
            f"{result['conversations']:,} conversations, {result['insert']['turns']:,} turns, "
            f"{result['questions']:,} questions"
        )
    )
    if scores := list(result["recall"][level].items()):
        k, at_k = scores[-1]
        terminal.show(_table(f"{level} k={k}", at_k))
    search, tokens = result["search_ms"], result["context_tokens"]
    if search and tokens:
        terminal.show(
            render.text(
                f"search {search['p50']:.1f} ms p50, {search['p95']:.1f} ms p95; context "
                f"{tokens['p50']:,.0f} tokens p50, {tokens['p95']:,.0f} p95"
            )
        )
    terminal.show(render.text(f"{result['failures']:,} questions missed something; the page:"))
    terminal.write(str(report.page))


def _table(title: str, at_k: Mapping[str, Any]) -> Table:
    table = render.table(title, ">questions", ">recall", ">any", ">all", ">nDCG")
    named = [("all", at_k["all"])]
    if "no_adversarial" in at_k:
        named.append(("without adversarial", at_k["no_adversarial"]))
    for name, values in [*named, *at_k["by_category"].items()]:
        shares = (f"{values[key]:.3f}" for key in ("recall", "recall_any", "recall_all", "ndcg"))
        table.add_row(name, f"{values['questions']:,}", *shares)
    return table
