"""What clients send: the bodies of requests, each with the arguments of one operation."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from cognigraph.errors import ConfigurationError
from cognigraph.ingest.queue.run_limits import Limits
from cognigraph.model import DEFAULT_SESSION, Filter, RoleFilter
from cognigraph.model.layers import Layer
from cognigraph.settings import SearchSettings, Settings

MOST_HITS = 1000
MOST_TOKENS = 200_000
MOST_ROWS = 10_000
MOST_SECONDS = 60.0
MOST_CANDIDATES = 1000
MOST_QUERIES = 20
MOST_SPACES = 50
"""Limits of one request, so that none occupies the server for long."""

Time = Annotated[
    str,
    Field(
        description="ISO 8601 with an offset, such as 2026-05-20T09:00:00+02:00 or ...Z",
        examples=["2026-05-20T09:00:00Z"],
    ),
]
Hits = Annotated[int, Field(ge=1, le=MOST_HITS, description="How many messages.")]
StrategyName = Literal["licomemory", "hymem", "ama"]
Scalar = str | int | float | bool | None


class Body(BaseModel):
    """A body whose fields are the arguments of an operation; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)

    def given(self) -> dict[str, Any]:
        """The fields that the client sent."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class StatedBody(Body):
    """A fact that is given with the message that says it."""

    subject: str = Field(examples=["user"])
    relation: str = Field(examples=["lives in"])
    object: str = Field(examples=["Oslo"])
    valid_from: str | None = Field(None, description="As precise as it is given: 2026-05.")
    valid_to: str | None = Field(None, description="Until when, including it.")
    replaces: str | None = Field(None, description="The object before it.", examples=["Bergen"])
    negated: bool = False
    types: list[str | None] | None = Field(None, examples=[["person", "location"]])


_STATED = Field(None, description="What is said, as the client has understood it; no facts are "
                "extracted then.")  # fmt: skip
_SUMMARY = Field(None, description="Sums up its session so far.")


class MessageBody(BaseModel):
    """A message: `text`, or `role` and `content` as in chat completions.

    With an `id`, sending it again changes nothing. Fields that are not listed become metadata.
    """

    model_config = ConfigDict(extra="allow", strict=True)

    text: str | None = Field(None, examples=["I moved to Oslo in May."])
    session: str = DEFAULT_SESSION
    speaker: str | None = Field(None, examples=["Ann"])
    at: Time | None = None
    id: str | None = Field(None, description="Give one, so that a request can be repeated.")
    role: str | None = Field(None, description="user, assistant, system or tool; none for a person")
    metadata: dict[str, Any] | None = None
    tags: list[str] | None = None
    raw: Any = None
    expires: Time | None = Field(None, description="When the message is no longer to be found.")
    facts: list[StatedBody] | None = _STATED
    extract: bool | None = Field(None, description="Extract facts; by default if none are given.")
    session_summary: str | None = _SUMMARY
    content: str | list[Any] | dict[str, Any] | None = None

    def mapping(self) -> dict[str, Any]:
        """The message as `add_many` takes it."""
        return self.model_dump(exclude_unset=True)


class MessagesBody(Body):
    """Several messages."""

    messages: list[MessageBody] = Field(max_length=10_000)
    skip_invalid: bool = Field(False, description="Leave out messages that cannot be stored.")


class FactBody(Body):
    """A fact that an application knows, stored without a model reading it."""

    subject: str = Field(examples=["Ann"])
    relation: str = Field(examples=["works at"])
    object: str = Field(examples=["DNB"])
    when: str | None = None
    valid_from: str | None = Field(None, description="As precise as it is given: 2026-05.")
    valid_to: str | None = Field(None, description="Until when, including it.")
    negated: bool = False
    replaces: bool = Field(
        False, description="Take the place of other facts with its subject and relation."
    )
    source: str | None = Field(None, examples=["crm"])
    subject_type: str | None = None
    object_type: str | None = None
    session: str | None = None
    at: Time | None = None
    id: str | None = None
    metadata: dict[str, Any] | None = None
    tags: list[str] = []
    expires: Time | None = None

    def given(self) -> dict[str, Any]:
        """The fields that the client sent, without a session that is null."""
        found = super().given()
        return {name: value for name, value in found.items() if (name, value) != ("session", None)}


class ExchangeBody(Body):
    """What a user said, and what the assistant answered."""

    user: str
    assistant: str
    session: str = DEFAULT_SESSION
    speaker: str | None = None
    at: Time | None = None
    id: str | None = None
    metadata: dict[str, Any] | None = None
    tags: list[str] = []
    facts: list[StatedBody] | None = _STATED
    session_summary: str | None = _SUMMARY

    def given(self) -> dict[str, Any]:
        """The fields that the client sent, as plain data."""
        return self.model_dump(exclude_unset=True)


class UpdateBody(Body):
    """The new text of a message, and the payload that belongs to it."""

    text: str
    raw: Any = None


class ForgetBody(Body):
    """Which messages to delete: those that match every criterion."""

    message: str | None = None
    session: str | None = None
    speaker: str | None = None
    before: Time | None = None
    entity: str | None = None
    everything: bool = False
    dry_run: bool = Field(False, description="Only count what would go.")
    allow_again: bool = Field(False, description="Store them again if they are added again.")


class ExpireBody(Body):
    """Whether to forget, or only to count."""

    dry_run: bool = False


class FilterBody(Body):
    """Which messages are considered; all conditions must hold."""

    roles: list[RoleFilter] | None = None
    session: str | list[str] | None = None
    speaker: str | list[str] | None = None
    tags: list[str] | None = None
    since: Time | None = None
    until: Time | None = None
    metadata: dict[str, Scalar] | None = None

    def filter(self) -> Filter:
        """The filter that the library takes."""
        return Filter(**{name: value for name, value in self.given().items() if value is not None})


class LimitsBody(Body):
    """The limits of a run of the model; the rest of an enrichment stays queued."""

    rounds: Annotated[int, Field(ge=0)] | None = None
    calls: Annotated[int, Field(ge=0)] | None = None
    tokens: Annotated[int, Field(ge=0)] | None = None
    cost: Annotated[float, Field(ge=0)] | None = None
    seconds: Annotated[float, Field(ge=0, le=1e9)] | None = None

    def limits(self) -> Limits:
        """The limits that the library takes."""
        given = self.given()
        seconds = given.pop("seconds", None)
        return Limits(**given, time=None if seconds is None else timedelta(seconds=seconds))


class _Question(Body):
    question: str = Field(examples=["Where does Ann live?"])
    k: Hits | None = None
    now: Time | None = Field(None, description="When the question is asked.")
    as_of: Time | None = Field(None, description="Ignore what was said later.")
    where: FilterBody | None = None
    settings: dict[str, str | int | float | bool] | None = Field(
        None,
        description="Search settings of this request, such as profile, sessions or decay; "
        "all others are those of the served memory.",
    )

    def arguments(self, settings: Settings) -> dict[str, Any]:
        """The arguments of the operation; ``settings`` are those of the served memory."""
        found = self.given()
        if self.where is not None:
            found["where"] = self.where.filter()
        if self.settings is not None:
            found["settings"] = _changed(settings.search, self.settings)
        return found


class _Several(_Question):
    valid_at: Time | None = Field(None, description="Facts that are true at this time.")
    also: Annotated[list[str], Field(max_length=MOST_QUERIES)] = Field(
        [], description="Further queries, such as parts or other wordings of the question."
    )
    without: list[str] = Field(
        [], description="Ids of messages, facts and sessions that were seen and are left out."
    )
    per_session: Annotated[int, Field(ge=1)] | None = Field(
        None, description="At most this many messages of one session."
    )
    min_confidence: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None, description="Leave out messages that answer with a lower probability."
    )


class SearchBody(_Several):
    """A question to search for."""

    layer: Layer = Field("messages", description="What to rank.")
    explain: bool = Field(False, description="Also return the next best messages in `others`.")


class SearchSpacesBody(_Question):
    """A question to several spaces."""

    spaces: Annotated[list[str], Field(min_length=1, max_length=MOST_SPACES)]
    valid_at: Time | None = None


class WhyBody(_Question):
    """A question, and the message that should have been found."""

    expect: str = Field(description="The id of the message.")
    session: str | None = None


class ContextBody(_Several):
    """A question for which a prompt block is built."""

    max_tokens: Annotated[int, Field(ge=1, le=MOST_TOKENS)] | None = None
    timezone: str | None = Field(None, description="The timezone of the times in the block.")
    strategy: StrategyName | None = Field(
        None, description="Gather what is shown in several rounds, with the memory's model."
    )
    history: list[str] = Field([], description="The turns before the question, for a strategy.")
    limits: LimitsBody | None = None

    def arguments(self, settings: Settings) -> dict[str, Any]:
        """The arguments of the operation; ``settings`` are those of the served memory."""
        found = super().arguments(settings)
        if self.limits is not None:
            found["limits"] = self.limits.limits()
        if "settings" in found:
            found["settings"] = replace(settings, search=found["settings"])
        return found


class CypherBody(Body):
    """A read-only query, or the name of one that comes with cognigraph."""

    query: str | None = Field(None, examples=["MATCH (e:Entity) RETURN e.name LIMIT 10"])
    name: str | None = None
    parameters: dict[str, Any] = {}
    limit: Annotated[int, Field(ge=1, le=MOST_ROWS)] = 1000
    timeout: Annotated[float, Field(gt=0, le=MOST_SECONDS)] = 30.0


class SupersedeBody(Body):
    """The triple that took the place of another."""

    by: str = Field(description="The uid of the new triple.")
    at: Time | None = None
    reason: str = ""


class ReasonBody(Body):
    """Why a triple is changed."""

    reason: str = ""


class MergeBody(Body):
    """Two entities that are the same."""

    name: str
    into: str
    type: str | None = None
    into_type: str | None = None


class SplitBody(Body):
    """An entity that was merged by mistake."""

    name: str
    apart_from: str | None = None
    type: str | None = None
    other_type: str | None = None


class CopyBody(Body):
    """Where to copy a space to."""

    to: str


class AskBody(Body):
    """A question that the memory's model answers in several rounds."""

    question: str = Field(examples=["Why did Ann leave Oslo?"])
    history: list[str] = Field([], description="The turns before the question, oldest first.")
    strategy: StrategyName = "licomemory"
    limits: LimitsBody | None = None
    repair: Literal["propose", "apply"] = Field(
        "propose", description="`apply` also changes facts in conflict; it needs a writing key."
    )
    max_tokens: Annotated[int, Field(ge=1, le=MOST_TOKENS)] | None = None
    now: Time | None = None
    as_of: Time | None = None
    where: FilterBody | None = None
    timezone: str | None = None
    settings: dict[str, str | int | float | bool] | None = None

    def arguments(self, settings: Settings) -> dict[str, Any]:
        """The arguments of the operation; ``settings`` are those of the served memory."""
        found = self.given()
        if self.limits is not None:
            found["limits"] = self.limits.limits()
        if self.where is not None:
            found["where"] = self.where.filter()
        if self.settings is not None:
            search = _changed(settings.search, self.settings)
            found["settings"] = replace(settings, search=search)
        return found


class RedoBody(Body):
    """Which messages to read again."""

    older_than: str | int | None = None


def _changed(
    settings: SearchSettings, given: dict[str, str | int | float | bool]
) -> SearchSettings:
    """The settings with those that a client gives in their place."""
    known = {field.name for field in fields(SearchSettings)} - {"licomemory"}
    for name, value in given.items():
        if name not in known:
            raise ConfigurationError(
                f"there is no search setting {name!r}; there are {', '.join(sorted(known))}"
            )
        is_count = isinstance(value, int) and not isinstance(value, bool)
        if is_count and name != "max_question_chars" and value > MOST_CANDIDATES:  # type: ignore[operator]
            raise ConfigurationError(f"settings.{name} must be at most {MOST_CANDIDATES:,}")
    return replace(settings, **given)  # type: ignore[arg-type]
