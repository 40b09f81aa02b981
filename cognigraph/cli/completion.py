"""``cognigraph completion``: completions of commands and options for bash, zsh and fish."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

from cognigraph.cli.commands import OK, CommandRun

SHELLS = ("bash", "zsh", "fish")

_BASH = """\
# Completion of cognigraph. For this shell: eval "$(cognigraph completion bash)"
_cognigraph() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}"
  local command="" word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case " {commands} " in *" $word "*) command="$word"; break ;; esac
  done
  local words=""
  case "$command $previous" in
{choices}
  esac
  if [ -z "$words" ]; then
    case "$command" in
{options}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _cognigraph cognigraph
"""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a command: its names, its help, and its values if they are few."""

    names: tuple[str, ...]
    help: str
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Command:
    """A command with its options."""

    name: str
    help: str
    options: tuple[Option, ...]
    values: tuple[str, ...] = ()


def completion(run: CommandRun, parser: argparse.ArgumentParser) -> int:
    """Print the script for a shell."""
    script = script_for(run.arguments.shell, parser)
    run.terminal.document({"shell": run.arguments.shell, "script": script})
    run.terminal.write(script.rstrip("\n"))
    return OK


def script_for(shell: str, parser: argparse.ArgumentParser) -> str:
    """The script that a shell evaluates."""
    found = list(commands_of(parser))
    if shell == "fish":
        return _fish(found)
    bash = _bash(found)
    if shell == "bash":
        return bash
    head = '# Completion of cognigraph. For this shell: eval "$(cognigraph completion zsh)"\n'
    return f"{head}autoload -Uz bashcompinit && bashcompinit\n{bash.partition(chr(10))[2]}"


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
            choices = tuple(str(choice) for choice in action.choices or ())
            yield Option(tuple(action.option_strings), action.help or "", choices)


def _bash(found: list[Command]) -> str:
    choices, options = [], []
    for command in found:
        names = [name for option in command.options for name in option.names]
        options.append(_case(command.name, [*command.values, *names]))
        for option in command.options:
            if option.choices:
                cases = "|".join(f'"{command.name} {name}"' for name in option.names)
                choices.append(f'    {cases}) words="{" ".join(option.choices)}" ;;')
    names = [command.name for command in found]
    options.append(_case("", names))
    return _BASH.format(
        commands=" ".join(names), choices="\n".join(choices), options="\n".join(options)
    )


def _case(name: str, words: list[str]) -> str:
    return f'      "{name}") words="{" ".join(words)}" ;;'


def _fish(found: list[Command]) -> str:
    lines = ["# Completion of cognigraph. For this shell: cognigraph completion fish | source"]
    for command in found:
        lines.append(
            f"complete -c cognigraph -n __fish_use_subcommand -f -a {command.name} "
            f"-d {_quoted(command.help)}"
        )
        of_this = f"-n '__fish_seen_subcommand_from {command.name}'"
        for value in command.values:
            lines.append(f"complete -c cognigraph {of_this} -a {value}")
        for option in command.options:
            parts = [f"-{'l' if name.startswith('--') else 's'} {name.lstrip('-')}"
                     for name in option.names]  # fmt: skip
            values = f" -x -a {_quoted(' '.join(option.choices))}" if option.choices else ""
            lines.append(
                f"complete -c cognigraph {of_this} {' '.join(parts)}{values} "
                f"-d {_quoted(option.help)}"
            )
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
