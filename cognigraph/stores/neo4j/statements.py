"""Statements as the server gets them: their texts, and their parameters.

What several statements have in common is a part (``cypher/neo4j/parts``), which a line
``// part: NAME`` stands for. A header says what a statement is for, and of its parameters and
columns what their names do not say. ``micros(node.at)`` is a time in microseconds since 1970.

The server plans a statement anew for each combination of the types of its parameters (a null, an
empty list and a full one are of different types) and of the magnitudes of their lengths. That takes
it up to a second. It does not look into maps, so a statement that only reads gets one map.

Statements that write have parameters of the same types in nearly every call, and the properties of
a map can look to the planner like those that they write.

The driver formats all parameters for its log before it asks whether anybody wants to read it. For a
batch of messages that took most of the time of this process, so lists and maps give only their
sizes and names. No text of a message gets into that log either.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from cognigraph.cypher.catalog import statement

_EMBEDDING = "embedding"

_VECTORS = re.compile(rf"(?<=[.'])({_EMBEDDING}|packed)\b")


def vector_property(generation: int) -> str:
    """The property that holds the vectors of the n-th embedder; two properties alternate."""
    return _EMBEDDING if generation % 2 else f"{_EMBEDDING}_b"


def packed_property(embedding: str) -> str:
    """The property of packed values with the vectors of the same embedder."""
    return f"packed{embedding.removeprefix(_EMBEDDING)}"


_PLANNED_ONCE = frozenset({"insert/messages", "vectors/cover", "vectors/label_newest"})
"""Statements that seek in the same indexes whatever the database holds. While an empty database is
being filled, the server would plan them again and again, which takes as long as to run them."""


@cache
def cypher(name: str, *replace: tuple[str, str], embedding: str = _EMBEDDING) -> str:
    """The text of a statement, with the Cypher version it was written for.

    ``embedding`` is the property that holds the vectors; ``packed``, which has them too, gets the
    same suffix. ``replace`` substitutes parts of the text; it must never contain user text.
    """
    text = _whole(name)
    if embedding != _EMBEDDING:
        text = _VECTORS.sub(rf"\1{embedding.removeprefix(_EMBEDDING)}", text)
    for old, new in replace:
        if old not in text:
            raise ValueError(f"{name}.cypher does not contain {old!r}")
        text = text.replace(old, new)
    options = " replan=skip" if name in _PLANNED_ONCE else ""
    return f"CYPHER 5{options}\n{text}"


_PART = re.compile(r"^// part: (\w+)\n", re.MULTILINE)

_HEADER = re.compile(r"\A(?://(?! part: ).*\n)+")

_MICROS = re.compile(r"\bmicros\(([\w.]+)\)")


def _whole(name: str) -> str:
    """The text of a statement with its parts."""
    text = _PART.sub(
        lambda part: _HEADER.sub("", _whole(f"parts/{part[1]}")), statement(f"neo4j/{name}.cypher")
    )
    return _MICROS.sub(r"(\1.epochSeconds * 1000000 + \1.microsecond)", text)


_FILTER = re.compile(r"// filter$.*?// end of filter$", re.MULTILINE | re.DOTALL)

_KEYS = re.compile(r"// keys$.*?// end of keys$", re.MULTILINE | re.DOTALL)

_LAYERS = {
    layer: re.compile(rf"^// {layer}$.*?^// or (.*?)$", re.MULTILINE | re.DOTALL)
    for layer in ("chunks", "triples")
}


@cache
def shortened(
    name: str, embedding: str, *, filters: bool = True, keys: bool = True, without: str = ""
) -> tuple[tuple[str, str], ...]:
    """What to replace to leave out parts of a statement that it marks.

    These are its ``filters`` and ``keys``, and the sources of the layer ``without``, which get the
    values that the statement names instead.
    """
    text = whole = cypher(name, embedding=embedding)
    if without:
        text = _LAYERS[without].sub(r"\1", text)
    if not filters:
        text = _FILTER.sub("", text)
    if not keys:
        text = _KEYS.sub("", text)
    language = whole.partition("\n")[0] + "\n"
    return ((whole.removeprefix(language), text.removeprefix(language)),)


GIVEN = "given"
"""The one parameter of a statement that only reads."""

_WRITES = re.compile(r"\b(?:CREATE|MERGE|SET|DELETE|REMOVE|DROP)\b")

_PARAMETER = re.compile(r"\$(?=\w)")


class _Values(list[Any]):
    """A list that the driver formats at once."""

    def __repr__(self) -> str:
        return f"[{len(self)} values]"


class _Named(dict[str, Any]):
    """A map that the driver formats at once."""

    def __repr__(self) -> str:
        return f"{{{', '.join(self)}}}"


def with_parameters(text: str, parameters: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The text and the parameters of a statement as the server gets them."""
    rewritten = _with_one_map(text)
    if rewritten is not None:
        return rewritten, {GIVEN: _Named(parameters)}
    return text, {name: _brief(value) for name, value in parameters.items()}


def _brief(value: Any) -> Any:
    if isinstance(value, list):
        return _Values(value)
    return _Named(value) if isinstance(value, dict) else value


@cache
def _with_one_map(text: str) -> str | None:
    """The text of a statement that takes its parameters from a map; None if it writes."""
    return None if _WRITES.search(text) else _PARAMETER.sub(f"${GIVEN}.", text)
