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


def read(text: str) -> PromptFile:
    """Parse the text of a prompt file; a test sees to it that all of ours are well-formed."""
    _, header, body = text.split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in header.splitlines())
    _, *pieces = _PART.split(body)
    parts = {name: part.strip() for name, part in zip(pieces[::2], pieces[1::2], strict=True)}
    inputs = tuple(fields["inputs"].split(", "))
    return PromptFile(fields["name"], int(fields["version"]), inputs, fields["schema"], parts)


@cache
def prompt_file(id: str, package: str = "cognigraph.ingest.model.prompts") -> PromptFile:
    """The prompt in the file ``<id>.md`` of a package; an example of an id is ``extract-1``."""
    return read(files(package).joinpath(f"{id}.md").read_text("utf-8"))


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
