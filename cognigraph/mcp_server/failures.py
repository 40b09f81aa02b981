"""Errors of the library as errors of a tool, whose text the agent reads."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from mcp.server.mcpserver.exceptions import ToolError

from cognigraph.errors import CogniGraphError
from cognigraph.text.redaction import redacted

_P = ParamSpec("_P")
_R = TypeVar("_R")


def explained(tool: Callable[_P, _R]) -> Callable[_P, _R]:
    """Let a tool fail with the text of our error. Other errors stay unexpected ones."""

    @wraps(tool)
    def run(*arguments: _P.args, **options: _P.kwargs) -> _R:
        try:
            return tool(*arguments, **options)
        except CogniGraphError as error:
            again = " Trying again later may work." if error.is_retryable else ""
            raise ToolError(f"{redacted(str(error))}.{again}") from error

    return run
