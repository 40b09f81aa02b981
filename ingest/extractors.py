"""Create extractors by name, for ``Memory(extractor=...)`` and ``--extractor``.

A name is a kind, optionally followed by a colon and a detail. The modules of a kind are imported
only when it is used.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import tzinfo
from typing import TYPE_CHECKING

from cognigraph.errors import ConfigurationError
from cognigraph.ingest.extraction import Extractor

if TYPE_CHECKING:
    from cognigraph.llm import Budget

DEFAULT_EXTRACTOR = "rules"


def _rules(detail: str, timezone: tzinfo | None, budget: Budget | None) -> Extractor:
    from cognigraph.ingest.rules.extractor import RulesExtractor

    _no_detail("rules", detail)
    return RulesExtractor(timezone=timezone)


def _openai(detail: str, timezone: tzinfo | None, budget: Budget | None) -> Extractor:
    environ = {**os.environ, "COGNIGRAPH_MODEL": detail} if detail else os.environ
    return _of_model(environ, timezone, budget)


def _of_model(
    environ: Mapping[str, str], timezone: tzinfo | None, budget: Budget | None
) -> Extractor:
    from cognigraph.llm import ChatModel

    model = ChatModel.from_environment(environ, budget=budget)

    from cognigraph.ingest.model.extractor import (
        ModelExtractor,  # imported after ChatModel has checked that the extra is installed
    )

    return ModelExtractor(model, timezone=timezone)


def _auto(detail: str, timezone: tzinfo | None, budget: Budget | None) -> Extractor:
    """The model that a user has chosen, or the rules; nothing is looked for."""
    from cognigraph.llm.choice import chosen_environment

    _no_detail("auto", detail)
    environ = chosen_environment()
    return _rules("", timezone, budget) if environ is None else _of_model(environ, timezone, budget)


def _membuilder(detail: str, timezone: tzinfo | None, budget: Budget | None) -> Extractor:
    return _writers(detail, timezone, budget, over_model=False)


def _openai_membuilder(detail: str, timezone: tzinfo | None, budget: Budget | None) -> Extractor:
    return _writers(detail, timezone, budget, over_model=True)


def _ama(detail: str, timezone: tzinfo | None, budget: Budget | None) -> Extractor:
    from cognigraph.llm import ChatModel

    environ = {**os.environ, "COGNIGRAPH_MODEL": detail} if detail else os.environ
    model = ChatModel.from_environment(environ, budget=budget)

    from cognigraph.ingest.model.conflicts import ConflictChecker
    from cognigraph.ingest.model.extractor import ModelExtractor

    return ConflictChecker(model, ModelExtractor(model, timezone=timezone), timezone=timezone)


def _writers(
    detail: str, timezone: tzinfo | None, budget: Budget | None, *, over_model: bool
) -> Extractor:
    from cognigraph.llm import ChatModel

    environ = {**os.environ, "COGNIGRAPH_MODEL": detail} if detail else os.environ
    model = ChatModel.from_environment(environ, budget=budget)

    from cognigraph.ingest.membuilder.extractor import MemBuilderExtractor
    from cognigraph.ingest.model.extractor import ModelExtractor

    base = ModelExtractor(model, timezone=timezone) if over_model else None
    return MemBuilderExtractor(model, base=base, timezone=timezone)


_BY_NAME: dict[str, Callable[[str, tzinfo | None, Budget | None], Extractor]] = {
    "rules": _rules,
    "auto": _auto,
    "openai": _openai,
    "ama": _ama,
    "membuilder": _membuilder,
    "openai+membuilder": _openai_membuilder,
}
"""Factories by kind; each takes the detail (empty if absent), the timezone and the budget."""


def resolve_extractor(
    extractor: str | Extractor = DEFAULT_EXTRACTOR,
    *,
    timezone: tzinfo | None = None,
    budget: Budget | None = None,
) -> Extractor:
    """The extractor for a name; an :class:`Extractor` object is returned unchanged.

    ``timezone`` is the speakers' timezone, used to resolve time words. ``budget`` limits the calls
    of extractors that use a model.

    Raises:
        ConfigurationError: the name is unknown, or the object is not an extractor.
    """
    if isinstance(extractor, str):
        kind, _, detail = extractor.partition(":")
        if kind not in _BY_NAME:
            known = ", ".join(repr(name) for name in _BY_NAME)
            raise ConfigurationError(
                f"unknown extractor {extractor!r}; use {known}, or pass an Extractor"
            )
        return _BY_NAME[kind](detail, timezone, budget)
    name = getattr(extractor, "name", None)
    if isinstance(name, str) and callable(getattr(extractor, "extract", None)):
        return extractor
    raise ConfigurationError(
        f"{type(extractor).__name__} is not an extractor: it needs a name (text) and "
        "extract(window)"
    )


def _no_detail(kind: str, detail: str) -> None:
    if detail:
        raise ConfigurationError(f"extractor {kind!r} takes no detail after a colon: {detail!r}")
