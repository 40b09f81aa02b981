"""``cognigraph eval`` and ``export-training``: measure a memory, and write training data."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.table import Table

from cognigraph.cli import render
from cognigraph.cli.command_run import FOUND_PROBLEM, OK, CommandRun, Interrupted
from cognigraph.cli.memory_options import reading
from cognigraph.cli.options import amount, whole
from cognigraph.cli.render import plural
from cognigraph.errors import ConfigurationError
from cognigraph.evaluate.evaluation import EvalSettings, Evaluation
from cognigraph.evaluate.formats import FORMATS, detect
from cognigraph.evaluate.loops import ONE_BLOCK
from cognigraph.evaluate.own_data import SelfEvaluation, evaluate_self
from cognigraph.evaluate.page import figures
from cognigraph.evaluate.papers import (
    PAPERS,
    Estimated,
    Paper,
    PaperRun,
    PaperSettings,
    markdown,
    tokens_of,
)
from cognigraph.evaluate.qa import QASettings, QuestionAnswering, prompt_texts
from cognigraph.evaluate.report import write
from cognigraph.llm import Budget, ChatModel
from cognigraph.model import Usage


def evaluate(run: CommandRun) -> int:
    """Evaluate the memory on a benchmark file."""
    arguments, terminal = run.arguments, run.terminal
    if arguments.show_prompts:
        return _show_prompts(run)
    if arguments.benchmark == "self":
        return own_data(run)
    if arguments.benchmark == "paper":
        return paper(run)
    if arguments.file is None:
        raise ConfigurationError("the FILE of the benchmark is required")
    models = _models(run) if arguments.qa else None
    file = Path(arguments.file).expanduser()
    if arguments.benchmark == "auto":
        found = detect(file)
        terminal.note(f"{arguments.file} is {found.title}")
        arguments.benchmark = found.name
    evaluation = Evaluation(file, _settings(run), _folder(run))
    answering: list[QuestionAnswering] = []
    try:
        with terminal.progress("evaluating", None) as bar:
            evaluation.run(lambda what, done: bar.at(done, f"{what}, {done:,} questions done"))
        if models is not None:
            for strategy in dict.fromkeys(arguments.strategy or (None,)):
                answering.append(_answered(run, evaluation, models, strategy))
    except KeyboardInterrupt as error:
        raise Interrupted(
            f"interrupted; the results so far are in {evaluation.folder}; "
            "run the same command again to continue"
        ) from error
    report = write(evaluation, *answering)
    terminal.document({**report.result, "page": str(report.page)})
    terminal.write(figures(report.result))
    missing = plural(report.result["failures"], "question")
    terminal.write(f"{missing} with missing evidence; details in:\n{report.page}")
    return OK if report.result["complete"] else FOUND_PROBLEM


def _answered(
    run: CommandRun,
    evaluation: Evaluation,
    models: tuple[ChatModel, ChatModel],
    strategy: str | None,
) -> QuestionAnswering:
    """Answer the questions that are still open, by a strategy or from one block."""
    chosen = QASettings(
        credit_adversarial=run.arguments.credit_adversarial,
        workers=run.arguments.workers,
        strategy=None if strategy == ONE_BLOCK else strategy,
    )
    answering = QuestionAnswering(evaluation, *models, chosen)
    asked = len(answering.asked())
    with run.terminal.progress(f"answering ({strategy or ONE_BLOCK})", asked) as bar:
        answering.run(lambda done: bar.at(done, f"{done:,} of {asked:,} questions"))
    return answering


def _show_prompts(run: CommandRun) -> int:
    texts = prompt_texts()
    run.terminal.document({"prompts": texts})
    run.terminal.write("\n".join(f"{id}.md\n{text}" for id, text in texts.items()).rstrip())
    return OK


def _budget(run: CommandRun) -> Budget:
    arguments = run.arguments
    return Budget(
        calls=arguments.budget_calls, tokens=arguments.budget_tokens, cost=arguments.budget_cost
    )


def _models(run: CommandRun, budget: Budget | None = None) -> tuple[ChatModel, ChatModel]:
    """The model that answers and the model that judges, by default the same."""
    environ, budget = _environment(run), budget or _budget(run)
    judge = judge_environment(environ, run.arguments.judge)
    return (
        ChatModel.from_environment(environ, budget=budget),
        ChatModel.from_environment(judge, budget=budget),
    )


def _environment(run: CommandRun) -> dict[str, str]:
    """The environment for the model that answers."""
    named = run.arguments.model
    return {**os.environ, **({"COGNIGRAPH_MODEL": named} if named else {})}


def judge_environment(environ: Mapping[str, str], judge: str | None) -> dict[str, str]:
    """The environment for the judge; see :func:`other_environment`."""
    return other_environment(environ, judge or environ.get("COGNIGRAPH_JUDGE"), "JUDGE")


def other_environment(environ: Mapping[str, str], model: str | None, role: str) -> dict[str, str]:
    """The environment for a model with another role: its own variables replace the model's.

    The model's key is only used at the model's own address, and its prices only for that model.
    """
    found = dict(environ)
    url = environ.get(f"COGNIGRAPH_{role}_BASE_URL")
    if model and model != environ.get("COGNIGRAPH_MODEL"):
        found |= {"COGNIGRAPH_MODEL": model, "COGNIGRAPH_MODEL_PRICES": ""}
    if url and url != environ.get("OPENAI_BASE_URL"):
        found |= {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "", "COGNIGRAPH_MODEL_PRICES": ""}
    if key := environ.get(f"COGNIGRAPH_{role}_API_KEY"):
        found["OPENAI_API_KEY"] = key
    if prices := environ.get(f"COGNIGRAPH_{role}_PRICES"):
        found["COGNIGRAPH_MODEL_PRICES"] = prices
    return found


def paper(run: CommandRun) -> int:
    """Measure the main table of a paper, after saying what that takes."""
    arguments, terminal = run.arguments, run.terminal
    chosen = PAPERS.get(arguments.file or "")
    if chosen is None:
        raise ConfigurationError(f"eval paper needs one of {', '.join(PAPERS)}")
    if not arguments.data:
        known = ", ".join(FORMATS[name].title for name in chosen.published)
        raise ConfigurationError(f"--data is required: a file of {known}")
    paper_run = _paper_run(run, chosen)
    estimates = paper_run.estimates()
    total = sum((estimate.total for estimate in estimates), Usage())
    terminal.show(_estimates(paper_run, estimates))
    if not _may_begin(run):
        terminal.document({"estimates": [asdict(estimate) for estimate in estimates]})
        terminal.note(
            f"this takes about {total.calls:,} calls and {tokens_of(total):,} tokens; add --yes, "
            "or a limit with --budget-calls, --budget-tokens or --budget-cost"
        )
        return FOUND_PROBLEM
    try:
        with terminal.progress("measuring", None) as bar:
            result = paper_run.run(lambda what: bar.at(0, what))
    except KeyboardInterrupt as error:
        raise Interrupted("interrupted; run the same command again to continue") from error
    terminal.document(result | {"table": str(paper_run.table)})
    if any(measured["missing"] for measured in result["benchmarks"]):
        terminal.note("answers are missing; run the same command again")
    if result["stopped"]:
        terminal.note(f"stopped: {result['stopped']}")
    terminal.write(markdown(result))
    terminal.write(str(paper_run.table))
    return OK if result["complete"] else FOUND_PROBLEM


def _may_begin(run: CommandRun) -> bool:
    arguments = run.arguments
    limits = (arguments.budget_calls, arguments.budget_tokens, arguments.budget_cost)
    return arguments.yes or any(limit is not None for limit in limits)


def _paper_run(run: CommandRun, chosen: Paper) -> PaperRun:
    from cognigraph.ingest.extractors import with_model

    arguments, options, budget = run.arguments, run.options, _budget(run)
    models = _models(run, budget)
    environ = _environment(run)
    named = arguments.build_model or environ.get("COGNIGRAPH_BUILD_MODEL")
    builder = ChatModel.from_environment(other_environment(environ, named, "BUILD"), budget=budget)
    settings = PaperSettings(
        embedder=options.embedder,
        limit=arguments.limit,
        repetitions=arguments.runs,
        split=arguments.split,
        workers=arguments.workers,
        location=options.chosen_db,
        auth=options.auth,
        database=options.database,
    )
    files = [Path(file).expanduser() for file in arguments.data]
    return PaperRun(
        chosen, files, with_model(chosen.extractor, builder), models, settings, _folder(run)
    )


def _estimates(paper_run: PaperRun, estimates: Sequence[Estimated]) -> Table:
    """What is left to do, with about how many calls and tokens."""
    runs = plural(paper_run.repetitions, "run")
    table = render.table(f"{paper_run.paper.title}, {runs}", ">calls", ">tokens")
    for estimate in estimates:
        title = FORMATS[estimate.benchmark].title
        what = f"{title}, {plural(estimate.sessions, 'session')}: build"
        table.add_row(what, f"{estimate.build.calls:,}", f"{tokens_of(estimate.build):,}")
        for name, usage in (("answer", estimate.answers), ("judge", estimate.judge)):
            what = f"{title}, {plural(estimate.questions, 'question')}: {name}"
            table.add_row(what, f"{usage.calls:,}", f"{tokens_of(usage):,}")
    return table


def _settings(run: CommandRun) -> EvalSettings:
    arguments, options = run.arguments, run.options
    return EvalSettings(
        benchmark=arguments.benchmark,
        cutoffs=cutoffs(arguments.k),
        ranking=arguments.ranking or "default",
        extractor=options.extractor,
        embedder=options.embedder,
        max_tokens=arguments.max_tokens or EvalSettings(benchmark="locomo").max_tokens,
        limit=arguments.limit,
        location=options.chosen_db,
        auth=options.auth,
        database=options.database,
    )


def _folder(run: CommandRun) -> Path | None:
    return Path(run.arguments.out).expanduser() if run.arguments.out else None


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
    terminal.document(asdict(result))
    _show_comparison(run, result)
    return OK


def cutoffs(text: str) -> tuple[int, ...]:
    """Read the option -k, such as ``5,10,15``."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise ConfigurationError(f"-k must be numbers such as 5,10,15, not {text!r}") from None


