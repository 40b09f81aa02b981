"""Measure what an embedder costs a memory: resident memory, processor time, texts and tokens.

python -m bench.embedding_cost --embedder fastembed:FOLDER --data FOLDER --messages N --json FILE

The long messages of the conversations in a folder are stored and enriched, each run in a process of
its own: ``memory`` with the background worker, ``bulk`` in one call and then enriched, and
``alone`` is fastembed with its own defaults on the same chunks, without a memory. ``counted``
repeats ``bulk`` with an embedder that counts the texts and tokens it is given, and for what. Short
messages are then added one by one (``short``), beside fastembed alone on the same texts.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from bench.measure import machine, percentiles, write
from cognigraph import Memory, Message
from cognigraph.embed import Embedder, resolve
from cognigraph.ingest.pieces import split
from cognigraph.settings import InsertSettings

_LONG, _SHORT = 600, 200
"""Characters: a long message has at least, a short one at most so many."""
_SHORT_MESSAGES = 200
_SESSION = 20
_START = datetime(2026, 1, 1, 9, tzinfo=UTC)


def turns(folder: Path) -> list[tuple[str, str]]:
    """Speaker and text of all turns in the conversation files of a folder, in order."""
    files = sorted(folder.glob("*.json"))
    sessions = [session for file in files for session in json.loads(file.read_text())["sessions"]]
    return [(turn["speaker"], turn["text"]) for item in sessions for turn in item["turns"]]


def chosen(folder: Path, count: int, *, short: bool = False) -> list[Message]:
    """The first long (or short) messages, no text twice."""
    texts = dict.fromkeys(
        (speaker, text)
        for speaker, text in turns(folder)
        if (0 < len(text) <= _SHORT if short else len(text) >= _LONG)
    )
    kept = list(texts)[:count]
    if len(kept) < count:
        raise SystemExit(f"{folder} has only {len(kept)} such messages")
    return [
        Message(
            text=text, id=f"m{number}", session=f"s{number // _SESSION}", speaker=speaker,
            at=_START + timedelta(minutes=number),
        )
        for number, (speaker, text) in enumerate(kept)
    ]  # fmt: skip


class Counting:
    """Counts the texts and tokens that an embedder is given, by what they are for."""

    def __init__(self, inner: Embedder, tokens: Any) -> None:
        self._inner = inner
        self._tokens = tokens
        self.purpose = "chunks"
        self.counts: Counter[str] = Counter()
        self.seen: Counter[str] = Counter()
        self.name, self.dimension = inner.name, inner.dimension

    def embed(self, texts: Sequence[str]) -> Any:
        """The vectors of the real embedder."""
        self.counts[f"{self.purpose}_texts"] += len(texts)
        self.counts[f"{self.purpose}_tokens"] += sum(self._tokens([text]) for text in texts)
        self.seen.update(texts)
        return self._inner.embed(texts)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def fastembed_alone(name: str) -> Any:
    """The model as fastembed loads it by itself."""
    from fastembed import TextEmbedding

    model = name.partition(":")[2]
    if not Path(model).is_dir():
        return TextEmbedding(model)
    return TextEmbedding(
        next(
            known["model"]
            for known in TextEmbedding.list_supported_models()
            if known["model"].endswith("/" + Path(model).name)
        ),
        specific_model_path=model,
    )


def run_alone(name: str, messages: Sequence[Message]) -> dict[str, Any]:
    """Embed the chunks of the messages with fastembed's defaults."""
    limit = InsertSettings().max_chunk_chars
    texts = [piece for message in messages for piece in split(message.text, limit)]
    model = fastembed_alone(name)
    list(model.embed(texts))
    return {"chunks": len(texts)}


def run_memory(name: str, messages: Sequence[Message], folder: str) -> dict[str, Any]:
    """Add the messages one by one while the background worker enriches them."""
    with Memory(f"{folder}/m.db", embedder=name) as memory:
        for message in messages:
            memory.add(
                message.text, session=message.session, speaker=message.speaker, at=message.at,
                id=message.id,
            )  # fmt: skip
        memory.flush(3600)
        return {"chunks": memory.stats().chunks}


