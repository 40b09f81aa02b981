"""The strategies of the loop on the development sets, without a model.

python -m bench.strategies --data DIR [--extraction recorded|rules] [--embedder NAME]
    [--conversations conv-26 ...] [--json FILE]

``DIR`` has conversations, questions and ``loops``: what a strong model decided on the block of one
search (verdict and follow-up queries). Two kinds of stand-ins for a model are measured:

- Recordings answer the prompt of ``licomemory``. All prompts, checks and limits are real. "Verdict
  obeyed" ends where the recording says "enough"; "queries sent" ignores that.
- An oracle assesses: evidence suffices if and only if all of the question's evidence is in it. This
  gives upper bounds of HyMem (it selects exactly the episodes that cover evidence) and of AMA (it
  passes as soon as everything is there); questions are routed by rules. No answer is written, so
  these are shares of evidence and not accuracies, and tokens are those of what a model would be
  shown, without the instructions.
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.measure import write
from bench.said import ADVERSARIAL, Talk, filled_space, talks
from cognigraph import Assessment, Layer, Plan, Round, Space
from cognigraph.llm import Prompt
from cognigraph.loop import AskAsItIs, Intent, LoopState, Retry, layer_of, licomemory
from cognigraph.operations.asking import loop_state
from cognigraph.testing import ScriptedModel
from cognigraph.text.marks import estimate_tokens

KS = (1, 3, 5, 10, 20)
N, K, ROUNDS = 30, 10, 4
ONE_SEARCH = (15, 27, 33)
LAYERS: tuple[Layer, ...] = ("messages", "episodes", "facts")


@dataclass(frozen=True)
class Asked:
    """A question with its evidence, and what was recorded for it, if anything."""

    text: str
    kind: str
    evidence: frozenset[str]
    now: datetime
    recorded: Mapping[str, Any] | None


@dataclass
class Means:
    """Means of figures by name, over all questions and by kind."""

    values: dict[str, dict[str, list[float]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )

    def add(self, kind: str, **figures: float) -> None:
        """Count the figures of one question."""
        for name, value in figures.items():
            self.values["all"][name].append(float(value))
            self.values[kind][name].append(float(value))

    def report(self, *kinds: str) -> dict[str, Any]:
        """The means of all questions, and of these kinds."""
        chosen = {kind: self.values[kind] for kind in ("all", *kinds) if kind in self.values}
        return {
            kind: {
                "questions": max(map(len, own.values())),
                **{name: round(sum(found) / len(found), 4) for name, found in own.items()},
            }
            for kind, own in chosen.items()
        }


# Recordings in the place of a model


class Recording:
    """Answers the prompts of ``licomemory`` with what was recorded for the question."""

    def __init__(self, *, obey: bool) -> None:
        self.obey = obey
        self.current: Mapping[str, Any] = {}

    def __call__(self, prompt: Prompt) -> dict[str, Any]:
        """The recorded verdict with those queries that are not in the prompt as sent."""
        sent = prompt.user.partition("</sent>")[0]
        verdict = self.current["verdict"]
        queries = [query for query in self.current["queries"] if f"- {query}" not in sent]
        if verdict == "enough" and not self.obey:
            verdict = "partial"
        return {"verdict": verdict, "missing": "", "queries": queries}


def recorded_loops(
    space: Space, asked: Asked, recording: Recording, found: Mapping[str, Means]
) -> None:
    """One search against a loop with one round of follow-up queries."""
    if asked.recorded is None:
        return
    ranked = [hit.id for hit in space.search(asked.text, max(ONE_SEARCH), asked.now)]
    for k in ONE_SEARCH:
        count(found[f"one search, {k}"], asked, set(ranked[:k]), len(ranked[:k]))
    recording.current = asked.recorded
    for obey in (True, False):
        recording.obey = obey
        seen: list[Round] = []
        block = space.context(
            asked.text, now=asked.now, on_round=seen.append, strategy=licomemory(rounds=2)
        )
        ids = {item.id for ended in seen for item in ended.found}
        shown = {hit.id for hit in block.hits}
        calls = [call for ended in seen for call in ended.calls]
        count(
            found["verdict obeyed" if obey else "queries sent"], asked, ids, len(ids),
            in_block=share(asked, shown), all_in_block=asked.evidence <= shown,
            block_tokens=block.tokens, calls=len(calls),
            prompt_tokens=sum(call.usage.input_tokens for call in calls),
        )  # fmt: skip


def share(asked: Asked, ids: set[str]) -> float:
    """The share of the evidence among these messages."""
    return len(asked.evidence & ids) / len(asked.evidence)


def count(means: Means, asked: Asked, ids: set[str], messages: int, **more: float) -> None:
    """Count one question."""
    whole = asked.evidence <= ids
    means.add(asked.kind, evidence=share(asked, ids), all=whole, messages=messages, **more)


# An oracle in the place of a model


def known_ids(state: LoopState) -> set[str]:
    """The messages that the evidence of a state contains, or stands for."""
    labels = [item.label for item in state.pool.items]
    ids = {hit.id for hit in state.pool.hits()}
    ids |= {id for episode in state.pool.episodes(labels) for id in episode.messages}
    facts = [label for label in labels if label.startswith("F")]
    return ids | {source.id for triple in state.pool.triples(facts) for source in triple.sources}


@dataclass(frozen=True)
class OracleJudge:
    """``assess``: passes if and only if the evidence is there."""

    asked: Asked

    def __call__(self, state: LoopState) -> Assessment:
        """Assess everything found so far."""
        enough = self.asked.evidence <= known_ids(state)
        return Assessment("enough" if enough else "partial")


def hymem_bounds(space: Space, asked: Asked, found: Mapping[str, Means]) -> None:
    """Light retrieval of k episodes; what they lack is read by an oracle that selects episodes."""
    state = loop_state(space, asked.text, now=asked.now, max_tokens=100_000)
    state.round = 1
    labels = state.add(state.recall.episodes(asked.text, N), asked.text)
    episodes = state.pool.episodes(labels)
    summaries = estimate_tokens(state.lines(labels))
    selected = [episode for episode in episodes if asked.evidence & set(episode.messages)]
    state.choose(state.add(state.recall.covered(asked.text, selected), asked.text))
    block = state.block()
    deep_ids = {hit.id for hit in block.hits}
    every = share(asked, {id for episode in episodes for id in episode.messages})
    deep_tokens = summaries + (block.tokens if selected else 0)
    for k in KS:
        covered = {id for episode in episodes[:k] for id in episode.messages}
        light = estimate_tokens(state.lines(labels[:k]))
        deep = not asked.evidence <= covered
        found[f"k = {k}"].add(
            asked.kind, deep=deep, tokens=light + deep_tokens * deep,
            evidence=share(asked, covered | (deep_ids if deep else set())),
        )  # fmt: skip
    found["always deep"].add(asked.kind, deep=1, tokens=deep_tokens, evidence=every)
    light = estimate_tokens(state.lines(labels[:K]))
    found["light only, k = 10"].add(
        asked.kind, deep=0, tokens=light,
        evidence=share(asked, {id for episode in episodes[:K] for id in episode.messages}),
    )  # fmt: skip


def ama_bounds(space: Space, asked: Asked, found: Mapping[str, Means]) -> None:
    """Each layer alone, all of them, and the loop of Retry by rounds."""
    ids: set[str] = set()
    spent = 0
    for layer in LAYERS:
        state = loop_state(space, asked.text, now=asked.now)
        state.fetch(AskAsItIs(K, layer)(state))
        tokens = shown_tokens(state)
        found[layer].add(asked.kind, evidence=share(asked, known_ids(state)), tokens=tokens)
        ids, spent = ids | known_ids(state), spent + tokens
    found["all"].add(asked.kind, evidence=share(asked, ids), tokens=spent)
    by_rounds(space, asked, found)


def by_rounds(space: Space, asked: Asked, found: Mapping[str, Means]) -> None:
    """The loop of Retry: what it has after each round, if it goes on until the oracle passes."""
    state = loop_state(space, asked.text, now=asked.now)
    judge, retry = OracleJudge(asked), Retry(K)
    plan: Plan | None = Plan((asked.text,), _routed(state), K)
    spent = 0
    for number in range(1, ROUNDS + 1):
        if plan is not None:
            state.round = number
            state.fetch(plan)
            spent += shown_tokens(state)
            state.assessment = judge(state)
            plan = retry(state)
        got = share(asked, known_ids(state))
        name = f"{number} round{'s' * (number > 1)}"
        found[name].add(asked.kind, evidence=got, passed=got == 1, tokens=spent)


_FINE = re.compile(
    r"\b(?:exact(?:ly)?|precise(?:ly)?|word for word|quote[ds]?|what did \w+ (?:say|write|tell)"
    r"|in (?:his|her|their) words|photo|picture)\b",
    re.IGNORECASE,
)
_ABSTRACT = re.compile(
    r"\b(?:summar\w+|overview|in general|overall|what kind of (?:person|relationship)"
    r"|how would you describe|personality|tell me about|what (?:is|was) .* like)\b",
    re.IGNORECASE,
)
_EVENT = re.compile(
    r"\b(?:what happened|how did .* (?:go|change|turn out)|before|after|since|over the (?:years|"
    r"months|summer|winter)|between|during|story of|how many times|how often)\b",
    re.IGNORECASE,
)


def _routed(state: LoopState) -> Layer:
    """The layer for what words of the question tell; where there are few facts, messages."""
    question = state.question
    fine = bool(_FINE.search(question))
    abstract = bool(_ABSTRACT.search(question))
    event = bool(_EVENT.search(question))
    layer = layer_of(Intent(fine, abstract, event))
    return "messages" if layer == "facts" and state.recall.has_few_facts else layer


def shown_tokens(state: LoopState) -> int:
    """Tokens of the evidence that a model would be shown."""
    return estimate_tokens(state.lines(item.label for item in state.pool.items))


# Running


def questions(talk: Talk) -> Iterator[Asked]:
    """The questions of a conversation that have evidence and are not adversarial."""
    has_loops = (talk.folder / "loops" / f"{talk.name}.json").exists()
    loops = talk.recorded("loops") if has_loops else {}
    for item in talk.answerable:
        if item.category != ADVERSARIAL:
            recorded = loops.get(str(item.number))
            yield Asked(item.text, item.category, item.evidence, item.now, recorded)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Fill a memory for each conversation, and ask its questions."""
    data, recording = Path(arguments.data), Recording(obey=True)
    found: dict[str, dict[str, Means]] = {
        name: defaultdict(Means) for name in ("licomemory", "hymem", "ama")
    }
    asked_in_all = 0
    model = ScriptedModel(recording, name="recorded")
    for talk in talks(data):
        if arguments.conversations and talk.name not in arguments.conversations:
            continue
        with filled_space(talk, arguments.extraction, arguments.embedder, model=model) as space:
            for asked in questions(talk):
                asked_in_all += 1
                recorded_loops(space, asked, recording, found["licomemory"])
                hymem_bounds(space, asked, found["hymem"])
                ama_bounds(space, asked, found["ama"])
    kinds = ("multi-hop", "multi-session")
    return {
        "data": data.name,
        "extraction": arguments.extraction,
        "embedder": arguments.embedder.split("/")[-1],
        "questions": asked_in_all,
        **{
            name: {way: means.report(*kinds) for way, means in ways.items()}
            for name, ways in found.items()
        },
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--extraction", default="recorded", choices=["rules", "recorded"])
    parser.add_argument("--embedder", default="wordllama")
    parser.add_argument("--conversations", nargs="*")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    write(run(arguments), arguments.json)


if __name__ == "__main__":
    main()
