"""``CommandRun``: one invocation of the command line, and its exit codes."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

from cognigraph.cli.memory_options import Options, reading
from cognigraph.cli.options import DERIVED
from cognigraph.cli.terminal import Terminal
from cognigraph.declared import declared

OK, FOUND_PROBLEM = 0, 1


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, with a message."""


@dataclass(frozen=True, slots=True)
class CommandRun:
    """One invocation of the command line."""

    arguments: argparse.Namespace
    options: Options
    terminal: Terminal

    def given(self) -> dict[str, Any]:
        """The arguments of the operation that the command is."""
        return DERIVED[self.arguments.command].arguments(self.arguments, self.options)

    def call(self) -> Any:
        """What the operation of the command returns in the chosen space, which must exist."""
        operation = declared(DERIVED[self.arguments.command].verb)
        given = self.given()
        with reading(self.options) as space:
            return operation.bound_to(space)(**given)
