"""What a block needs of a search beside its hits: word weights, whole texts, the turns around."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from cognigraph.model import Hit
from cognigraph.retrieve.question.analyse import Analysis

MessageKey = tuple[str, str]
"""Session and id of a message."""


@dataclass(frozen=True, slots=True)
class Before:
    """The message before another one in its session."""

    id: str
    speaker: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Said:
    """The text of a message, or of a part of it, and when it was said."""

    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Background:
    """What is known of the hits' surroundings; empty where nothing was fetched.

    ``idf`` are the weights of the question's terms in the space, ``whole`` the texts of messages
    that were split into chunks, and ``before`` the messages that precede hits. ``corrections`` are
    the messages that correct a message, which is a hit or a correction itself. ``sources``
    are what the messages say that state a fact, by its uid, and ``spoken`` what those of a session
    or an episode say, by its id. ``analyses`` are those of the queries, if there are several.
    ``written`` are lines about the user that stand at the beginning of the block. With ``overview``
    the block is to span a topic in time, and not to answer a question with few messages.
    """

    idf: Mapping[str, float] = field(default_factory=dict)
    whole: Mapping[MessageKey, str] = field(default_factory=dict)
    before: Mapping[MessageKey, Before] = field(default_factory=dict)
    corrections: Mapping[MessageKey, Hit] = field(default_factory=dict)
    sources: Mapping[str, tuple[Said, ...]] = field(default_factory=dict)
    spoken: Mapping[str, tuple[Said, ...]] = field(default_factory=dict)
    written: tuple[str, ...] = ()
    analyses: tuple[Analysis, ...] = ()
    overview: bool = False
