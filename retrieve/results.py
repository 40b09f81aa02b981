"""Build the search result: fetch the best messages, triples and sessions, and explain scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import islice
from math import isfinite, isnan

import numpy as np

from cognigraph.arrays import Floats, Ints, or_zero
from cognigraph.model import Hit, SearchResult, Session, SessionHit, Trace, Triple, Why
from cognigraph.retrieve.confidence import hit_confidence, result_confidence
from cognigraph.retrieve.plan import SearchPlan, SearchRequest
from cognigraph.retrieve.question.analyse import Analysis
from cognigraph.retrieve.rank.profiles import PROFILES
from cognigraph.retrieve.rank.ranking import (
    Ranking,
    RankingProfile,
    best_first,
    is_top_down,
    scaled,
    share_of_best,
)
from cognigraph.retrieve.rank.rerank import RankedMessages, rerank
from cognigraph.retrieve.standing import (
    COMPARED,
    DEPTH,
    STATE_DEPTH,
    ComparedMessage,
    DatedMessage,
    by_time_if_asked,
    current_facts_first,
    current_messages_first,
    fetched_at,
    is_over,
    known_at,
    later_versions_first,
    may_tell_a_state,
    newer_before_older,
    newest_of,
    state_time,
    true_messages_first,
    with_superseding,
)
from cognigraph.stores.candidates import (
    Candidates,
    ChunkCandidates,
    ChunkRecord,
    NewestSources,
    ResultQuery,
    ResultRecords,
)
from cognigraph.text.terms import names_in, terms

_PER_MESSAGE = 2
"""Chunks that are read for each message that is wanted, because some messages have several."""

_NO_FACT = (
    "the profile licomemory finds messages through facts, and none leads to one here; facts come "
    "from enrichment (flush() or `cognigraph enrich`). The default profile needs none, nor does "
    "LicoMemorySettings(candidates='wide')"
)


@dataclass(frozen=True, slots=True)
class RankedCandidates:
    """The ranked candidates of a plan; rows are those of the candidates."""

    plan: SearchPlan
    candidates: Candidates
    ranking: Ranking

    def fetch_result(self, k: int) -> tuple[SearchResult, list[int]]:
        """Fetch the ``k`` best messages, triples and sessions; also return the rows of the hits.

        Messages are ranked by score. Five steps follow, each of which may change nothing: the
        reranker; newer messages of the user first; later versions first; newest or oldest first;
        messages of current facts before those of superseded ones. Ends the stages ``rerank`` (if
        there is a reranker) and ``fetch``.
        """
        request, uids = self.plan.request, self.candidates.chunks.uids
        ordered, reranked = self._depths(k)
        depth = max(ordered, reranked)
        order = best_first(self.ranking.score, self.candidates.chunks.at)
        triple_rows, session_rows = self._best_triples(), self._best_sessions()
        # What will probably be hits is read with its facts. What is reranked may come in any order,
        # so the facts of its hits are read afterwards.
        likely = [uids[row] for row in order[:ordered]] if not reranked else []
        triple_uids = [self.candidates.triples.uids[row] for row in triple_rows]
        query = ResultQuery(
            chunks=[uids[row] for row in order[: _PER_MESSAGE * depth]],
            stating=likely,
            triples=triple_uids,
            sessions=[self.candidates.sessions.ids[row] for row in session_rows],
            newest=NewestSources(chunks=likely, until=request.as_of),
        )
        read = _read(request, query)
        best = self._messages(order, depth, read.chunks)
        if request.reranker is not None and reranked:
            best = rerank(request.reranker, request.question, best, reranked, ordered)
            self.plan.stopwatch.lap("rerank")
        best = self._later_versions_first(self._newer_first(best))
        rows = self._by_time_if_asked(best)[:k]
        known = facts_of_hits(
            request, read, likely, [best.records[row].uid for row in rows], triple_uids
        )
        rows = self._current_first(rows, best, known, triple_rows)
        profile = PROFILES[request.settings.ranking]
        whys = explanations(self.ranking, self.candidates.chunks, rows, best, profile)
        sure = result_confidence(self.candidates, self.plan.analysis, self.ranking)
        hits = tuple(
            hit_of(
                best.records[row],
                why,
                triples=known.stated_by(best.records[row].uid),
                found_by=(request.question,),
                confidence=hit_confidence(sure, rank),
            )
            for rank, (row, why) in enumerate(zip(rows, whys, strict=True))
        )
        stated = {uid for row in rows for uid in known.stated.get(best.records[row].uid, ())}
        ranked_triples = self._triple_hits(self._supported(triple_rows, stated), known.facts)
        session_hits = self._session_hits(session_rows, read.sessions)
        self.plan.stopwatch.lap("fetch")
        result = SearchResult(
            request.question,
            hits,
            tuple(ranked_triples),
            session_hits,
            self._trace(best),
            confidence=sure,
        )
        return result, rows

    def _depths(self, k: int) -> tuple[int, int]:
        """How many of the best messages are put in order, and how many of them are reranked."""
        request = self.plan.request
        ordered = max(k, DEPTH if self.plan.order is not None else 0)
        ordered = max(ordered, STATE_DEPTH if self.plan.newer_first else 0)
        ordered = max(ordered, COMPARED if self.plan.later_versions_first else 0)
        return ordered, request.settings.rerank if request.reranker is not None else 0

    def _messages(
        self, order: list[int], k: int, read: Mapping[str, ChunkRecord]
    ) -> RankedMessages:
        """Return the ``k`` best messages, each with its chunk that matches best by itself.

        A message ranks by its best chunk, which windows may choose for an answer beside it.
        ``order`` are the rows of all chunks, best first, and ``read`` is the first part of them.
        """
        chunks = self.candidates.chunks
        words = self.ranking.raw.get("words")
        words = chunks.matches.sum(axis=1) if words is None else words
        own = scaled(chunks.cosine) + scaled(words)
        rows: list[int] = []
        records: dict[int, ChunkRecord] = {}
        row_of_message: dict[tuple[str, str], int] = {}
        best: dict[int, float] = {}
        per_session: Counter[str] = Counter()
        most = self.plan.request.per_session or len(order)
        without = self.plan.request.without
        step = _PER_MESSAGE * k
        for start in range(0, len(order), step):
            if len(rows) >= k:
                break
            part = order[start : start + step]
            found = read if not start else self._chunks(part)
            for row in part:
                record = found.get(chunks.uids[row])
                if record is None or not record.text.strip():  # a payload without a text
                    continue
                if without.has_message(record.session, record.message_id):
                    continue
                message = (record.session_uid, record.message_id)
                if message not in row_of_message:
                    if per_session[record.session] >= most:
                        continue
                    per_session[record.session] += 1
                    row_of_message[message] = row
                    rows.append(row)
                ranked = row_of_message[message]
                if ranked == row or own[row] > best[ranked]:
                    best[ranked] = own[row]
                    records[ranked] = record
        return RankedMessages(rows=rows[:k], records=records)

    def _chunks(self, rows: Sequence[int]) -> Mapping[str, ChunkRecord]:
        request, uids = self.plan.request, self.candidates.chunks.uids
        return request.store.search.chunks(request.space, [uids[row] for row in rows])

    def _by_time_if_asked(self, best: RankedMessages) -> list[int]:
        """The rows of the messages, newest or oldest first if the question asks for it."""
        if self.plan.order is None or self._is_in_order_of_time(best):
            return list(best.rows)
        own = self._own_answer()
        # A later version counts as the best answer, because the message that it updates may match
        # the question better. Where a state is asked for, more versions moved, not all so surely.
        versions = () if self.plan.analysis.asks_state else best.versions
        scores = [own.max() if row in versions else own[row] for row in best.rows]
        times = [best.records[row].at for row in best.rows]
        return by_time_if_asked(best.rows, self.plan.order, scores, times)

    def _is_in_order_of_time(self, best: RankedMessages) -> bool:
        """Whether :meth:`_newer_first` has done what "now" asks for: a user is among those found.

        It compares neighbours, so a message that matches much worse does not come first.
        """
        is_asked = self.plan.newer_first and self.plan.order == "last"
        return is_asked and any(best.records[row].role == "user" for row in best.rows)

    def _newer_first(self, best: RankedMessages) -> RankedMessages:
        """Put newer messages of the user before older ones, if the question is about a state.

        What an assistant says stays where it is: its answers repeat older values and advise.
        """
        if not self.plan.newer_first:
            return best
        scores, own = self.ranking.score, self._own_answer()
        changes = or_zero(self.ranking.raw.get("change", np.zeros(len(scores))))
        order = newer_before_older(
            [
                DatedMessage(
                    at=best.records[row].at,
                    score=float(scores[row]),
                    own=float(own[row]),
                    change=float(changes[row]),
                    may_move=may_tell_a_state(best.records[row]),
                )
                for row in best.rows
            ]
        )
        rows = [best.rows[before] for before in order]
        return replace(best, rows=rows, newer=_moved_up(order, best.rows))

    def _later_versions_first(self, best: RankedMessages) -> RankedMessages:
        """Put what a user or a person said last of a thing before what they said of it earlier."""
        if not self.plan.later_versions_first:
            return best
        distinctive = _names_and_figures(self.plan.analysis)
        matches = self.candidates.chunks.matches
        order = later_versions_first(
            [
                ComparedMessage(
                    text=record.text,
                    at=record.at,
                    session=record.session,
                    speaker=_person(record),
                    score=float(self.ranking.score[row]),
                    named=frozenset(terms(record.speaker or "")).union(
                        term for term, column in distinctive.items() if matches[row, column]
                    ),
                )
                for row, record in ((row, best.records[row]) for row in best.rows)
            ],
            asks_state=self.plan.analysis.asks_state,
        )
        rows = [best.rows[before] for before in order]
        return replace(best, rows=rows, versions=_moved_up(order, best.rows))

    def _own_answer(self) -> Floats:
        """Return how well each chunk (n,) answers by itself: by its vector, words and best triple.

        Its window and its session are left out, because they may describe other states as well.
        """
        raw = self.ranking.raw
        parts = [share_of_best(raw[name]) for name in ("vector", "words", "triple") if name in raw]
        return np.asarray(np.sum(parts, axis=0))

    def _best_triples(self) -> list[int]:
        triples = self.candidates.triples
        order = best_first(self.ranking.triples, triples.at)
        without = self.plan.request.without
        if without:
            order = [row for row in order if not without.has_triple(triples.uids[row])]
        if self.plan.request.valid_at is not None:
            return self._true_then(order)
        return order[: self.plan.request.settings.max_triples]

    def _true_then(self, rows: Sequence[int]) -> list[int]:
        """Return the first of the rows whose facts are true at ``valid_at``."""
        request, uids = self.plan.request, self.candidates.triples.uids
        assert request.valid_at is not None
        wanted = [uids[row] for row in rows]
        found = fetched_at(request.store, request.space, wanted, request.as_of)
        true = [row for row in rows if uids[row] in found]
        true = [row for row in true if found[uids[row]].is_true_at(request.valid_at)]
        return true[: request.settings.max_triples]

    def _best_sessions(self) -> list[int]:
        sessions = self.candidates.sessions
        scores = or_zero(self.ranking.sessions)
        order = best_first(scores, np.zeros(len(scores)))
        without = self.plan.request.without
        relevant = (
            row for row in order if scores[row] > 0 and not without.has_session(sessions.ids[row])
        )
        return list(islice(relevant, self.plan.request.settings.max_sessions))

    def _current_first(
        self,
        rows: list[int],
        best: RankedMessages,
        known: KnownFacts,
        triple_rows: list[int],
    ) -> list[int]:
        """Rows of the messages, those of current facts before those of what they superseded.

        A question with a date, for a date, or that names what was superseded, is about that.
        """
        time, names = self.plan.analysis.time, set(self.candidates.anchors)
        dated = time.times or time.anchor or time.asks or self.plan.order == "first"
        if dated or not self.plan.request.settings.time_order:
            return rows
        uids = [self.candidates.triples.uids[row] for row in triple_rows]
        stated = [known.stated.get(best.records[row].uid, ()) for row in rows]
        triples, valid_at = known.facts, self.plan.request.valid_at
        if valid_at is not None:
            return true_messages_first(rows, stated, triples, set(uids), valid_at)
        found = [triples[uid] for uid in uids if uid in triples]
        named = {newest_of(item.uid, triples) for item in found if item.object in names}
        relevant = [item.uid for item in found if newest_of(item.uid, triples) not in named]
        times = [best.records[row].at for row in rows]
        return current_messages_first(rows, stated, triples, times, relevant, past=time.past)

    def _supported(self, rows: list[int], stated: Set[str]) -> list[int]:
        """Keep the facts that share a word or a name with the question, or are in one of the hits.

        The nearest of a few facts need have nothing to do with a question.
        """
        triples = self.candidates.triples
        return [
            row
            for row in rows
            if triples.by_terms[row] or triples.by_anchor[row] or triples.uids[row] in stated
        ]

    def _triple_hits(self, rows: list[int], triples: Mapping[str, Triple]) -> list[Triple]:
        """Return the best triples with scores, newest or oldest first if the question says so."""
        uids = self.candidates.triples.uids
        found = [row for row in rows if uids[row] in triples]
        scores = [float(self.ranking.triples[row]) for row in found]
        hits = [
            replace(triples[uids[row]], score=score)
            for row, score in zip(found, scores, strict=True)
        ]
        if self.plan.order is not None:
            times = [state_time(triple) for triple in hits]
            hits = by_time_if_asked(hits, self.plan.order, scores, times)
        time = self.plan.analysis.time
        past = time.past or time.asks is not None or self.plan.order == "first"
        past = past or self.plan.request.valid_at is not None
        return current_facts_first(hits, triples, past=past)

    def _session_hits(
        self, rows: list[int], sessions: Mapping[str, Session]
    ) -> tuple[SessionHit, ...]:
        """The best sessions that had ended at ``as_of``; other summaries cover later messages."""
        ids, as_of = self.candidates.sessions.ids, self.plan.request.as_of
        return tuple(
            SessionHit(sessions[ids[row]], float(self.ranking.sessions[row]))
            for row in rows
            if ids[row] in sessions and is_over(sessions[ids[row]], as_of)
        )

    def _trace(self, best: RankedMessages) -> Trace:
        request, analysis = self.plan.request, self.plan.analysis
        return Trace(
            ranking=request.settings.ranking,
            now=request.now,
            timings=self.plan.stopwatch.laps,
            counts=self._counts(best),
            terms=analysis.terms,
            anchors=self.candidates.anchors,
            notes=self._notes(best),
            asks=analysis.time.asks,
            past=analysis.time.past,
            valid_at=request.valid_at,
        )

    def _counts(self, best: RankedMessages) -> dict[str, int]:
        chunks, triples = self.candidates.chunks, self.candidates.triples
        return {
            "chunks": len(chunks.uids),
            "chunks by vector": int(np.count_nonzero(chunks.by_vector)),
            "chunks by words": int(np.count_nonzero(chunks.by_terms)),
            "triples": len(triples.uids),
            "triples by vector": int(np.count_nonzero(triples.by_vector)),
            "triples by words": int(np.count_nonzero(triples.by_terms)),
            "triples by anchor": int(np.count_nonzero(triples.by_anchor)),
            "sessions": len(self.candidates.sessions.uids),
            "reranked": len(best.changes),
        }

    def _notes(self, best: RankedMessages) -> tuple[str, ...]:
        """Return notes for the user, such as how the question was understood or what is missing."""
        notes = list(self.plan.notes)
        if best.note:
            notes.append(best.note)
        if is_top_down(self.plan.request.settings) and not self.candidates.chunks.uids:
            notes.append(_NO_FACT)
        if self.ranking.vector_worth < 1:
            notes.append(
                "the question is not in English: ranked by words, and by vectors with "
                f"{self.ranking.vector_worth:.0%} of their weight"
            )
        unknown = int(np.isnan(self.ranking.gap).sum())
        if unknown:
            notes.append(f"{unknown} candidates without a time")
        if self.plan.order is not None and not self._is_in_order_of_time(best):
            first = "newest" if self.plan.order == "last" else "oldest"
            notes.append(f"the {first} of the best come first")
        if best.newer:
            notes.append("of the user's messages that match about equally well, newer ones first")
        if best.versions:
            notes.append("of what one person said of the same thing, the last comes first")
        as_of = self.plan.request.as_of
        if as_of is not None:
            notes.append(f"as of {as_of.isoformat()}: nothing said later is shown")
        valid_at = self.plan.request.valid_at
        if valid_at is not None:
            notes.append(
                f"valid at {valid_at.isoformat()}: only facts that are true then are shown"
            )
        return tuple(notes)


def hit_of(
    record: ChunkRecord,
    why: Why,
    *,
    triples: tuple[Triple, ...] = (),
    found_by: tuple[str, ...] = (),
    confidence: float | None = None,
) -> Hit:
    """The hit that shows a chunk; its score is that of ``why``."""
    return Hit(
        id=record.message_id,
        text=record.text,
        score=why.score,
        session=record.session,
        speaker=record.speaker,
        at=record.at,
        triples=triples,
        why=why,
        part=record.part,
        parts=record.parts,
        role=record.role,
        heading=record.heading,
        metadata=record.metadata,
        tags=record.tags,
        found_by=found_by,
        confidence=confidence,
    )


def _moved_up(order: Sequence[int], rows: Sequence[int]) -> frozenset[int]:
    """The rows that stand higher in an order than before; an order names positions in ``rows``."""
    return frozenset(rows[before] for at, before in enumerate(order) if at < before)


def _names_and_figures(analysis: Analysis) -> dict[str, int]:
    """The terms of a question that are names or have digits, with their places among all terms.

    Capitals tell names in English, and in a question of too few words to tell its language.
    """
    names = set[str]()
    if analysis.is_english is not False:
        names = {term for _, name in names_in([analysis.question]) for term in terms(name)}
    return {
        term: column
        for column, term in enumerate(analysis.terms)
        if term in names or any(letter.isdigit() for letter in term)
    }


def _person(record: ChunkRecord) -> tuple[str | None, str | None] | None:
    """Who said a message, if it was a user or a person without a role."""
    return (record.role, record.speaker) if record.role in (None, "user") else None


# Read the records of a result: with one call if the best messages turn out to be its hits.


@dataclass(frozen=True, slots=True)
class KnownFacts:
    """The facts of a result by uid, with what superseded them, and those that each chunk states."""

    facts: Mapping[str, Triple]
    stated: Mapping[str, tuple[str, ...]]

    def stated_by(self, chunk: str) -> tuple[Triple, ...]:
        """The facts that the chunk of a uid states."""
        return tuple(self.facts[uid] for uid in self.stated.get(chunk, ()) if uid in self.facts)


def facts_of_hits(
    request: SearchRequest,
    read: ResultRecords,
    stating: Sequence[str],
    hits: Sequence[str],
    triples: Iterable[str],
) -> KnownFacts:
    """The facts of the hits, and further ones, as known at ``as_of``; few are still to be read.

    ``read`` is what was read with the facts of the chunks ``stating``. ``hits`` are uids of chunks.
    A fact that is said often lists its sources in the hits and not those in the other chunks.
    """
    newest = NewestSources(chunks=hits, until=request.as_of)
    often = () if set(hits) == set(stating) else sorted(read.often)
    more = _read(
        request,
        ResultQuery(stating=sorted(set(hits).difference(stating)), triples=often, newest=newest),
    )
    stated = {**read.stated, **more.stated}
    stated = {uid: stated[uid] for uid in hits if uid in stated}
    known = {**read.triples, **more.triples}
    wanted = {*triples, *(uid for uids in stated.values() for uid in uids)}

    def fetch(uids: Sequence[str]) -> dict[str, Triple]:
        return fetched_at(request.store, request.space, uids, request.as_of, hits)

    found = [known[uid] for uid in sorted(wanted) if uid in known]
    found = known_at(request.store, request.space, found, request.as_of)
    return KnownFacts(with_superseding({item.uid: item for item in found}, fetch), stated)


def _read(request: SearchRequest, query: ResultQuery) -> ResultRecords:
    return request.store.search.result(request.space, query) if query else ResultRecords()


# Explain the scores of the hits: what each signal was, and what it contributed.


def explanations(
    ranking: Ranking,
    chunks: ChunkCandidates,
    rows: Sequence[int],
    best: RankedMessages,
    profile: RankingProfile,
) -> list[Why]:
    """Return the explanation of each of these rows of the candidates."""
    at = np.array(rows, np.int64)
    signals, features = _columns(ranking.raw, at), _columns(ranking.weighted, at)
    columns = (
        ranking.session_score,
        ranking.triple_score,
        ranking.harmonic,
        ranking.gap,
        ranking.semantic,
        ranking.decay,
        ranking.score,
    )
    numbers = zip(*(values[at].tolist() for values in columns), strict=True)
    explained = []
    for row, own, parts, number in zip(rows, signals, features, numbers, strict=True):
        session, triple, harmonic, gap = (None if isnan(value) else value for value in number[:4])
        change = best.changes.get(row)
        explained.append(
            Why(
                signals=own,
                features=parts,
                session_score=session,
                triple_score=triple,
                harmonic_mean=harmonic,
                semantic=number[4],
                gap_seconds=gap,
                decay=number[5],
                score=number[6],
                notes=(*_notes(chunks, row, best), *profile.notes(ranking, row)),
                rank_before=change.rank_before if change else None,
                rerank_score=change.score if change else None,
            )
        )
    return explained


def _columns(values: Mapping[str, Floats], rows: Ints) -> list[dict[str, float]]:
    """The values by name of each of the rows, without what is unknown: what is not finite."""
    columns = {name: own[rows].tolist() for name, own in values.items()}
    return [
        {name: own[place] for name, own in columns.items() if isfinite(own[place])}
        for place in range(len(rows))
    ]


def _notes(chunks: ChunkCandidates, row: int, best: RankedMessages) -> tuple[str, ...]:
    notes: tuple[str, ...] = ()
    if not (chunks.by_vector[row] or chunks.by_terms[row]):
        notes = ("found as a neighbour or as evidence, not by its own vector or words",)
    if row in best.newer:
        notes = (*notes, "moved up: newer than what matches the question about as well")
    if row in best.versions:
        note = "moved up: the same speaker said something very like it earlier, which is among the"
        notes = (*notes, f"{note} first")
    return notes
