"""Tools of CrewAI: ``recall`` and ``remember``."""

from __future__ import annotations

from cognigraph.integrations import requirement
from cognigraph.integrations.agent_tools import agent_tools
from cognigraph.model import Role
from cognigraph.space import Space

with requirement("crewai"):
    from crewai.tools import BaseTool, tool


def memory_tools(
    space: Space,
    *,
    session: str = "default",
    max_tokens: int = 1300,
    role: Role | None = "user",
) -> list[BaseTool]:
    """The tools, for ``Agent(..., tools=memory_tools(memory))``.

    The arguments are those of :func:`cognigraph.integrations.agent_tools.agent_tools`.
    """
    functions = agent_tools(space, session=session, max_tokens=max_tokens, role=role)
    return [tool(function) for function in functions]
