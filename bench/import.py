"""Rate and peak memory of importing large files: JSON lines, and ChatGPT's conversations.json.

    python bench/import.py --megabytes 1000 [--store-megabytes 20] [--out bench/results/import.json]

A file of each format is generated. First all of it is read, as ``import --dry-run`` reads it but
without a memory, in a process of its own whose peak of resident memory is reported; a tenth of the
file is read as well, so that growth with the size is seen. Then a smaller file is imported into a
SQLite file, twice: the second run finds everything stored.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from cognigraph import Memory
from cognigraph.importers.formats import reader_named
from cognigraph.importers.identify import Identifier
from cognigraph.importers.prepared import prepared
from cognigraph.importers.record import ReadOptions
from cognigraph.importers.source import Tally, locate

_MEGABYTE = 1_000_000
_WORDS = (
    "ferry harbour meeting garden letter window winter recipe budget teacher orange concert "
    "bridge repair camera station ticket doctor village mountain"
).split()


def sentence(random: Random) -> str:
    """Some 120 characters."""
    return " ".join(random.choices(_WORDS, k=17)).capitalize() + "."


def jsonl(path: Path, size: int) -> None:
    """Chat messages, one on each line, some without an id or a time."""
    random, written, number = Random(1), 0, 0
    with path.open("w", encoding="utf-8") as file:
        while written < size:
            number += 1
            message: dict[str, Any] = {
                "role": ("user", "assistant")[number % 2],
                "content": " ".join(sentence(random) for _ in range(3)),
                "session": f"s{number // 50}",
            }
            if number % 3:
                message |= {"id": f"m{number}", "at": 1_600_000_000 + number}
            written += file.write(json.dumps(message) + "\n")


def chatgpt(path: Path, size: int) -> None:
    """An export with conversations of 40 messages."""
    random, written, number = Random(1), 0, 0
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        while written < size:
            number += 1
            text = json.dumps(_conversation(random, number), indent=1)
            written += file.write(("" if number == 1 else ",\n") + text)
        file.write("]")


def _conversation(random: Random, number: int) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for turn in range(40):
        content = {"content_type": "text", "parts": [sentence(random) + " " + sentence(random)]}
        message = {
            "id": f"c{number}-{turn}",
            "author": {"role": ("user", "assistant")[turn % 2], "name": None, "metadata": {}},
            "create_time": 1_600_000_000.5 + number * 100 + turn,
            "content": content,
            "metadata": {},
            "recipient": "all",
        }
        parent = f"c{number}-{turn - 1}" if turn else None
        mapping[message["id"]] = {"id": message["id"], "message": message, "parent": parent}
    return {
        "title": sentence(random)[:30],
        "create_time": 1_600_000_000.0,
        "mapping": mapping,
        "current_node": f"c{number}-39",
        "conversation_id": f"c{number}",
    }


FORMATS: dict[str, Callable[[Path, int], None]] = {"jsonl": jsonl, "chatgpt": chatgpt}


def read(path: Path, format: str) -> dict[str, float]:
    """Read a file as an import does, without storing; in this process."""
    started, count = time.perf_counter(), 0
    with Identifier() as identifier:
        for location in locate(path, ()):
            with location.open(Tally()) as file:
                for _ in prepared(reader_named(format), file, ReadOptions(), identifier):
                    count += 1
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"messages": count, "seconds": seconds, "peak": peak}


def read_apart(path: Path, format: str) -> dict[str, float]:
    """As :func:`read`, in a process of its own, so that the peak is that of this file."""
    done = subprocess.run(
        [sys.executable, __file__, "--read", str(path), "--format", format],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: dict[str, float] = json.loads(done.stdout)
    return found


def measured(format: str, folder: Path, megabytes: int, small: int) -> dict[str, Any]:
    """The figures of one format."""
    figures: dict[str, Any] = {"format": format}
    for name, size in (("tenth", megabytes / 10), ("whole", megabytes)):
        path = folder / f"{name}.{format}.json"
        FORMATS[format](path, int(size * _MEGABYTE))
        found = read_apart(path, format)
        figures[f"read_{name}"] = {
            "megabytes": round(path.stat().st_size / _MEGABYTE, 1),
            "messages": int(found["messages"]),
            "seconds": round(found["seconds"], 2),
            "messages_per_second": round(found["messages"] / found["seconds"]),
            "megabytes_per_second": round(path.stat().st_size / _MEGABYTE / found["seconds"], 1),
            "peak_megabytes": round(found["peak"] / _MEGABYTE),
        }
        path.unlink()
    path = folder / f"small.{format}.json"
    FORMATS[format](path, small * _MEGABYTE)
    with Memory(folder / f"{format}.db", enrich="manual") as memory:
        for name in ("import", "again"):
            report = memory.import_file(path, format=format)
            figures[name] = {
                "megabytes": small,
                "messages": report.read,
                "new": report.new,
                "seconds": report.seconds,
                "messages_per_second": round(report.read / report.seconds),
            }
    return figures


def lines(results: list[dict[str, Any]]) -> Iterator[str]:
    """The figures in words."""
    for one in results:
        whole, tenth = one["read_whole"], one["read_tenth"]
        yield (
            f"{one['format']}: read {whole['megabytes']:,} MB in {whole['seconds']} s "
            f"({whole['messages_per_second']:,} messages/s), peak {whole['peak_megabytes']} MB "
            f"(of a tenth: {tenth['peak_megabytes']} MB); imported "
            f"{one['import']['messages_per_second']:,} messages/s, again "
            f"{one['again']['messages_per_second']:,}"
        )


def main() -> None:
    """Measure, or with ``--read`` only read one file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--store-megabytes", type=int, default=10)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--format", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.read is not None:
        print(json.dumps(read(given.read, given.format)))
        return
    with tempfile.TemporaryDirectory() as folder:
        results = [
            measured(format, Path(folder), given.megabytes, given.store_megabytes)
            for format in FORMATS
        ]
    print("\n".join(lines(results)))
    if given.out is not None:
        given.out.write_text(json.dumps({"results": results}, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
