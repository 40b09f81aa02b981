"""Arguments that several tools take, with the descriptions that agents read."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

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
Entity = Annotated[str, Field(description="The whole name, or an alias, of a person or thing.")]
