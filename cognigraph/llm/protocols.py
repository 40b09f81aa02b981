"""Basic types of the language-model layer: prompts, answers, prices and the model protocol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Literal, Protocol, TypeVar

from cognigraph.errors import ConfigurationError
from cognigraph.model import Usage

if TYPE_CHECKING:
    from pydantic import BaseModel

T = TypeVar("T", bound="BaseModel")

Mode = Literal["json_schema", "json_object", "text"]
"""How the form of an answer is requested: by JSON schema, as any JSON object, or in words only."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A rendered prompt.

    ``name`` is the stage under which its calls are counted; ``version`` identifies its wording.
    """

    name: str
    version: str
    system: str
    user: str


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """A validated answer and what it took to get it.

    ``salvaged`` counts the items recovered from an answer that was cut off or partly invalid (0
    if the answer was valid as a whole); ``dropped`` gives a reason for each item left out.
    ``cut_off`` means that the answer was truncated; asking for less at a time avoids that.
    """

    value: T
    usage: Usage
    salvaged: int = 0
    dropped: tuple[str, ...] = ()
    cut_off: bool = False


class Model(Protocol):
    """A language model that gives structured answers. Must be thread-safe."""

    @property
    def name(self) -> str:
        """Name of the model; it is recorded with everything the model extracts."""
        ...

    def ask(self, prompt: Prompt, schema: type[T]) -> Answer[T]:
        """Answer the prompt with an instance of the schema (a pydantic model).

        Raises:
            ModelError: no usable answer was obtained; ``is_retryable`` says whether to try later.
        """
        ...


def forget_answers(model: Model | None) -> int:
    """Delete the answers that a model keeps, if it keeps any, and return how many there were."""
    forget = getattr(model, "forget_answers", None)
    return forget() if callable(forget) else 0


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices per million tokens, in any one currency.

    ``cached_input`` is that of input which the endpoint has in its cache; without it, such input
    costs as much as other.
    """

    input: float
    output: float
    cached_input: float | None = None

    def __post_init__(self) -> None:
        given = (self.input, self.output, self.cached_input or 0.0)
        if not all(0 <= price < float("inf") for price in given):
            raise ConfigurationError("prices must be finite numbers per million tokens, at least 0")

    @classmethod
    def parse(cls, text: str) -> Prices:
        """Parse ``"0.15,0.60"``: input and output; or ``"0.15,0.60,0.075"``, with cached input."""
        try:
            input, output, *cached = (float(part) for part in text.split(","))
            return cls(input, output, *cached)
        except (ValueError, TypeError):
            raise ConfigurationError(
                "prices must be two or three numbers per million tokens (input, output, cached "
                f"input), such as '0.15,0.60', not {text!r}"
            ) from None

    def cost(self, input_tokens: int, output_tokens: int, cached_input_tokens: int = 0) -> float:
        """The cost of these numbers of tokens; the cached ones are among the input tokens."""
        price = self.input if self.cached_input is None else self.cached_input
        uncached = input_tokens - cached_input_tokens
        input_cost = uncached * self.input + cached_input_tokens * price
        return (input_cost + output_tokens * self.output) / 1_000_000
