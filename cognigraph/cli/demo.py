"""``cognigraph demo``: plays a sample conversation into a memory, and asks it questions."""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from rich.rule import Rule
from rich.text import Text

from cognigraph.cli import render
from cognigraph.cli.asking import show_answer, show_round
from cognigraph.cli.command_run import OK, CommandRun
from cognigraph.cli.enriching import Enriched, enrich
from cognigraph.cli.memory_options import Options, opened
from cognigraph.cli.terminal import Terminal, one_line
from cognigraph.errors import ConfigurationError
from cognigraph.llm import Prompt
from cognigraph.loop.data import Answer
from cognigraph.model import Context, Hit, SearchResult, Triple
from cognigraph.space import Space
from cognigraph.testing import ScriptedModel

_SHOWN_TURNS = ("m002", "m048", "m073")
_QUESTION = ("m048", "Where does Mira live now?")
_CONTEXT_OF = 2
_CONTEXT_TOKENS = 360
_HITS = 2
_KEYS: render.Column = ("keys", lambda session: session.keys[:5])


@dataclass(frozen=True, slots=True)
class SampleTurn:
    """One stored turn, and the time until it was searchable; ``new`` unless stored before."""

    message: dict[str, Any]
    milliseconds: float
    new: bool


def sample(name: str) -> str:
    """A file of the sample conversation."""
    return files("cognigraph").joinpath("sample", name).read_text("utf-8")


def demo(run: CommandRun) -> int:
    """Store the sample turn by turn, enrich it, show the graph, and ask questions."""
    terminal = run.terminal
    messages = [json.loads(line) for line in sample("conversation.jsonl").splitlines()]
    questions = json.loads(sample("questions.json"))
    asked = [item for item in questions["questions"] if item.get("demo")]
    with temporary(run.options) as options, opened(options, create=True) as memory:
        space = memory.space(options.space)
        refuse_strangers(space, messages, options)
        _introduce(terminal, messages, options, kept=run.options.chosen_db is not None)
        turns, early = _play(space, messages, terminal)
        done = _enrich(space, terminal)
        _graph(space, options, terminal)
        answers = _ask(space, asked, questions["now"], options, terminal)
        block = _context(space, asked[_CONTEXT_OF]["question"], questions["now"], options, terminal)
        document = _document(space, turns, early, done, answers, block)
        _farewell(terminal, run.options)
    terminal.document(document)
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


def _introduce(
    terminal: Terminal, messages: list[dict[str, Any]], options: Options, *, kept: bool
) -> None:
    sessions = {message["session"] for message in messages}
    speakers = sorted({message["speaker"] for message in messages})
    where = options.db if kept else "a temporary file, deleted at the end (--db FILE keeps it)"
    terminal.show(
        Text("cognigraph demo", style="bold"),
        render.text(
            f"{', '.join(speakers[:-1])} and {speakers[-1]} talk from {messages[0]['at'][:10]} to "
            f"{messages[-1]['at'][:10]}: {len(sessions)} sessions, {len(messages)} turns."
        ),
        render.text(f"memory: {where}; no network, no model call"),
    )


# 1. Storing turns


def _play(
    space: Space, messages: list[dict[str, Any]], terminal: Terminal
) -> tuple[list[SampleTurn], SearchResult | None]:
    """Add turn by turn, as in a live conversation, and ask one question in the middle of it."""
    _heading(terminal, "1. Each turn is stored and searchable at once")
    turns: list[SampleTurn] = []
    early: SearchResult | None = None
    with terminal.progress("storing", len(messages)) as bar:
        for message in messages:
            started = time.perf_counter()
            result = space.add(**message)
            took = (time.perf_counter() - started) * 1000
            turns.append(SampleTurn(message, round(took, 3), bool(result.new)))
            if message["id"] == _QUESTION[0]:
                early = space.search(_QUESTION[1], 1, message["at"])
            bar.at(len(turns))
    _show_turns(turns, early, terminal)
    return turns, early


def _show_turns(turns: list[SampleTurn], early: SearchResult | None, terminal: Terminal) -> None:
    for turn in turns:
        if turn.message["id"] in _SHOWN_TURNS:
            terminal.show(_turn_line(turn, terminal))
    if not turns[0].new:
        terminal.show("The turns were stored before; adding them again changed nothing.")
        return
    times = [turn.milliseconds for turn in turns]
    terminal.show(
        f"{len(turns)} turns, one by one: median {render.median(times):.1f} ms, slowest "
        f"{max(times):.1f} ms (the first turn loads the embedder)."
    )
    terminal.show("Each turn was durable and searchable when add() returned.")
    if early is not None and early.hits and not early.triples:
        terminal.show(
            f'Asked right after {_QUESTION[0]}, before enrichment: "{_QUESTION[1]}"',
            Text(f"  -> {early[0].id} {early[0].speaker}: {one_line(early[0].text)}", "green"),
        )


def _turn_line(turn: SampleTurn, terminal: Terminal) -> Text:
    message = turn.message
    line = Text("  ")
    line.append(f"{message['at'][:16].replace('T', ' ')} ", style="cyan")
    line.append(f"{message['speaker']}: ", style="bold")
    tail = f" [{turn.milliseconds:.1f} ms]" if turn.new else " [stored before]"
    line.append(
        one_line(message["text"], terminal.wide - len(line) - len(tail) - 1), style="default"
    )
    line.append(tail, style="dim")
    return line


# 2. The graph


