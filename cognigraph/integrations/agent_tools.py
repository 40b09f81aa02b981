"""The two functions that an agent gets as tools: to remember, and to recall."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cognigraph.model import Role
from cognigraph.space import Space

NOTHING = "Nothing is known about that."


@dataclass(frozen=True, slots=True)
class AgentTools:
    """Functions over a space; their names and docstrings are what the model reads."""

    recall: Callable[[str], str]
    remember: Callable[[str], str]


def agent_tools(
    space: Space,
    *,
    session: str = "default",
    max_tokens: int = 1300,
    role: Role | None = "user",
) -> AgentTools:
    """Make the functions.

    Args:
        space: a memory, or one of its spaces.
        session: the session to which ``remember`` adds.
        max_tokens: largest size of what ``recall`` returns.
        role: whose words are remembered: "I" in them is the user, unless this is ``None``.
    """

    def recall(question: str) -> str:
        """Look up what is known from earlier conversations.

        Args:
            question: What to look up, as a question in plain language.
        """
        return str(space.context(question, max_tokens)) or NOTHING

    def remember(text: str) -> str:
        """Store something worth knowing in later conversations.

        Args:
            text: What to remember, in full sentences that can be understood on their own.
        """
        result = space.add(text, session=session, role=role)
        return f"Remembered as {result.id}."

    return AgentTools(recall, remember)
