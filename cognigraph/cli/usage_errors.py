"""The parser of arguments: it reports a wrong one in one line, with what is spelled like it."""

from __future__ import annotations

import argparse
import json
import re
import sys
from difflib import get_close_matches
from typing import NoReturn

from cognigraph.cli.terminal import one_line

_CHOICES = re.compile(r"invalid choice: '(.*)' \(choose from (.*)\)$")
_LONG_MESSAGE = 200


class Parser(argparse.ArgumentParser):
    """Reports a wrong argument in one line, and with ``--json`` also as JSON."""

    is_json = False

    def error(self, message: str) -> NoReturn:
        """End the program with the exit code for wrong usage."""
        text = f"{one_line(_brief(message))} (see `{self.prog} --help`)"
        if self.is_json:
            document = {"type": "UsageError", "message": text, "exit_code": 2}
            sys.stdout.write(json.dumps({"error": document}, indent=2) + "\n")
        self.exit(2, f"cognigraph: error: {text}\n")


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
