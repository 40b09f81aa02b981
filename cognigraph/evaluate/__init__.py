"""Evaluate a memory on published benchmarks: from a downloaded file to figures and a page.

``cognigraph eval locomo|longmemeval FILE`` is the command; :class:`Evaluation` is what it drives.
``cognigraph eval self`` calls :func:`evaluate_self`, which compares settings on a user's own data,
and ``cognigraph eval paper`` a :class:`PaperRun`, which measures the main table of a paper.
"""

from cognigraph.evaluate.dataset import Benchmark, Conversation, Question
from cognigraph.evaluate.evaluation import EvalSettings, Evaluation
from cognigraph.evaluate.files import DatasetError
from cognigraph.evaluate.known_item import KnownItem
from cognigraph.evaluate.own_data import Compared, SelfEvaluation, evaluate_self
from cognigraph.evaluate.papers import PAPERS, PaperRun, PaperSettings
from cognigraph.evaluate.qa import QASettings, QuestionAnswering
from cognigraph.evaluate.report import Report, write

__all__ = [
    "PAPERS",
    "Benchmark",
    "Compared",
    "Conversation",
    "DatasetError",
    "EvalSettings",
    "Evaluation",
    "KnownItem",
    "PaperRun",
    "PaperSettings",
    "QASettings",
    "Question",
    "QuestionAnswering",
    "Report",
    "SelfEvaluation",
    "evaluate_self",
    "write",
]