def _show_comparison(run: CommandRun, result: SelfEvaluation) -> None:
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


def export_training(run: CommandRun) -> int:
    """Write training data from recorded calls."""
    from cognigraph.training.export import export_rl, export_sft, read_calls
    from cognigraph.training.questions import read_questions

    arguments, terminal = run.arguments, run.terminal
    calls, folder = list(read_calls(Path(arguments.recording))), Path(arguments.folder)
    if arguments.format == "sft":
        if arguments.questions is not None or arguments.parquet:
            raise ConfigurationError("--questions and --parquet are for --format rl")
        count = export_sft(calls, folder)
    else:
        questions = read_questions(Path(arguments.questions)) if arguments.questions else {}
        count = export_rl(calls, folder, questions, parquet=arguments.parquet)
    left_out = len(calls) - count
    terminal.document({"format": arguments.format, "examples": count, "left_out": left_out})
    note = f", {left_out} left out because they were not valid" if left_out else ""
    terminal.note(f"{plural(count, 'example')} written to {folder}{note}")
    return OK


def training_questions(run: CommandRun) -> int:
    """Let a model write questions about sessions, for the rewards of writers."""
    from cognigraph.training.questions import (
        append_questions,
        ask_about,
        read_questions,
        sessions_in_order,
    )

    arguments, terminal = run.arguments, run.terminal
    file = Path(arguments.file).expanduser()
    model = ChatModel.from_environment(_environment(run), budget=_budget(run))
    known = read_questions(file) if file.exists() else {}
    left_out: list[str] = []
    with reading(run.options) as space:
        wanted = set(arguments.session or ())
        numbered = list(enumerate(sessions_in_order(space)))
        if missing := wanted - {session.id for _, session in numbered}:
            raise ConfigurationError(f"there is no session {sorted(missing)[0]!r}")
        open_ones = [
            (index, session)
            for index, session in numbered
            if (not wanted or session.id in wanted) and (space.name, session.id) not in known
        ]
        made = 0
        with terminal.progress("asking", len(open_ones)) as bar:
            for done, (index, session) in enumerate(open_ones, 1):
                questions, refused, _ = ask_about(space, session, index, model)
                append_questions(questions, file)
                made += len(questions)
                left_out += refused
                bar.at(done, plural(made, "question"))
    terminal.document({"sessions": len(open_ones), "questions": made, "left_out": left_out})
    for reason in left_out:
        terminal.note(f"left out: {reason}")
    terminal.note(
        f"{plural(made, 'question')} about {plural(len(open_ones), 'session')} added to {file}"
    )
    return OK


