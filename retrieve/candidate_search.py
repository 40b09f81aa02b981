"""Find the candidates of a request in the store, and rank them by the profile of its settings."""

from __future__ import annotations

from datetime import datetime

from cognigraph.embed import CheckedEmbedder
from cognigraph.model import Exclusion, Filter
from cognigraph.retrieve.question.analyse import Analysis
from cognigraph.retrieve.rank.licomemory import reached_top_down, top_down_query
from cognigraph.retrieve.rank.profiles import PROFILES
from cognigraph.retrieve.rank.ranking import Ranking
from cognigraph.retrieve.request import SearchRequest
from cognigraph.retrieve.timeline import without_later_summaries
from cognigraph.settings import SearchSettings
from cognigraph.stores.candidates import CandidateQuery, Candidates


def find_candidates(request: SearchRequest, analysis: Analysis) -> Candidates:
    """Ask the store once for all candidates, without summaries that ``as_of`` does not allow."""
    query = candidate_query(
        analysis,
        request.embedder,
        request.settings,
        request.as_of,
        request.where,
        request.without,
    )
    return candidates_of(request, query)


def candidates_of(request: SearchRequest, query: CandidateQuery) -> Candidates:
    """Ask the store for the candidates of a query that was built for the request."""
    found = request.store.search.candidates(request.space, query)
    if request.as_of is not None and found.sessions.ids:
        sessions = request.store.search.sessions_by_id(request.space, found.sessions.ids)
        found = without_later_summaries(found, sessions, request.as_of)
    return reached_top_down(found, request.settings) if request.settings.is_top_down else found


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
    return top_down_query(query) if settings.is_top_down else query
