"""``cognigraph demo``: plays a sample conversation into a memory, and asks it questions."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from rich.rule import Rule
from rich.text import Text

from cognigraph.cli import render
from cognigraph.cli.asking import show_answer, show_round
from cognigraph.cli.command_run import OK, CommandRun
from cognigraph.cli.enriching import enrich
from cognigraph.cli.memory_options import Options, opened
from cognigraph.cli.terminal import Terminal, one_line
from cognigraph.errors import ConfigurationError
from cognigraph.llm import Prompt
from cognigraph.loop.data import Answer
from cognigraph.space import Space
from cognigraph.testing import ScriptedModel

_EARLY = ("m048", "Where does Mira live now?")
"""A message, and what is asked as soon as it is stored."""
_CONTEXT_OF = 2
_CONTEXT_TOKENS = 360
_HITS = 2
_KEYS: render.Column = ("keys", lambda session: session.keys[:5])


def sample(name: str) -> str:
    """A file of the sample conversation."""
    return files("cognigraph").joinpath("sample", name).read_text("utf-8")


def demo(run: CommandRun) -> int:
    """Store the sample turn by turn, enrich it, show the graph, and ask questions."""
    terminal = run.terminal
    messages = [json.loads(line) for line in sample("conversation.jsonl").splitlines()]
    questions = json.loads(sample("questions.json"))
    with temporary(run.options) as options, opened(options, create=True) as memory:
        space = memory.space(options.space)
        refuse_strangers(space, messages, options)
        kept = run.options.chosen_db is not None
        where = options.db if kept else "a temporary file, deleted at the end (--db FILE keeps it)"
        terminal.show(
            f"{len(messages)} turns of a conversation, {messages[0]['at'][:10]} to "
            f"{messages[-1]['at'][:10]}",
            render.text(f"memory: {where}; no network, no model call"),
        )
        played = _play(space, messages, terminal)
        graph = _graph(space, options, terminal)
        answers = _ask(space, questions, options, terminal)
        _farewell(terminal, run.options)
    terminal.document(played | graph | answers)
    return OK


@contextmanager
def temporary(options: Options) -> Iterator[Options]:
    """The options with the memory chosen by --db, or else with a temporary file.

    ``COGNIGRAPH_DB`` is ignored, so that the demo never writes to the user's own memory.
    """
    if options.chosen_db is not None:
        yield options
        return
    folder = tempfile.mkdtemp(prefix="cognigraph-")
    try:
        yield replace(options, db=str(Path(folder) / "demo.db"), auth=None, database=None)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def refuse_strangers(space: Space, messages: list[dict[str, Any]], options: Options) -> None:
    """Raise an error if the space holds other messages than the sample."""
    there = space.stats().messages
    first = space.get(messages[0]["id"], messages[0]["session"]) if there else None
    if there and (first is None or first.text != messages[0]["text"]):
        raise ConfigurationError(
            f"space {options.space!r} of {options.db} holds other messages; choose a new file "
            "with --db, or another --space"
        )


def _heading(terminal: Terminal, text: str) -> None:
    terminal.show("", Rule(Text(text, style="bold"), align="left", style="dim"))


def _play(space: Space, messages: list[dict[str, Any]], terminal: Terminal) -> dict[str, Any]:
    """Add turn by turn, as in a live conversation, and ask one question in the middle of it."""
    _heading(terminal, "1. Each turn is stored and searchable at once")
    times: list[float] = []
    new, early = 0, None
    with terminal.progress("storing", len(messages)) as bar:
        for message in messages:
            started = time.perf_counter()
            new += bool(space.add(**message).new)
            times.append(round((time.perf_counter() - started) * 1000, 3))
            if message["id"] == _EARLY[0]:
                early = space.search(_EARLY[1], 1, message["at"])
            bar.at(len(times))
    middle, slowest = render.median(times), max(times)
    terminal.show(
        f"{len(times)} turns, one by one: median {middle:.1f} ms, slowest {slowest:.1f} ms "
        "(the first turn loads the embedder)."
        if new
        else "The turns were stored before; adding them again changed nothing."
    )
    if early is not None and early.hits and not early.triples:
        terminal.show(f'Asked right after {_EARLY[0]}, before enrichment: "{_EARLY[1]}"')
        terminal.show(f"  -> {early[0].id} {early[0].speaker}: {one_line(early[0].text)}")
    return {
        "turns": len(times),
        "new": new,
        "add_ms": {"median": middle, "max": slowest},
        "found_before_enrichment": [hit.id for hit in early] if early else [],
    }


def _graph(space: Space, options: Options, terminal: Terminal) -> dict[str, Any]:
    done = enrich(space, terminal)
    _heading(terminal, "2. Enrichment extracts a graph")
    stats, zone = space.stats(), options.reader
    sessions = sorted(space.overview.sessions(), key=lambda session: session.started_at)
    entities = ", ".join(f"{entity.name} ({entity.triples})" for entity in space.entities(limit=9))
    terminal.show(
        f"{stats.chunks} chunks -> {stats.triples} triples, {stats.entities} entities, "
        f"{stats.keys} session keys in {done.seconds:.2f} s, by rules",
        "",
        render.listing(sessions, zone, "session=id", "when=started_at", ">messages", _KEYS),
        "",
        render.text(f"entities with the most triples: {entities}"),
        "",
        render.listing(space.facts(limit=10), zone, *render.FACTS[:-1]),
    )
    return {"enriched": done, "stats": stats, "sessions": sessions}


def _ask(
    space: Space, questions: dict[str, Any], options: Options, terminal: Terminal
) -> dict[str, Any]:
    now = questions["now"]
    asked = [item["question"] for item in questions["questions"] if item.get("demo")]
    _heading(terminal, f"3. Questions, asked on {now[:10]}")
    answers = []
    for question in asked:
        result = space.search(question, now=now)
        took = result.trace.timings.get("total", 0.0)
        answers.append({"question": question, "hits": result.hits[:5], "milliseconds": took})
        terminal.show(Text(f"\n{question}", style="bold").append(f"  ({took:.0f} ms)", "dim"))
        # The best fact may be about something else; one that a shown message states is not.
        for fact in [fact for hit in result.hits[:_HITS] for fact in hit.triples][:1]:
            when = render.day(fact.last_observed, options.reader)
            terminal.show(render.text(f"fact: {fact.text} (said {when})"))
        for hit in result.hits[:_HITS]:
            said = f"{render.day(hit.at, options.reader)} {hit.session} {hit.speaker}: {hit.text}"
            terminal.show(render.text(said, most=terminal.wide - 1))
    block = space.context(asked[_CONTEXT_OF], _CONTEXT_TOKENS, now, timezone=options.reader)
    _heading(terminal, f"4. The prompt block for one question, within {_CONTEXT_TOKENS} tokens")
    terminal.show(*(render.text(line) for line in str(block).splitlines()))
    terminal.show(f"{block.tokens} tokens, {len(block.citations)} items, each with a label to cite")
    return {"answers": answers, "context": block}


def _farewell(terminal: Terminal, options: Options) -> None:
    _heading(terminal, "Next")
    kept = options.chosen_db is not None
    flags = options.flags if kept else " --db demo.db"
    first = [] if kept else ["demo --db demo.db"]
    for command in (
        *first,
        f'search "What is Pickle afraid of?" --why{flags}',
        f"facts Mira{flags}",
        f"cypher --name timeline --param entity=Mira{flags}",
        'import your.jsonl --db your.db   (one {"text": ...} per line)',
    ):
        terminal.show(Text(f"  cognigraph {command}"))


SCRIPT = "loops.json"


class Script:
    """Replies by prompt, in order; labels are found in the prompt by the words after ``@``.

    A label whose words the prompt does not contain is left out.
    """

    def __init__(self, replies: dict[str, list[Any]]) -> None:
        self._replies = replies
        self._given: defaultdict[str, int] = defaultdict(int)

    def __call__(self, prompt: Prompt) -> Any:
        """The next reply to a prompt; the last one is repeated."""
        replies = self._replies[prompt.name]
        number = min(self._given[prompt.name], len(replies) - 1)
        self._given[prompt.name] += 1
        return _with_labels(replies[number], prompt.user)


def _with_labels(reply: Any, shown: str) -> Any:
    if isinstance(reply, dict):
        return {name: _with_labels(value, shown) for name, value in reply.items()}
    if isinstance(reply, list):
        return [one for value in reply if (one := _with_labels(value, shown)) is not None]
    if not (isinstance(reply, str) and reply.startswith("@")):
        return reply
    labelled = [line for line in shown.splitlines() if line.startswith("[") and reply[1:] in line]
    messages = [line for line in labelled if line.startswith("[C")]
    found = messages or labelled
    return found[0][1:].split("]")[0] if found else None


def play(run: CommandRun) -> int:
    """Store the sample, and answer a question with each strategy."""
    terminal = run.terminal
    _check_pydantic()
    script = json.loads(sample(SCRIPT))
    messages = [json.loads(line) for line in sample("conversation.jsonl").splitlines()]
    answers: list[Answer] = []
    with temporary(run.options) as options:
        for number, scene in enumerate(script["scenes"]):
            model = ScriptedModel(Script(scene["replies"]), name="script")
            with opened(options, create=True, model=model) as memory:
                space = memory.space(options.space)
                if not number:
                    refuse_strangers(space, messages, options)
                    space.add_many(messages)
                    space.queue.enrich()
                answers.append(_scene(space, scene, script["now"], terminal))
    terminal.show(
        "",
        Text(f"The model's answers are scripted, in cognigraph/sample/{SCRIPT}. With a model:"),
        Text("  export COGNIGRAPH_MODEL=NAME OPENAI_BASE_URL=http://localhost:11434/v1"),
        Text('  cognigraph ask "QUESTION" --db your.db'),
    )
    terminal.document({"answers": answers})
    return OK


def _scene(space: Space, scene: dict[str, Any], now: str, terminal: Terminal) -> Answer:
    terminal.show(Text(f"\n{scene['strategy']}: {scene['question']}", style="bold"))
    answer = space.ask(
        scene["question"],
        scene["history"],
        strategy=scene["strategy"],
        now=now,
        on_round=lambda item: show_round(item, terminal),
    )
    show_answer(answer, terminal)
    return answer


def _check_pydantic() -> None:
    try:
        import pydantic  # noqa: F401
    except ImportError as error:
        raise ConfigurationError(
            "loops need an extra: pip install 'cognigraph-memory[openai]'"
        ) from error