def add_training(command: Any) -> None:
    """Describe the commands to the parser."""
    questions: argparse.ArgumentParser = command(
        "training-questions",
        "let a model write questions about sessions, for the rewards of memory writers",
        "Add five questions with their answers for each session of the space to FILE (JSON lines), "
        "for export-training --format rl --questions FILE. Sessions that FILE has questions about "
        "are left out, so an interrupted run continues. The model sees the session and what the "
        "memory knew before it.",
    )
    questions.add_argument("file", metavar="FILE", help="the file of questions, made if it is new")
    questions.add_argument(
        "--session", action="append", metavar="ID", help="only this session; may be repeated"
    )
    questions.add_argument("--model", metavar="NAME", help="default: COGNIGRAPH_MODEL")
    questions.add_argument("--budget-calls", type=whole, metavar="N", help="most calls")
    questions.add_argument("--budget-tokens", type=whole, metavar="N", help="most tokens")
    questions.add_argument("--budget-cost", type=amount, metavar="X", help="needs prices")
    export: argparse.ArgumentParser = command(
        "export-training",
        "write recorded calls of memory writers as training data",
        "Turn a file that MemBuilderExtractor(record=FILE) has written into data in FOLDER: "
        "train.jsonl and dataset_info.json for LLaMA-Factory (sft, valid answers only), or "
        "train.json or train.parquet for verl (rl).",
    )
    export.add_argument("recording", metavar="RECORDING", help="the file of recorded calls")
    export.add_argument("folder", metavar="FOLDER", help="folder for the training data")
    export.add_argument("--format", choices=("sft", "rl"), default="sft", help="default: sft")
    export.add_argument(
        "--questions", metavar="FILE", help="questions of the sessions, for rewards (rl)"
    )
    export.add_argument(
        "--parquet", action="store_true", help="write train.parquet (rl; extra training)"
    )
