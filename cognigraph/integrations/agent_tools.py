"""The two functions that an agent gets as tools: to recall, and to remember."""

from __future__ import annotations

from collections.abc import Callable

from cognigraph.model import Role
from cognigraph.space import Space


def agent_tools(
    space: Space,
    *,
    session: str = "default",
    max_tokens: int = 1300,
    role: Role | None = "user",
) -> list[Callable[[str], str]]:
    """``recall`` and ``remember``; a model reads their names and docstrings.

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
        return str(space.context(question, max_tokens)) or "Nothing is known about that."

    def remember(text: str) -> str:
        """Store something worth knowing in later conversations.

        Args:
            text: What to remember, in full sentences that can be understood on their own.
        """
        result = space.add(text, session=session, role=role)
        return f"Remembered as {result.id}."

    return [recall, remember]
