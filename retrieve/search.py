"""Search: analyse the question, probe the store once, rank, and fetch what is shown."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

import numpy as np

from cognigraph.embed import CheckedEmbedder
from cognigraph.model import Hit, SearchResult, SessionHit, Trace, Triple, Why
from cognigraph.retrieve.analyse import Analysis, analyse
from cognigraph.retrieve.features import scaled
from cognigraph.retrieve.rank import Ranking, rank
from cognigraph.settings import SearchSettings
from cognigraph.stores.base import Candidates, ChunkRecord, Floats, Probe, Store
from cognigraph.text import replace_surrogates


def search(
    store: Store,
    embedder: CheckedEmbedder,
    space: str,
    question: str,
    settings: SearchSettings,
    *,
    k: int,
    now: datetime,
    extractor: str = "",
) -> SearchResult:
    """Answer a question with the ``k`` best messages of a space, seen from ``now``."""
    clock = _Stopwatch()
    text = replace_surrogates(question)[0].strip()
    if not text:
        trace = Trace(settings.profile, now, {}, {}, notes=("empty question",))
        return SearchResult(question, (), (), (), trace)
    analysis = analyse(text)
    probe = make_probe(analysis, embedder, settings)
    clock.lap("analyse")
    candidates = store.probe(space, probe)
    clock.lap("probe")
    ranking = rank(candidates, analysis, settings, now.timestamp(), extractor)
    clock.lap("rank")
    result = _Fetch(store, space, candidates, ranking, settings).result(
        question, analysis, k, now, clock
    )
    return result


def make_probe(analysis: Analysis, embedder: CheckedEmbedder, settings: SearchSettings) -> Probe:
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
        texts=settings.late_interaction and settings.profile == "default",
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
        self,
        store: Store,
        space: str,
        candidates: Candidates,
        ranking: Ranking,
        settings: SearchSettings,
    ) -> None:
        self._store = store
        self._space = space
        self._candidates = candidates
        self._ranking = ranking
        self._settings = settings

    def result(
        self, question: str, analysis: Analysis, k: int, now: datetime, clock: _Stopwatch
    ) -> SearchResult:
        candidates, settings = self._candidates, self._settings
        rows, records = self._best_messages(k)
        triple_rows = _best(self._ranking.triples, candidates.triples.at, candidates.triples.uids)[
            : settings.max_triples
        ]
        session_rows = self._best_sessions()
        chunk_triples = self._store.triples_of_chunks(
            self._space, [records[row].uid for row in rows]
        )
        wanted = {candidates.triples.uids[row] for row in triple_rows}
        wanted.update(uid for uids in chunk_triples.values() for uid in uids)
        triples = self._store.triples_by_uid(self._space, sorted(wanted))
        sessions = self._store.sessions_by_id(
            self._space, [candidates.sessions.ids[row] for row in session_rows]
        )
        hits = tuple(self._hit(row, records[row], chunk_triples, triples) for row in rows)
        ranked_triples = tuple(
            _scored(triples[candidates.triples.uids[row]], float(self._ranking.triples[row]))
            for row in triple_rows
            if candidates.triples.uids[row] in triples
        )
        ranked_sessions = tuple(
            SessionHit(sessions[id], float(self._ranking.sessions[row]))
            for row in session_rows
            if (id := candidates.sessions.ids[row]) in sessions
        )
        clock.lap("fetch")
        trace = Trace(
            profile=settings.profile,
            now=now,
            timings=clock.laps,
            counts=self._counts(),
            terms=analysis.terms,
            anchors=candidates.anchors,
            notes=self._notes(),
        )
        return SearchResult(question, hits, ranked_triples, ranked_sessions, trace)

    def _best_messages(self, k: int) -> tuple[list[int], dict[int, ChunkRecord]]:
        """Rows of the ``k`` best messages, and of each the chunk that matched best by itself."""
        pool = self._candidates.chunks
        order = _best(self._ranking.score, pool.at, pool.uids)
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
            found = self._store.chunks(self._space, [pool.uids[row] for row in part])
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
        order = _best(scores, np.zeros(len(scores)), sessions.uids)
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
        }

    def _notes(self) -> tuple[str, ...]:
        unknown = int(np.isnan(self._ranking.gap).sum())
        return (f"{unknown} candidates without a time",) if unknown else ()


def _best(scores: Floats, at: Floats, uids: Iterable[str]) -> list[int]:
    """Rows by score, then newest, then uid: the same order on every store and every run."""
    keys = zip(np.round(scores, 12).tolist(), np.nan_to_num(at).tolist(), uids, strict=True)
    return [row for row, _ in sorted(enumerate(keys), key=lambda e: (-e[1][0], -e[1][1], e[1][2]))]


def _known(value: np.floating | float) -> float | None:
    return None if np.isnan(value) else float(value)


def _scored(triple: Triple, score: float) -> Triple:
    return replace(triple, score=score)
