"""``cognigraph completion``: scripts that complete commands, options and values in a shell."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cognigraph.cli.command_run import OK, CommandRun


@dataclass(frozen=True, slots=True)
class Command:
    """A command, or with an empty name the place before it.

    ``options`` are those that may stand there, and ``words`` the other words.
    """

    name: str
    options: tuple[argparse.Action, ...]
    words: Sequence[str]


_BASH = """\
# Completion of cognigraph. For this shell: eval "$(cognigraph completion bash)"
_cognigraph() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}"
  local command="" words="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "${{COMP_WORDS[i]}}" in
      {valued}) i=$((i + 1)) ;;
      -*) ;;
      *) command="${{COMP_WORDS[i]}}"; break ;;
    esac
  done
  local values="" options=""
  case "$command $previous" in
{choices}
    *)
      case "$command" in
{options}
      esac
      case "$current" in -*) words="$options" ;; *) words="$values" ;; esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _cognigraph cognigraph
"""

_ZSH = """\
# Completion of cognigraph. For this shell: eval "$(cognigraph completion zsh)"
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
autoload -Uz bashcompinit && bashcompinit
"""
"""What lets zsh take the script for bash."""


def bash(commands: Sequence[Command]) -> str:
    """The script for bash."""
    choices, options = [], []
    for command in commands:
        names = " ".join(name for option in command.options for name in option.option_strings)
        values = " ".join(command.words)
        options.append(f'        "{command.name}") values="{values}"; options="{names}" ;;')
        for option in filter(_has_value, command.options):
            cases = "|".join(f'"{command.name} {name}"' for name in option.option_strings)
            choices.append(f'    {cases}) words="{" ".join(map(str, option.choices or ()))}" ;;')
    return _BASH.format(
        valued="|".join(_valued(commands)),
        choices="\n".join(choices),
        options="\n".join(options),
    )


def zsh(commands: Sequence[Command]) -> str:
    """The script for zsh."""
    return _ZSH + bash(commands)


def _valued(commands: Sequence[Command]) -> list[str]:
    """The names of options before the command whose next word is a value."""
    before = filter(_has_value, commands[0].options)
    return [name for option in before for name in option.option_strings]


def _has_value(option: argparse.Action) -> bool:
    return option.nargs != 0


SCRIPTS: dict[str, Callable[[Sequence[Command]], str]] = {"bash": bash, "zsh": zsh}
SHELLS = tuple(SCRIPTS)


def completion(run: CommandRun, parser: argparse.ArgumentParser) -> int:
    """Print the script for a shell."""
    script = script_for(run.arguments.shell, parser)
    run.terminal.document({"shell": run.arguments.shell, "script": script})
    run.terminal.write(script.rstrip("\n"))
    return OK


def script_for(shell: str, parser: argparse.ArgumentParser) -> str:
    """The script that a shell evaluates."""
    return SCRIPTS[shell](commands_of(parser))


def commands_of(parser: argparse.ArgumentParser) -> list[Command]:
    """The place before the command, and the commands."""
    (action,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    commands = [Command("", _options(parser), list(action.choices))]
    for name, command in action.choices.items():
        positional = (item for item in command._actions if not item.option_strings)
        words = [str(choice) for item in positional for choice in item.choices or ()]
        commands.append(Command(name, _options(command), words))
    return commands


def _options(parser: argparse.ArgumentParser) -> tuple[argparse.Action, ...]:
    return tuple(action for action in parser._actions if action.option_strings)
