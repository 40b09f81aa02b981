"""Ledger: usage and outcomes of model calls, by stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock

from cognigraph.model import Usage


@dataclass(frozen=True, slots=True)
class Entry:
    """Totals of a number of prompts; entries are added with ``+``.

    ``asks`` counts prompts and ``answered`` those that got a valid answer; ``errors`` counts the
    others by the name of the error class. ``repaired`` counts answers that needed a second
    request, ``cut_off`` truncated answers, ``salvaged`` and ``dropped`` the items kept from and
    left out of invalid answers, ``estimated`` the prompts whose token counts are estimates.
    """

    usage: Usage = field(default_factory=Usage)
    asks: int = 0
    answered: int = 0
    repaired: int = 0
    cut_off: int = 0
    salvaged: int = 0
    dropped: int = 0
    estimated: int = 0
    errors: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: Entry) -> Entry:
        return Entry(
            self.usage + other.usage,
            self.asks + other.asks,
            self.answered + other.answered,
            self.repaired + other.repaired,
            self.cut_off + other.cut_off,
            self.salvaged + other.salvaged,
            self.dropped + other.dropped,
            self.estimated + other.estimated,
            dict(Counter(self.errors) + Counter(other.errors)),
        )


class Ledger:
    """Adds up the usage of models by stage (the prompt's name). Thread-safe."""

    def __init__(self) -> None:
        self._stages: dict[str, Entry] = {}
        self._lock = Lock()

    def record(self, stage: str, entry: Entry) -> None:
        """Add an entry to a stage."""
        with self._lock:
            self._stages[stage] = self._stages.get(stage, Entry()) + entry

    @property
    def stages(self) -> dict[str, Entry]:
        """Totals by stage, in the order in which the stages first occurred."""
        with self._lock:
            return dict(self._stages)

    @property
    def total(self) -> Entry:
        """The total of all stages."""
        return sum(self.stages.values(), Entry())
