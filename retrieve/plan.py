"""From a question to its ranked candidates, and how sure it is that these hold the answer."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from math import exp, log1p

import numpy as np

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
from cognigraph.text.terms import replace_surrogates, storable, terms, words
from cognigraph.text.word_book import idf


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


# How probable it is that what was found holds the answer: of a result, and of each hit.
#
# Six signals of one search, learned by bench/nothing_found.py; none needs a language or the scale
# of an embedder's cosines. Scores only order what was found: the best of nothing has a high one,
# too.

CONFIDENCE_WEIGHTS = {
    "cosine": 12.47,
    "similar words": 4.41,
    "known words": 2.65,
    "rare words": 1.02,
    "speaker named": 1.81,
    "candidates": -1.53,
}
CONFIDENCE_BIAS = -1.14
FOUND = 0.8
"""Of questions that a memory can answer, the share for which one of the best 15 hits does so."""
_HIT_BIAS, _PER_RANK = -0.15, -1.04
_MOST_RARE = 6.0
_BROAD = frozenset(
    terms("know knows tell remember recall talk talked say said discuss user profile conversation")
    + terms("everything anything something summary summarize history happened memory memories")
)
"""A question of these words alone is about everything ("what do you know about me?")."""


def confidence_signals(
    candidates: Candidates, analysis: Analysis, ranking: Ranking
) -> dict[str, float] | None:
    """What tells an answer from the best of nothing; ``None`` if the ranking did not compute it.

    - ``cosine``: how far the best one is from the median candidate, as a share of what is possible.
    - ``similar words``: late interaction of the question with the best window, from 0 to 1.
    - ``known words``: the share of the question's words that the space has, weighted by idf.
    - ``rare words``: BM25 of the best window, in idf of a word that a single chunk has.
    - ``speaker named``: whether the question names someone who speaks in a candidate.
    - ``candidates``: log(1 + n); among more, the best of nothing is better.
    """
    raw, cosines = ranking.raw, candidates.chunks.cosine
    similar, own = raw.get("window similar words"), raw.get("window words")
    named = raw.get("speaker named")
    if similar is None or own is None or named is None or not len(cosines):
        return None
    weights = idf(candidates.lexicon, analysis.terms)
    frequencies = candidates.lexicon.frequencies
    known = np.array([frequencies.get(term, 0) > 0 for term in analysis.terms], bool)
    median = float(np.median(cosines))
    rarest = log1p(candidates.lexicon.chunks + 1)
    return {
        "cosine": (float(cosines.max()) - median) / max(1.0 - median, 1e-6),
        "similar words": float(np.nanmax(similar, initial=0.0)),
        "known words": float(weights[known].sum() / max(weights.sum(), 1e-9)),
        "rare words": min(float(own.max()) / rarest, _MOST_RARE),
        "speaker named": float(named.max()),
        "candidates": log1p(len(cosines)),
    }


def result_confidence(candidates: Candidates, analysis: Analysis, ranking: Ranking) -> float | None:
    """The probability that one of the best hits answers; ``None`` if it is not known."""
    if not candidates.chunks.uids:
        return 0.0
    if _BROAD.issuperset(analysis.terms):
        return None if words(analysis.question) else 0.0
    found = confidence_signals(candidates, analysis, ranking)
    if found is None:
        return None
    weighted = sum(CONFIDENCE_WEIGHTS[name] * value for name, value in found.items())
    return FOUND * _logistic(CONFIDENCE_BIAS + weighted)


def hit_confidence(result: float | None, rank: int) -> float | None:
    """The probability that the hit of a rank (from 0) answers; ``result`` is that of the result.

    Other signals of a hit add nothing to its rank.
    """
    return None if result is None else result * _logistic(_HIT_BIAS + _PER_RANK * log1p(rank))


def _logistic(value: float) -> float:
    return 1 / (1 + exp(-value))
