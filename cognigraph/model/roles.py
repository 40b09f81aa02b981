"""The role of who speaks: user, assistant, system or tool, as in a chat completion.

A message between people has no role. A role that is not given follows from the speaker's name
(:func:`role_of`); the same rule gave the messages of older databases their roles.
"""

from __future__ import annotations

from typing import Literal, get_args

Role = Literal["user", "assistant", "system", "tool"]
"""Who speaks in a conversation with an assistant."""

RoleFilter = Literal["user", "assistant", "system", "tool", "person"]
"""A role, or ``"person"`` for messages without one."""

ANONYMOUS = "user"
"""The name of a speaker who has none: in facts, in prompts, and of the entity."""
ROLES: tuple[Role, ...] = get_args(Role)
DEFAULT_ROLES: tuple[RoleFilter, ...] = ("user", "assistant", "person")
"""The messages that a search considers unless it is told otherwise."""
UNREAD_ROLES: frozenset[str] = frozenset({"system", "tool"})
"""Messages with these roles are stored, but rules read nothing from them."""

_OTHER_NAMES: dict[str, Role] = {
    "developer": "system",
    "function": "tool",
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
}
"""Names of roles in other message formats."""


def role_of(speaker: str | None) -> Role | None:
    """Return the role of a speaker whose name is that of a role, in any case; else ``None``."""
    name = (speaker or "").strip().lower()
    return next((role for role in ROLES if role == name), None)


def as_role(name: str) -> Role | None:
    """Return the role for its name in any message format; ``None`` if there is no such role."""
    return role_of(name) or _OTHER_NAMES.get(name.strip().lower())
