"""``Strategy``: which slots a loop has, and their numbers. The strategies of the papers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from cognigraph.errors import ConfigurationError
from cognigraph.loop.ama_slots import Judge, Retry, RewriteAndRoute
from cognigraph.loop.data import Assessment, Plan, Repair
from cognigraph.loop.hymem_slots import DeepModule, LightModule, ReflectionModule
from cognigraph.loop.licomemory_slots import AskAsItIs, FollowUp, NoticeMissing
from cognigraph.loop.refresher import Refresher


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """A loop as data: its slots, the largest number of rounds, and the size of its block.

    Every slot is called with the :class:`~cognigraph.loop.LoopState`. ``route`` plans the first
    round, ``assess`` judges what was found, ``deepen`` reads the details if that asks for it,
    ``reflect`` plans the next round or ends the loop (``None``), and ``repair`` proposes changes
    for entries in conflict. A slot whose attribute ``needs_model`` is true is not called without a
    model. ``max_tokens`` is the budget of the block, unless a call gives another.
    """

    name: str
    route: Callable[[Any], Plan]
    assess: Callable[[Any], Assessment] | None = None
    deepen: Callable[[Any], None] | None = None
    reflect: Callable[[Any], Plan | None] | None = None
    repair: Callable[[Any], tuple[Repair, ...]] | None = None
    rounds: int = 3
    max_tokens: int = 2000

    def __post_init__(self) -> None:
        if self.rounds < 1:
            raise ConfigurationError("a strategy needs at least 1 round")
        if self.max_tokens < 1:
            raise ConfigurationError("strategy.max_tokens must be at least 1")
        slots = (self.route, self.assess, self.deepen, self.reflect, self.repair)
        if not all(slot is None or callable(slot) for slot in slots):
            raise ConfigurationError("the slots of a strategy are functions of a LoopState")

    @property
    def needs_model(self) -> bool:
        """Whether any slot needs a model."""
        slots = (self.route, self.assess, self.deepen, self.reflect, self.repair)
        return any(getattr(slot, "needs_model", False) for slot in slots)


def licomemory(
    *, k: int = 15, queries: int = 3, new: int = 6, rounds: int = 3, max_tokens: int = 2600
) -> Strategy:
    """One search of ``k`` messages, then up to ``queries`` further queries a round.

    Each of them brings up to ``new`` messages that were not found before.
    """
    return Strategy(
        name="licomemory",
        route=AskAsItIs(k),
        assess=NoticeMissing(),
        reflect=FollowUp(queries, new),
        rounds=rounds,
        max_tokens=max_tokens,
    )


def hymem(*, rounds: int, d: int, k: int = 10, n: int = 30, max_tokens: int = 3000) -> Strategy:
    """HyMem: ``k`` summaries first, ``n`` for the deep module, in batches of ``d``.

    ``k`` and ``n`` are the paper's. T (``rounds``) and d are not published.
    """
    return Strategy(
        name="hymem",
        route=AskAsItIs(k, "episodes"),
        assess=LightModule(),
        deepen=DeepModule(n, d),
        reflect=ReflectionModule(k),
        rounds=rounds,
        max_tokens=max_tokens,
    )


def ama(
    *, k_min: int, rounds: int = 2, max_tokens: int = 2000, retention: timedelta | None = None
) -> Strategy:
    """AMA: route by intent, judge, retry on another layer, refresh what is in conflict.

    ``rounds`` is K_r, 2 in the paper. K_m (``k_min``) is not published. A fact in conflict that was
    last said longer ago than ``retention`` is retracted instead of superseded; ``None`` is never.
    """
    return Strategy(
        name="ama",
        route=RewriteAndRoute(k_min),
        assess=Judge(),
        reflect=Retry(k_min),
        repair=Refresher(retention),
        rounds=rounds,
        max_tokens=max_tokens,
    )


def membuilder(*, k: int = 10, max_tokens: int = 3000) -> Strategy:
    """MemBuilder's answer: the core profile, and the ``k`` memories most similar to the question.

    One search and one call. ``k`` is the paper's. Without writers there is no profile, and the
    memories are the facts and episodes of the extractor.
    """
    route = AskAsItIs(k, "memories")
    return Strategy(name="membuilder", route=route, rounds=1, max_tokens=max_tokens)


STRATEGIES: Mapping[str, Strategy] = {
    "licomemory": licomemory(),
    "hymem": hymem(rounds=3, d=10),
    "ama": ama(k_min=10),
    "membuilder": membuilder(),
}
"""The strategies by name. What the papers do not publish has values of our own: d, T and K_m."""


def resolve_strategy(strategy: str | Strategy) -> Strategy:
    """Return the strategy for a name; a :class:`Strategy` is returned unchanged.

    Raises:
        ConfigurationError: the name is unknown.
    """
    if isinstance(strategy, Strategy):
        return strategy
    if strategy not in STRATEGIES:
        known = ", ".join(map(repr, STRATEGIES))
        raise ConfigurationError(f"unknown strategy {strategy!r}; use {known}, or a Strategy")
    return STRATEGIES[strategy]
