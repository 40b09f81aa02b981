"""``cognigraph completion``: scripts that complete commands, options and values in a shell."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from cognigraph.cli.command_run import OK, CommandRun


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a command: its names, its help, and its values if they are few."""

    names: tuple[str, ...]
    help: str
    has_value: bool
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Command:
    """A command with its options."""

    name: str
    help: str
    options: tuple[Option, ...]
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Commands:
    """All commands, and the options that may come before them."""

    options: tuple[Option, ...]
    commands: tuple[Command, ...]

    def before_with_value(self) -> list[str]:
        """Names of options before the command whose next word is a value."""
        return [name for option in self.options if option.has_value for name in option.names]

    def names(self) -> list[str]:
        """The names of the commands."""
        return [command.name for command in self.commands]

    def all(self) -> Iterator[Command]:
        """The commands, and first the place before them as a command without a name."""
        yield Command("", "", self.options)
        yield from self.commands


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
#compdef cognigraph
# Completion of cognigraph. For this shell: eval "$(cognigraph completion zsh)"
_cognigraph() {{
  local command="" i=2
  while (( i < CURRENT )); do
    case "$words[i]" in
      ({valued}) (( i++ )) ;;
      (-*) ;;
      (*) command="$words[i]"; break ;;
    esac
    (( i++ ))
  done
  local -a found options
  case "$command $words[CURRENT-1]" in
{choices}
  esac
  case "$command" in
{options}
    (*) _files; return ;;
  esac
  if [[ "$words[CURRENT]" == -* ]]; then
    _describe -o option options
  elif (( $#found )); then
    _describe word found
  else
    _files
  fi
}}
(( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit }}
compdef _cognigraph cognigraph
"""

_FISH = """\
# Completion of cognigraph. For this shell: cognigraph completion fish | source
function __cognigraph_command
    set -l words (commandline -opc)
    set -e words[1]
    while set -q words[1]
        switch $words[1]
            case {valued}
                set -e words[1]
            case '-*'
            case '*'
                echo -- $words[1]
                return
        end
        set -e words[1]
    end
end
function __cognigraph_is
    set -l command (__cognigraph_command)
    test "$command" = "$argv[1]"
end
"""


def bash(found: Commands) -> str:
    """The script for bash."""
    choices, options = [], []
    for command in found.all():
        values = " ".join(command.values if command.name else found.names())
        names = " ".join(name for option in command.options for name in option.names)
        options.append(f'        "{command.name}") values="{values}"; options="{names}" ;;')
        for option in command.options:
            if option.has_value:
                cases = "|".join(f'"{command.name} {name}"' for name in option.names)
                choices.append(f'    {cases}) words="{" ".join(option.choices)}" ;;')
    return _BASH.format(
        valued="|".join(found.before_with_value()),
        choices="\n".join(choices),
        options="\n".join(options),
    )


def zsh(found: Commands) -> str:
    """The script for zsh, which shows what each word means."""
    choices, options = [], []
    for command in found.all():
        named = [(name, item.help) for item in command.options for name in item.names]
        plain = [(value, "") for value in command.values]
        if not command.name:
            plain = [(item.name, item.help) for item in found.commands]
        options.append(
            f'    ("{command.name}") found=({_described(plain)}); options=({_described(named)}) ;;'
        )
        for option in command.options:
            if option.has_value:
                cases = "|".join(f'"{command.name} {name}"' for name in option.names)
                values = " ".join(map(_quoted_zsh, option.choices))
                does = f"compadd -- {values}" if values else "_files"
                choices.append(f"    ({cases}) {does}; return ;;")
    return _ZSH.format(
        valued="|".join(found.before_with_value()),
        choices="\n".join(choices),
        options="\n".join(options),
    )


def _described(words: list[tuple[str, str]]) -> str:
    """Words as zsh's ``_describe`` takes them: with what they mean after a colon."""
    return " ".join(
        _quoted_zsh(word.replace(":", "\\:") + (f":{_one_line(help)}" if help else ""))
        for word, help in words
    )


def _quoted_zsh(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def fish(found: Commands) -> str:
    """The script for fish, which shows what each word means."""
    lines = [_FISH.format(valued=" ".join(found.before_with_value()))]
    for command in found.all():
        here = f"complete -c cognigraph -n '__cognigraph_is {command.name}'"
        if command.name:
            lines.append(
                f"complete -c cognigraph -n '__cognigraph_is' -f -a {command.name} "
                f"-d {_quoted(_one_line(command.help))}"
            )
        lines += [f"{here} -f -a {value}" for value in command.values]
        lines += [f"{here} {_fish_option(option)}" for option in command.options]
    return "\n".join(lines) + "\n"


def _fish_option(option: Option) -> str:
    parts = [
        f"-{'l' if name.startswith('--') else 's'} {name.lstrip('-')}" for name in option.names
    ]
    if option.choices:
        parts.append(f"-x -a {_quoted(' '.join(option.choices))}")
    elif option.has_value:
        parts.append("-r")
    return f"{' '.join(parts)} -d {_quoted(_one_line(option.help))}"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _one_line(text: str) -> str:
    return " ".join(text.split())


SCRIPTS: dict[str, Callable[[Commands], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
SHELLS = tuple(SCRIPTS)


def completion(run: CommandRun, parser: argparse.ArgumentParser) -> int:
    """Print the script for a shell."""
    script = script_for(run.arguments.shell, parser)
    run.terminal.document({"shell": run.arguments.shell, "script": script})
    run.terminal.write(script.rstrip("\n"))
    return OK


def script_for(shell: str, parser: argparse.ArgumentParser) -> str:
    """The script that a shell evaluates."""
    found = Commands(tuple(_options(parser)), tuple(commands_of(parser)))
    return SCRIPTS[shell](found)


def commands_of(parser: argparse.ArgumentParser) -> Iterator[Command]:
    """The commands, with the options of each."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {item.dest: item.help or "" for item in action._choices_actions}
            for name, command in action.choices.items():
                values = [
                    str(choice)
                    for item in command._actions
                    if not item.option_strings
                    for choice in item.choices or ()
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
