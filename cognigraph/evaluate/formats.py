"""The formats of published benchmarks: which one a file or folder has, and its conversations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cognigraph.evaluate import assistant_chats, groups, lives, locomo, longmemeval
from cognigraph.evaluate.dataset import Benchmark, Conversation, Level
from cognigraph.evaluate.files import DatasetError, first_item, misread, reachable

Files = Callable[[Path], Sequence[Path]]


@dataclass(frozen=True, slots=True)
class Format:
    """A format: what is given to evaluate, where it is published, and how it is read.

    ``files`` returns the files of this format in what is given, none if there are none; ``read``
    yields their conversations. ``level`` says whether evidence counts by message or by session.
    """

    name: Benchmark
    title: str
    published: str
    given: str
    level: Level
    files: Files
    read: Callable[[Sequence[Path]], Iterator[Conversation]]


def _json(*keys: str, folder: str | None = None) -> Files:
    """Find a JSON file whose first item has these keys, or those of a folder by a pattern."""

    def files(given: Path) -> Sequence[Path]:
        inside = sorted(given.glob(folder)) if folder else []
        return [file for file in (inside if given.is_dir() else [given]) if _has(file, keys)]

    return files


def _has(file: Path, keys: Sequence[str]) -> bool:
    item = first_item(file)
    return isinstance(item, dict) and set(keys) <= item.keys()


_ALL = (
    Format(
        "beam", "BEAM", "https://github.com/mohammadtavakoli78/BEAM",
        "a folder such as chats/100K, or one conversation of it", "turn",
        assistant_chats.beam_files, assistant_chats.read_beam,
    ),
    Format(
        "lifebench", "LifeBench", "https://github.com/1754955896/LifeBench",
        "the folder life_bench_data/data or data_en, or a person of it", "turn",
        lives.lifebench_files, lives.read_lifebench,
    ),
    Format(
        "locomo", "LoCoMo", "https://github.com/snap-research/locomo",
        "locomo10.json", "turn", _json("conversation", "qa"), locomo.read,
    ),
    Format(
        "longmemeval", "LongMemEval", "https://github.com/xiaowu0162/LongMemEval",
        "longmemeval_*.json", "session",
        _json("question_id", "haystack_sessions"), longmemeval.read,
    ),
    Format(
        "memoryagentbench", "MemoryAgentBench", "https://github.com/HUST-AI-HYZ/MemoryAgentBench",
        "the rows of a split as JSON or JSON lines", "turn",
        _json("context", "questions", "answers"), assistant_chats.read_memoryagentbench,
    ),
    Format(
        "perltqa", "PerLTQA", "https://github.com/Elvin-Yiming-Du/PerLTQA",
        "the folder Dataset/en_v2", "session", lives.perltqa_files, lives.read_perltqa,
    ),
    Format(
        "realmem", "RealMem", "https://github.com/AvatarMemory/RealMemBench",
        "*_dialogues_256k.json, or the folder dataset", "turn",
        _json("_metadata", "dialogues", folder="*_dialogues_*.json"), assistant_chats.read_realmem,
    ),
    Format(
        "realtalk", "REALTALK", "https://github.com/danny911kr/REALTALK",
        "Chat_*.json, or the folder data", "turn",
        _json("name", "session_1", "qa", folder="Chat_*.json"), groups.read_realtalk,
    ),
    Format(
        "vehiclemembench", "VehicleMemBench", "https://github.com/isyuhaochen/VehicleMemBench",
        "the folder benchmark", "session", groups.vehicle_files, groups.read_vehicle,
    ),
)  # fmt: skip

FORMATS: Mapping[Benchmark, Format] = {format.name: format for format in _ALL}


def detect(given: Path) -> Format:
    """Return the format of a file or folder; :class:`DatasetError` lists those that are known."""
    reachable(given)
    for format in _ALL:
        if format.files(given):
            return format
    known = "; ".join(f"{format.title} ({format.given})" for format in _ALL)
    raise DatasetError(
        f"{given.name} is of no known benchmark: {_shown(given)}. Known are: {known}"
    )


def files_of(name: Benchmark, given: Path) -> Sequence[Path]:
    """Return the files of a benchmark; :class:`DatasetError` says what else was given."""
    reachable(given)
    wanted = FORMATS[name]
    if found := wanted.files(given):
        return found
    for other in _ALL:
        if other.files(given):
            raise DatasetError(
                f"{given.name} looks like {other.title}, not {wanted.title}: "
                f"cognigraph eval {other.name} {given.name}"
            )
    raise DatasetError(
        f"{given.name} is not {wanted.title}, which is given as {wanted.given}: {_shown(given)}"
    )


def load(name: Benchmark, given: Path) -> Generator[Conversation, None, None]:
    """Yield the conversations of a benchmark; raises :class:`DatasetError` for anything else.

    A name that comes again gets a number.
    """
    files = files_of(name, given)
    names: Counter[str] = Counter()
    with misread(given.name, FORMATS[name].title):
        for conversation in FORMATS[name].read(files):
            names[conversation.name] += 1
            if (count := names[conversation.name]) > 1:
                conversation = replace(conversation, name=f"{conversation.name}-{count}")
            yield conversation


def _shown(given: Path) -> str:
    """Say what a file or folder contains instead."""
    if given.is_dir():
        names = sorted(path.name for path in given.iterdir())
        return f"it has {', '.join(names[:6]) or 'no files'}"
    item = first_item(given)
    if not isinstance(item, dict):
        return f"the first one is a {type(item).__name__}"
    return f"the first one has {', '.join(sorted(map(str, item))[:6]) or 'no fields'}"
