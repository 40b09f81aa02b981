"""What a block needs of a search beside its hits: word weights, whole texts, the turns before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

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
class Background:
    """What is known of the hits' surroundings; empty where nothing was fetched.

    ``idf`` are the weights of the question's terms in the space, ``whole`` the texts of messages
    that were split into chunks, and ``before`` the messages that precede hits. ``analyses`` are
    those of the queries, if there are several. ``written`` are lines about the user that stand at
    the beginning of the block.
    """

    idf: Mapping[str, float] = field(default_factory=dict)
    whole: Mapping[MessageKey, str] = field(default_factory=dict)
    before: Mapping[MessageKey, Before] = field(default_factory=dict)
    written: tuple[str, ...] = ()
    analyses: tuple[Analysis, ...] = ()
