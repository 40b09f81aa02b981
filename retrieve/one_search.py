"""Answer one query: analyse it, find candidates, rank them and fetch the results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cognigraph.model import SearchResult, Trace
from cognigraph.retrieve.candidate_search import find_candidates, rank_candidates
from cognigraph.retrieve.plan import SearchPlan, plan_search
from cognigraph.retrieve.rank.signals import MOST_WORDS
from cognigraph.retrieve.request import SearchRequest
from cognigraph.retrieve.results import fetch_with_rows
from cognigraph.retrieve.stopwatch import Stopwatch
from cognigraph.stores.candidates import Candidates

MessageKey = tuple[str, str]
"""Session and id of a message."""
_MOST_CORRECTIONS = 3
"""Corrections in a row: "the 25th", "no, the 26th"."""


class NextTurn(NamedTuple):
    """The uid of a chunk, and whether its speaker said it ``at_once``, with nobody between."""

    uid: str
    at_once: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryOutcome:
    """The result of one query with what it was chosen from.

    ``rows`` are those of the hits among the candidate chunks.
    """

    result: SearchResult
    plan: SearchPlan
    candidates: Candidates
    rows: Sequence[int]

    def row_of_hits(self) -> dict[MessageKey, int]:
        """The rows of the hits among the candidate chunks, by session and id."""
        keys = ((hit.session, hit.id) for hit in self.result.hits)
        return dict(zip(keys, self.rows, strict=True))

    def before(self, row: int) -> str | None:
        """The uid of the chunk before that of a row, if it is among the candidates."""
        before = self.candidates.chunks.previous[row]
        return self.candidates.chunks.uids[before] if before >= 0 else None

    def following(self, row: int, parts: int) -> list[NextTurn]:
        """What the speaker of a hit said next after it, as far as it may be a correction.

        ``row`` is a chunk of the hit, which has so many ``parts``.

        Those are short messages, each directly after the one before it or with one of somebody
        else between. All are candidates, so they pass the filter and ``as_of``.
        """
        turns: list[NextTurn] = []
        for _ in range(_MOST_CORRECTIONS + parts):
            row, at_once = self._next_of_speaker(row)
            if row < 0 or len(turns) == _MOST_CORRECTIONS:
                break
            if self.candidates.chunks.length[row] <= MOST_WORDS:
                turns.append(NextTurn(self.candidates.chunks.uids[row], at_once))
            elif turns or parts == 1:  # else it is a further part of the hit
                break
        return turns

    def _next_of_speaker(self, row: int) -> tuple[int, bool]:
        """The row of the speaker's next chunk, or -1, and whether nobody spoke between."""
        chunks = self.candidates.chunks
        speaker = chunks.speakers[row], chunks.roles[row]
        for at_once in (True, False):
            row = int(chunks.following[row])
            if row < 0:
                break
            if (chunks.speakers[row], chunks.roles[row]) == speaker:
                return row, at_once
        return -1, False


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
    trace = Trace(request.settings.ranking, request.now, {}, {}, notes=("empty question",))
    return SearchResult(request.question, (), (), (), trace)
