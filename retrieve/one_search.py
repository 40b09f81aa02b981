"""Answer one query: analyse it, find candidates, rank them and fetch the results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cognigraph.model import Hit, SearchResult, Trace
from cognigraph.retrieve.candidate_search import find_candidates, rank_candidates
from cognigraph.retrieve.plan import SearchPlan, plan_search
from cognigraph.retrieve.request import SearchRequest
from cognigraph.retrieve.results import fetch_with_rows
from cognigraph.retrieve.stopwatch import Stopwatch
from cognigraph.stores.candidates import Candidates


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryOutcome:
    """The result of one query with what it was chosen from.

    ``rows`` are those of the hits among the candidate chunks.
    """

    result: SearchResult
    plan: SearchPlan
    candidates: Candidates
    rows: Sequence[int]

    def before(self, hit: Hit) -> str | None:
        """The uid of the chunk before one of the hits, if it is among the candidates."""
        chunks = self.candidates.chunks
        keys = [(one.session, one.id) for one in self.result.hits]
        row = chunks.previous[self.rows[keys.index((hit.session, hit.id))]]
        return chunks.uids[row] if row >= 0 else None


def plan_query(request: SearchRequest, stopwatch: Stopwatch) -> SearchPlan | None:
    """Read the question of a request; ``None`` if it is empty. Ends the stage ``analyse``."""
    plan = plan_search(request)
    stopwatch.lap("analyse")
    return plan


def run_plan(plan: SearchPlan, stopwatch: Stopwatch, *, k: int) -> QueryOutcome:
    """Answer a planned query with the ``k`` best messages."""
    candidates = find_candidates(plan.request, plan.analysis)
    stopwatch.lap("candidates")
    ranking = rank_candidates(plan.request, plan.analysis, candidates)
    stopwatch.lap("rank")
    result, rows = fetch_with_rows(plan, candidates, ranking, k, stopwatch)
    return QueryOutcome(result=result, plan=plan, candidates=candidates, rows=rows)


def nothing_asked(request: SearchRequest) -> SearchResult:
    """The result of an empty question."""
    trace = Trace(request.settings.profile, request.now, {}, {}, notes=("empty question",))
    return SearchResult(request.question, (), (), (), trace)
