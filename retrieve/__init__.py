"""Answer questions: read the question, find candidates, rank them, assemble the prompt block."""

if __name__ != "cognigraph.retrieve":
    raise ImportError("import this package as cognigraph.retrieve, not from the source folder")

from cognigraph.retrieve.question.question_readers import (
    ModelReader,
    QuestionReader,
    QuestionReading,
)

__all__ = ["ModelReader", "QuestionReader", "QuestionReading"]
