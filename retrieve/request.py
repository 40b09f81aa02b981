"""A question together with everything that its answer depends on."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from cognigraph.embed import CheckedEmbedder
from cognigraph.model import Exclusion, Filter
from cognigraph.retrieve.question.question_readers import QuestionReader
from cognigraph.retrieve.rank.rerank import Reranker
from cognigraph.retrieve.rank.separation import VectorWorth
from cognigraph.settings import SearchSettings, WeightSetName
from cognigraph.stores.protocols import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """A question, where and when it is asked, and how it is to be answered.

    ``now`` is the time of asking. With ``as_of``, nothing that was said later is returned, nor any
    summary that covers it; with ``valid_at``, the facts are those that are true at that time. Only
    messages that pass ``where`` are found. ``weight_set`` is the one that the extractor of the
    triples declares; ``vector_worth`` knows how far the vectors of a space tell messages apart.
    ``reader`` adds to the rule-based analysis of the question; ``reranker`` reorders the best hits.
    ``also`` are further queries that are answered with the question. Nothing in ``without`` is
    returned, at most ``per_session`` messages of one session, and nothing of a lower confidence
    than ``min_confidence``.
    """

    question: str
    store: Store
    embedder: CheckedEmbedder
    space: str
    settings: SearchSettings
    now: datetime
    as_of: datetime | None = None
    valid_at: datetime | None = None
    where: Filter = field(default_factory=Filter)
    weight_set: WeightSetName = "model"
    vector_worth: VectorWorth = field(default_factory=VectorWorth)
    reader: QuestionReader | None = None
    reranker: Reranker | None = None
    also: tuple[str, ...] = ()
    without: Exclusion = field(default_factory=Exclusion)
    per_session: int | None = None
    min_confidence: float | None = None
