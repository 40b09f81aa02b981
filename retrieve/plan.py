"""From a question to its ranked candidates: the request, its plan, what the store finds for it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from cognigraph.embed import CheckedEmbedder
from cognigraph.errors import ConfigurationError
from cognigraph.ids import normalise
from cognigraph.model import Exclusion, Filter
from cognigraph.retrieve.question.analyse import Analysis, analyse, with_asker
from cognigraph.retrieve.question.question_readers import QuestionReader, add_reading
from cognigraph.retrieve.question.temporal import Order, TimeWindow
from cognigraph.retrieve.rank.licomemory import most_similar_names, ranked_here, top_down_query
from cognigraph.retrieve.rank.profiles import PROFILES
from cognigraph.retrieve.rank.ranking import Ranking, best_first, is_top_down
from cognigraph.retrieve.rank.rerank import Reranker
from cognigraph.retrieve.rank.separation import VectorWorth
from cognigraph.retrieve.standing import without_later_summaries
from cognigraph.settings import SearchSettings, WeightSetName
from cognigraph.stores.candidates import CandidateQuery, Candidates, ResultQuery
from cognigraph.stores.protocols import Store
from cognigraph.text.terms import replace_surrogates, storable


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


# The queries of one search: the question, and what else is asked with it.

MOST_QUERIES = 32
"""The largest number of queries of one search, the question included. Each is a search of its own,
and a query gets at least one hit only while there are no more of them than hits."""


def checked_queries(also: Iterable[str]) -> tuple[str, ...]:
    """The additional queries, each a text that is not empty; :class:`ConfigurationError` if not."""
    queries = tuple(also)
    for position, query in enumerate(queries):
        if not isinstance(query, str):
            raise ConfigurationError(
                f"also[{position}] must be a string, not of type {type(query).__name__}"
            )
        if not query.strip():
            raise ConfigurationError(f"also[{position}] is empty; leave empty queries out")
    if len(queries) >= MOST_QUERIES:
        raise ConfigurationError(
            f"also has {len(queries):,} queries, and one search takes at most {MOST_QUERIES - 1}: "
            "give the most promising ones, or search several times"
        )
    return tuple(storable(query) for query in queries)


def distinct(question: str, also: Iterable[str]) -> list[str]:
    """The queries in their order, each once; case and white space do not tell them apart."""
    found: dict[str, str] = {}
    for query in (question, *also):
        found.setdefault(" ".join(query.casefold().split()), query)
    found.pop("", None)
    return list(found.values())


# Measure how long each stage of a search takes.


class Stopwatch:
    """Measures consecutive stages in milliseconds, starting when it is created."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = self._start = time.perf_counter()

    def lap(self, stage: str) -> None:
        """End a stage: record its time, and the ``total`` so far."""
        now = time.perf_counter()
        self.laps[stage] = round((now - self._last) * 1000, 3)
        self.laps["total"] = round((now - self._start) * 1000, 3)
        self._last = now


# Plan a search: read the question and decide what it asks for and which times it concerns.


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlan:
    """A request whose question has been read.

    ``request.as_of`` is also set if the question itself says "as of March". ``notes`` tell the user
    how the question was understood. ``stopwatch`` runs since the reading began.
    """

    request: SearchRequest
    analysis: Analysis
    stopwatch: Stopwatch
    notes: tuple[str, ...] = ()

    @property
    def order(self) -> Order | None:
        """Whether the newest or the oldest of the best hits come first; ``None`` for neither."""
        return self.analysis.time.order if self.request.settings.time_order else None

    @property
    def newer_first(self) -> bool:
        """Whether newer messages of the user precede older ones that match about as well."""
        return self.analysis.asks_state and self._orders_states

    @property
    def later_versions_first(self) -> bool:
        """Whether later versions of a message precede it, whoever said it and in any language."""
        return self.analysis.may_ask_state and self._orders_states

    @property
    def _orders_states(self) -> bool:
        settings = self.request.settings
        if settings.ranking != "default" or not settings.time_order:
            return False
        return self.request.valid_at is None


def plan_queries(request: SearchRequest) -> list[SearchPlan]:
    """The plans of the question and of what else is asked with it, each a request of its own."""
    queries = distinct(request.question, request.also)
    plans = [plan_search(replace(request, question=query, also=())) for query in queries]
    return [plan for plan in plans if plan is not None]


def plan_search(request: SearchRequest) -> SearchPlan | None:
    """Read the question of a request; ``None`` if it is empty. Ends the stage ``analyse``.

    If an event dates the question ("before she moved"), a first search finds out when it was.
    """
    stopwatch = Stopwatch()
    question = replace_surrogates(request.question)[0].strip()
    if not question:
        return None
    if is_top_down(request.settings):  # in the paper, times count by decay and keys
        settings = replace(request.settings, time_order=False, time_anchor=False)
        request = replace(request, settings=settings)
    question, cut_notes = without_middle(question, request.settings.max_question_chars)
    analysis = analyse(question, request.now)
    reader_notes: list[str] = []
    if request.reader is not None:
        analysis, reader_notes = add_reading(request.reader, analysis, request.now)
    if request.as_of is None and analysis.time.as_of is not None:
        request = replace(request, as_of=analysis.time.as_of)
    analysis = with_asker(analysis, request.where.speakers)
    analysis, event_notes = _with_event_window(request, analysis)
    notes = (*cut_notes, *reader_notes, *event_notes)
    stopwatch.lap("analyse")
    return SearchPlan(request=request, analysis=analysis, stopwatch=stopwatch, notes=notes)


