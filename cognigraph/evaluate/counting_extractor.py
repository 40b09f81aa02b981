"""An extractor that counts what its calls cost, failed ones included."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

from cognigraph.errors import CogniGraphError
from cognigraph.ingest.extraction import (
    AlsoRead,
    Contextual,
    Extraction,
    Extractor,
    Pausing,
    Recalling,
    Summarising,
    Window,
    also_reads,
)
from cognigraph.model import Usage
from cognigraph.retrieve.rank.ranking import declared_weight_set
from cognigraph.settings import WeightSetName


class CountingExtractor:
    """Another extractor, whose model usage adds up until it is taken.

    ``error`` is the error of the last call or of its summary; ``None`` if both succeeded.
    """

    def __init__(self, extractor: Extractor) -> None:
        self._extractor = extractor
        self._usage = Usage()
        self.error: CogniGraphError | None = None

    @property
    def name(self) -> str:
        """The name of the wrapped extractor."""
        return self._extractor.name

    @property
    def weight_set(self) -> WeightSetName:
        """That of the extractor."""
        return declared_weight_set(self._extractor)

    @property
    def also_reads(self) -> frozenset[AlsoRead]:
        """What the extractor does."""
        return also_reads(self._extractor)

    def extract(self, window: Window) -> Extraction:
        """Read a window."""
        return self._counted(self._extractor.extract, window)

    def _counted(self, ask: Callable[[Window], Extraction], window: Window) -> Extraction:
        try:
            extraction = ask(window)
        except CogniGraphError as error:
            self._usage += getattr(error, "usage", Usage())
            self.error = error
            raise
        self.error = extraction.error
        self._usage += extraction.usage
        return extraction

    def take(self) -> Usage:
        """The usage since the last call of this method."""
        usage, self._usage = self._usage, Usage()
        return usage


class _CountingSummariser(CountingExtractor):
    def __init__(self, extractor: Extractor, summariser: Summarising) -> None:
        super().__init__(extractor)
        self._summariser = summariser

    def summarise(self, window: Window) -> Extraction:
        """Bring a session's summary up to date."""
        return self._counted(self._summariser.summarise, window)


_PASSED_ON = {Contextual: "context", Pausing: "settle", Recalling: "recalls"}
"""Abilities that are a single property, which the queue asks an extractor for."""


def counting(extractor: Extractor) -> CountingExtractor:
    """Wrap an extractor; the result has the abilities of the extractor that the queue asks for."""
    own = {
        name: property(attrgetter(f"_extractor.{name}"))
        for ability, name in _PASSED_ON.items()
        if isinstance(extractor, ability)
    }
    if isinstance(extractor, Summarising):
        kind: type[_CountingSummariser] = type("_Counting", (_CountingSummariser,), own)
        return kind(extractor, extractor)
    plain: type[CountingExtractor] = type("_Counting", (CountingExtractor,), own)
    return plain(extractor)
