"""Prompt files: a header, then one ``## system`` part and one or more parts to fill in.

The header names the prompt, its version, every input and the schema of the answer::

    ---
    name: extract
    version: 1
    inputs: known, turns
    schema: ReadAnswer
    ---
    ## system
    ...
    ## user
    ... {{turns}} ...

A changed prompt is a new file with the next number: the version is part of an extractor's name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from cognigraph.errors import ConfigurationError
from cognigraph.llm import Prompt

_FILE = re.compile(r"---\n(?P<header>.*?)\n---\n(?P<body>.*)", re.DOTALL)
_PART = re.compile(r"^## (\w+)\n", re.MULTILINE)
_PLACE = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True)
class PromptFile:
    """A prompt as it stands in its file. ``parts`` maps each part to its text."""

    name: str
    version: int
    inputs: tuple[str, ...]
    schema: str
    parts: Mapping[str, str]

    @property
    def id(self) -> str:
        """Name and version, ``extract-1``."""
        return f"{self.name}-{self.version}"

    def inputs_of(self, part: str) -> frozenset[str]:
        """The inputs that a part has a place for."""
        return frozenset(_PLACE.findall(self.parts[part]))


def read(text: str, source: str) -> PromptFile:
    """Read a file; one with a wrong header or undeclared inputs is a ConfigurationError."""
    match = _FILE.fullmatch(text)
    if match is None:
        raise ConfigurationError(f"{source}: a prompt file begins with a header between --- lines")
    header = dict(_field(line, source) for line in match["header"].splitlines())
    missing = {"name", "version", "inputs", "schema"} - set(header)
    if missing or not header["version"].isdecimal():
        lacking = ", ".join(sorted(missing)) or "a whole number as version"
        raise ConfigurationError(f"{source}: the header lacks {lacking}")
    _, *pieces = _PART.split(match["body"])
    parts = {name: body.strip() for name, body in zip(pieces[::2], pieces[1::2], strict=True)}
    inputs = tuple(name.strip() for name in header["inputs"].split(",") if name.strip())
    used = {place for body in parts.values() for place in _PLACE.findall(body)}
    if used != set(inputs) or "system" not in parts or len(parts) < 2:
        raise ConfigurationError(
            f"{source}: declares {sorted(inputs)}, uses {sorted(used)}, has the parts {[*parts]}"
        )
    return PromptFile(header["name"], int(header["version"]), inputs, header["schema"], parts)


def _field(line: str, source: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon:
        raise ConfigurationError(f"{source}: {line!r} is not 'name: value'")
    return name.strip(), value.strip()


@cache
def prompt_file(id: str, package: str = "cognigraph.ingest.model.prompts") -> PromptFile:
    """The prompt that ships as ``<id>.md`` in a package, such as ``extract-1``."""
    path = files(package).joinpath(f"{id}.md")
    found = read(path.read_text(encoding="utf-8"), f"{id}.md")
    if found.id != id:
        raise ConfigurationError(f"{id}.md says that it is {found.id}")
    return found


def render(file: PromptFile, part: str = "user", /, **inputs: str) -> Prompt:
    """Fill in a part. An input that is missing or has no place there is a ConfigurationError.

    Inputs are put in as they are and never looked at again, so braces in them mean nothing.
    """
    wanted = file.inputs_of(part)
    if wanted != set(inputs):
        missing, unused = sorted(wanted - set(inputs)), sorted(set(inputs) - wanted)
        raise ConfigurationError(
            f"prompt {file.id}, part {part!r}: missing {missing}, without a place {unused}"
        )
    user = _PLACE.sub(lambda place: inputs[place[1]], file.parts[part])
    return Prompt(name=file.name, version=str(file.version), system=file.parts["system"], user=user)
