"""``cognigraph demo --loop``: plays loops on the sample conversation with a scripted model.

What the model answers is in ``cognigraph/sample/loops.json``. Searches, prompts, checks and limits
are those of any loop; no key and no network is needed.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

from rich.text import Text

from cognigraph.cli import demo
from cognigraph.cli.answering import show_answer, show_round
from cognigraph.cli.commands import OK, CommandRun
from cognigraph.cli.open_memory import opened
from cognigraph.cli.terminal import Terminal
from cognigraph.errors import ConfigurationError
from cognigraph.llm import Prompt
from cognigraph.loop.data import Answer
from cognigraph.space import Space
from cognigraph.testing import ScriptedModel

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
    script = json.loads(demo.sample(SCRIPT))
    messages = [json.loads(line) for line in demo.sample("conversation.jsonl").splitlines()]
    answers: list[Answer] = []
    with demo.temporary(run.options) as options:
        for number, scene in enumerate(script["scenes"]):
            model = ScriptedModel(Script(scene["replies"]), name="script")
            with opened(options, create=True, model=model) as memory:
                space = memory.space(options.space)
                if not number:
                    demo.refuse_strangers(space, messages, options)
                    space.add_many(messages)
                    space.enrich()
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
        on_round=lambda one: show_round(one, terminal),
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
