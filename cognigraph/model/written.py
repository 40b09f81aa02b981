"""What writers keep of a user beside facts: the core profile and procedures, in versions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

WrittenKind = Literal["profile", "procedure"]


@dataclass(frozen=True, slots=True)
class Written:
    """One version of a text that a writer keeps; the newest version is in force.

    ``chain`` is the same for all versions. ``at`` is when the newest of its sources was said, and
    ``sources`` are the (session, message id) that it was written from. A profile has only a text; a
    procedure has a title, steps, and as its text the context in which it holds.
    """

    kind: WrittenKind
    chain: str
    version: int
    at: datetime
    text: str
    title: str = ""
    steps: tuple[str, ...] = ()
    sources: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class CoreProfile:
    """What is known of the user in general, as one text. ``version`` counts from 1.

    Earlier versions stay. ``sources`` are the (session, message id) of what was new in this one.
    """

    text: str
    version: int
    at: datetime
    sources: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Procedure:
    """How something is done, step by step. ``uid`` is the same for all of its versions."""

    uid: str
    title: str
    steps: tuple[str, ...]
    context: str
    version: int
    at: datetime
    sources: tuple[tuple[str, str], ...] = ()
