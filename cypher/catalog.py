"""Find the ``.cypher`` files of the package and read the header that describes each of them.

::

    // what: every fact an entity is part of
    // parameters: entity: string, top: integer = 50
    // returns: subject, relation, object

A line ``// as_of: ...`` of it counts only where the query is asked of what had been said by a time.
Files are read as package data, which works from a wheel, a checkout or a zip archive.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any

from rapidfuzz import fuzz, process

from cognigraph.errors import ConfigurationError, NotFoundError, QueryError

_FIELDS = ("what", "parameters", "returns")
_HEADER = re.compile(r"//\s*(\w+):\s*(.*)")
_CONTINUED = re.compile(r"//\s{2,}(\S.*)")
_PARAMETER = re.compile(r"(?P<name>\w+):\s*(?P<type>\w+)(?:\s*=\s*(?P<default>\"[^\"]*\"|[^,]+))?")
_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str, "integer": int, "float": float, "boolean": bool, "time": (datetime, str),
}  # fmt: skip
_FOLDER = "inspect"
_OTHERS_AT = ("facts-of-session", "newest-facts", "sessions-about")
_AT = re.compile(r"^// as_of: (.*\n)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a named query. It is required unless it has a default or is optional."""

    name: str
    type: str
    default: str | int | float | bool | None = None
    optional: bool = False

    @property
    def required(self) -> bool:
        """Whether the caller must pass a value."""
        return self.default is None and not self.optional

    def __str__(self) -> str:
        default = "" if self.default is None else f" = {json.dumps(self.default)}"
        return f"{self.name}{'?' * self.optional}: {self.type}{default}"


AS_OF = Parameter("as_of", "time", optional=True)
"""The parameter of every named query that leaves out what was said after this time."""


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """An inspection query that is part of the package and runs unchanged on both stores."""

    name: str
    what: str
    parameters: tuple[Parameter, ...]
    returns: tuple[str, ...]
    text: str

    def arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments to run with: those given, and the defaults of the others.

        Raises :class:`QueryError` if a parameter is missing, unknown or of the wrong type.
        """
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
        return {
            name: given.get(name, parameter.default)
            for name, parameter in known.items()
            if name in given or not parameter.optional
        }


@cache
def statement(path: str) -> str:
    """Return the text of a ``.cypher`` file; ``path`` is relative to the folder of this package.

    Raises ``FileNotFoundError`` if there is no such file, which is a bug in cognigraph.
    """
    return resources.files("cognigraph.cypher").joinpath(path).read_text(encoding="utf-8")


def statement_at(name: str) -> str:
    """Return the text of a named query for what had been said by the time ``$as_of``.

    A query that then reads other relationships has a text of its own.
    """
    if name in _OTHERS_AT:
        return statement(f"{_FOLDER}_at/{name}.cypher")
    return _AT.sub(r"\1", statement(f"{_FOLDER}/{name}.cypher"))


@cache
def named_queries() -> Mapping[str, NamedQuery]:
    """Return all inspection queries by name, in alphabetical order."""
    folder = resources.files("cognigraph.cypher").joinpath(_FOLDER)
    names = sorted(
        entry.name.removesuffix(".cypher")
        for entry in folder.iterdir()
        if entry.name.endswith(".cypher")
    )
    return MappingProxyType({name: _read(name) for name in names})


def named_query(name: str) -> NamedQuery:
    """Return the inspection query ``name``.

    Raises :class:`NotFoundError`, which suggests queries with similar names.
    """
    queries = named_queries()
    if name in queries:
        return queries[name]
    near = process.extract(name, queries.keys(), scorer=fuzz.WRatio, score_cutoff=60, limit=3)
    hint = f"; did you mean {' or '.join(found for found, _, _ in near)}" if near else ""
    known = ", ".join(queries)
    raise NotFoundError(f"no inspection query is named {name!r}{hint} (there are: {known})")


def check_own_query(query: str, values: Mapping[str, object]) -> None:
    """Refuse what is meant for a named query where a query of the user's own is given."""
    said = query.strip()
    if said in named_queries():
        raise ConfigurationError(
            f"{said!r} is the name of a query, not a query: give it as name={said!r} "
            f"(on the command line: --name {said})"
        )
    if "as_of" in values and "$as_of" not in query:
        raise ConfigurationError(
            "as_of is a parameter of the named queries (name='...', or --name); a query of your "
            "own sees what is stored now, unless it compares first_observed, valid_from or "
            "valid_to of triples, or at of chunks, with $as_of"
        )


def header(text: str) -> dict[str, str]:
    """Return the fields of the header comment by name. An indented line continues a field."""
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
    if tuple(fields) != _FIELDS:
        raise ValueError(f"{name}.cypher: the header must have {', '.join(_FIELDS)} in this order")
    return NamedQuery(
        name=name,
        what=fields["what"],
        parameters=(*_parameters(fields["parameters"]), AS_OF),
        returns=tuple(column.strip() for column in fields["returns"].split(",")),
        text=_AT.sub("", text),
    )


def _parameters(text: str) -> tuple[Parameter, ...]:
    found = []
    for match in _PARAMETER.finditer(text):
        if match["type"] not in _TYPES:
            raise ValueError(f"unknown type {match['type']!r} of the parameter {match['name']}")
        default = json.loads(match["default"]) if match["default"] else None
        found.append(Parameter(match["name"], match["type"], default))
    return tuple(found)
