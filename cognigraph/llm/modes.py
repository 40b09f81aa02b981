"""Request dialects of endpoints: learned from their replies and remembered for the process."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, Literal

from cognigraph.llm.protocols import Mode

_SIMPLER: Mapping[Mode, Mode] = {"json_schema": "json_object", "json_object": "text"}
_FORM_WORDS = (
    "response_format", "response format", "json_schema", "json schema", "json_object", "json mode",
    "structured output", "guided", "grammar", "schema",
)  # fmt: skip

Message = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Dialect:
    """The form of request that one endpoint and model accept.

    ``limit`` is the name of the parameter that limits output tokens, empty if none is accepted;
    ``temperature`` says whether that parameter is accepted.
    """

    mode: Mode = "json_schema"
    limit: Literal["max_tokens", "max_completion_tokens", ""] = "max_tokens"
    temperature: bool = True

    def body(
        self,
        model: str,
        messages: Sequence[Message],
        schema: Mapping[str, Any],
        *,
        temperature: float,
        max_output_tokens: int,
    ) -> dict[str, Any]:
        """The body of a request."""
        body: dict[str, Any] = {"model": model, "messages": self._messages(messages, schema)}
        if self.temperature:
            body["temperature"] = temperature
        if self.limit:
            body[self.limit] = max_output_tokens
        if self.mode == "json_schema":
            form = {"name": "answer", "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        elif self.mode == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body

    def _messages(self, messages: Sequence[Message], schema: Mapping[str, Any]) -> list[Message]:
        """The messages; the schema is added in words unless the server receives it."""
        if self.mode == "json_schema":
            return list(messages)
        first, *rest = messages
        told = f"{first['content']}\n\n{in_words(schema)}"
        return [{**first, "content": told}, *rest]

    def step_down(self) -> Dialect | None:
        """The dialect with the next simpler mode; ``None`` after plain text."""
        mode = _SIMPLER.get(self.mode)
        return None if mode is None else replace(self, mode=mode)

    def adapt(self, complaint: str, param: str = "") -> Dialect | None:
        """The dialect to try after an endpoint rejected this one; ``None`` if it is not the cause.

        ``complaint`` is the text of a 400 or 422 reply; ``param`` is the parameter it names, or
        empty.
        """
        text = complaint.lower()
        named = param.lower() or text
        if self.limit and self.limit in named:
            other: Literal["max_tokens", "max_completion_tokens", ""] = ""
            if self.limit == "max_tokens" and "max_completion_tokens" in text:
                other = "max_completion_tokens"
            elif self.limit == "max_completion_tokens":
                other = "max_tokens"
            return replace(self, limit=other)
        if self.temperature and "temperature" in named:
            return replace(self, temperature=False)
        if any(word in named for word in _FORM_WORDS):
            return self.step_down()
        return None


def in_words(schema: Mapping[str, Any]) -> str:
    """The instruction to follow the schema, for servers that do not enforce it."""
    form = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    return f"Answer with one JSON object and nothing else. It must match this JSON schema:\n{form}"


class Dialects:
    """The dialects learned for endpoints and models, for the whole process. Thread-safe."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Dialect] = {}
        self._lock = Lock()

    def get(self, base_url: str, model: str, default: Dialect) -> Dialect:
        """The dialect learned for an endpoint and model, or the default."""
        with self._lock:
            return self._known.get((base_url, model), default)

    def learn(self, base_url: str, model: str, dialect: Dialect) -> None:
        """Remember the dialect to use from now on."""
        with self._lock:
            self._known[base_url, model] = dialect


known = Dialects()
