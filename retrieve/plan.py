"""Plan a search: read the question and decide what it asks for and which times it concerns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime

from cognigraph.retrieve.candidate_search import find_candidates, rank_candidates
from cognigraph.retrieve.question.analyse import Analysis, about, analyse
from cognigraph.retrieve.question.dates import TimeWindow
from cognigraph.retrieve.question.question_readers import add_reading
from cognigraph.retrieve.question.temporal import Order
from cognigraph.retrieve.rank.licomemory import as_in_the_paper
from cognigraph.retrieve.rank.ranking import best_first
from cognigraph.retrieve.request import SearchRequest
from cognigraph.text.clean import replace_surrogates


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlan:
    """A request whose question has been read.

    ``request.as_of`` is also set if the question itself says "as of March". ``notes`` tell the user
    how the question was understood.
    """

    request: SearchRequest
    analysis: Analysis
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


def plan_search(request: SearchRequest) -> SearchPlan | None:
    """Read the question of a request; ``None`` if it is empty.

    An event that dates the question ("before she moved") is searched for first.
    """
    question = replace_surrogates(request.question)[0].strip()
    if not question:
        return None
    if request.settings.is_top_down:
        request = replace(request, settings=as_in_the_paper(request.settings))
    question, cut_notes = shortened(question, request.settings.max_question_chars)
    analysis = analyse(question, request.now)
    reader_notes: list[str] = []
    if request.reader is not None:
        analysis, reader_notes = add_reading(request.reader, analysis, request.now)
    if request.as_of is None and analysis.time.as_of is not None:
        request = replace(request, as_of=analysis.time.as_of)
    analysis = about(analysis, request.where.speakers)
    analysis, event_notes = _with_event_window(request, analysis)
    notes = (*cut_notes, *reader_notes, *event_notes)
    return SearchPlan(request=request, analysis=analysis, notes=notes)


def shortened(question: str, most: int) -> tuple[str, list[str]]:
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
