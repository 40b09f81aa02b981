"""Rate and peak memory of importing large files of each format that is read piece by piece.

    python -m bench.import --megabytes 1000 --formats jsonl --out bench/results/import-jsonl.json
    python -m bench.import --megabytes 1000 --formats chatgpt claude --out ...
    python -m bench.import --megabytes 1000 --formats csv markdown --out ...

A file of each format is generated, and a tenth of its size. ``cognigraph import --dry-run`` reads
both, each in a process of its own whose peak of resident memory is reported: if it is the same,
memory does not grow with the file. With ``--store-megabytes`` a smaller file is imported into a
SQLite file, twice: the second run finds everything stored.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from bench.measure import machine, write
from cognigraph import Memory

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


def claude(path: Path, size: int) -> None:
    """An export with conversations of 40 messages."""
    random, written, number = Random(1), 0, 0
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        while written < size:
            number += 1
            messages = [
                {
                    "uuid": f"c{number}-{turn}",
                    "sender": ("human", "assistant")[turn % 2],
                    "text": sentence(random),
                    "content": [{"type": "text", "text": sentence(random)}],
                    "created_at": f"2025-03-{number % 27 + 1:02}T09:{turn:02}:00Z",
                    "attachments": [],
                }
                for turn in range(40)
            ]
            given = {"uuid": f"c{number}", "name": "A talk", "chat_messages": messages}
            written += file.write(("" if number == 1 else ",\n") + json.dumps(given))
        file.write("]")


def csv(path: Path, size: int) -> None:
    """A table of messages, every third without an id."""
    random, number = Random(1), 0
    with path.open("w", encoding="utf-8") as file:
        written = file.write("id,session,speaker,at,text\n")
        while written < size:
            number += 1
            id = f"m{number}" if number % 3 else ""
            head = f"{id},s{number // 50},Ann,{1_600_000_000 + number}"
            written += file.write(f'{head},"{sentence(random)} {sentence(random)}"\n')


def markdown(path: Path, size: int) -> None:
    """A folder of notes with ten sections each."""
    random, written, number = Random(1), 0, 0
    while written < size:
        number += 1
        note = path / f"{number // 500:04}" / f"{number:06}.md"
        note.parent.mkdir(parents=True, exist_ok=True)
        sections = [
            f"## Part {part}\n\n" + " ".join(sentence(random) for _ in range(4)) + "\n\n"
            for part in range(10)
        ]
        written += note.write_text(f"# Note {number}\n\n" + "".join(sections), "utf-8")


FORMATS: dict[str, Callable[[Path, int], None]] = {
    "jsonl": jsonl,
    "chatgpt": chatgpt,
    "claude": claude,
    "csv": csv,
    "markdown": markdown,
}


def size_of(path: Path) -> float:
    """The size of a file, or of all files in a folder, in megabytes."""
    files = [path] if path.is_file() else [item for item in path.rglob("*") if item.is_file()]
    return sum(file.stat().st_size for file in files) / _MEGABYTE


def dry_run(path: Path, format: str) -> dict[str, Any]:
    """Run ``cognigraph import --dry-run`` in a process, and report its time and peak of memory."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "cognigraph", "import", str(path), "--format", format]
        command += ["--dry-run", "--json", "--db", str(Path(folder) / "none.db")]
        started = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert process.stdout is not None
        report = json.loads(process.stdout.read())
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - started
    assert process.returncode == 0, report
    return {
        "megabytes": round(size_of(path), 1),
        "messages": report["read"],
        "new": report["new"],
        "seconds": round(seconds, 2),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 2),
        "messages_per_second": round(report["read"] / seconds),
        "peak_megabytes": round(used.ru_maxrss * 1024 / _MEGABYTE),
    }


def _remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def measured(format: str, folder: Path, megabytes: int, small: int) -> dict[str, Any]:
    """The figures of one format."""
    figures: dict[str, Any] = {"format": format}
    for name, size in (("tenth", megabytes / 10), ("whole", megabytes)):
        path = folder / f"{name}.{format}"
        FORMATS[format](path, int(size * _MEGABYTE))
        figures[f"read_{name}"] = dry_run(path, format)
        _remove(path)
    if not small:
        return figures
    path = folder / f"small.{format}"
    FORMATS[format](path, small * _MEGABYTE)
    with Memory(folder / f"{format}.db", enrich="manual") as memory:
        for name in ("import", "again"):
            report = memory.files.import_file(path, format=format)
            figures[name] = {
                "megabytes": small,
                "messages": report.read,
                "new": report.new,
                "seconds": report.seconds,
                "messages_per_second": round(report.read / report.seconds),
            }
    _remove(path)
    return figures


def lines(results: list[dict[str, Any]]) -> Iterator[str]:
    """The figures in words."""
    for result in results:
        whole, tenth = result["read_whole"], result["read_tenth"]
        yield (
            f"{result['format']}: dry run of {whole['megabytes']:,} MB in {whole['seconds']} s "
            f"({whole['messages_per_second']:,} messages/s), peak {whole['peak_megabytes']} MB "
            f"(of a tenth: {tenth['peak_megabytes']} MB)"
        )
        if "import" in result:
            yield (
                f"    imported {result['import']['messages_per_second']:,} messages/s, again "
                f"{result['again']['messages_per_second']:,}"
            )


def main() -> None:
    """Measure the formats that are named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--store-megabytes", type=int, default=0)
    parser.add_argument("--formats", nargs="+", choices=FORMATS, default=list(FORMATS))
    parser.add_argument("--out")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = [
            measured(format, Path(folder), given.megabytes, given.store_megabytes)
            for format in given.formats
        ]
    print("\n".join(lines(results)), file=sys.stderr)
    write({**machine(), "results": results}, given.out)


if __name__ == "__main__":
    main()
