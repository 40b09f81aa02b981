"""Scripted answers of a model by the prompt of a loop, behind a real HTTP endpoint."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from cognigraph.loop.asker import loop_prompt
from tests.servers.model_server import Exchange, good
from tests.servers.scripted import Fails

PROMPTS = (
    "lico-missing-1",
    "ama-retrieve-1",
    "ama-judge-2",
    "ama-refresh-1",
    "hymem-deep-1",
    "hymem-light-2",
    "hymem-select-1",
    "hymem-reflect-2",
    "loop-answer-1",
    "loop-infer-1",
)
Reply = Any | Callable[[str], Any]


def stage_of(system: str) -> str:
    """The prompt that a request was made from."""
    (found,) = [id for id in PROMPTS if system.startswith(loop_prompt(id).parts["system"])]
    return found.rpartition("-")[0]


class LoopStages:
    """A behaviour for a :class:`ModelServer`: each prompt has its answers, the last one stays.

    A reply is JSON, a text, a function of the prompt to either, or :class:`Fails`. ``asked`` has
    the name and the text of every request, in order.
    """

    def __init__(self, **replies: list[Reply] | Reply) -> None:
        self._replies = {
            name.replace("_", "-"): list(given) if isinstance(given, list) else [given]
            for name, given in replies.items()
        }
        self.asked: list[tuple[str, str]] = []

    @property
    def stages(self) -> list[str]:
        return [stage for stage, _ in self.asked]

    def prompts(self, stage: str) -> list[str]:
        return [prompt for one, prompt in self.asked if one == stage]

    def __call__(self, exchange: Exchange) -> None:
        system, user = (message["content"] for message in exchange.messages[:2])
        stage = stage_of(system)
        self.asked.append((stage, user))
        replies = self._replies[stage]
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        if isinstance(reply, Fails):
            reply.behaviour(exchange)
            return
        value = reply(user) if callable(reply) else reply
        good(value if isinstance(value, str) else json.dumps(value))(exchange)