def run_bulk(name: str, messages: Sequence[Message], folder: str) -> dict[str, Any]:
    """Add the messages in one call, then enrich them."""
    with Memory(f"{folder}/m.db", embedder=name, enrich="manual") as memory:
        memory.add_many(messages)
        memory.flush(3600)
        return {"chunks": memory.stats().chunks}


def run_counted(name: str, messages: Sequence[Message], folder: str) -> dict[str, Any]:
    """Count the texts and tokens that are embedded for these messages."""
    model = fastembed_alone(name)
    counting = Counting(resolve(name), model.token_count)
    with Memory(f"{folder}/m.db", embedder=counting, enrich="manual") as memory:
        checked = memory._engine.embedder
        embed_names = checked.embed_names

        def counted_names(names: Sequence[str]) -> Any:
            counting.purpose = "names"
            vectors = embed_names(names)
            counting.purpose = "facts_keys_themes"
            return vectors

        memory.add_many(messages)
        counting.purpose = "facts_keys_themes"
        checked.embed_names = counted_names
        memory.flush(3600)
    texts = sum(counting.seen.values())
    return {
        **counting.counts,
        "texts_per_message": round(texts / len(messages), 2),
        "tokens_per_message": round(
            sum(v for k, v in counting.counts.items() if k.endswith("_tokens")) / len(messages), 1
        ),
        "texts_embedded_again": texts - len(counting.seen),
    }


def run_short(name: str, messages: Sequence[Message], folder: str) -> dict[str, Any]:
    """Time ``add`` of short messages, with and without the worker, and fastembed alone."""
    alone = fastembed_alone(name)
    results: dict[str, Any] = {}
    times: list[float] = []
    for message in messages:
        started = time.perf_counter()
        list(alone.embed([message.text]))
        times.append((time.perf_counter() - started) * 1000)
    results["alone"] = percentiles(times)
    for enrich in ("manual", "background"):
        times = []
        with Memory(f"{folder}/{enrich}.db", embedder=name, enrich=enrich) as memory:
            for message in messages:
                started = time.perf_counter()
                memory.add(
                    message.text, session=message.session, speaker=message.speaker, at=message.at,
                    id=message.id,
                )  # fmt: skip
                times.append((time.perf_counter() - started) * 1000)
        results[enrich] = percentiles(times)
    return results


RUNS = ("alone", "memory", "bulk", "counted", "short")


def run(kind: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Do one run in this process and say what it took."""
    count = _SHORT_MESSAGES if kind == "short" else arguments.messages
    messages = chosen(arguments.data, count, short=kind == "short")
    started, cpu = time.perf_counter(), time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        if kind == "alone":
            result = run_alone(arguments.embedder, messages)
        else:
            result = globals()[f"run_{kind}"](arguments.embedder, messages, folder)
    if kind in ("counted", "short"):
        return result
    return {
        **result,
        "seconds": round(time.perf_counter() - started, 1),
        "cpu_seconds": round(time.process_time() - cpu, 1),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--embedder", required=True)
    parser.add_argument("--data", type=Path, required=True, help="a folder of conversation files")
    parser.add_argument("--messages", type=int, default=1400)
    parser.add_argument("--runs", nargs="+", choices=RUNS, default=RUNS)
    parser.add_argument("--here", action="store_true", help="one run, in this process")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    if arguments.here:
        print(json.dumps(run(arguments.runs[0], arguments)))
        return
    lengths = [len(message.text) for message in chosen(arguments.data, arguments.messages)]
    result: dict[str, Any] = {
        "embedder": Path(arguments.embedder).name,
        "messages": arguments.messages,
        "mean_chars": round(float(np.mean(lengths))),
    }
    for kind in arguments.runs:
        done = subprocess.run(
            [sys.executable, "-m", "bench.embedding_cost", "--here", "--runs", kind,
             "--data", str(arguments.data), "--embedder", arguments.embedder,
             "--messages", str(arguments.messages)],
            env=os.environ, capture_output=True, text=True, check=True,
        )  # fmt: skip
        result[kind] = json.loads(done.stdout.splitlines()[-1])
        print(kind, result[kind], file=sys.stderr, flush=True)
    write({**result, "machine": machine()}, arguments.json)


if __name__ == "__main__":
    main()
