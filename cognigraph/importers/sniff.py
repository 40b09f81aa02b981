"""Guess what a file holds from its name and its first bytes, without decoding all of it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any

_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?|([{}\[\]])', re.DOTALL)
_SAMPLE_LINES = 20


@dataclass(frozen=True, slots=False)
class Head:
    """The name of a file and its first bytes (64 KB at most)."""

    name: str
    data: bytes

    @property
    def suffix(self) -> str:
        """The suffix of the name, in lower case."""
        return PurePath(self.name).suffix.lower()

    @cached_property
    def text(self) -> str:
        """The bytes as text."""
        return self.data.decode("utf-8-sig", "replace").lstrip()

    @property
    def is_json(self) -> bool:
        """Whether it begins as JSON, or as JSON lines."""
        return self.text.startswith(("{", "["))

    @cached_property
    def lines(self) -> list[dict[str, Any]]:
        """The objects on the first lines, if each line is one; else nothing."""
        whole = self.text.rpartition("\n")[0] if "\n" in self.text else self.text
        found: list[dict[str, Any]] = []
        for line in whole.split("\n")[:_SAMPLE_LINES]:
            if line.strip():
                try:
                    value = json.loads(line)
                except (ValueError, RecursionError):
                    return found
                if not isinstance(value, dict):
                    return []
                found.append(value)
        return found

    @cached_property
    def keys(self) -> set[str]:
        """Keys of the first object of an array, of the object, or of the objects on lines."""
        if self.lines:
            return {key for line in self.lines for key in line}
        return _keys(self.text, depth=2 if self.text.startswith("[") else 1)

    @cached_property
    def inner_keys(self) -> set[str]:
        """Keys of the objects in the first list of an object."""
        return _keys(self.text, depth=3) if self.text.startswith("{") else set()


def _keys(text: str, depth: int) -> set[str]:
    """Keys at a depth of brackets, in what there is of a JSON text; the text may be cut off."""
    found: set[str] = set()
    level = 0
    for match in _TOKEN.finditer(text):
        string, colon, bracket = match.groups()
        if bracket is not None:
            level += 1 if bracket in "{[" else -1
        elif colon is not None and level == depth:
            found.add(string)
    return found
