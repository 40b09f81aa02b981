"""An extractor that counts what its calls came to, failed ones included."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from cognigraph.errors import CogniGraphError
from cognigraph.ingest.extraction import Extraction, Extractor, Window
from cognigraph.model import Usage


class Counting:
    """Another extractor, whose model usage adds up until it is taken.

    ``error`` is that of the last call, or of its summary; ``None`` after one that worked.
    """

    def __init__(self, extractor: Extractor) -> None:
        self._extractor = extractor
        self._usage = Usage()
        self.error: CogniGraphError | None = None

    @property
    def name(self) -> str:
        """That of the extractor."""
        return self._extractor.name

    def __getattr__(self, name: str) -> Any:
        # Extractors may offer more than the protocol asks for; it is theirs.
        offered = getattr(self._extractor, name)
        return partial(self._counted, offered) if name == "summarise" else offered

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
        """What the calls came to since the last time."""
        usage, self._usage = self._usage, Usage()
        return usage
