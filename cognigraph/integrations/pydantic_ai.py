"""A toolset of Pydantic AI: the tools ``recall`` and ``remember``."""

from __future__ import annotations

from typing import Any

from cognigraph.integrations import requirement
from cognigraph.integrations.agent_tools import agent_tools
from cognigraph.model import Role
from cognigraph.space import Space

with requirement("pydantic-ai"):
    from pydantic_ai import FunctionToolset


def memory_toolset(
    space: Space,
    *,
    session: str = "default",
    max_tokens: int = 1300,
    role: Role | None = "user",
) -> FunctionToolset[Any]:
    """The tools, for ``Agent(..., toolsets=[memory_toolset(memory)])``.

    The arguments are those of :func:`cognigraph.integrations.agent_tools.agent_tools`.
    """
    return FunctionToolset(agent_tools(space, session=session, max_tokens=max_tokens, role=role))
