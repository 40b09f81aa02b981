"""Evaluate a memory on published benchmarks: from a downloaded file to figures and a page.

``cognigraph eval locomo|longmemeval FILE`` is the command; :class:`Evaluation` is what it drives.
"""

from cognigraph.evaluate.dataset import Benchmark, Conversation, Question
from cognigraph.evaluate.evaluation import EvalSettings, Evaluation
from cognigraph.evaluate.files import DatasetError
from cognigraph.evaluate.qa import QASettings, QuestionAnswering
from cognigraph.evaluate.report import Report, write

__all__ = [
    "Benchmark",
    "Conversation",
    "DatasetError",
    "EvalSettings",
    "Evaluation",
    "QASettings",
    "Question",
    "QuestionAnswering",
    "Report",
    "write",
]
