"""Who speaks in a conversation with an assistant, and what it says about where an answer is.

In such a conversation nearly all questions are about the user, and what the user says is short and
concrete, while the assistant's long answers share some word with any question.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cognigraph.arrays import Floats
from cognigraph.model import Role
from cognigraph.retrieve.question.aim import Aim


def role_features(
    roles: Sequence[Role | None],
    similarity: Floats,
    wishes: Floats | None,
    changes: Floats | None,
    aim: Aim,
) -> dict[str, Floats]:
    """Who says it, and whether that suits the aim of the question; each (n,) in [0, 1].

    There is no signal unless an assistant is among those who speak. ``similarity`` (n,) is the
    cosine, scaled over the candidates; ``wishes`` (n,) says how much each text sounds like a wish,
    which counts if the user says it and asks for work or advice; ``changes`` (n,) how much it tells
    of a change, which counts if the user says it and asks how things are.
    """
    if "assistant" not in roles:
        return {}
    user = np.array([float(role == "user") for role in roles])
    features = {"user": user, "user vector": user * similarity}
    if aim.assistant:
        features["assistant asked"] = np.array([float(role == "assistant") for role in roles])
    if aim.request and wishes is not None:
        features["wish"] = user * wishes
    if changes is not None:
        features["change"] = user * changes
    return features
