"""Create extractors by name, for ``Memory(extractor=...)`` and ``--extractor``.

A name is a kind, optionally followed by a colon and a detail. The modules of a kind are imported
only when it is used.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import tzinfo
from typing import TYPE_CHECKING

from cognigraph.errors import ConfigurationError
from cognigraph.ingest.extraction import Extractor

if TYPE_CHECKING:
    from cognigraph.llm import Budget, Model

DEFAULT_EXTRACTOR = "rules"
_WITH_MODEL = ("openai", "ama", "hymem", "membuilder", "openai+membuilder")
_KINDS = ("rules", "auto", *_WITH_MODEL)


def chosen_extractor() -> str:
    """The extractor of programs that nobody told one: "auto" once ``setup`` has chosen a model."""
    from cognigraph.llm.choice import choice_file  # urllib is for those who ask

    return "auto" if choice_file().exists() else DEFAULT_EXTRACTOR


def with_model(kind: str, model: Model, timezone: tzinfo | None = None) -> Extractor:
    """The extractor of a kind that reads with a model."""
    from cognigraph.ingest.membuilder.extractor import MemBuilderExtractor
    from cognigraph.ingest.model.conflicts import ConflictChecker
    from cognigraph.ingest.model.extractor import ModelExtractor

    if kind == "membuilder":
        return MemBuilderExtractor(model, timezone=timezone)
    reading = ModelExtractor(model, timezone=timezone, keeps_all=kind == "hymem")
    if kind == "openai+membuilder":
        return MemBuilderExtractor(model, base=reading, timezone=timezone)
    return ConflictChecker(model, reading, timezone=timezone) if kind == "ama" else reading


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
        return _by_name(extractor, timezone, budget)
    if isinstance(extractor, Extractor) and isinstance(getattr(extractor, "name", None), str):
        return extractor
    raise ConfigurationError(
        f"{type(extractor).__name__} is not an extractor: make it a subclass of "
        "cognigraph.ingest.Extractor with a name (text) and extract(window)"
    )


def _by_name(name: str, timezone: tzinfo | None, budget: Budget | None) -> Extractor:
    kind, _, detail = name.partition(":")
    if kind not in _KINDS:
        known = ", ".join(map(repr, _KINDS))
        raise ConfigurationError(f"unknown extractor {name!r}; use {known}, or pass an Extractor")
    environ: Mapping[str, str] | None = None
    if kind in _WITH_MODEL:
        environ = {**os.environ, "COGNIGRAPH_MODEL": detail} if detail else os.environ
    elif detail:
        raise ConfigurationError(f"extractor {kind!r} takes no detail after a colon: {detail!r}")
    elif kind == "auto":  # the model that a user has chosen; nothing is looked for
        from cognigraph.llm.choice import chosen_environment

        kind, environ = "openai", chosen_environment()
    if environ is None:
        from cognigraph.ingest.rules.extractor import RulesExtractor

        return RulesExtractor(timezone=timezone)
    from cognigraph.llm import ChatModel  # first, as it checks that the extra is installed

    return with_model(kind, ChatModel.from_environment(environ, budget=budget), timezone)
