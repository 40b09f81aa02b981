"""Checks of what a caller gives: the arguments of public verbs and the fields of settings.

A value is checked against the annotation of its parameter, so a new verb is checked by decorating
it with :func:`checked`. Ranges that a type cannot express are in ``_RANGES``, by parameter name.
Every refusal is a :class:`~cognigraph.errors.ConfigurationError` that names the parameter and says
what to give.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterable, Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import fields
from datetime import date, time, timedelta
from functools import cache, wraps
from inspect import Parameter, signature
from numbers import Integral, Real
from pathlib import Path
from types import MappingProxyType, NoneType, UnionType
from typing import (
    Any,
    Literal,
    ParamSpec,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from cognigraph.errors import ConfigurationError
from cognigraph.model import Context
from cognigraph.text.terms import NAME_RULE, is_name, storable

MAX_COUNT = 2**31 - 1
"""The largest whole number that is accepted: both databases and NumPy can add to it."""

MAX_BYTES = 2**50
"""The largest size in bytes that is accepted."""

_NUL = "{} must not contain the character NUL"
_SCALARS = (bool, int, float, bytes, date, time, timedelta)

MAX_AMOUNT = 1e9
"""The largest number of seconds, or amount of money, that is accepted."""

_SHOWN = 40
_COUNT = (0, MAX_COUNT)
_RANGES: dict[str, tuple[float, float]] = {
    "k": (1, MAX_COUNT),
    "per_session": (1, MAX_COUNT),
    "max_tokens": (1, MAX_COUNT),
    "min_confidence": (0, 1),
    "timeout": (0, MAX_AMOUNT),
}

# Text that is searched or parsed may hold NUL; names, ids and paths cannot.
_FREE_TEXT = frozenset({"question", "query"})
# A file name that is not valid Unicode reaches Python as lone surrogates and must stay as it is.
_RAW_TEXT = frozenset({"location"})

_P = ParamSpec("_P")
_R = TypeVar("_R")


class _Misfit(Exception):
    """A value that does not fit an annotation."""


def checked(verb: Callable[_P, _R]) -> Callable[_P, _R]:
    """Check the arguments of a method before it runs.

    NumPy numbers become Python's, and lone surrogates in text become U+FFFD as they do in what is
    stored. Missing and unknown arguments are a ``TypeError``, as in Python.
    """
    form = signature(verb)

    @wraps(verb)
    def run(*arguments: _P.args, **options: _P.kwargs) -> _R:
        try:
            given = form.bind(*arguments, **options)
        except TypeError:
            return verb(*arguments, **options)  # Python's own error names the method, too
        hints = _hints(cast(Hashable, verb))
        for name, value in [*given.arguments.items()][1:]:  # the first is the object itself
            if form.parameters[name].kind is not Parameter.VAR_KEYWORD:
                given.arguments[name] = argument(name, value, hints[name])
        return verb(*given.args, **given.kwargs)

    run.__checked__ = True  # type: ignore[attr-defined]
    return run


def check_fields(
    record: object,
    prefix: str,
    *,
    positive: Collection[str] = (),
    least: Mapping[str, float] = MappingProxyType({}),
    most: Mapping[str, float] = MappingProxyType({}),
) -> None:
    """Check the fields of a frozen dataclass by their annotations, for its ``__post_init__``.

    Numbers and times are 0 or more, above 0 in the fields that are ``positive``. ``least`` and
    ``most`` have other bounds of numbers, by field.
    """
    hints = _hints(cast(Hashable, type(record)))
    for field in fields(record):  # type: ignore[arg-type]
        name, value = field.name, getattr(record, field.name)
        fitting = _fit(f"{prefix}.{name}", value, hints[name])
        if name in positive and fitting is not None and fitting <= type(fitting)():
            raise ConfigurationError(f"{prefix}.{name} must be above 0, not {shown(value)}")
        if isinstance(fitting, timedelta) and fitting < timedelta(0):
            raise ConfigurationError(f"{prefix}.{name} must not be negative")
        _check_range(f"{prefix}.{name}", fitting, least.get(name, 0), most.get(name, MAX_COUNT))
        if fitting is not value:
            object.__setattr__(record, name, fitting)


def argument(name: str, value: object, hint: Any) -> Any:
    """The value of one argument, as its verb can use it."""
    value = _fit(name, value, hint)
    if isinstance(value, str) and not isinstance(value, Context):
        return _text(name, value)
    if isinstance(value, Path) and "\0" in str(value):
        raise ConfigurationError(_NUL.format(name))
    _check_range(name, value, *_RANGES.get(name, _COUNT))
    return value


def _check_range(name: str, value: object, low: float, high: float) -> None:
    """Check a value if it is a number.

    Raises:
        ConfigurationError: it is not from ``low`` to ``high``.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    if not low <= value <= high:
        bound = f"at least {low:g}" if value < low else f"at most {int(high):,}"
        raise ConfigurationError(f"{name} must be {bound}, not {shown(value)}")


def checked_name(what: str, value: object) -> str:
    """The name of a space, as any store can hold it; unlike other text it is never changed."""
    name: str = _fit(what, value, str)
    if is_name(name):
        return name
    raise ConfigurationError(f"{what} must be {NAME_RULE}, not {shown(value)}")


def check_parameters(values: Mapping[str, Any]) -> None:
    """Check that both stores can use the values of a query's parameters.

    The caller has bounded how deep they are nested
    (:func:`cognigraph.cypher.guard.query_limits.check_parameters_size`).
    """
    for name, value in values.items():
        if problem := _unusable(value):
            raise ConfigurationError(f"the parameter ${name} {problem}")


