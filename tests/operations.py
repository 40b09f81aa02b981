"""The operations of the faces, found by inspection, so that a new one is tested too."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from functools import reduce
from inspect import Parameter
from typing import Any

from cognigraph.aio import AsyncAdmin, AsyncFiles, AsyncOverview, AsyncQueue, AsyncReview
from cognigraph.memory import Admin
from cognigraph.operations.files import Files
from cognigraph.operations.overview import Overview
from cognigraph.operations.queue import Queue
from cognigraph.operations.review import Review

Verb = Callable[..., Any]

GROUPS = (
    Queue, Review, Overview, Files, Admin,
    AsyncQueue, AsyncReview, AsyncOverview, AsyncFiles, AsyncAdmin,
)  # fmt: skip
"""The classes that have further operations. A property that returns one is a group."""


def own_operations(owner: type) -> dict[str, Verb]:
    """The public methods of a class itself."""
    members = inspect.getmembers(owner, inspect.isfunction)
    return {name: verb for name, verb in members if not name.startswith("_")}


def properties(owner: type) -> dict[str, property]:
    """The properties of a class."""
    return dict(inspect.getmembers(owner, lambda value: isinstance(value, property)))


def groups(face: type) -> dict[str, type]:
    """The groups of a face, by the property that gives them."""
    returned = {
        name: typing.get_type_hints(given.fget)["return"]
        for name, given in properties(face).items()
    }
    return {name: kind for name, kind in returned.items() if kind in GROUPS}


def operations(face: type) -> dict[str, Verb]:
    """All operations of a face, those of its groups by names such as ``review.retract``."""
    found = own_operations(face)
    for group, owner in groups(face).items():
        found |= {f"{group}.{name}": verb for name, verb in own_operations(owner).items()}
    return found


def bound(target: Any, name: str) -> Verb:
    """The method of an object, such as ``review.retract`` of a space."""
    verb: Verb = reduce(getattr, name.split("."), target)
    return verb


def parameters(verb: Verb) -> Mapping[str, Parameter]:
    """The parameters of a method, without ``self``."""
    _, *others = inspect.signature(verb).parameters.values()
    return {other.name: other for other in others}
