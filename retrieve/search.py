"""Search a space: analyse the question, find candidates, rank them and fetch the results."""

from __future__ import annotations

from cognigraph.model import SearchResult, Trace
from cognigraph.retrieve.candidate_search import find_candidates, rank_candidates
from cognigraph.retrieve.plan import plan_search
from cognigraph.retrieve.request import SearchRequest
from cognigraph.retrieve.results import fetch_results
from cognigraph.retrieve.stopwatch import Stopwatch


def search(request: SearchRequest, *, k: int) -> SearchResult:
    """Answer a question with the ``k`` best messages of a space; an empty question finds none."""
    stopwatch = Stopwatch()
    plan = plan_search(request)
    if plan is None:
        settings = request.settings
        trace = Trace(settings.profile, request.now, {}, {}, notes=("empty question",))
        return SearchResult(request.question, (), (), (), trace)
    stopwatch.lap("analyse")
    candidates = find_candidates(plan.request, plan.analysis)
    stopwatch.lap("probe")
    ranking = rank_candidates(plan.request, plan.analysis, candidates)
    stopwatch.lap("rank")
    return fetch_results(plan, candidates, ranking, k, stopwatch)
