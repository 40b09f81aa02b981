"""What one variant of one memory costs and finds: the main part of the bench."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from bench.peers import scoring
from bench.peers.catalog import Memory, Variant
from bench.peers.conversations import Conversation
from bench.peers.driver import Limit, Peer
from bench.peers.stub import Stub
from cognigraph.evaluate.metrics import mean, percentiles, score

ADD_TIMEOUT = 180
SETTLE_TIMEOUT = 900


@dataclass(frozen=True)
class Bench:
    """What all measurements have in common."""

    stub: Stub
    embedder: str
    dimension: int
    neo4j: str | None
    folder: Path
    pythons: dict[str, Path]
    conversations: Sequence[Conversation]
    k: int = 15

    def peer(self, memory: Memory, variant: Variant, run: str, limit: Limit) -> Peer:
        """Start an adapter; the same ``run`` opens the same folder."""
        folder = self.folder / f"{variant.name}-{run}"
        folder.mkdir(exist_ok=True)
        common = {
            "folder": str(folder),
            "url": self.stub.url(variant.name),
            "model": "recorded",
            "embedder": self.embedder,
            "dimension": self.dimension,
            "neo4j": self.neo4j,
        }
        python = self.pythons[memory.name]
        return Peer(python, memory.adapter, {**common, **variant.settings}, limit)


def measure(
    bench: Bench, memory: Memory, variant: Variant, limit: Limit
) -> dict[str, dict[str, Any]]:
    """Fill the memory with all conversations and ask it; return a result for each way to search."""
    latencies: list[float] = []
    stored: list[int] = []
    done, total = 0, sum(len(item.messages) for item in bench.conversations)
    with bench.peer(memory, variant, "main", limit) as peer:
        peer.open()
        for space, part in parts(bench.conversations, variant.singly or (total, 0)):
            done += len(part)
            if len(part) == 1:
                added = peer.ask("add", ADD_TIMEOUT, space=space, message=part[0])
                latencies.append(added.ms)
                stored.append(done)
            else:
                peer.ask("add_batch", SETTLE_TIMEOUT, space=space, messages=part)
        calls = bench.stub.calls[variant.name]
        for conversation in bench.conversations:
            space = conversation.name
            peer.ask("settle", SETTLE_TIMEOUT, space=space, seconds=SETTLE_TIMEOUT)
        found = {variant.name: {"title": variant.title, **_ask(bench, peer)}}
        for name, settings in variant.searches.items():
            found[name] = _other_search(bench, peer, settings)
        peer.close()
    common = {
        "messages": total,
        "added_singly": len(latencies),
        "insert_ms": scoring.spread(latencies),
        "insert_curve": scoring.curve(stored, latencies),
        "until_searchable": {"model_calls": round(calls / total, 3)},
    }
    return {name: {**own, **common} for name, own in found.items()}


def parts(
    conversations: Sequence[Conversation], singly: tuple[int, int]
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield all messages with their space: singly at the beginning and end, else by sessions."""
    total = sum(len(item.messages) for item in conversations)
    first, last = singly
    done = 0
    for conversation in conversations:
        for _, group in groupby(conversation.messages, key=lambda message: message["session"]):
            session = list(group)
            single = done < first or done + len(session) > total - last
            for part in [[message] for message in session] if single else [session]:
                yield conversation.name, part
            done += len(session)


def _ask(bench: Bench, peer: Peer) -> dict[str, Any]:
    """Ask all questions; return recall and latency."""
    every: list[float] = []
    plain: list[float] = []
    latencies: list[float] = []
    for conversation in bench.conversations:
        texts = {message["id"]: message["text"] for message in conversation.messages}
        for question in conversation.questions:
            answer = peer.ask(
                "search", space=conversation.name, question=question.text, k=bench.k,
                now=conversation.now,
            )  # fmt: skip
            latencies.append(answer.ms)
            found = scoring.ranked(answer.result, texts, bench.k)
            every.append(score(found, question.evidence, bench.k).recall)
            if question.category != "adversarial":
                plain.append(every[-1])
    return {
        "questions": len(every),
        "recall": mean(every),
        "recall_no_adversarial": mean(plain),
        "search_ms": percentiles(latencies[scoring.WARM_UP :] or latencies),
    }


def _other_search(bench: Bench, peer: Peer, settings: Any) -> dict[str, Any]:
    options = {name: value for name, value in settings.items() if name != "title"}
    peer.ask("tune", settings=options)
    return {"title": settings["title"], **_ask(bench, peer)}
