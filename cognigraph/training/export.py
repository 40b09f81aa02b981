"""Write recorded calls of writers as training data: for LLaMA-Factory (SFT) or verl (RL).

The calls are those that ``MemBuilderExtractor(record=...)`` has recorded.

SFT: ``train.jsonl`` in the sharegpt format with OpenAI's names of roles, and the
``dataset_info.json`` that describes it. Only calls whose answer was valid as a whole are examples.

RL: ``train.json`` with the columns that verl reads (``data_source``, ``prompt``, ``ability``,
``reward_model``, ``extra_info``), one object a line; or ``train.parquet``, with the extra
``training``. verl takes files by their name: it reads ``.json`` like this from version 0.7 on, and
refuses ``.jsonl``. The questions are the ground truth, and ``extra_info`` has all that
:mod:`cognigraph.training.verl_reward` needs: the writer, the window, its time and its number of
turns, and what each writer kept before it and what the expert wrote.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cognigraph.errors import ConfigurationError
from cognigraph.ingest.membuilder.actions import WRITERS, WriterCall
from cognigraph.training.questions import SessionQuestion


def read_calls(path: Path) -> Iterator[WriterCall]:
    """The calls of a file, in order.

    Raises:
        ConfigurationError: the file cannot be read, or a line is not a call.
    """
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield _call(line, number, path)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"cannot read {path}: {error}") from error


def _call(line: str, number: int, path: Path) -> WriterCall:
    try:
        fields = json.loads(line)
        call = WriterCall(**{**fields, "refused": tuple(fields["refused"])})
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ConfigurationError(
            f"line {number} of {path} is not a call of a writer; record calls with "
            "MemBuilderExtractor(record=...)"
        ) from error
    if call.writer not in WRITERS:
        raise ConfigurationError(f"line {number} of {path}: there is no writer {call.writer!r}")
    return call


DATA_SOURCE = "cognigraph/membuilder"
DATASET = "cognigraph_membuilder"
SFT_FILE, RL_FILE, PARQUET_FILE = "train.jsonl", "train.json", "train.parquet"

DATASET_INFO = {
    DATASET: {
        "file_name": SFT_FILE,
        "formatting": "sharegpt",
        "columns": {"messages": "messages"},
        "tags": {
            "role_tag": "role",
            "content_tag": "content",
            "user_tag": "user",
            "assistant_tag": "assistant",
            "system_tag": "system",
        },
    }
}
"""What LLaMA-Factory must be told of the file."""


def _sft_row(call: WriterCall) -> dict[str, Any]:
    """One example: system and user message as they were sent, and the answer."""
    answer = json.dumps(call.answer, ensure_ascii=False)
    return {"messages": [*_prompt(call), {"role": "assistant", "content": answer}]}


def _rl_row(
    call: WriterCall,
    index: int,
    questions: Sequence[SessionQuestion],
    memory: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """One prompt, with the questions that decide about its reward.

    ``memory`` has, by writer, what it kept ``before`` the window and what the ``expert`` wrote. It
    and ``ground_truth`` are JSON texts, because verl passes each on as one value.
    """
    truth = [{"question": question.question, "answer": question.answer} for question in questions]
    return {
        "data_source": DATA_SOURCE,
        "prompt": _prompt(call),
        "ability": call.writer,
        "reward_model": {"style": "rule", "ground_truth": json.dumps(truth, ensure_ascii=False)},
        "extra_info": {
            "split": "train",
            "index": index,
            "writer": call.writer,
            "space": call.space,
            "session": call.session,
            "window": call.window,
            "at": call.at,
            "turns": call.turns,
            "memory": json.dumps(memory, ensure_ascii=False),
        },
    }


def _prompt(call: WriterCall) -> list[dict[str, str]]:
    return [
        {"role": "system", "content": call.system},
        {"role": "user", "content": call.user},
    ]


def export_sft(calls: Iterable[WriterCall], folder: Path) -> int:
    """Write the valid calls for LLaMA-Factory; returns the number of examples."""
    rows = [_sft_row(call) for call in calls if call.is_valid]
    _write_lines(rows, _new(folder) / SFT_FILE)
    info = json.dumps(DATASET_INFO, indent=2) + "\n"
    (folder / "dataset_info.json").write_text(info, encoding="utf-8")
    return len(rows)


def export_rl(
    calls: Iterable[WriterCall],
    folder: Path,
    questions: Mapping[tuple[str, str], Sequence[SessionQuestion]],
    *,
    parquet: bool = False,
) -> int:
    """Write all calls for verl; returns the number of prompts.

    ``questions`` are those of each (space, session); without any, ``ground_truth`` is empty.

    Raises:
        ConfigurationError: the folder cannot be used, or Parquet needs the extra ``training``.
    """
    known = list(calls)
    windows: dict[str, dict[str, dict[str, Any]]] = {}
    for call in known:
        of_window = windows.setdefault(call.window, {})
        of_window.setdefault(call.writer, {"before": call.before, "expert": call.answer})
    rows = [
        _rl_row(call, index, questions.get((call.space, call.session), ()), windows[call.window])
        for index, call in enumerate(known)
    ]
    if parquet:
        _write_parquet(rows, folder)
    else:
        _write_lines(rows, _new(folder) / RL_FILE)
    return len(rows)


def _write_parquet(rows: Sequence[Mapping[str, Any]], folder: Path) -> None:
    try:
        from pyarrow import Table, parquet
    except ImportError as error:
        raise ConfigurationError(
            "Parquet needs pyarrow: pip install 'cognigraph-memory[training]'"
        ) from error
    parquet.write_table(Table.from_pylist([*rows]), _new(folder) / PARQUET_FILE)


def _new(folder: Path) -> Path:
    """The folder, created if it does not exist.

    Raises:
        ConfigurationError: it holds training data already, or cannot be created.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"cannot create {folder}: {error.strerror}") from error
    if any((folder / name).exists() for name in (SFT_FILE, RL_FILE, PARQUET_FILE)):
        raise ConfigurationError(f"{folder} holds training data already; give another folder")
    return folder


def _write_lines(rows: Sequence[Mapping[str, Any]], path: Path) -> None:
    with path.open("x", encoding="utf-8", newline="\n") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
