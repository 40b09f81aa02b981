"""``cognigraph completion``: completions of commands, options and values for a shell."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

from cognigraph.cli.commands import OK, CommandRun
from cognigraph.cli.completion_scripts import Command, Commands, Option, bash, fish, zsh

_SCRIPTS: dict[str, Callable[[Commands], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
SHELLS = tuple(_SCRIPTS)


def completion(run: CommandRun, parser: argparse.ArgumentParser) -> int:
    """Print the script for a shell."""
    script = script_for(run.arguments.shell, parser)
    run.terminal.document({"shell": run.arguments.shell, "script": script})
    run.terminal.write(script.rstrip("\n"))
    return OK


def script_for(shell: str, parser: argparse.ArgumentParser) -> str:
    """The script that a shell evaluates."""
    found = Commands(tuple(_options(parser)), tuple(commands_of(parser)))
    return _SCRIPTS[shell](found)


def commands_of(parser: argparse.ArgumentParser) -> Iterator[Command]:
    """The commands, with the options of each."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {one.dest: one.help or "" for one in action._choices_actions}
            for name, command in action.choices.items():
                values = [
                    str(choice)
                    for one in command._actions
                    if not one.option_strings
                    for choice in one.choices or ()
                ]
                options = tuple(_options(command))
                yield Command(name, helps.get(name, ""), options, tuple(values))


def _options(parser: argparse.ArgumentParser) -> Iterator[Option]:
    for action in parser._actions:
        if action.option_strings:
            yield Option(
                names=tuple(action.option_strings),
                help=(action.help or "").replace("%%", "%"),
                has_value=action.nargs != 0,
                choices=tuple(str(choice) for choice in action.choices or ()),
            )
