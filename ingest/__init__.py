"""The write path: messages to chunks at once, chunks to entities and triples afterwards."""

if __name__ != "cognigraph.ingest":
    raise ImportError("import this package as cognigraph.ingest, not from the source folder")

from cognigraph.ingest.extraction import ENTITY_TYPES, Extraction, Extractor, Fact, Mention, Window
from cognigraph.ingest.queue.run_limits import Limits
from cognigraph.ingest.recorded import RecordedExtractor
from cognigraph.ingest.rules.extractor import RulesExtractor

__all__ = [
    "ENTITY_TYPES",
    "Extraction",
    "Extractor",
    "Fact",
    "Limits",
    "Mention",
    "RecordedExtractor",
    "RulesExtractor",
    "Window",
]