def without_middle(question: str, most: int) -> tuple[str, list[str]]:
    """Cut the middle out of a question longer than ``most`` characters; also return notes.

    People who paste a long text say what they want to know before or after it.
    """
    if len(question) <= most:
        return question, []
    half = (most - 3) // 2
    note = f"the question has {len(question)} characters: its first and last {half} were read"
    return f"{question[:half]} … {question[-half:]}", [note]


def _with_event_window(
    request: SearchRequest, analysis: Analysis
) -> tuple[Analysis, tuple[str, ...]]:
    """Add the time before or after an event that the question mentions ("before she moved").

    The event is dated by the message that matches it best.
    """
    anchor = analysis.time.anchor
    if anchor is None or not (request.settings.time_cue and request.settings.time_anchor):
        return analysis, ()
    event = analyse(anchor.event, request.now)
    found = find_candidates(request, event)
    if not found.chunks.uids:
        return analysis, (f"no message was found about {anchor.event!r}, which dates the question",)
    scores = rank_candidates(request, event, found).score
    best = best_first(scores, found.chunks.at)[0]
    at = datetime.fromtimestamp(found.chunks.at[best], UTC)
    window = TimeWindow(None, at) if anchor.side == "before" else TimeWindow(at, None)
    dated = replace(analysis.time, times=(*analysis.time.times, window))
    note = f"{anchor.side} {anchor.event!r}: taken to be {at:%Y-%m-%d}"
    return replace(analysis, time=dated), (note,)


# Find the candidates of a request in the store, and rank them by the profile of its settings.


def find_candidates(request: SearchRequest, analysis: Analysis) -> Candidates:
    """Ask the store once for all candidates, without summaries that ``as_of`` does not allow."""
    settings = request.settings
    by_paper = settings.ranking == "licomemory"
    if by_paper and settings.licomemory.anchors == "vectors" and analysis.entities:
        names = request.store.resolution.names(request.space)
        entities = request.embedder.embed_names([normalise(entity) for entity in analysis.entities])
        analysis = replace(analysis, anchors=most_similar_names(names, entities))
    query = candidate_query(
        analysis,
        request.embedder,
        settings,
        request.as_of,
        request.where,
        request.without,
    )
    found = request.store.search.candidates(request.space, query)
    if request.as_of is not None and found.sessions.ids:
        records = request.store.search.result(
            request.space, ResultQuery(sessions=found.sessions.ids)
        )
        found = without_later_summaries(found, records.sessions, request.as_of)
    return ranked_here(found, analysis, settings) if by_paper else found


def rank_candidates(request: SearchRequest, analysis: Analysis, candidates: Candidates) -> Ranking:
    """Score the candidates by the profile that the settings name; ``as_of`` is their "now"."""
    worth = 1.0
    if analysis.is_english is False:  # only then vectors may count for less
        worth = request.vector_worth.of(request.store, request.space, candidates.lexicon.chunks)
    return PROFILES[request.settings.ranking].rank(
        candidates,
        analysis,
        request.settings,
        now=min(request.now, request.as_of or request.now).timestamp(),
        weight_set=request.weight_set,
        contextual=not request.embedder.static,
        vector_worth=worth,
    )


def candidate_query(
    analysis: Analysis,
    embedder: CheckedEmbedder,
    settings: SearchSettings,
    as_of: datetime | None = None,
    where: Filter | None = None,
    without: Exclusion | None = None,
) -> CandidateQuery:
    """Build the query for candidates: what to look for, and how many of each kind."""
    triples, where = settings.triples, where or Filter()
    # A narrow filter leaves only sessions in which something passes it.
    themes = settings.sessions and not where.is_narrow
    needed = PROFILES[settings.ranking].inputs(settings)
    entity_vectors = embedder.embed(analysis.entities) if needed.entity_vectors else ()
    query = CandidateQuery(
        vector=embedder.embed_query(analysis.question),
        terms=analysis.sought,
        anchors=analysis.anchors if triples else (),
        entity_vectors=tuple(entity_vectors),
        chunks_by_vector=settings.chunks_by_vector,
        chunks_by_terms=settings.chunks_by_terms,
        triples_by_vector=settings.triples_by_vector if triples else 0,
        triples_by_terms=settings.triples_by_terms if triples else 0,
        triples_per_anchor=settings.triples_per_anchor if triples else 0,
        sessions_by_vector=settings.sessions_by_vector if themes else 0,
        radius=settings.radius if settings.windows else 0,
        as_of=as_of,
        texts=needed.texts,
        where=where,
        without=without or Exclusion(),
    )
    return top_down_query(query) if is_top_down(settings) else query
