"""Search a space: analyse the question, find candidates, rank them and fetch the results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cognigraph.model import SearchResult, Trace
from cognigraph.retrieve.candidate_search import find_candidates, rank_candidates
from cognigraph.retrieve.plan import SearchPlan, plan_search
from cognigraph.retrieve.request import SearchRequest
from cognigraph.retrieve.results import fetch_with_rows
from cognigraph.retrieve.stopwatch import Stopwatch
from cognigraph.stores.candidates import Candidates


def search(request: SearchRequest, *, k: int) -> SearchResult:
    """Answer a question with the ``k`` best messages of a space; an empty question finds none."""
    return search_with_candidates(request, k=k).result


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOutcome:
    """A search result with what it was chosen from.

    ``rows`` are those of the hits among the candidate chunks. ``plan`` and ``candidates`` are
    ``None`` for an empty question.
    """

    result: SearchResult
    plan: SearchPlan | None = None
    candidates: Candidates | None = None
    rows: Sequence[int] = ()


def search_with_candidates(request: SearchRequest, *, k: int) -> SearchOutcome:
    """As :func:`search`, with the plan, the candidates and their rows."""
    stopwatch = Stopwatch()
    plan = plan_search(request)
    if plan is None:
        settings = request.settings
        trace = Trace(settings.profile, request.now, {}, {}, notes=("empty question",))
        return SearchOutcome(result=SearchResult(request.question, (), (), (), trace))
    stopwatch.lap("analyse")
    candidates = find_candidates(plan.request, plan.analysis)
    stopwatch.lap("probe")
    ranking = rank_candidates(plan.request, plan.analysis, candidates)
    stopwatch.lap("rank")
    result, rows = fetch_with_rows(plan, candidates, ranking, k, stopwatch)
    return SearchOutcome(result=result, plan=plan, candidates=candidates, rows=rows)