def _enrich(space: Space, terminal: Terminal) -> Enriched:
    done = enrich(space, terminal)
    _heading(terminal, "2. Enrichment extracts a graph")
    stats = space.stats()
    terminal.show(
        f"{stats.chunks} chunks -> {stats.triples} triples, {stats.entities} entities, "
        f"{stats.keys} session keys in {done.seconds:.2f} s, by rules"
    )
    return done


def _graph(space: Space, options: Options, terminal: Terminal) -> None:
    zone = options.reader
    sessions = sorted(space.overview.sessions(), key=lambda session: session.started_at)
    terminal.show("", render.listing(sessions, zone, "session=id", "when=started_at", _KEYS))
    entities = ", ".join(f"{entity.name} ({entity.triples})" for entity in space.entities(limit=9))
    terminal.show("", render.text(f"entities with the most triples: {entities}"))
    triples = space.facts(limit=1000)
    chosen = [triple for item in sessions for triple in _telling(triples, item.id, 1)]
    terminal.show("", Text("one triple of each session, with its time and source:"))
    terminal.show(render.listing(chosen, zone, *render.FACTS[:-1]))


def _telling(triples: list[Triple], session: str, most: int) -> list[Triple]:
    """Triples of a session that make sense on their own: between names, or with a date."""
    found = [
        triple
        for triple in triples
        if triple.subject[:1].isupper()
        and any(source.session == session for source in triple.sources)
    ]
    found.sort(key=lambda item: (not item.object[:1].isupper(), item.when is None, item.text))
    return sorted(found[:most], key=lambda item: (item.first_observed, item.text))


# 3. Questions


def _ask(
    space: Space, asked: list[dict[str, Any]], now: str, options: Options, terminal: Terminal
) -> list[SearchResult]:
    _heading(terminal, f"3. Questions, asked on {now[:10]}")
    answers = []
    for item in asked:
        result = space.search(item["question"], now=now)
        answers.append(result)
        took = result.trace.timings.get("total", 0.0)
        title = Text(f"\n{item['question']}", style="bold")
        title.append(f"  ({took:.0f} ms)", style="dim not bold")
        terminal.show(title)
        if result.triples:
            terminal.show(_fact_line(result.triples[0], options))
        for index, hit in enumerate(result.hits[:_HITS], 1):
            terminal.show(*_hit_lines(index, hit, options, terminal, why=index == 1))
    return answers


def _fact_line(triple: Triple, options: Options) -> Text:
    line = Text("  ")
    line.append(f"fact: {one_line(triple.text, 70)} ", style="green")
    when = f"{triple.when}, " if triple.when else ""
    line.append(f"({when}said {render.day(triple.last_observed, options.reader)})", style="dim")
    return line


def _hit_lines(
    index: int, hit: Hit, options: Options, terminal: Terminal, *, why: bool
) -> Iterator[Text]:
    line = Text(f"  {index}. ")
    line.append(f"{render.day(hit.at, options.reader)} ", style="cyan")
    line.append(f"{one_line(hit.session)} ", style="dim")
    line.append(f"{one_line(hit.speaker or '')}: ", style="bold")
    line.append(one_line(hit.text, max(30, terminal.wide - len(line) - 1)))
    yield line
    if why:
        parts = render.summands(hit.why.features, 3)
        reason = f"score {hit.why.score:.2f} = ({parts}) x decay {hit.why.decay:.2f}"
        yield Text(f"     {one_line(reason, terminal.wide - 6)}", style="dim")


# 4. Context


def _context(
    space: Space, question: str, now: str, options: Options, terminal: Terminal
) -> Context:
    block = space.context(question, _CONTEXT_TOKENS, now, timezone=options.reader)
    _heading(terminal, f"4. The prompt block for one question, within {_CONTEXT_TOKENS} tokens")
    terminal.show(*(render.text(line) for line in str(block).splitlines()))
    cited = len(block.citations)
    terminal.show(
        render.text(f"{block.tokens} tokens, {cited} items, each with a label to cite", "dim")
    )
    return block


def _farewell(terminal: Terminal, options: Options) -> None:
    _heading(terminal, "Next")
    kept = options.chosen_db is not None
    flags = options.flags if kept else " --db demo.db"
    if not kept:
        terminal.show(Text("  cognigraph demo --db demo.db"))
    for command in (
        f'search "What is Pickle afraid of?" --why{flags}',
        f"facts Mira{flags}",
        f"cypher --name timeline --param entity=Mira{flags}",
        'import your.jsonl --db your.db   (one {"text": ...} per line)',
    ):
        terminal.show(Text(f"  cognigraph {command}"))


def _document(
    space: Space,
    turns: list[SampleTurn],
    early: SearchResult | None,
    done: Enriched,
    answers: list[SearchResult],
    block: Context,
) -> dict[str, Any]:
    """The result for ``--json``."""
    times = [turn.milliseconds for turn in turns]
    return {
        "turns": len(turns),
        "new": sum(turn.new for turn in turns),
        "add_ms": {"median": render.median(times), "max": max(times)},
        "found_before_enrichment": [hit.id for hit in early] if early else [],
        "enriched": done,
        "stats": space.stats(),
        "sessions": space.overview.sessions(),
        "answers": [
            {
                "question": answer.question,
                "hits": answer.hits[:5],
                "milliseconds": answer.trace.timings.get("total"),
            }
            for answer in answers
        ],
        "context": block,
    }


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
    title = Text(f"\n{scene['strategy']}: ", style="cyan")
    title.append(scene["question"], style="bold")
    terminal.show(title)
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
