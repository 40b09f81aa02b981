"""Compare cognigraph with other memories in one run, on one machine.

python -m bench.peers --data DIR[,DIR] --conversations conv-26,dev-coder --json FILE

Every memory gets the same conversations, one message at a time, the same embedder and, where it
uses a model, answers from the same recordings (a loopback endpoint, ``stub.py``). Each runs as a
process in an environment of its own, made at first use from its pinned requirements. DIR has the
layout that ``bench/said.py`` describes; without it, cognigraph's sample conversation is used.
``--neo4j`` names an empty server that may be cleared; without it, one is started.
``--json bench/results/peers-run.json`` replaces the committed result; ``python -m bench.figures``
and ``python -m docs.draw`` then write the tables and the plots of docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import date
from pathlib import Path
from typing import Any

from neo4j import GraphDatabase

from bench.peers import environments, trials
from bench.peers.answers import Answers
from bench.peers.catalog import NOT_MEASURED, Memory, chosen
from bench.peers.conversations import Conversation, load
from bench.peers.driver import Limit, OverTimeError, PeerDiedError, PeerError
from bench.peers.measures import Bench, measure
from bench.peers.stub import running
from cognigraph.embed import resolve


def main() -> None:
    """Run from the command line."""
    arguments = _arguments()
    memories = chosen([name for name in arguments.only.split(",") if name])
    names = [name for name in arguments.conversations.split(",") if name]
    conversations = load(arguments.data, names, arguments.messages, arguments.questions)
    result = _head(arguments, conversations)
    pythons = _environments(memories, Path(arguments.environments), result)
    with ExitStack() as stack:
        embedder = resolve(arguments.embedder)
        answers = Answers(conversations)
        stub = stack.enter_context(running(answers, embedder))
        neo4j = None
        if any(variant.neo4j for memory in memories for variant in memory.variants):
            neo4j = stack.enter_context(_neo4j(arguments.neo4j))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=arguments.folder)))
        bench = Bench(
            stub, embedder.name, embedder.dimension, neo4j, folder, pythons, conversations
        )
        for memory in memories:
            if memory.name in pythons:
                _run(bench, memory, arguments, result)
                result["unanswered"] = dict(answers.unanswered)
                _write(arguments.json, folder, result)
    if not arguments.json:
        print(as_json(result, folder))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    parser.add_argument("--data", help="folders with conversations, with commas between them")
    parser.add_argument("--conversations", default="", help="names, in order; all if empty")
    parser.add_argument("--messages", type=int, default=200, help="at most, of a conversation")
    parser.add_argument("--questions", type=int, default=60, help="at most, of a conversation")
    parser.add_argument("--only", default="", help="memories to run, with commas between them")
    parser.add_argument("--variants", default="", help="only these variants")
    parser.add_argument("--embedder", default="wordllama")
    parser.add_argument("--neo4j", help="URI of an empty server that may be cleared")
    parser.add_argument("--environments", default=str(environments.DEFAULT))
    parser.add_argument("--folder", help="where the memories are kept during the run")
    parser.add_argument("--no-trials", action="store_true")
    parser.add_argument(
        "--trial-minutes", type=float, default=20, help="a trial that takes longer is stopped"
    )
    parser.add_argument(
        "--minutes", type=float, default=180, help="to store and to ask everything; else stopped"
    )
    parser.add_argument("--json")
    return parser.parse_args()


def _head(arguments: argparse.Namespace, conversations: list[Conversation]) -> dict[str, Any]:
    from bench.measure import machine

    return {
        "date": date.today().isoformat(),
        "machine": machine(),
        "embedder": arguments.embedder.split("/")[-1],
        "conversations": [
            {
                "name": conversation.name,
                "messages": len(conversation.messages),
                "sessions": len({message["session"] for message in conversation.messages}),
                "questions": len(conversation.questions),
                "facts": sum(map(len, conversation.facts().values())),
            }
            for conversation in conversations
        ],
        "memories": {},
        "trials": {},
        "versions": {},
        "not_measured": dict(NOT_MEASURED),
    }


def _environments(memories: list[Memory], root: Path, result: dict[str, Any]) -> dict[str, Path]:
    root.mkdir(parents=True, exist_ok=True)
    pythons = {}
    for memory in memories:
        try:
            pythons[memory.name] = environments.python_of(memory.name, root)
        except RuntimeError as error:
            result["not_measured"][memory.name] = str(error)
        dated, pins = environments.versions(memory.name)
        result["versions"][memory.name] = {"licence": memory.licence, "dated": dated, "pins": pins}
    return pythons


def _run(bench: Bench, memory: Memory, arguments: argparse.Namespace, result: Any) -> None:
    wanted = [name for name in arguments.variants.split(",") if name]
    for variant in memory.variants:
        if wanted and variant.name not in wanted:
            continue
        if variant.neo4j and bench.neo4j:
            clear(bench.neo4j)
        started = time.perf_counter()
        try:
            found = measure(bench, memory, variant, Limit(60 * arguments.minutes))
            result["memories"].update(found)
            _write(arguments.json, bench.folder, result)
            if variant.trials and not arguments.no_trials:
                add_ms = found[variant.name]["insert_ms"]["p50"]
                limit = Limit(60 * arguments.trial_minutes)
                result["trials"][variant.name] = trials.run(bench, memory, variant, add_ms, limit)
        except (PeerError, PeerDiedError, OverTimeError) as error:
            result["not_measured"][variant.name] = str(error)
            print(f"{variant.name}: {error}", file=sys.stderr)
        took = time.perf_counter() - started
        print(f"{variant.name}: {took:.0f} s", file=sys.stderr, flush=True)


@contextmanager
def _neo4j(uri: str | None) -> Iterator[str]:
    if uri:
        yield uri
        return
    from tests.servers.neo4j_server import running_server

    with running_server("5.26") as server:
        yield server.uri


def clear(uri: str) -> None:
    """Delete everything on a server, with its indexes and constraints."""
    with GraphDatabase.driver(uri) as driver, driver.session() as session:
        session.run(
            "MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS"
        ).consume()
        for listing, drop in (
            ("SHOW CONSTRAINTS YIELD name", "DROP CONSTRAINT $name IF EXISTS"),
            ("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP'", "DROP INDEX $name IF EXISTS"),
        ):
            for name in session.run(listing).value("name"):
                session.run(drop, name=name).consume()


def _write(path: str | None, folder: Path, result: dict[str, Any]) -> None:
    result["load"] = round(os.getloadavg()[1], 1)
    if path:
        Path(path).write_text(as_json(result, folder) + "\n", "utf-8")


def as_json(result: dict[str, Any], folder: Path) -> str:
    """The result without the folder of the run and that of the project, which errors may name."""
    text = json.dumps(result, indent=1)
    return text.replace(str(folder), "FOLDER").replace(str(Path(__file__).parents[2]), ".")


if __name__ == "__main__":
    main()
