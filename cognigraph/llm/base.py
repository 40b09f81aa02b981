"""What is asked and what comes back: prompts, answers, prices, and the protocol of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Literal, Protocol, TypeVar

from cognigraph.errors import ConfigurationError
from cognigraph.model import Usage

if TYPE_CHECKING:
    from pydantic import BaseModel

T = TypeVar("T", bound="BaseModel")

Mode = Literal["json_schema", "json_object", "text"]
"""How an answer's form was asked for: by its schema, as any JSON object, or in words only."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A rendered prompt. ``name`` is the stage it is counted under; ``version`` its wording's."""

    name: str
    version: str
    system: str
    user: str


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """A validated answer and what it took to get it.

    ``salvaged`` items were rescued out of an answer that was cut off or partly wrong (0 for an
    answer taken whole), ``dropped`` says of each item left out why. ``cut_off`` means there was
    more to come: asking for less at a time would lose nothing. ``estimated`` says that the server
    gave no token counts and those in ``usage`` are estimates. ``mode`` is empty for a cached one.
    """

    value: T
    usage: Usage
    salvaged: int = 0
    dropped: tuple[str, ...] = ()
    repaired: bool = False
    mode: Mode | Literal[""] = ""
    cut_off: bool = False
    estimated: bool = False


class Model(Protocol):
    """A language model that answers in a given form. Must be thread-safe."""

    @property
    def name(self) -> str:
        """Name of the model, recorded with what was learned from it."""
        ...

    def ask(self, prompt: Prompt, schema: type[T]) -> Answer[T]:
        """Answer the prompt with an instance of the schema (a pydantic model).

        Raises:
            ModelError: there is no usable answer; ``is_retryable`` says whether to try later.
        """
        ...


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices per million tokens, in any one currency."""

    input: float
    output: float

    def __post_init__(self) -> None:
        if not (0 <= self.input < float("inf") and 0 <= self.output < float("inf")):
            raise ConfigurationError("prices are numbers per million tokens, at least 0")

    @classmethod
    def parse(cls, text: str) -> Prices:
        """Read ``"0.15,0.60"``: input, output."""
        try:
            input, output = (float(part) for part in text.split(","))
        except ValueError:
            raise ConfigurationError(
                f"prices are two numbers per million tokens, as in '0.15,0.60', not {text!r}"
            ) from None
        return cls(input, output)

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """What so many tokens cost."""
        return (input_tokens * self.input + output_tokens * self.output) / 1_000_000
