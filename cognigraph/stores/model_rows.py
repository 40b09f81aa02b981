"""Rows that both stores read, as objects of the model. Times in rows are in microseconds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cognigraph.model import Episode, Session, Source, StoredMessage, Summary, Theme, Triple
from cognigraph.model.graph import Period, Written
from cognigraph.states.slots import FactForm
from cognigraph.states.succession import Standing
from cognigraph.stores.candidates import ChunkRecord, EpisodeCandidate
from cognigraph.stores.records import Backlog, WorkChunk
from cognigraph.stores.state_rows import K, StateRow
from cognigraph.times import from_micros, moment, parse_when

Row = Sequence[Any]


def message_of(
    id: str, texts: Sequence[str], tags: Sequence[str], row: Row, *, is_enriched: bool
) -> StoredMessage:
    """A message, of the texts of its chunks and a row.

    The row: session, speaker, time, role, metadata and raw form (JSON), expiry, who wrote it.
    """
    session, speaker, at, role, metadata, raw, expires, written_by = row
    return StoredMessage(
        id, session, speaker, from_micros(at), "".join(texts), len(texts), is_enriched, role,
        _json_object(metadata), tuple(tags), None if raw is None else json.loads(raw),
        moment(expires), written_by,
    )  # fmt: skip


def chunk_of(row: Row, tags: Sequence[str]) -> ChunkRecord:
    """A chunk, of a row: uid, message id, session, its uid, speaker, time, text, part, parts, role,
    heading, metadata (JSON)."""
    *shown, metadata = row
    shown[5] = from_micros(shown[5])
    return ChunkRecord(*[*shown, _json_object(metadata), tuple(tags)])


def _json_object(text: str | None) -> Mapping[str, Any]:
    return json.loads(text) if text else {}


def session_of(row: Row) -> Session:
    """A session, of a row: id, start, end, messages, chunks, version, keys, themes."""
    id, started_at, ended_at, messages, chunks, version, keys, themes = row
    return Session(
        id, from_micros(started_at), from_micros(ended_at), messages, chunks, tuple(keys),
        tuple(Theme(*theme) for theme in themes), version,
    )  # fmt: skip


def theme_of(
    title: str,
    summary: str,
    uid: str,
    reason: str | None,
    covers: Iterable[Any],
    sources: Iterable[str],
) -> Theme:
    """A theme; ``covers`` are [index, uid of a chunk], and ``sources`` uids of themes."""
    chunks = tuple(chunk for _, chunk in sorted(covers))
    return Theme(title, summary, uid, chunks, reason or "", tuple(sorted(sources)))


def episode_of(row: Row, covers: Iterable[Any], cosine: float = 0.0) -> EpisodeCandidate:
    """An episode, of a row: uid, session, title, summary, start, end, reason.

    ``covers`` are [index, uid of a chunk, id of its message].
    """
    uid, session, title, summary, started, ended, reason = row
    covered = sorted(covers)
    messages = tuple(dict.fromkeys(message for *_, message in covered))
    episode = Episode(
        uid, session, title, summary, from_micros(started), from_micros(ended), reason or "",
        messages,
    )  # fmt: skip
    return EpisodeCandidate(episode, cosine, tuple(chunk for _, chunk, _ in covered))


def summary_of(
    session: str, row: Row, keys: Iterable[str], themes: Iterable[tuple[str, str]]
) -> Summary:
    """A revision of a session's summary, of a row: version, time, extractor."""
    version, at, extractor = row
    return Summary(
        session, version, from_micros(at), extractor, tuple(keys),
        tuple(Theme(title, text) for title, text in themes),
    )  # fmt: skip


def written_of(row: Row, steps: Iterable[str], sources: Iterable[Row]) -> Written:
    """A version of what writers keep, of a row: kind, chain, version, time, text, title.

    ``sources`` are [session, id of a message], with repetitions.
    """
    kind, chain, version, at, text, title = row
    cited = tuple(dict.fromkeys((session, message) for session, message in sources))
    return Written(kind, chain, version, from_micros(at), text, title, tuple(steps), cited)


def triple_of(
    row: Row, earlier: tuple[Period, ...], sources: tuple[Source, ...], older_sources: int = 0
) -> Triple:
    """A triple, of a row: uid, subject, its type, relation, object, its type, when, negated, first
    and last observation, status, valid from and to, superseded by, superseded at, reason."""
    uid, subject, subject_type, relation, object, object_type, when, negated, first, last = row[:10]
    status, valid_from, valid_to, by, at, reason = row[10:]
    return Triple(
        uid, subject, subject_type, relation, object, object_type, parse_when(when), bool(negated),
        from_micros(first), from_micros(last), sources, None, status, moment(valid_from),
        moment(valid_to), by, moment(at), reason, earlier, older_sources,
    )  # fmt: skip


def state_row(
    key: K, holder: K, row: Row, said: Iterable[int], earlier: tuple[Period, ...]
) -> StateRow[K]:
    """A fact as far as its standing matters.

    The row: uid, subject, its type, relation, object, its type (as extracted), negated, canonical
    names of subject and object, when, slot, replaces, status, valid from and to, superseded by,
    superseded at, decided by, reason. ``said`` are the times of its evidence.
    """
    uid, *words, negated, subject, object, when, slot, replaces = row[:12]
    status, valid_from, valid_to, by, at, decided_by, reason = row[12:]
    return StateRow(
        key, uid, FactForm(*[*words, bool(negated)]), subject, object, when, slot, holder,
        bool(replaces), tuple(map(from_micros, sorted(said))),
        Standing(
            status, moment(valid_from), moment(valid_to), by, moment(at), decided_by, reason,
            earlier,
        ),
    )  # fmt: skip


def work_chunk(session: str, row: Row, arrivals: Mapping[int, int]) -> WorkChunk:
    """A chunk as an extractor sees it: nothing of what the system says.

    The row: uid, message id, speaker, time, text, part, attempts, outages, extractor, crashes,
    arrival number or row id (in ``arrivals`` by its place at that time), role, stated facts (JSON).
    """
    uid, message_id, speaker, at, text, *rest = row
    rest[-3] = arrivals.get(rest[-3], 0)
    text = "" if rest[-2] == "system" else text
    return WorkChunk(uid, message_id, session, speaker, from_micros(at), text, *rest)


def backlog_of(
    state: str | int | None, attempts: int | None, outages: int | None, crashes: int | None
) -> Backlog | None:
    """What failed of a summary that is due; ``None`` if it is not."""
    if state is None:
        return None
    return Backlog(attempts or 0, outages or 0, state in ("failed", 2), crashes or 0)
