"""Who speaks in a conversation with an assistant, and what it says about where an answer is.

In such a conversation nearly all questions are about the user, and what the user says is short and
concrete, while the assistant's long answers share some word with any question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from cognigraph.arrays import Floats

Role = Literal["user", "assistant"]

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}


def role_of(speaker: str | None) -> Role | None:
    """Return the role of a speaker who is called by it, as in a chat completion; else ``None``."""
    return _ROLES.get((speaker or "").strip().casefold())


def role_features(speakers: Sequence[str | None], similarity: Floats) -> dict[str, Floats]:
    """Whether the user says it, alone and times its ``similarity``; (n,) in [0, 1].

    There is no signal unless the assistant is among the speakers: without one, "user" is only a
    name. ``similarity`` (n,) is the cosine, scaled over the candidates.
    """
    roles = {speaker: role_of(speaker) for speaker in set(speakers)}
    if "assistant" not in roles.values():
        return {}
    user = np.array([float(roles[speaker] == "user") for speaker in speakers])
    return {"user": user, "user vector": user * similarity}
