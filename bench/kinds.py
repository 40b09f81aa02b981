"""Evidence recall on every kind of talk, beside cosine, BM25 and their fusion.

python -m bench.kinds --data DIR [--sets friends,German] [--embedder wordllama|fastembed:FOLDER]
    [--extractor none|rules|recorded] [--largest N] [--keep FILE] [--out FILE]

DIR holds the folders named in ``KINDS``, or is one folder of the layout that ``bench/said.py``
describes. Kinds whose folder is absent, or lacks recordings where they are asked for, are left
out. Each conversation is a space of its own. A question that is asked within a conversation is
asked when the messages before it have been inserted. Only the public face of cognigraph is used.
FILE keeps the kinds that were measured before under the same conditions.

Recall is the share of a question's evidence among the first k distinct messages, and ``hit``
whether any of it is there; both are means over the questions that have evidence. ``difference`` is
the recall@15 of the search minus that of the best plain ranking, with the 95 % interval of paired
questions, resampled within each conversation. ``newest_first`` is about questions on something
that has changed (:class:`Changed`). Times include the embedding of the question.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from bench.kept_vectors import embedder_for
from bench.measure import machine, write
from bench.plain import BOTH, COSINE, WORDS, Plain
from bench.recorded import RecordedReader
from bench.said import ADVERSARIAL, Question, Talk, empty_space, fill, talks
from cognigraph import LicoMemorySettings, SearchSettings, Settings, Space, StorageSettings
from cognigraph.embed import Embedder
from cognigraph.evaluate.metrics import bootstrap, mean, rounded, score

SEARCH = "default"
CUTOFFS = (5, 10, 15)
MOST = CUTOFFS[-1]
DEEP = 50
TOKENS = 1300
LABELS = Path(__file__).parent / "labels"
UNORDERED = SearchSettings(time_order=False)


@dataclass(frozen=True)
class Kind:
    """A kind of talk: its folder, its conversations, and whether any weight was learned on it."""

    name: str
    folder: str
    conversations: str = "*"
    learned: bool = False


KINDS = (
    Kind("friends", "locomo-dev", learned=True),
    Kind("assistant", "assistants-dev", learned=True),
    Kind("coding agent", "kinds-dev", "dev-agent", learned=True),
    Kind("group", "kinds-dev", "dev-group"),
    Kind("team", str(LABELS / "team")),
    Kind("German", "languages-dev", "dev-de"),
    Kind("Chinese", "languages-dev", "dev-zh"),
    Kind("Spanish", str(LABELS / "languages"), "es"),
    Kind("Japanese", str(LABELS / "languages"), "ja"),
    Kind("LifeBench English", "public-dev/lifebench-en"),
    Kind("LifeBench Chinese", "public-dev/lifebench-zh"),
    Kind("RealMem (two users)", "public-dev/realmem", "[KL]*", learned=True),
    Kind("RealMem (two others)", "public-dev/realmem", "[AO]*"),
    Kind("VehicleMemBench", "public-dev/vehiclemem", learned=True),
    Kind("QMSum", "public-dev/qmsum-test"),
)


@dataclass(frozen=True)
class Answer:
    """What one ranking found for a question."""

    recall: Mapping[int, float]
    hit: Mapping[int, float]
    milliseconds: float


@dataclass(frozen=True)
class Changed:
    """What is found of a thing that has changed.

    Whether a message with the present value ranks before all with outdated ones only, and whether
    it does without the order in time; whether a block of ``TOKENS`` tokens has the present value,
    and whether it has outdated ones alone. A block shows the day of each message, so that its
    reader can tell which value is the present one.
    """

    newest_first: bool
    without_time_order: bool
    in_block: bool
    old_alone_in_block: bool


@dataclass(frozen=True)
class Asked:
    """A question and its answers by ranking; ``changed`` if it is about something that has."""

    conversation: str
    category: str
    answers: Mapping[str, Answer]
    changed: Changed | None


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """What is measured, and with what."""

    embedder: str = "wordllama"
    extractor: str = "none"
    profile: str = "default"
    candidates: str = "paper"
    analysis: str = "rules"
    store: str = "sqlite"
    largest: int | None = None
    keep: str | None = None
    vectors: str | None = None
    chosen: Embedder = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "chosen", embedder_for(self.embedder, self.keep))

    def settings(self) -> Settings:
        """Return the settings of the memory."""
        ranking = LicoMemorySettings(candidates=self.candidates)
        return Settings(
            search=SearchSettings(ranking=self.profile, licomemory=ranking),
            storage=StorageSettings(vectors=self.vectors),
        )

    def report(self) -> dict[str, Any]:
        """Return what the figures depend on."""
        library = self.embedder.partition(":")[0]
        return {
            "extractor": self.extractor,
            "embedder": self.embedder.split("/")[-1],
            library: version(library),
            "profile": self.profile,
            **({"candidates": self.candidates} if self.profile == "licomemory" else {}),
            "analysis": self.analysis,
            "store": "neo4j" if "://" in self.store else self.store,
            **({"largest": self.largest} if self.largest else {}),
            "machine": machine(),
        }


def ask_all(talk: Talk, conditions: Conditions) -> Iterator[Asked]:
    """Insert a conversation and ask its questions, each when what it sees has been inserted."""
    plain = Plain(conditions.chosen, talk.messages)
    options: dict[str, Any] = {"settings": conditions.settings(), "store": conditions.store}
    if conditions.analysis == "recorded":
        options["reader"] = RecordedReader.from_file(talk.folder / "queries" / f"{talk.name}.json")
    with empty_space(talk, conditions.extractor, conditions.chosen, **options) as space:
        inserted = 0
        for question in talk.answerable:
            if inserted < question.sees:
                fill(space, talk.messages[inserted : question.sees], conditions.extractor)
                inserted = question.sees
            yield _asked(space, plain, talk.name, question)


def _asked(space: Space, plain: Plain, conversation: str, question: Question) -> Asked:
    started = perf_counter()
    hits = space.search(question.text, MOST, question.now)
    milliseconds = 1000 * (perf_counter() - started)
    rankings = plain.rankings(question.text, question.sees)
    rankings[SEARCH] = [hit.id for hit in hits], milliseconds
    answers = {}
    for name, (ids, spent) in rankings.items():
        scores = {k: score(ids, question.evidence, k) for k in CUTOFFS}
        recall = {k: found.recall for k, found in scores.items()}
        answers[name] = Answer(recall, {k: found.recall_any for k, found in scores.items()}, spent)
    changed = _changed(space, question) if question.outdated - question.evidence else None
    return Asked(conversation, question.category, answers, changed)


def _changed(space: Space, question: Question) -> Changed:
    block = space.context(question.text, max_tokens=TOKENS, now=question.now)
    cited = {citation.id for citation in block.citations}
    in_block = not cited.isdisjoint(question.evidence)
    return Changed(
        newest_first=_newest_first(space, question, None),
        without_time_order=_newest_first(space, question, UNORDERED),
        in_block=in_block,
        old_alone_in_block=not in_block and not cited.isdisjoint(question.outdated),
    )


def _newest_first(space: Space, question: Question, settings: SearchSettings | None) -> bool:
    hits = space.search(question.text, DEEP, question.now, settings=settings)
    ranks = {hit.id: rank for rank, hit in enumerate(hits)}
    outdated = question.outdated - question.evidence
    newest, old = (
        min((ranks[id] for id in ids if id in ranks), default=DEEP)
        for ids in (question.evidence, outdated)
    )
    return newest < old


def report(asked: list[Asked]) -> dict[str, Any]:
    """Return the figures of one kind of talk, over all questions and by category."""
    categories = sorted({each.category for each in asked})
    of_category = {name: [each for each in asked if each.category == name] for name in categories}
    plain = [each for each in asked if each.category != ADVERSARIAL]
    rest = {"no_adversarial": figures(plain)} if plain and len(plain) < len(asked) else {}
    best = max((COSINE, WORDS, BOTH), key=lambda name: figures(asked)["recall"][name][str(MOST)])
    names = sorted({each.conversation for each in asked})
    apart = [
        [_gain(each, best) for each in asked if each.conversation == conversation]
        for conversation in names
    ]
    interval = rounded(bootstrap(apart))
    changed = [each.changed for each in asked if each.changed is not None]
    order = {
        "questions": len(changed),
        "share": mean([each.newest_first for each in changed]),
        "without_time_order": mean([each.without_time_order for each in changed]),
        "in_block": mean([each.in_block for each in changed]),
        "old_alone_in_block": mean([each.old_alone_in_block for each in changed]),
    }
    return {
        **figures(asked),
        "best_plain": best,
        "difference": {"mean": interval["mean"], "interval": interval["interval"]},
        "search_ms": {
            name: round(median(each.answers[name].milliseconds for each in asked), 2)
            for name in asked[0].answers
        },
        **({"newest_first": order} if changed else {}),
        **rest,
        "by_category": {name: figures(own) for name, own in of_category.items()},
        "by_conversation": {
            name: figures([each for each in asked if each.conversation == name]) for name in names
        },
    }  # fmt: skip


def _gain(asked: Asked, best: str) -> float:
    return asked.answers[SEARCH].recall[MOST] - asked.answers[best].recall[MOST]


def figures(asked: list[Asked]) -> dict[str, Any]:
    """Return recall by ranking and k, and the share of questions with any evidence found."""
    by_name: dict[str, list[Answer]] = defaultdict(list)
    for each in asked:
        for name, answer in each.answers.items():
            by_name[name].append(answer)
    return {
        "questions": len(asked),
        "recall": {
            name: {str(k): mean([answer.recall[k] for answer in answers]) for k in CUTOFFS}
            for name, answers in by_name.items()
        },
        "hit": {
            name: {str(MOST): mean([answer.hit[MOST] for answer in answers])}
            for name, answers in by_name.items()
        },
    }


def chosen_kinds(data: Path, names: str | None) -> list[Kind]:
    """Return the kinds of talk of a folder, or the folder itself as one."""
    if (data / "conversations").is_dir():
        return [Kind(data.name, ".")]
    wanted = names.split(",") if names else None
    present = [kind for kind in KINDS if (data / kind.folder / "conversations").is_dir()]
    return [kind for kind in present if wanted is None or kind.name in wanted]


def measure(data: Path, kind: Kind, conditions: Conditions) -> dict[str, Any] | None:
    """Return the figures of a kind of talk, or ``None`` if it lacks the recordings asked for."""
    recorded = conditions.extractor == "recorded"
    if recorded and not (data / kind.folder / "extractions").is_dir():
        return None
    found = [
        talk
        for talk in talks(data / kind.folder, kind.conversations)
        if len(talk.messages) <= (conditions.largest or sys.maxsize)
    ]
    asked = [each for talk in found for each in ask_all(talk, conditions)]
    messages = sum(len(talk.messages) for talk in found)
    return {"learned": kind.learned, "messages": messages, **report(asked)}


def measured(file: str | None, conditions: Conditions) -> dict[str, Any]:
    """Return what a file says of kinds that were measured before in the same way."""
    if file is None or not Path(file).exists():
        return {}
    result = json.loads(Path(file).read_text("utf-8"))
    return dict(result["kinds"]) if result["conditions"] == conditions.report() else {}


def line(name: str, found: Mapping[str, Any]) -> str:
    """Return the main figures of a kind of talk as a line to read while others are measured."""
    recall = {ranking: at[str(MOST)] for ranking, at in found["recall"].items()}
    shares = "  ".join(
        f"{ranking} {recall[ranking]:.3f}" for ranking in (SEARCH, COSINE, WORDS, BOTH)
    )
    low, high = found["difference"]["interval"]
    return f"{name:20} {found['questions']:4}  {shares}  {low:+.3f} to {high:+.3f}"


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, type=Path, metavar="DIR")
    parser.add_argument("--sets", metavar="NAME,NAME", help="only these kinds of talk")
    parser.add_argument("--embedder", default="wordllama")
    parser.add_argument("--extractor", choices=["none", "rules", "recorded"], default="none")
    parser.add_argument("--profile", choices=["default", "licomemory"], default="default")
    parser.add_argument("--candidates", choices=["paper", "wide"], default="paper",
                        help="of licomemory")  # fmt: skip
    parser.add_argument("--analysis", choices=["rules", "recorded"], default="rules")
    parser.add_argument("--store", default="sqlite", help="sqlite, or a URI")
    parser.add_argument("--vectors", choices=["float16", "float32"], help="format in a file")
    parser.add_argument("--largest", type=int, metavar="N",
                        help="leave out conversations of more messages")  # fmt: skip
    parser.add_argument("--keep", metavar="FILE", help="for vectors, for the next run")
    parser.add_argument("--out", metavar="FILE")
    given = vars(parser.parse_args())
    data, sets, out = given.pop("data"), given.pop("sets"), given.pop("out")
    conditions = Conditions(**given)
    kinds = measured(out, conditions)
    for kind in chosen_kinds(data, sets):
        found = measure(data, kind, conditions)
        if found is not None:
            kinds[kind.name] = found
            print(line(kind.name, found), flush=True)
            ordered = {each.name: kinds[each.name] for each in KINDS if each.name in kinds}
            result = {"conditions": conditions.report(), "kinds": {**ordered, **kinds}}
            write(result, out, quiet=True)
    if not kinds:
        raise SystemExit(f"nothing to measure in {data}")


if __name__ == "__main__":
    main()
