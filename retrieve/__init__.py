"""The read path: analyse, probe, rank, assemble."""

if __name__ != "cognigraph.retrieve":
    raise ImportError("import this package as cognigraph.retrieve, not from the source folder")

from cognigraph.retrieve.readers import (
    ModelReader,
    QuestionReader,
    QuestionReading,
    RecordedReader,
)

__all__ = ["ModelReader", "QuestionReader", "QuestionReading", "RecordedReader"]
