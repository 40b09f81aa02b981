"""How good the facts of an extractor are, on 100 hand-labelled turns of the sample conversation.

python bench/precision.py --extractor rules --json FILE
    --show unjudged|false|useless|missed

A triple is *right* if it matches a fact of ``labels/facts.jsonl`` (same subject, verb, object and
polarity, no other date) or was judged right by hand in ``labels/judged.jsonl``; *useless* if it is
not false but nobody would look for it; else *false*. What is neither matched nor judged counts as
unjudged, never as right. "X mentioned Y" is no fact and is counted apart. See labels/README.md.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

from cognigraph.english.verbs import BE, HAVE, is_past, known_verb
from cognigraph.english.words import PREPOSITIONS
from cognigraph.ingest.extraction import Extractor, Fact, Window
from cognigraph.ingest.extractors import resolve_extractor
from cognigraph.stores.records import SessionNotes, WorkChunk
from cognigraph.text.terms import terms

LABELS = Path(__file__).parent / "labels"
MENTION = "mentioned"
_LIGHT = set(terms("a an the his her their its my our your to on in at of for with and"))
_AUXILIARIES = {"will", "would", "can", "could", "be", "been", "not", "to", "do", "does", "did"}


@dataclass(frozen=True)
class Label:
    """A fact a careful reader accepts; each part in all wordings that say it."""

    turn: str
    subject: tuple[str, ...]
    relation: tuple[str, ...]
    object: tuple[str, ...]
    when: tuple[str, ...] = ()
    negated: bool = False
    optional: bool = False


@dataclass
class Found:
    """A triple with the turn it cites first."""

    turn: str
    fact: Fact
    verdict: str = "unjudged"
    label: Label | None = None

    @property
    def text(self) -> str:
        """The form under which it is judged."""
        fact = self.fact
        parts = [fact.subject, ("not " if fact.negated else "") + fact.relation, fact.object]
        parts += [fact.when] if fact.when else []
        parts += [f"said by {fact.said_by}"] if fact.said_by else []
        return " | ".join(parts)


@dataclass
class Outcome:
    """All triples of one extractor, and what the labels have that it does not."""

    found: list[Found] = field(default_factory=list)
    missed: list[Label] = field(default_factory=list)
    labels: int = 0
    seconds: float = 0.0
    turns: int = 0


def load_labels() -> list[Label]:
    """The labelled facts, in the order of the conversation."""
    labels = []
    for line in (LABELS / "facts.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        for fact in row["facts"]:
            texts = {key: tuple(value) for key, value in fact.items() if isinstance(value, list)}
            flags = {key: value for key, value in fact.items() if isinstance(value, bool)}
            labels.append(Label(turn=row["turn"], **texts, **flags))
    return labels


def load_judged() -> dict[tuple[str, str], str]:
    """Verdicts by turn and triple text: ``true``, ``useless`` or ``false``."""
    rows = map(json.loads, (LABELS / "judged.jsonl").read_text("utf-8").splitlines())
    return {(row["turn"], row["text"]): row["verdict"] for row in rows}


def sample_chunks() -> list[WorkChunk]:
    """The labelled turns of the sample conversation, in order."""
    labelled = {
        json.loads(line)["turn"]
        for line in (LABELS / "facts.jsonl").read_text("utf-8").splitlines()
    }
    text = files("cognigraph").joinpath("sample", "conversation.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    return [
        WorkChunk(
            row["id"], row["id"], row["session"], row["speaker"],
            datetime.fromisoformat(row["at"]), row["text"],
        )
        for row in rows
        if row["id"] in labelled
    ]  # fmt: skip


# --- Matching ------------------------------------------------------------------------------


def matches(fact: Fact, label: Label) -> bool:
    """Tell whether the fact says what the label says. Strict: doubts are judged by hand."""
    dated = fact.when is None or fact.when in label.when
    return (
        dated
        and fact.negated == label.negated
        and any(_same_name(fact.subject, name) for name in label.subject)
        and any(_same_verb(fact.relation, verb) for verb in label.relation)
        and any(_same_name(fact.object, name) for name in label.object)
    )


def _stems(text: str) -> list[str]:
    return [stem for stem in terms(text) if stem not in _LIGHT]


def _same_name(found: str, wanted: str) -> bool:
    """Equal but for articles and the like; the fact may say as much again, but not less."""
    left, right = set(_stems(found)), set(_stems(wanted))
    if not left or not right:
        return found.lower() == wanted.lower()
    return right <= left and len(left) <= 2 * len(right)


def _same_verb(found: str, wanted: str) -> bool:
    return _verbs(found) == _verbs(wanted) and _time(found) == _time(wanted)


def _verbs(relation: str) -> set[str]:
    """Base forms of what the relation says, without auxiliaries and prepositions."""
    bases = set()
    for word in relation.lower().split():
        verb = known_verb(word)
        base = "be" if word in BE else "have" if word in HAVE else verb.base if verb else word
        if base not in _AUXILIARIES and word not in PREPOSITIONS:
            bases.add(base)
    return bases - {"have"} or bases


def _time(relation: str) -> str:
    first = relation.lower().split()[0]
    if first in ("will", "shall") or "going" in relation.split():
        return "future"
    return "past" if first in ("was", "were", "had", "did") or is_past(first) else "present"


def judge(found: Iterable[Found], labels: Iterable[Label]) -> None:
    """Give every triple its verdict: by the labels, else by hand, else none."""
    by_turn: dict[str, list[Label]] = {}
    for label in labels:
        by_turn.setdefault(label.turn, []).append(label)
    judged = load_judged()
    for item in found:
        if item.fact.relation == MENTION:
            item.verdict = MENTION
            continue
        item.label = next((x for x in by_turn.get(item.turn, ()) if matches(item.fact, x)), None)
        by_hand = judged.get((item.turn, item.text), "unjudged")
        item.verdict = "true" if item.label is not None else by_hand


# --- Running -------------------------------------------------------------------------------


def read_sample(extractor: Extractor) -> Outcome:
    """Read the labelled turns session by session, as enrichment does, and judge the triples."""
    outcome, labels = Outcome(), load_labels()
    warm = sample_chunks()[:1]
    extractor.extract(Window("warm", "warm", tuple(warm)))  # models load at first use
    for session, group in groupby(sample_chunks(), key=lambda chunk: chunk.session):
        chunks = tuple(group)
        started = time.process_time()
        extraction = extractor.extract(Window("sample", session, chunks, (), SessionNotes()))
        outcome.seconds += time.process_time() - started
        outcome.turns += len(chunks)
        outcome.found += [
            Found(chunks[fact.chunks[0]].message_id, fact) for fact in extraction.facts
        ]
    judge(outcome.found, labels)
    wanted = [label for label in labels if not label.optional]
    outcome.labels = len(wanted)
    outcome.missed = [
        label for label in wanted
        if not any(matches(x.fact, label) and x.turn == label.turn for x in outcome.found)
    ]  # fmt: skip
    return outcome


def precision(extractor: Extractor) -> dict[str, Any]:
    """Figures of one extractor over the labelled turns.

    ``true_share`` is right or useless over judged, ``useful_share`` right over judged; ``recall``
    the share of labelled (not optional) facts that some triple matches; ``ms_per_turn`` is
    processor time.
    """
    outcome = read_sample(extractor)
    counts = Counter(item.verdict for item in outcome.found)
    judged = counts["true"] + counts["useless"] + counts["false"]
    told = {item.turn for item in outcome.found if item.verdict != MENTION}
    wanted = {label.turn for label in load_labels() if not label.optional}
    dated = [item for item in outcome.found if item.label is not None and item.label.when]
    return {
        "extractor": extractor.name,
        "turns": outcome.turns,
        "triples": len(outcome.found) - counts[MENTION],
        "mentions_only": counts[MENTION],
        "right": counts["true"],
        "matched_a_label": sum(item.label is not None for item in outcome.found),
        "useless": counts["useless"],
        "false": counts["false"],
        "unjudged": counts["unjudged"],
        "true_share": round((counts["true"] + counts["useless"]) / max(judged, 1), 4),
        "useful_share": round(counts["true"] / max(judged, 1), 4),
        "labels": outcome.labels,
        "recall": round(1 - len(outcome.missed) / outcome.labels, 4),
        "turns_told_of": round(len(told & wanted) / len(wanted), 4),
        "dated_when_it_should": round(
            sum(item.fact.when is not None for item in dated) / max(len(dated), 1), 4
        ),
        "ms_per_turn": round(1000 * outcome.seconds / outcome.turns, 3),
    }


def show(outcome: Outcome, verdict: str) -> None:
    """Print what is worth looking at."""
    if verdict == "missed":
        for label in outcome.missed:
            print(label.turn, *(part[0] for part in (label.subject, label.relation, label.object)))
        return
    texts: Mapping[str, str] = {chunk.message_id: chunk.text for chunk in sample_chunks()}
    for item in outcome.found:
        if verdict in (item.verdict, "all"):
            row = {"turn": item.turn, "text": item.text, "verdict": item.verdict}
            print(json.dumps(row, ensure_ascii=False), "#", texts[item.turn])


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--extractor", default="rules")
    parser.add_argument("--json")
    parser.add_argument(
        "--show", choices=["all", "true", "unjudged", "false", "useless", "missed", "mentioned"]
    )
    arguments = parser.parse_args()
    extractor = resolve_extractor(arguments.extractor)
    if arguments.show:
        show(read_sample(extractor), arguments.show)
        return
    text = json.dumps(precision(extractor), indent=2)
    print(text)
    if arguments.json:
        Path(arguments.json).write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
