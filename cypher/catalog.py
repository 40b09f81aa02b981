"""The ``.cypher`` files that ship with the package, each with a header that says what it is.

::

    // name: about
    // what: every fact an entity is part of
    // parameters: entity: string, top: integer = 50
    // returns: subject, relation, object

A file is found as package data, so it works from a wheel, a checkout or a zip.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

from rapidfuzz import fuzz, process

from cognigraph.errors import NotFoundError, QueryError

_FIELDS = ("name", "what", "parameters", "returns")
_HEADER = re.compile(r"//\s*(\w+):\s*(.*)")
_CONTINUED = re.compile(r"//\s{2,}(\S.*)")
_PARAMETER = re.compile(r"(?P<name>\w+):\s*(?P<type>\w+)(?:\s*=\s*(?P<default>\"[^\"]*\"|[^,]+))?")
_TYPES: Mapping[str, type] = {"string": str, "integer": int, "float": float, "boolean": bool}
_FOLDER = "inspect"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a named query; required unless it has a default."""

    name: str
    type: str
    default: str | int | float | bool | None = None

    @property
    def required(self) -> bool:
        """Whether the caller must give it."""
        return self.default is None

    def __str__(self) -> str:
        default = "" if self.required else f" = {json.dumps(self.default)}"
        return f"{self.name}: {self.type}{default}"


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """An inspection query that ships with the package; runs unchanged on both stores."""

    name: str
    what: str
    parameters: tuple[Parameter, ...]
    returns: tuple[str, ...]
    text: str

    def arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Fill in defaults; :class:`QueryError` for a missing, unknown or ill-typed parameter."""
        known = {parameter.name: parameter for parameter in self.parameters}
        signature = ", ".join(map(str, self.parameters)) or "none"
        unknown = sorted(set(given) - set(known))
        missing = sorted(n for n, p in known.items() if p.required and n not in given)
        for problem, names in (("has no parameter", unknown), ("needs the parameter", missing)):
            if names:
                raise QueryError(
                    f"the query {self.name!r} {problem} {', '.join(names)}; it takes: {signature}"
                )
        for name, value in given.items():
            wanted = _TYPES[known[name].type]
            is_bool = isinstance(value, bool)
            if not isinstance(value, wanted) or (is_bool and wanted is not bool):
                raise QueryError(
                    f"the parameter {name} of the query {self.name!r} must be of type "
                    f"{known[name].type}, not {type(value).__name__}"
                )
        return {n: given.get(n, parameter.default) for n, parameter in known.items()}


@cache
def statement(path: str) -> str:
    """Return the text of a ``.cypher`` file, its path given below this package's folder.

    A missing file is a mistake of ours, not of a caller: ``FileNotFoundError``.
    """
    return resources.files("cognigraph.cypher").joinpath(path).read_text(encoding="utf-8")


@cache
def named_queries() -> Mapping[str, NamedQuery]:
    """Return the inspection queries by name, sorted."""
    folder = resources.files("cognigraph.cypher").joinpath(_FOLDER)
    names = sorted(
        entry.name.removesuffix(".cypher")
        for entry in folder.iterdir()
        if entry.name.endswith(".cypher")
    )
    return MappingProxyType({name: _read(name) for name in names})


def named_query(name: str) -> NamedQuery:
    """Return one inspection query; :class:`NotFoundError` names those that look like it."""
    queries = named_queries()
    if name in queries:
        return queries[name]
    near = process.extract(name, queries.keys(), scorer=fuzz.WRatio, score_cutoff=60, limit=3)
    hint = f"; did you mean {' or '.join(found for found, _, _ in near)}" if near else ""
    known = ", ".join(queries)
    raise NotFoundError(f"no inspection query is named {name!r}{hint} (there are: {known})")


def header(text: str) -> dict[str, str]:
    """Read the header comment: the fields by name; a line indented further goes on with it."""
    fields: dict[str, str] = {}
    last = ""
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        if found := _HEADER.fullmatch(line.strip()):
            last = found[1]
            fields[last] = found[2].strip()
        elif last and (more := _CONTINUED.fullmatch(line.strip())):
            fields[last] += f" {more[1]}"
    return fields


def _read(name: str) -> NamedQuery:
    text = statement(f"{_FOLDER}/{name}.cypher")
    fields = header(text)
    if tuple(fields) != _FIELDS or fields["name"] != name:
        raise ValueError(f"{name}.cypher: the header must have {', '.join(_FIELDS)} in this order")
    return NamedQuery(
        name=name,
        what=fields["what"],
        parameters=_parameters(fields["parameters"]),
        returns=tuple(column.strip() for column in fields["returns"].split(",")),
        text=text,
    )


def _parameters(text: str) -> tuple[Parameter, ...]:
    found = []
    for match in _PARAMETER.finditer(text):
        if match["type"] not in _TYPES:
            raise ValueError(f"unknown type {match['type']!r} of the parameter {match['name']}")
        default = json.loads(match["default"]) if match["default"] else None
        found.append(Parameter(match["name"], match["type"], default))
    return tuple(found)
