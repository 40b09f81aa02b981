"""``?fields=``: answers with only what a client names.

A route declares it once, with the schema of its answer: :func:`fields_of` makes the query parameter
from that, checks the names that are sent, and gives the route what picks the fields.
"""

# The annotation of the query parameter is made at run time, so it must not be a string.
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

from fastapi import Depends, Query
from pydantic import BaseModel

from cognigraph.errors import ConfigurationError
from cognigraph.plain_data import plain

_Tree = dict[str, "_Tree"]
"""Names, each with those inside it that are chosen; with all if there are none."""


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of an answer that a request names."""

    _tree: _Tree
    _is_page: bool

    def of(self, value: Any) -> Any:
        """The value as plain data with these fields only; of a page, in each of its items."""
        made = plain(value)
        if self._is_page:
            return made | {"items": _chosen(made["items"], self._tree)}
        return _chosen(made, self._tree)


def _chosen(value: Any, tree: _Tree) -> Any:
    if not tree:
        return value
    if isinstance(value, list):
        return [_chosen(item, tree) for item in value]
    if isinstance(value, Mapping):
        return {name: _chosen(value[name], inner) for name, inner in tree.items() if name in value}
    return value


def fields_of(model: type[BaseModel]) -> Any:
    """Make a dependency that reads ``fields`` of an answer with this schema, or of a page's items.

    It is ``None`` for a request that names none.
    """
    items = model.model_fields.get("items")
    of_each = None if items is None else _model_in(items.annotation)
    inner = of_each or model
    names = ", ".join(f"`{name}`" for name in inner.model_fields)
    of_what = "of each item" if of_each else "of the answer"
    query = Query(
        description=f"Which fields {of_what} are sent, with commas: {names}. "
        "A dot leads further in, as in `a.b`. Without it, all.",
    )

    async def fields(fields: Annotated[str | None, query] = None) -> Fields | None:
        return None if fields is None else Fields(_read(fields, inner), of_each is not None)

    return Depends(fields)


def _read(text: str, model: type[BaseModel]) -> _Tree:
    tree: _Tree = {}
    for path in filter(None, (part.strip() for part in text.split(","))):
        node, inside = tree, model
        names = path.split(".")
        for depth, name in enumerate(names):
            if name not in inside.model_fields:
                there = ", ".join(inside.model_fields)
                raise ConfigurationError(f"there is no field {path!r}; there are {there}")
            is_known, is_last = name in node, depth == len(names) - 1
            if is_known and (is_last or not node[name]):
                node[name] = {}  # all of it is chosen
                break
            node = node.setdefault(name, {})
            further = _model_in(inside.model_fields[name].annotation)
            if further is None and not is_last:
                raise ConfigurationError(f"{'.'.join(names[: depth + 1])!r} has no fields inside")
            inside = further or inside
    if not tree:
        raise ConfigurationError("fields names no field; leave it out for all")
    return tree


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The schema of an object, of the objects in a list, or of one that may be null."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) is dict:
        return None
    found = (_model_in(inner) for inner in get_args(annotation))
    return next((model for model in found if model is not None), None)
