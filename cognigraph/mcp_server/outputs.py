"""What the tools return: as much as an agent can use, and no more, since it reads all of it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from cognigraph.model import (
    Citation,
    Entity,
    Episode,
    Explanation,
    History,
    Hit,
    Session,
    StoredMessage,
    Triple,
)

_SIGNALS = 5
_KEYS = 8
_SOURCES = 10


class Fact(BaseModel):
    """A fact that was read out of messages."""

    id: str = Field(description="For `without` of a search.")
    text: str
    when: str | None = Field(description="When it happened or held, as precisely as was said.")
    status: str = Field(description="current, superseded or retracted")
    valid_from: str | None
    valid_to: str | None
    messages: list[str] = Field(description="Ids of the newest messages that state it.")
    because: str | None = Field(description="Why it is no longer current.")

    @classmethod
    def of(cls, triple: Triple) -> Fact:
        """The fact of a triple."""
        return cls(
            id=triple.uid,
            text=triple.text,
            when=str(triple.when) if triple.when else None,
            status=triple.status,
            valid_from=triple.valid_from.isoformat() if triple.valid_from else None,
            valid_to=triple.valid_to.isoformat() if triple.valid_to else None,
            messages=list(dict.fromkeys(source.id for source in triple.sources))[:_SOURCES],
            because=triple.reason,
        )


class Remembered(BaseModel):
    """A message."""

    id: str
    session: str
    speaker: str | None
    role: str | None
    at: str
    text: str
    metadata: dict[str, Any] = {}
    tags: list[str] = []

    @classmethod
    def of(cls, message: StoredMessage) -> Remembered:
        """The message as stored."""
        return cls(
            id=message.id,
            session=message.session,
            speaker=message.speaker,
            role=message.role,
            at=message.at.isoformat(),
            text=message.text,
            metadata=dict(message.metadata),
            tags=list(message.tags),
        )


class Found(BaseModel):
    """A message that was found, with the facts in it that matter for the question."""

    id: str
    session: str
    speaker: str | None
    at: str
    text: str = Field(description="The message, or the part of a long one that was found.")
    is_part: bool = Field(description="Whether get_memory gives a longer text.")
    facts: list[str]
    score: float
    confidence: float | None = Field(description="How probable it is that it answers.")
    found_by: list[str] = Field(description="Which of the queries found it.")

    @classmethod
    def of(cls, hit: Hit) -> Found:
        """The message of a hit."""
        return cls(
            id=hit.id,
            session=hit.session,
            speaker=hit.speaker,
            at=hit.at.isoformat(),
            text=hit.text,
            is_part=hit.parts > 1,
            facts=[triple.text for triple in hit.triples],
            score=round(hit.score, 4),
            confidence=None if hit.confidence is None else round(hit.confidence, 3),
            found_by=list(hit.found_by),
        )


class Told(BaseModel):
    """An episode: a part of a conversation that is about one thing."""

    id: str
    session: str
    title: str
    summary: str
    first: str = Field(description="When its first message was said.")
    last: str
    messages: list[str] = Field(description="Ids of its messages, in order.")

    @classmethod
    def of(cls, episode: Episode) -> Told:
        """The outline of an episode."""
        return cls(
            id=episode.uid,
            session=episode.session,
            title=episode.title,
            summary=episode.summary,
            first=episode.started_at.isoformat(),
            last=episode.ended_at.isoformat(),
            messages=list(episode.messages),
        )


class SearchOutput(BaseModel):
    """The messages found, best first, and the facts that fit the question."""

    memories: list[Found]
    confidence: float | None = Field(description="How probable it is that one of them answers.")
    facts: list[Fact]
    episodes: list[Told] = Field(description="Best first, if episodes were asked for.")


class Cited(BaseModel):
    """What a label in the block stands for."""

    label: str
    kind: str
    id: str
    session: str | None

    @classmethod
    def of(cls, citation: Citation) -> Cited:
        """The item that a citation names."""
        return cls(
            label=citation.label, kind=citation.kind, id=citation.id, session=citation.session
        )


class ContextOutput(BaseModel):
    """A block of text with what is known about a question."""

    text: str
    tokens: int
    confidence: float | None = Field(description="How probable it is that it holds the answer.")
    notes: list[str] = Field(description="Why it is empty, if it is.")
    citations: list[Cited] = Field(
        description="What the labels stand for; pass their ids as `without` to get only new things."
    )


class AddOutput(BaseModel):
    """What became of a message."""

    id: str
    is_new: bool = Field(description="False if it was stored before.")
    is_forgotten: bool = Field(description="True if it was deleted before; it is not stored again.")
    notes: list[str]


class MemoriesOutput(BaseModel):
    """A page of messages."""

    memories: list[Remembered]
    cursor: str | None = Field(description="Pass it to get the next page; null at the end.")


class DeleteOutput(BaseModel):
    """What was deleted, or with dry_run would be."""

    memories: int
    facts: int
    kept_facts: int = Field(description="Facts that stay, because other messages state them too.")
    dry_run: bool


class FactsOutput(BaseModel):
    """Facts, newest first."""

    facts: list[Fact]


class Slot(BaseModel):
    """All that was said about one thing of an entity, oldest first."""

    subject: str
    slot: str
    facts: list[Fact]

    @classmethod
    def of(cls, history: History) -> Slot:
        """The slot of a history."""
        return cls(
            subject=history.subject,
            slot=history.slot,
            facts=[Fact.of(triple) for triple in history.triples],
        )


class HistoryOutput(BaseModel):
    """What was true when."""

    slots: list[Slot]


class Signal(BaseModel):
    """How one signal counted, compared with the last message that was returned."""

    name: str
    points: float
    points_of_last: float


class WhyOutput(BaseModel):
    """Why a message is found for a question, or is not."""

    is_found: bool
    verdict: str
    rank: int | None
    candidates: int
    signals: list[Signal]
    changes: list[str] = Field(description="What would bring it among the first k, tried out.")

    @classmethod
    def of(cls, found: Explanation) -> WhyOutput:
        """The outline of an explanation."""
        return cls(
            is_found=found.is_found,
            verdict=found.verdict,
            rank=found.rank,
            candidates=found.candidates,
            signals=[
                Signal(
                    name=one.name,
                    points=round(one.points, 4),
                    points_of_last=round(one.points_at_k, 4),
                )
                for one in found.signals[:_SIGNALS]
            ],
            changes=[f"{one.what}: rank {one.rank}" for one in found.proposals],
        )


class Known(BaseModel):
    """A person, place or thing."""

    name: str
    type: str
    facts: int
    aliases: list[str]

    @classmethod
    def of(cls, entity: Entity) -> Known:
        """The outline of an entity."""
        return cls(
            name=entity.name, type=entity.type, facts=entity.triples, aliases=list(entity.aliases)
        )


class EntitiesOutput(BaseModel):
    """Entities, those with the most facts first."""

    entities: list[Known]


class Conversation(BaseModel):
    """A session."""

    id: str
    first: str = Field(description="When its first message was said.")
    last: str
    messages: int
    keys: list[str]
    summary: str

    @classmethod
    def of(cls, session: Session) -> Conversation:
        """The outline of a session."""
        return cls(
            id=session.id,
            first=session.started_at.isoformat(),
            last=session.ended_at.isoformat(),
            messages=session.messages,
            keys=list(session.keys[:_KEYS]),
            summary=session.summary,
        )


class SessionsOutput(BaseModel):
    """Sessions, newest first."""

    sessions: list[Conversation]


class RowsOutput(BaseModel):
    """The rows that a query returned."""

    rows: list[dict[str, Any]]
