"""Who speaks in a conversation with an assistant, and what it says about where an answer is.

In such a conversation nearly all questions are about the user, and what the user says is short and
concrete, while the assistant's long answers share some word with any question.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cognigraph.arrays import Floats
from cognigraph.model import Role


def role_features(roles: Sequence[Role | None], similarity: Floats) -> dict[str, Floats]:
    """Whether the user says it, alone and times its ``similarity``; (n,) in [0, 1].

    There is no signal unless an assistant is among those who speak. ``similarity`` (n,) is the
    cosine, scaled over the candidates.
    """
    if "assistant" not in roles:
        return {}
    user = np.array([float(role == "user") for role in roles])
    return {"user": user, "user vector": user * similarity}
