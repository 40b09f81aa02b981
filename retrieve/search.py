"""Search: analyse the question, probe the store once, rank, and fetch what is shown."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from cognigraph.arrays import Floats
from cognigraph.embed import CheckedEmbedder
from cognigraph.model import Hit, SearchResult, SessionHit, Trace, Triple, Why
from cognigraph.retrieve.analyse import Analysis, analyse
from cognigraph.retrieve.asked_time import Stretch
from cognigraph.retrieve.features import scaled
from cognigraph.retrieve.question_time import Order
from cognigraph.retrieve.rank import Ranking, rank
from cognigraph.retrieve.readers import QuestionReader, read_with
from cognigraph.retrieve.rerank import Messages, Reranked, Reranker, rerank_messages
from cognigraph.retrieve.timeline import (
    DEPTH,
    in_order,
    seen_from,
    shown_sessions,
    state_time,
    without_later_summaries,
)
from cognigraph.settings import SearchSettings
from cognigraph.stores.candidates import Candidates, ChunkRecord, Probe
from cognigraph.stores.protocols import Store
from cognigraph.text.clean import replace_surrogates


def search(inquiry: Inquiry, question: str, *, k: int) -> SearchResult:
    """Answer a question with the ``k`` best messages of a space."""
    clock = _Stopwatch()
    text = replace_surrogates(question)[0].strip()
    if not text:
        trace = Trace(inquiry.settings.profile, inquiry.now, {}, {}, notes=("empty question",))
        return SearchResult(question, (), (), (), trace)
    inquiry, analysis, notes = inquiry.read(text)
    clock.lap("analyse")
    candidates = inquiry.candidates(analysis)
    clock.lap("probe")
    ranking = inquiry.rank(candidates, analysis)
    clock.lap("rank")
    return _Fetch(inquiry, candidates, ranking, notes).result(question, analysis, k, clock)


@dataclass(frozen=True, slots=True)
class Inquiry:
    """The circumstances of a question: where it is asked, how, and seen from when.

    Nothing that was said after ``as_of`` is shown, nor a summary that covers it. ``extractor``
    names who reads the triples, for the weights; ``reader`` adds to what rules read in a question.
    """

    store: Store
    embedder: CheckedEmbedder
    space: str
    settings: SearchSettings
    now: datetime
    as_of: datetime | None = None
    extractor: str = ""
    reader: QuestionReader | None = None
    reranker: Reranker | None = None

    def read(self, question: str) -> tuple[Inquiry, Analysis, list[str]]:
        """Analyse a question; "as of March" in it narrows what is seen, an anchor opens a window.

        The last value says what was made of it.
        """
        analysis = analyse(question, self.now)
        said: list[str] = []
        if self.reader is not None:
            analysis, said = read_with(self.reader, analysis, self.now)
        inquiry = self
        if self.as_of is None and analysis.time.as_of is not None:
            inquiry = replace(self, as_of=analysis.time.as_of)
        analysis, dated = inquiry._dated(analysis)
        return inquiry, analysis, [*said, *dated]

    def candidates(self, analysis: Analysis) -> Candidates:
        """What the legs find, with the summaries that ``as_of`` allows."""
        found = self.store.search.candidates(
            self.space, make_probe(analysis, self.embedder, self.settings, self.as_of)
        )
        if self.as_of is None or not found.sessions.ids:
            return found
        sessions = self.store.search.sessions_by_id(self.space, found.sessions.ids)
        return without_later_summaries(found, sessions, self.as_of)

    def rank(self, candidates: Candidates, analysis: Analysis) -> Ranking:
        """The profile's scores of the candidates."""
        return rank(candidates, analysis, self.settings, self.now.timestamp(), self.extractor)

    def _dated(self, analysis: Analysis) -> tuple[Analysis, list[str]]:
        """The analysis with the window that its anchor opens: "before she moved"."""
        anchor = analysis.time.anchor
        if anchor is None or not (self.settings.time_cue and self.settings.time_anchor):
            return analysis, []
        event = analyse(anchor.event, self.now)
        found = self.candidates(event)
        if not found.chunks.uids:
            return analysis, [f"the anchor {anchor.event!r} was not found"]
        ranking = self.rank(found, event)
        best = best_first(ranking.score, found.chunks.at, found.chunks.uids)[0]
        at = datetime.fromtimestamp(found.chunks.at[best], UTC)
        window = Stretch(None, at) if anchor.side == "before" else Stretch(at, None)
        dated = replace(analysis.time, times=(*analysis.time.times, window))
        note = f"{anchor.side} {anchor.event!r}: taken to be {at:%Y-%m-%d}"
        return replace(analysis, time=dated), [note]


