"""Scripted answers of a model by stage: extraction and summary."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.servers.model_server import Behaviour, Exchange, good, status

Reply = Any | Callable[[str], Any]
"""An answer, a function of the prompt to one, or a :data:`Behaviour` wrapped in :class:`Fails`."""


class Fails:
    """Instead of an answer: how the server fails."""

    def __init__(self, behaviour: Behaviour | None = None) -> None:
        self.behaviour = behaviour or status(503, "overloaded")


class Stages:
    """A behaviour for a :class:`ModelServer`: each stage has its answers, the last one stays.

    ``asked`` has the stage and the prompt of every request, in order.
    """

    def __init__(self, read: list[Reply], summarise: list[Reply]) -> None:
        self._replies = {"read": list(read), "summarise": list(summarise)}
        self.asked: list[tuple[str, str]] = []

    def then(self, stage: str, *replies: Reply) -> None:
        """Answer like this from now on."""
        self._replies[stage] = list(replies)

    @property
    def stages(self) -> list[str]:
        return [stage for stage, _ in self.asked]

    def prompts(self, stage: str) -> list[str]:
        return [prompt for one, prompt in self.asked if one == stage]

    def __call__(self, exchange: Exchange) -> None:
        system, user = (message["content"] for message in exchange.messages[:2])
        stage = "summarise" if "summary of a conversation" in system else "read"
        self.asked.append((stage, user))
        replies = self._replies[stage]
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        if isinstance(reply, Fails):
            reply.behaviour(exchange)
            return
        value = reply(user) if callable(reply) else reply
        good(value if isinstance(value, str) else json.dumps(value))(exchange)


def section(prompt: str, tag: str) -> str:
    """What stands between the tags of a prompt."""
    return prompt.split(f"<{tag}>\n", 1)[1].split(f"\n</{tag}>", 1)[0]
