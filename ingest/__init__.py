"""The write path: messages to chunks at once, chunks to entities and triples afterwards."""

if __name__ != "cognigraph.ingest":
    raise ImportError("import this package as cognigraph.ingest, not from the source folder")

from typing import TYPE_CHECKING

from cognigraph.deferred import deferred
from cognigraph.ingest.extraction import ENTITY_TYPES, Extraction, Extractor, Fact, Mention, Window
from cognigraph.ingest.queue.step import Limits

if TYPE_CHECKING:
    from cognigraph.ingest.rules.extractor import RulesExtractor

__all__ = [
    "ENTITY_TYPES",
    "Extraction",
    "Extractor",
    "Fact",
    "Limits",
    "Mention",
    "RulesExtractor",
    "Window",
]

__getattr__ = deferred(
    __name__,
    {
        "rules.extractor": "RulesExtractor",
    },
)
