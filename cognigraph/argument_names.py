"""Names of arguments: an unknown one is refused with the names that were probably meant."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, iscoroutinefunction, signature
from typing import Any, ParamSpec, TypeVar, cast

_P = ParamSpec("_P")
_R = TypeVar("_R")

_SAME = (
    {"k", "limit", "top_k", "n", "count", "num_results", "max_results", "n_results"},
    {"question", "query", "text", "content", "message", "prompt"},
    {"session", "session_id", "thread_id", "conversation", "conversation_id", "run_id"},
    {"speaker", "author", "user", "user_name", "name", "entity"},
    {"space", "spaces", "namespace", "tenant", "user_id", "group_id"},
    {"id", "message_id", "uid", "expect"},
    {"where", "filter", "filters"},
    {"max_tokens", "budget", "token_budget", "tokens"},
    {"at", "time", "timestamp", "date", "created_at", "reference_time"},
    {"as_of", "before", "until"},
    {"metadata", "meta", "attributes"},
    {"location", "path", "db", "db_path", "url", "uri"},
    {"embedder", "embedding", "embedding_model", "embeddings"},
)
"""Words that different libraries use for the same."""


def refuse_unknown(verb: Callable[_P, _R]) -> Callable[_P, _R]:
    """Make a function say which name was meant when it gets an argument that it does not have."""
    names = accepted(verb)
    if names is None:
        return verb
    if iscoroutinefunction(verb):

        @wraps(verb)
        async def run_async(*arguments: Any, **options: Any) -> Any:
            check_names(verb, names, options)
            return await verb(*arguments, **options)

        return cast(Callable[_P, _R], run_async)

    @wraps(verb)
    def run(*arguments: _P.args, **options: _P.kwargs) -> _R:
        check_names(verb, names, options)
        return verb(*arguments, **options)

    return run


def accepted(verb: Callable[..., Any]) -> tuple[str, ...] | None:
    """The names that a method takes; ``None`` if it takes any."""
    parameters = list(signature(verb).parameters.values())[1:]
    if any(one.kind is Parameter.VAR_KEYWORD for one in parameters):
        return None
    kinds = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    return tuple(one.name for one in parameters if one.kind in kinds)


def check_names(
    verb: Callable[..., Any], names: tuple[str, ...] | None, given: Iterable[str]
) -> None:
    """Raise ``TypeError``, as Python does, for a name that a method does not take."""
    unknown = [] if names is None else [name for name in given if name not in names]
    if unknown:
        near = _meant(unknown[0], names or ())
        hint = f"did you mean {' or '.join(map(repr, near))}? It takes" if near else "it takes"
        called = verb.__name__ if verb.__name__ != "__init__" else verb.__qualname__.split(".")[0]
        raise TypeError(
            f"{called}() got an unexpected keyword argument {unknown[0]!r}; "
            f"{hint}: {', '.join(names or ()) or 'no arguments'}"
        )


def _meant(unknown: str, names: tuple[str, ...]) -> list[str]:
    """The names that are spelled like an unknown one, or else mean the same elsewhere."""
    near = get_close_matches(unknown.lower(), names, 2, 0.75)
    return near or [name for same in _SAME if unknown in same for name in names if name in same][:2]
