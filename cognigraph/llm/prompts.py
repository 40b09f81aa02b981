"""Prompt files: parse and render them. Each has a header, a ``## system`` part and other parts.

The header holds the prompt's name and version, its inputs, and the schema of the answer::

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

To change a prompt, add a file with the next number: the version is part of an extractor's name.
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
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True)
class PromptFile:
    """The content of a prompt file. ``parts`` maps the name of each part to its text."""

    name: str
    version: int
    inputs: tuple[str, ...]
    schema: str
    parts: Mapping[str, str]

    @property
    def id(self) -> str:
        """Name and version, such as ``extract-1``."""
        return f"{self.name}-{self.version}"

    def inputs_of(self, part: str) -> frozenset[str]:
        """The inputs that a part uses."""
        return frozenset(_PLACEHOLDER.findall(self.parts[part]))


def read(text: str, source: str) -> PromptFile:
    """Parse the text of a prompt file; ``source`` is its name in error messages.

    Raises:
        ConfigurationError: the header is invalid, the declared inputs are not exactly the inputs
            used, or a part is missing.
    """
    match = _FILE.fullmatch(text)
    if match is None:
        raise ConfigurationError(f"{source}: a prompt file must start with a header between ---")
    header = dict(_field(line, source) for line in match["header"].splitlines())
    missing = {"name", "version", "inputs", "schema"} - set(header)
    if missing or not header["version"].isdecimal():
        lacking = ", ".join(sorted(missing)) or "a whole number as version"
        raise ConfigurationError(f"{source}: the header lacks {lacking}")
    _, *pieces = _PART.split(match["body"])
    parts = {name: body.strip() for name, body in zip(pieces[::2], pieces[1::2], strict=True)}
    inputs = tuple(name.strip() for name in header["inputs"].split(",") if name.strip())
    used = {name for body in parts.values() for name in _PLACEHOLDER.findall(body)}
    if used != set(inputs) or "system" not in parts or len(parts) < 2:
        raise ConfigurationError(
            f"{source}: declares the inputs {sorted(inputs)} and uses {sorted(used)}; "
            f"its parts are {[*parts]}"
        )
    return PromptFile(header["name"], int(header["version"]), inputs, header["schema"], parts)


def _field(line: str, source: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon:
        raise ConfigurationError(f"{source}: {line!r} is not 'name: value'")
    return name.strip(), value.strip()


@cache
def prompt_file(id: str, package: str = "cognigraph.ingest.model.prompts") -> PromptFile:
    """The prompt in the file ``<id>.md`` of a package; an example of an id is ``extract-1``."""
    path = files(package).joinpath(f"{id}.md")
    prompt = read(path.read_text(encoding="utf-8"), f"{id}.md")
    if prompt.id != id:
        raise ConfigurationError(f"the header of {id}.md names {prompt.id}")
    return prompt


def render(file: PromptFile, part: str = "user", /, **inputs: str) -> Prompt:
    """Fill the inputs into a part.

    Inputs are inserted verbatim and not expanded again, so braces in them have no meaning.

    Raises:
        ConfigurationError: an input is missing, or the part does not use it.
    """
    wanted = file.inputs_of(part)
    if wanted != set(inputs):
        missing, unused = sorted(wanted - set(inputs)), sorted(set(inputs) - wanted)
        raise ConfigurationError(
            f"prompt {file.id}, part {part!r}: missing inputs {missing}, unused inputs {unused}"
        )
    user = _PLACEHOLDER.sub(lambda match: inputs[match[1]], file.parts[part])
    return Prompt(name=file.name, version=str(file.version), system=file.parts["system"], user=user)
