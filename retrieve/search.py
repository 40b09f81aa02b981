"""Search a space: answer the question, and all that is asked with it, with the best messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cognigraph.model import SearchResult
from cognigraph.retrieve.confidence import surer_than
from cognigraph.retrieve.one_search import QueryOutcome, nothing_asked, plan_query, run_plan
from cognigraph.retrieve.request import SearchRequest
from cognigraph.retrieve.several import fuse, run_several
from cognigraph.retrieve.stopwatch import Stopwatch


def search(request: SearchRequest, *, k: int) -> SearchResult:
    """Answer a question with the ``k`` best messages of a space; an empty question finds none."""
    return search_with_candidates(request, k=k).result


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOutcome:
    """A search result with what it was chosen from.

    ``queries`` are the outcomes of the queries, none for an empty question. ``given_by`` says for
    each hit which of them gave it.
    """

    result: SearchResult
    queries: Sequence[QueryOutcome] = ()
    given_by: Sequence[int] = ()


def search_with_candidates(request: SearchRequest, *, k: int) -> SearchOutcome:
    """As :func:`search`, with the plans and the candidates."""
    found = _searched(request, k)
    result = surer_than(found.result, request.min_confidence)
    return replace(found, result=result, given_by=found.given_by[: len(result.hits)])


def _searched(request: SearchRequest, k: int) -> SearchOutcome:
    if request.also:
        outcomes = run_several(request, k=k)
        result, given_by = fuse(request, outcomes, k=k)
        return SearchOutcome(result=result, queries=outcomes, given_by=given_by)
    stopwatch = Stopwatch()
    plan = plan_query(request, stopwatch)
    if plan is None:
        return SearchOutcome(result=nothing_asked(request))
    outcome = run_plan(plan, stopwatch, k=k)
    return SearchOutcome(result=outcome.result, queries=[outcome], given_by=[0] * len(outcome.rows))
