"""``cognigraph export-training``: recorded calls of writers as training data."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from cognigraph.cli.commands import OK, CommandRun
from cognigraph.cli.format_values import plural
from cognigraph.errors import ConfigurationError


def export_training(run: CommandRun) -> int:
    """Write training data from recorded calls."""
    from cognigraph.training.export import export_rl, export_sft
    from cognigraph.training.questions import read_questions
    from cognigraph.training.recordings import read_calls

    arguments, terminal = run.arguments, run.terminal
    calls, folder = list(read_calls(Path(arguments.recording))), Path(arguments.folder)
    if arguments.format == "sft":
        if arguments.questions is not None:
            raise ConfigurationError("--questions are for --format rl")
        count = export_sft(calls, folder)
    else:
        questions = read_questions(Path(arguments.questions)) if arguments.questions else {}
        count = export_rl(calls, folder, questions)
    left_out = len(calls) - count
    terminal.document({"format": arguments.format, "examples": count, "left_out": left_out})
    note = f", {left_out} left out because they were not valid" if left_out else ""
    terminal.note(f"{plural(count, 'example')} written to {folder}{note}")
    return OK


def add_training(command: Any) -> None:
    """Describe the command to the parser."""
    export: argparse.ArgumentParser = command(
        "export-training",
        "write recorded calls of memory writers as training data",
        "Turn a file that MemBuilderExtractor(record=FILE) has written into data in FOLDER: "
        "train.jsonl and dataset_info.json for LLaMA-Factory (sft, valid answers only), or "
        "train.json for verl (rl).",
    )
    export.add_argument("recording", metavar="RECORDING", help="the file of recorded calls")
    export.add_argument("folder", metavar="FOLDER", help="folder for the training data")
    export.add_argument("--format", choices=("sft", "rl"), default="sft", help="default: sft")
    export.add_argument(
        "--questions", metavar="FILE", help="questions of the sessions, for rewards (rl)"
    )
