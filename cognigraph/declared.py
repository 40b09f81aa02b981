"""What an operation declares: its parameters, their types, defaults and help, and its summary.

An operation is declared once, by the method of :class:`~cognigraph.Space` or of one of its groups.
The signature has names, types and defaults; the docstring has the help. From that the REST server
makes bodies and queries, the command line its options, and :mod:`cognigraph.aio` its methods.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from inspect import Parameter as Slot
from inspect import getdoc, signature
from typing import Any, get_type_hints

from cognigraph.operations.files import Files
from cognigraph.operations.overview import Overview
from cognigraph.operations.queue import Queue
from cognigraph.operations.review import Review
from cognigraph.space import Space

Verb = Callable[..., Any]

GROUPS: Mapping[str, type] = {
    "": Space,
    "queue": Queue,
    "review": Review,
    "overview": Overview,
    "files": Files,
}
"""The classes whose public methods are the operations on a space, by the name of their group."""

_ROLE = re.compile(r":(\w+):`~?(?:[^`<]*<)?([^`<>]+?)>?`")
_ENTRY = re.compile(r"(\w+): (.*)")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an operation; ``hint`` is its resolved type."""

    name: str
    hint: Any
    default: Any
    help: str

    @property
    def is_required(self) -> bool:
        """Whether it has no default."""
        return self.default is Slot.empty


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation. ``group`` is the attribute of a space that has it; ``None`` if none has."""

    name: str
    group: str | None
    verb: Verb
    summary: str
    description: str
    parameters: Mapping[str, Parameter]

    @property
    def path(self) -> str:
        """Where the REST server has it, below the space: ``review/retract``."""
        return "/".join(filter(None, (self.group, self.name))).replace("_", "-")

    def bound_to(self, space: Any) -> Verb:
        """The bound method on a space."""
        bound: Verb = getattr(getattr(space, self.group) if self.group else space, self.name)
        return bound


@cache
def declared(verb: Verb) -> Operation:
    """Read what a method of a memory, a space, or one of its groups declares.

    Raises:
        LookupError: the docstring does not say what a parameter is.
    """
    group = next((g for g, owner in GROUPS.items() if vars(owner).get(verb.__name__) is verb), None)
    text = getdoc(verb) or ""
    helps = _arguments(text)
    hints = get_type_hints(verb)
    parameters = {}
    for name, slot in list(signature(verb).parameters.items())[1:]:
        if slot.kind is Slot.VAR_KEYWORD:
            continue
        help = helps.get(name) or _shared().get(name)
        if help is None:
            raise LookupError(f"the docstring of {verb.__qualname__} does not say what {name} is")
        parameters[name] = Parameter(name, hints[name], slot.default, help)
    paragraphs = text.split("\n\n")
    summary = _plain(paragraphs[0])
    return Operation(verb.__name__, group, verb, summary, _description(text), parameters)


def operations() -> list[Operation]:
    """List the operations on a space, group by group."""
    return [
        declared(member)
        for owner in GROUPS.values()
        for name, member in vars(owner).items()
        if callable(member) and not name.startswith("_")
    ]


@cache
def _shared() -> dict[str, str]:
    """Help for parameters that mean the same in several operations."""
    return {
        **_arguments(getdoc(Space.search) or ""),
        "limit": "the largest number of items.",
        "offset": "how many items to leave out at the beginning.",
        "max_tokens": "the largest size of the prompt block, in tokens.",
        "timezone": "the timezone in which times are shown.",
    }


def _arguments(docstring: str) -> dict[str, str]:
    """The entries below ``Args:``, each in one line of plain text."""
    _, _, after = docstring.partition("\nArgs:\n")
    entries: dict[str, str] = {}
    name = ""
    for line in after.splitlines():
        if line and not line.startswith(" "):
            break
        entry = _ENTRY.fullmatch(line[4:]) if line[:5].strip() and line[:4] == "    " else None
        if entry:
            name = entry[1]
            entries[name] = entry[2]
        elif name and line.strip():
            entries[name] += f" {line.strip()}"
    return {name: _plain(text) for name, text in entries.items()}


def _description(docstring: str) -> str:
    """The text before the arguments and errors, as Markdown."""
    text = re.split(r"\n(?:Args|Raises):\n", docstring)[0]
    return "\n\n".join(map(_plain, text.strip().split("\n\n")))


def _plain(text: str) -> str:
    """Text without the marks of reStructuredText, in one line."""
    text = _ROLE.sub(lambda role: f"`{role[2].rsplit('.', 1)[-1]}`", text)
    return " ".join(text.replace("``", "`").split())
