"""The parser of arguments: it reports a wrong one in one line, with what is spelled like it."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from typing import NoReturn

from cognigraph.cli.terminal import one_line
from cognigraph.text.redaction import redacted

_CHOICES = re.compile(r"invalid choice: '(.*)' \(choose from (.*)\)$")
_LONG_MESSAGE = 200


class Parser(argparse.ArgumentParser):
    """Reports a wrong argument in one line, and with ``--json`` also as JSON."""

    is_json = False

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """As argparse does, but refuse what a command does not know, with its own help."""
        self._check_common(sys.argv[1:] if args is None else args)
        found, unknown = super().parse_known_args(args, namespace)
        if unknown and self._subparsers is None:
            self.error(_unknown(unknown, self._option_string_actions))
        return found, unknown

    def _check_common(self, args: Sequence[str]) -> None:
        """Refuse an unknown option before the command, whose value would be taken for one."""
        actions = self._subparsers._group_actions if self._subparsers else []
        commands = [name for action in actions for name in action.choices or ()]
        for word in args if commands else ():
            if word in commands or word == "--":
                return
            if word.startswith("--") and word.partition("=")[0] not in self._option_string_actions:
                self.error(_unknown([word], self._option_string_actions))

    def error(self, message: str) -> NoReturn:
        """End the program with the exit code for wrong usage."""
        text = f"{one_line(redacted(_brief(message)))} (see `{self.prog} --help`)"
        if self.is_json:
            document = {"type": "UsageError", "message": text, "exit_code": 2}
            sys.stdout.write(json.dumps({"error": document}, indent=2) + "\n")
        self.exit(2, f"cognigraph: error: {text}\n")


def _unknown(words: Sequence[str], options: Collection[str]) -> str:
    """Say which arguments are unknown, and which option is spelled like the first."""
    wrong = next((word.partition("=")[0] for word in words if word.startswith("-")), "")
    long = [name for name in options if name.startswith("--")]
    # All options begin with the same dashes, which must not count as a likeness.
    near = get_close_matches(wrong.lstrip("-"), [name[2:] for name in long], 2, 0.7)
    near += [name[2:] for name in long if wrong == name[: len(wrong)] and len(wrong) > 3]
    names = [repr(f"--{name}") for name in dict.fromkeys(near)][:2] if wrong else []
    if wrong.startswith("--") and wrong[1:] in options:
        names = [repr(wrong[1:])]
    hint = f" (did you mean {' or '.join(names)}?)" if names else ""
    return f"unrecognized arguments: {' '.join(words)}{hint}"


def _brief(message: str) -> str:
    """Name the choices that are spelled like a wrong one; without such, all if they are few."""
    found = _CHOICES.search(message)
    if found is None:
        return message
    wrong, choices = found.groups()
    names = [name.strip("'") for name in choices.split(", ")]
    near = [repr(name) for name in get_close_matches(wrong, names, 2)]
    if not near and len(message) <= _LONG_MESSAGE:
        return message
    hint = f" (did you mean {' or '.join(near)}?)" if near else ""
    return f"{message[: found.start()]}invalid choice: {wrong!r}{hint}"
