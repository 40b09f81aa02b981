"""Measure what reading conversations with a language model takes, by stage, without calling one.

python -m bench.model_cost --data DIR... --json FILE
    [--prices INPUT,CACHED,OUTPUT ...] [--cached-from N]

DIR has ``conversations/``, ``extractions/`` and ``qa/`` as for bench/said.py. Each conversation is
stored and enriched through the real client, by a loopback server that answers from the recordings
(bench/recorded_model.py); what is counted is what the client counts. Tokens are estimated as
cognigraph does for its budgets. The server keeps beginnings of prompts as endpoints do, if they
have ``--cached-from`` tokens.

Prices are in dollars per million tokens of input, cached input and output. The defaults are three
orders of size to compare with, not prices of anybody.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.measure import write
from bench.recorded_model import PrefixCache, RecordedModel, Server
from bench.said import talks
from cognigraph import Memory, Usage
from cognigraph.ingest.model.extractor import READ_PROMPT, SUMMARY_PROMPT, ModelExtractor
from cognigraph.llm import Answer, ChatModel, Prices, Prompt
from cognigraph.llm.prompts import prompt_file
from cognigraph.text.marks import estimate_tokens

PRICES = ("0.1,0.025,0.4", "0.5,0.125,2", "2.5,0.625,10")
SUMMARY = ("keys", "themes")


class Model(RecordedModel):
    """Counts what the parts of its prompts and answers take."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens: Counter[str] = Counter()

    def answer(self, system: str, user: str) -> dict[str, Any]:
        """Return the answer to a prompt."""
        answer = super().answer(system, user)
        if "entities" in answer:
            answer["entities"] = list(_named(answer["entities"], answer["facts"]))
        facts = {name: part for name, part in answer.items() if name not in SUMMARY}
        summary = {name: part for name, part in answer.items() if name in SUMMARY}
        self.tokens["system"] += estimate_tokens(system)
        self.tokens["facts"] += _written(facts)
        self.tokens["summaries"] += _written(summary)
        return answer


def _named(entities: Sequence[str], facts: Sequence[str]) -> Iterator[str]:
    """Yield the entities that have a name or come up again, as the prompt asks for."""
    parts = Counter(part for fact in facts for part in fact.split(" | ")[1:4])
    for entity in entities:
        name, type = entity.split(" | ")[:2]
        if type != "time" and (name[:1].isupper() or parts[name] > 1):
            yield entity


def _written(answer: dict[str, Any]) -> int:
    """Return the tokens of an answer as models write it under a schema: without spaces."""
    text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    return estimate_tokens(text) if answer else 0


class Counting(ChatModel):
    """Adds up what its answers took, by the prompt's name."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.stages: dict[str, Usage] = {}

    def ask(self, prompt: Prompt, schema: Any) -> Answer[Any]:
        """Answer a prompt."""
        answer = super().ask(prompt, schema)
        self.stages[prompt.name] = self.stages.get(prompt.name, Usage()) + answer.usage
        return answer


def measure(data: Path, prices: Sequence[Prices], cached_from: int) -> dict[str, Any]:
    """Enrich all conversations of a folder; return what it took for 1,000 messages."""
    model, total = Model.of(data), Counter[str]()
    assert isinstance(model, Model)
    with (
        Server(model, PrefixCache(cached_from)) as server,
        tempfile.TemporaryDirectory() as folder,
        Counting("recorded", base_url=server.url) as client,
    ):
        extractor = ModelExtractor(client)
        for talk in talks(data):
            with Memory(f"{folder}/{talk.name}.db", extractor=extractor, enrich="manual") as memory:
                memory.add_many(talk.messages)
                memory.flush(timeout=3600)
                stats = memory.stats()
                assert not (stats.pending or stats.failed or stats.summaries_pending)
                total["facts"] += stats.triples
            total["messages"] += len(talk.messages)
            total["sessions"] += len({message["session"] for message in talk.messages})
            for message in talk.messages:
                total["words"] += len(message["text"].split())
                total["said"] += estimate_tokens(message["text"])
    return report(total, model.tokens, client.stages, prices)


def given_prices(text: str) -> Prices:
    """Read prices in the order in which they are given here."""
    input, cached, output = (float(part) for part in text.split(","))
    return Prices(input, output, cached)


def report(
    total: Counter[str],
    tokens: Counter[str],
    stages: Mapping[str, Usage],
    prices: Sequence[Prices],
) -> dict[str, Any]:
    """Return the sums per 1,000 messages, by the prompts that were sent."""

    def per_1000(value: float, digits: int | None = None) -> float:
        return round(value * 1000 / total["messages"], digits)

    def row(usage: Any) -> dict[str, Any]:
        cached = usage.cached_input_tokens
        costs = [price.cost(usage.input_tokens, usage.output_tokens, cached) for price in prices]
        return {
            "calls": per_1000(usage.calls),
            "input": per_1000(usage.input_tokens),
            "cached_input": per_1000(cached),
            "output": per_1000(usage.output_tokens),
            "dollars": [per_1000(cost, 4) for cost in costs],
        }

    return {
        "messages": total["messages"],
        "sessions": total["sessions"],
        "facts": total["facts"],
        "messages_per_session": round(total["messages"] / total["sessions"], 1),
        "words_per_message": round(total["words"] / total["messages"], 1),
        "per_1000_messages": {
            "said": per_1000(total["said"]),
            "system_prompts": per_1000(tokens["system"]),
            "output_of_facts": per_1000(tokens["facts"]),
            "output_of_summaries": per_1000(tokens["summaries"]),
            "stages": {stage: row(usage) for stage, usage in stages.items()},
            "together": row(sum(stages.values(), Usage())),
        },
    }


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, nargs="+", metavar="DIR")
    parser.add_argument("--prices", nargs="+", type=given_prices, metavar="INPUT,CACHED,OUTPUT")
    parser.add_argument("--cached-from", type=int, default=0, metavar="TOKENS")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    prices = arguments.prices or [given_prices(text) for text in PRICES]
    cached_from = arguments.cached_from
    result = {
        "prompts": [prompt_file(id).id for id in (READ_PROMPT, SUMMARY_PROMPT)],
        "prices": [asdict(price) for price in prices],
        "cached_from": cached_from,
        "sets": {data.name: measure(data, prices, cached_from) for data in arguments.data},
    }
    write(result, arguments.json)


if __name__ == "__main__":
    main()