def make_probe(
    analysis: Analysis,
    embedder: CheckedEmbedder,
    settings: SearchSettings,
    as_of: datetime | None = None,
) -> Probe:
    """What the settings ask of the store for this question."""
    triples = settings.triple_leg
    by_keys = settings.session_leg and settings.profile == "licomemory"
    entity_vectors = embedder.embed(analysis.entities) if by_keys else ()
    return Probe(
        vector=embedder.embed_query(analysis.question),
        terms=analysis.terms,
        anchors=analysis.anchors if triples else (),
        entity_vectors=tuple(entity_vectors),
        chunks_by_vector=settings.chunks_by_vector,
        chunks_by_terms=settings.chunks_by_terms,
        triples_by_vector=settings.triples_by_vector if triples else 0,
        triples_by_terms=settings.triples_by_terms if triples else 0,
        triples_per_anchor=settings.triples_per_anchor if triples else 0,
        sessions_by_vector=settings.sessions_by_vector if settings.session_leg else 0,
        radius=settings.radius if settings.windows else 0,
        as_of=as_of,
        texts=(settings.late_interaction or settings.cues) and settings.profile == "default",
    )


class _Stopwatch:
    """Milliseconds by stage."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = self._start = time.perf_counter()

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.laps[stage] = round((now - self._last) * 1000, 3)
        self.laps["total"] = round((now - self._start) * 1000, 3)
        self._last = now


class _Fetch:
    """Turns rows of a ranking into what the caller sees."""

    def __init__(
        self, inquiry: Inquiry, candidates: Candidates, ranking: Ranking, notes: list[str]
    ) -> None:
        self._inquiry = inquiry
        self._store = inquiry.store
        self._space = inquiry.space
        self._settings = inquiry.settings
        self._candidates = candidates
        self._ranking = ranking
        self._said = notes
        self._reranked = Reranked((), {})

    def result(self, question: str, analysis: Analysis, k: int, clock: _Stopwatch) -> SearchResult:
        candidates, settings = self._candidates, self._settings
        as_of = self._inquiry.as_of
        order = analysis.time.order if settings.time_order else None
        rows, records = self._first(question, k if order is None else max(k, DEPTH), clock)
        if order is not None:
            own = self._own_answer()
            rows = in_order(rows, order, own.__getitem__, lambda row: records[row].at)[:k]
        triple_rows = best_first(
            self._ranking.triples, candidates.triples.at, candidates.triples.uids
        )[: settings.max_triples]
        session_rows = self._best_sessions()
        chunk_triples = self._store.search.triples_of_chunks(
            self._space, [records[row].uid for row in rows]
        )
        wanted = {candidates.triples.uids[row] for row in triple_rows}
        wanted.update(uid for uids in chunk_triples.values() for uid in uids)
        triples = {
            uid: seen_from(triple, as_of)
            for uid, triple in self._store.search.triples_by_uid(
                self._space, sorted(wanted)
            ).items()
        }
        sessions = self._store.search.sessions_by_id(
            self._space, [candidates.sessions.ids[row] for row in session_rows]
        )
        hits = tuple(self._hit(row, records[row], chunk_triples, triples) for row in rows)
        ranked_triples = [
            _scored(triples[candidates.triples.uids[row]], float(self._ranking.triples[row]))
            for row in triple_rows
            if candidates.triples.uids[row] in triples
        ]
        ranked_sessions = [
            SessionHit(sessions[id], float(self._ranking.sessions[row]))
            for row in session_rows
            if (id := candidates.sessions.ids[row]) in sessions
        ]
        clock.lap("fetch")
        trace = Trace(
            profile=settings.profile,
            now=self._inquiry.now,
            timings=clock.laps,
            counts=self._counts(),
            terms=analysis.terms,
            anchors=candidates.anchors,
            notes=self._notes(order),
            asks=analysis.time.asks,
        )
        return SearchResult(
            question,
            hits,
            tuple(in_order(ranked_triples, order, lambda t: t.score or 0.0, state_time)),
            shown_sessions(ranked_sessions, as_of),
            trace,
        )

    def _first(self, question: str, count: int, clock: _Stopwatch) -> Messages:
        """The best messages, put in order by the reranker if there is one."""
        reranker, limit = self._inquiry.reranker, self._settings.rerank
        if reranker is None or not limit:
            return self._best_messages(count)
        best = self._best_messages(max(count, limit))
        best, self._reranked = rerank_messages(reranker, question, best, limit, count)
        clock.lap("rerank")
        return best

    def _own_answer(self) -> Floats:
        """How well each chunk answers by itself: its words, its vector, its best triple.

        Its window and session, which also ranked it, hold other states as well.
        """
        raw = self._ranking.raw
        parts = [scaled(raw[name]) for name in ("vector", "words", "triple") if name in raw]
        return np.sum(parts, axis=0)  # type: ignore[no-any-return]

    def _best_messages(self, k: int) -> Messages:
        """Rows of the ``k`` best messages, and of each the chunk that matched best by itself."""
        pool = self._candidates.chunks
        order = best_first(self._ranking.score, pool.at, pool.uids)
        own = scaled(pool.cosine) + scaled(pool.matches.sum(axis=1))
        rows: list[int] = []
        records: dict[int, ChunkRecord] = {}
        ranked: dict[tuple[str, str], int] = {}
        best: dict[int, float] = {}
        step = 2 * k
        for start in range(0, len(order), step):
            if len(rows) >= k:
                break
            part = order[start : start + step]
            found = self._store.search.chunks(self._space, [pool.uids[row] for row in part])
            for row in part:
                record = found.get(pool.uids[row])
                if record is None:
                    continue
                message = (record.session_uid, record.message_id)
                if message not in ranked:
                    ranked[message] = row
                    rows.append(row)
                    best[row] = own[row]
                    records[row] = record
                elif own[row] > best[ranked[message]]:
                    # A window ranks a long message; what is shown is the part that matched.
                    best[ranked[message]] = own[row]
                    records[ranked[message]] = record
        return rows[:k], records

    def _best_sessions(self) -> list[int]:
        sessions = self._candidates.sessions
        scores = np.nan_to_num(self._ranking.sessions)
        order = best_first(scores, np.zeros(len(scores)), sessions.uids)
        return [row for row in order if scores[row] > 0][: self._settings.max_sessions]

    def _hit(
        self,
        row: int,
        record: ChunkRecord,
        chunk_triples: dict[str, tuple[str, ...]],
        triples: dict[str, Triple],
    ) -> Hit:
        uids = chunk_triples.get(record.uid, ())
        return Hit(
            id=record.message_id,
            text=record.text,
            score=float(self._ranking.score[row]),
            session=record.session,
            speaker=record.speaker,
            at=record.at,
            triples=tuple(triples[uid] for uid in uids if uid in triples),
            why=self._why(row),
            part=record.part,
            parts=record.parts,
        )

    def _why(self, row: int) -> Why:
        ranking, pool = self._ranking, self._candidates.chunks
        legs = {name: float(values[row]) for name, values in ranking.raw.items()}
        notes = []
        if not (pool.by_vector[row] or pool.by_terms[row]):
            notes.append("reached as a neighbour or as evidence, not by its own words")
        place = self._reranked.places.get(row)
        if self._settings.profile == "licomemory" and ranking.semantic[row] < ranking.harmonic[row]:
            notes.append("no triple that was found leads to it: behind all that one leads to")
        return Why(
            legs={name: value for name, value in legs.items() if np.isfinite(value)},
            features={name: float(values[row]) for name, values in ranking.weighted.items()},
            session_score=_known(ranking.session_score[row]),
            triple_score=_known(ranking.triple_score[row]),
            harmonic_mean=_known(ranking.harmonic[row]),
            semantic=float(ranking.semantic[row]),
            gap_seconds=_known(ranking.gap[row]),
            decay=float(ranking.decay[row]),
            score=float(ranking.score[row]),
            notes=tuple(notes),
            rank_before=place.before if place else None,
            rerank_score=place.score if place else None,
        )

    def _counts(self) -> dict[str, int]:
        chunks, triples = self._candidates.chunks, self._candidates.triples
        return {
            "chunks": len(chunks.uids),
            "chunks by vector": int(chunks.by_vector.sum()),
            "chunks by words": int(chunks.by_terms.sum()),
            "triples": len(triples.uids),
            "triples by vector": int(triples.by_vector.sum()),
            "triples by words": int(triples.by_terms.sum()),
            "triples by anchor": int(triples.by_anchor.sum()),
            "sessions": len(self._candidates.sessions.uids),
            "reranked": len(self._reranked.places),
        }

    def _notes(self, order: Order | None) -> tuple[str, ...]:
        notes = list(self._said)
        if self._reranked.note:
            notes.append(self._reranked.note)
        unknown = int(np.isnan(self._ranking.gap).sum())
        if unknown:
            notes.append(f"{unknown} candidates without a time")
        if order is not None:
            notes.append(f"the {'newest' if order == 'last' else 'oldest'} of the best come first")
        if self._inquiry.as_of is not None:
            notes.append(f"as of {self._inquiry.as_of.isoformat()}: nothing said later is shown")
        return tuple(notes)


def best_first(scores: Floats, at: Floats, uids: Sequence[str]) -> list[int]:
    """Rows by score, then newest, then uid: the same order on every store and every run."""
    order = np.lexsort((np.array(uids), -np.nan_to_num(at), -np.round(scores, 12)))
    return [int(row) for row in order]


def _known(value: np.floating | float) -> float | None:
    return None if np.isnan(value) else float(value)


def _scored(triple: Triple, score: float) -> Triple:
    return replace(triple, score=score)
