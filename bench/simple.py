"""The default ranking beside plain cosine and cosine + BM25, on talk it was not learned on.

python bench/simple.py --data bench/labels/team --extraction none|rules
    --embedder wordllama|fastembed:FOLDER --json FILE

DIR is laid out as for bench/recall.py. ``bench/labels/team`` is a chat of four people about a
project, written for this benchmark: neither friends' talk nor a user with an assistant. Cosine and
BM25 are computed here over all messages with their speakers, each scaled by its range before they
are added.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
from measure import write
from said import category_of, turns

from cognigraph import Memory, Space
from cognigraph.embed import Embedder, resolve
from cognigraph.evaluate.metrics import mean, score
from cognigraph.text.bm25 import Lexicon, bm25, idf
from cognigraph.text.terms import query_terms, term_counts

Scores = npt.NDArray[np.floating]
CUTOFFS = (5, 10, 15)
DEFAULT, COSINE, BOTH = "default", "cosine", "cosine and words"


class Plain:
    """Cosine and BM25 of all messages of a conversation."""

    def __init__(self, embedder: Embedder, messages: Sequence[dict[str, Any]]) -> None:
        self._embedder = embedder
        self._ids = [message["id"] for message in messages]
        texts = [f"{message['speaker']}: {message['text']}" for message in messages]
        self._vectors = _unit(embedder.embed(texts))
        self._counts = [term_counts(text) for text in texts]
        self._lengths = np.array([sum(counts.values()) for counts in self._counts], float)
        holding = Counter(term for counts in self._counts for term in counts)
        self._lexicon = Lexicon(len(texts), float(self._lengths.mean()), holding)

    def rankings(self, question: str) -> dict[str, list[str]]:
        """Return the messages from best to worst by cosine, and by cosine and BM25."""
        query = getattr(self._embedder, "embed_query", None)
        asked = query(question) if query else self._embedder.embed([question])[0]
        cosine = self._vectors @ _unit(np.asarray(asked)[None])[0]
        both = _scaled(cosine) + _scaled(self._words(question))
        return {COSINE: self._ordered(cosine), BOTH: self._ordered(both)}

    def _words(self, question: str) -> Scores:
        asked = query_terms(question)
        matches = np.array([[counts[term] for term in asked] for counts in self._counts], float)
        lengths, lexicon = self._lengths, self._lexicon
        return bm25(matches.reshape(-1, len(asked)), lengths, idf(lexicon, asked),
                    lexicon.mean_length)  # fmt: skip

    def _ordered(self, values: Scores) -> list[str]:
        return [self._ids[row] for row in np.argsort(-values, kind="stable")]


def _unit(vectors: Scores) -> Scores:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def _scaled(values: Scores) -> Scores:
    low, high = values.min(), values.max()
    return np.asarray((values - low) / (high - low) if high > low else np.zeros_like(values))


def measure(data: Path, extraction: str, embedder: Embedder, show: bool) -> dict[str, Any]:
    """Ask all questions of all conversations by each ranking."""
    shares: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    kinds: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for file in sorted((data / "conversations").glob("*.json")):
        messages = list(turns(json.loads(file.read_text("utf-8"))))
        questions = json.loads((data / "qa" / f"{file.stem}.qa.json").read_text("utf-8"))["qa"]
        plain = Plain(embedder, messages)
        with (
            TemporaryDirectory() as folder,
            Memory(f"{folder}/x.db", embedder=embedder, enrich="manual") as memory,
        ):
            space = memory.space(file.stem)
            space.add_many(messages)
            if extraction != "none":
                space.flush(timeout=600)
            for item in questions:
                found = _found(space, plain, item["question"], messages[-1]["at"])
                for name, ranking in found.items():
                    for cutoff in CUTOFFS:
                        share = score(ranking, set(item["evidence"]), cutoff).recall
                        shares[name][cutoff].append(share)
                    kinds[name][category_of(item)].append(shares[name][CUTOFFS[0]][-1])
                    if show and name == DEFAULT and share < 1:
                        print(item["question"], item["evidence"], ranking)
    return {
        "extraction": extraction,
        "embedder": embedder.name,
        "questions": len(shares[DEFAULT][CUTOFFS[0]]),
        "recall": {
            name: {str(cutoff): mean(found) for cutoff, found in by_cutoff.items()}
            for name, by_cutoff in shares.items()
        },
        f"by_kind_at_{CUTOFFS[0]}": {
            name: {kind: mean(found) for kind, found in sorted(by_kind.items())}
            for name, by_kind in kinds.items()
        },
    }


def _found(space: Space, plain: Plain, question: str, last: datetime) -> dict[str, list[str]]:
    hits = space.search(question, k=max(CUTOFFS), now=last + timedelta(days=1))
    return {DEFAULT: [hit.id for hit in hits], **plain.rankings(question)}


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--extraction", choices=["none", "rules"], default="none")
    parser.add_argument("--embedder", default="wordllama")
    parser.add_argument("--show", action="store_true", help="print what the default missed")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    embedder = resolve(arguments.embedder)
    result = measure(Path(arguments.data), arguments.extraction, embedder, arguments.show)
    result["embedder"] = arguments.embedder.split("/")[-1]
    write(result, arguments.json)


if __name__ == "__main__":
    main()