def _unusable(value: object) -> str | None:
    """What is wrong with the value of a parameter."""
    if isinstance(value, str):
        return None if storable(value) == value else "must not contain lone surrogates"
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return "must fit into 64 bits"
    if value is None or isinstance(value, _SCALARS):
        return None
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            return "must have strings as keys"
        items: Iterable[object] = value.values()
    elif isinstance(value, list | tuple):
        items = value
    else:
        return f"must be of a type that Cypher knows, not {shown(value)}"
    return next(filter(None, map(_unusable, items)), None)


def shown(value: object) -> str:
    """A value for an error message: numbers and short texts as they are, else its type."""
    if isinstance(value, bool) or value is None:
        return repr(value)
    if isinstance(value, int) and abs(value) > 10**_SHOWN:
        return f"a number of {value.bit_length():,} bits"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return ascii(value if len(value) <= _SHOWN else value[:_SHOWN] + "...")
    return _article(type(value).__name__)


def _text(name: str, value: str) -> str:
    if "\0" in value and name not in _FREE_TEXT:
        raise ConfigurationError(_NUL.format(name))
    return value if name in _RAW_TEXT else storable(value)


def _fit(name: str, value: object, hint: Any) -> Any:
    try:
        return _conform(value, hint)
    except _Misfit:
        raise ConfigurationError(
            f"{name} must be {_description(hint)}, not {shown(value)}"
        ) from None


@cache
def _hints(owner: Hashable) -> dict[str, Any]:
    return get_type_hints(cast(Any, owner))


def _conform(value: Any, hint: Any) -> Any:
    """The value as the annotated type; :class:`_Misfit` if it is something else."""
    origin = get_origin(hint)
    if hint is Any:
        return value
    if origin in (Union, UnionType):
        return _conform_to_one(value, get_args(hint))
    if origin is Literal:
        return _require(value, any(type(value) is type(c) and value == c for c in get_args(hint)))
    if origin is tuple:
        return _conform_items(value, get_args(hint))
    if hint in _NUMBERS:
        return _NUMBERS[hint](value)
    kind: Any = origin or hint
    if kind in (Iterable, AsyncIterable):
        return _require(value, isinstance(value, kind) and not isinstance(value, _NOT_A_SERIES))
    if kind is Callable:
        return _require(value, callable(value))
    if getattr(kind, "_is_protocol", False) and kind not in (Mapping,):
        return _require(value, not isinstance(value, type) and _has_members(value, kind))
    return _require(value, isinstance(value, kind))


def _require(value: Any, condition: bool) -> Any:
    if not condition:
        raise _Misfit
    return value


def _conform_to_one(value: Any, hints: tuple[Any, ...]) -> Any:
    for hint in hints:
        try:
            return _conform(value, hint)
        except _Misfit:
            continue
    raise _Misfit


def _conform_items(value: Any, hints: tuple[Any, ...]) -> tuple[Any, ...]:
    _require(value, isinstance(value, tuple | list) and len(value) == len(hints))
    return tuple(_conform(item, hint) for item, hint in zip(value, hints, strict=True))


def _whole(value: Any) -> int:
    return int(_require(value, isinstance(value, Integral) and not isinstance(value, bool)))


def _finite(value: Any) -> float:
    _require(value, isinstance(value, Real) and not isinstance(value, bool))
    try:
        number = float(value)
    except OverflowError:
        raise _Misfit from None
    _require(value, math.isfinite(number))
    return value if isinstance(value, int | float) else number


_NUMBERS: dict[Any, Callable[[Any], Any]] = {int: _whole, float: _finite}
_NOT_A_SERIES = (str, bytes, bytearray, memoryview, Mapping)


def _has_members(value: object, protocol: type) -> bool:
    """Whether an object has what a protocol asks for, found out without running its code."""
    if "__call__" in vars(protocol):
        return callable(value)
    kind, own = type(value), getattr(value, "__dict__", {})
    if hasattr(kind, "__getattr__"):
        return True  # a proxy makes its attributes when they are asked for
    return all(hasattr(kind, name) or name in own for name in _members(protocol))


def _members(protocol: type) -> list[str]:
    names = {*vars(protocol), *vars(protocol).get("__annotations__", {})}
    return sorted(name for name in names if not name.startswith("_"))


_WORDS: dict[Any, str] = {
    str: "a string",
    int: "a whole number",
    float: "a finite number",
    bool: "True or False",
    NoneType: "None",
    Any: "anything",
    Path: "a path",
    Callable: "a function",
    Mapping: "a mapping (such as a dict)",
}


def _description(hint: Any) -> str:
    """What to give, in words."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(_description(item) for item in get_args(hint)))
    if origin is Literal:
        return " or ".join(repr(choice) for choice in get_args(hint))
    if origin is tuple:
        return f"a tuple ({', '.join(_description(item) for item in get_args(hint))})"
    if origin is not None and issubclass(origin, Iterable | AsyncIterable):
        return _WORDS.get(origin) or f"an iterable of {_description(get_args(hint)[0])}"
    kind = origin or hint
    if getattr(kind, "_is_protocol", False) and kind not in _WORDS:
        return f"{_article(kind.__name__)} (an object with {', '.join(_members(kind))})"
    return _WORDS.get(kind) or _article(kind.__name__)


def _article(noun: str) -> str:
    return f"{'an' if noun[:1].lower() in 'aeio' else 'a'} {noun}"
