"""Arguments that several tools take, with the descriptions that agents read."""

from __future__ import annotations

from typing import Annotated, cast

from pydantic import BaseModel, ConfigDict, Field

from cognigraph.model import StatedFact

Question = Annotated[str, Field(description="A question or topic in natural language.")]
MemoryId = Annotated[str, Field(description="The id of a memory, as a search shows it.")]
InSession = Annotated[
    str | None, Field(description="Its session, if memories of several sessions have the id.")
]
Also = Annotated[
    list[str],
    Field(
        description="Further queries that are searched at the same time: parts of the question, or "
        "other words for it.",
        max_length=20,
    ),
]
MinConfidence = Annotated[
    float | None,
    Field(
        ge=0,
        le=1,
        description="Leave out memories that answer with a lower probability. 0 in get_context: "
        "show the best of what there is, even if nothing supports an answer.",
    ),
]
Without = Annotated[
    list[str],
    Field(
        description="Ids of memories, facts and sessions that you have seen already; as many new "
        "ones are returned instead."
    ),
]
Time = Annotated[
    str, Field(description="ISO 8601 with an offset, such as 2026-05-20T09:00:00+02:00.")
]
ValidAt = Annotated[
    Time | None, Field(description="Only what was true at this time (ISO 8601 with an offset).")
]


class Fact(BaseModel):
    """One fact of a message."""

    model_config = ConfigDict(extra="forbid")

    subject: str = Field(description="A name, never a pronoun; 'user' for the user.")
    relation: str = Field(
        description="A short verb phrase in the present tense: 'lives in', 'is allergic to'."
    )
    object: str = Field(description="A name or a value: 'Oslo', '9,000 kroner'.")
    valid_from: str | None = Field(None, description="2026, 2026-05 or 2026-05-20; if it is said.")
    valid_to: str | None = Field(None, description="Until when, including it; if it is said.")
    replaces: str | None = Field(
        None, description="The object that was true before, with this subject and relation."
    )
    negated: bool = Field(False, description="It is not so, or no longer.")
    types: tuple[str, str] | None = Field(
        None, description="Of subject and object: person, organization, location, object, ..."
    )

    def given(self) -> StatedFact:
        """The fields that the agent has given."""
        return cast(StatedFact, self.model_dump(exclude_unset=True))


Entity = Annotated[str, Field(description="The whole name, or an alias, of a person or thing.")]
