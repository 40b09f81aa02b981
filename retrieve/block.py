"""Build the prompt block of a question: search, fetch what surrounds the hits, and assemble."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import tzinfo

from cognigraph.model import Context, Filter, Hit
from cognigraph.model.answers import Shape
from cognigraph.model.messages import UNREAD_ROLES
from cognigraph.retrieve.assemble import assemble
from cognigraph.retrieve.confidence import FEW, judged
from cognigraph.retrieve.excerpt.background import Background, Before, MessageKey, Said
from cognigraph.retrieve.overview import find_overview
from cognigraph.retrieve.plan import SearchRequest
from cognigraph.retrieve.question.analyse import Analysis, subject_of
from cognigraph.retrieve.rank.signals import corrects
from cognigraph.retrieve.search import NextTurn, QueryOutcome, SearchOutcome, search
from cognigraph.retrieve.sources import chunks_of_episodes, chunks_of_sessions, sources_of_facts
from cognigraph.retrieve.written_lines import written_lines
from cognigraph.settings import ContextSettings
from cognigraph.stores.candidates import ChunkRecord
from cognigraph.stores.protocols import Store
from cognigraph.text.word_book import idf

TOKENS_PER_MESSAGE = 40
"""Tokens of the budget for each message that is considered: few messages are shown in less."""

_MOST_PARTS = 8
"""Of a message in more parts, only the part that matched is read."""


def build_block(
    request: SearchRequest,
    *,
    settings: ContextSettings,
    k: int | None,
    max_tokens: int,
    zone: tzinfo,
    shape: Shape | None = None,
) -> Context:
    """Answer a question with a block of at most ``max_tokens``.

    Without a ``shape`` the words of the question say whether it asks for an overview. ``k`` is how
    many of the best messages are considered; ``None`` leaves it to the settings. A result that
    nothing supports is left out (:func:`cognigraph.retrieve.confidence.judged`), unless the request
    says how sure it must be.
    """
    wanted = k or settings.messages
    if wanted is None:
        wanted = max(request.settings.k, max_tokens // TOKENS_PER_MESSAGE)
    subject = subject_of(request.question, shape)
    if subject is None:
        found = search(request, k=wanted)
    else:
        found = find_overview(request, subject, k=wanted)
    if request.min_confidence is None:
        found = _judged(found, settings.floor)
    background = fetch_background(request.store, request.space, found)
    unseen = {
        corrected: hit
        for corrected, hit in background.corrections.items()
        if not request.without.has_message(hit.session, hit.id)
    }
    lines = written_lines(request, settings, max_tokens)
    background = replace(
        background, corrections=unseen, written=lines, overview=subject is not None
    )
    block = assemble(
        found.result, settings, max_tokens=max_tokens, zone=zone, background=background
    )
    return block if found.result.hits else block.with_notes(found.result.trace.notes)


def _judged(found: SearchOutcome, floor: float) -> SearchOutcome:
    few = all(query.candidates.lexicon.chunks < FEW for query in found.queries)
    result = judged(found.result, floor, few=few and floor > 0)
    kept = {(hit.session, hit.id) for hit in result.hits}
    given = zip(found.result.hits, found.given_by, strict=True)
    given_by = [query for hit, query in given if (hit.session, hit.id) in kept]
    return replace(found, result=result, given_by=given_by)


def fetch_background(store: Store, space: str, found: SearchOutcome) -> Background:
    """Fetch the whole texts of hits that were split, and what was said around the hits."""
    weights: dict[str, float] = {}
    for query in found.queries:
        terms = query.plan.analysis.terms
        weights.update(zip(terms, idf(query.candidates.lexicon, terms).tolist(), strict=True))
    hits = found.result.hits
    # With a filter only what passes it is shown, so nothing is quoted from other messages.
    is_filtered = any(query.plan.request.where != Filter() for query in found.queries)
    previous = {} if is_filtered else _previous(found)
    following = _following(found)
    sources = sources_of_facts(space, found)
    spoken = {**chunks_of_sessions(found), **chunks_of_episodes(space, found)}
    wanted = {*previous.values(), *(turn.uid for turns in following.values() for turn in turns)}
    wanted.update(uid for uids in (*sources.values(), *spoken.values()) for uid in uids)
    records = store.search.chunks(space, sorted(wanted))
    return Background(
        idf=weights,
        whole=_whole(store, space, hits),
        before=_before(hits, previous, records),
        corrections=_corrections(hits, following, records),
        sources=_said(sources, records),
        spoken=_said(spoken, records),
        analyses=_analyses(found),
    )


def _said(
    uids: Mapping[str, Sequence[str]], records: Mapping[str, ChunkRecord]
) -> dict[str, tuple[Said, ...]]:
    return {
        key: tuple(Said(records[uid].text, records[uid].at) for uid in own if uid in records)
        for key, own in uids.items()
    }


def _analyses(found: SearchOutcome) -> tuple[Analysis, ...]:
    several = found.queries if len(found.queries) > 1 else ()
    return tuple(query.plan.analysis for query in several)


def _whole(store: Store, space: str, hits: Sequence[Hit]) -> dict[MessageKey, str]:
    texts: dict[MessageKey, str] = {}
    for hit in hits:
        if 1 < hit.parts <= _MOST_PARTS and (hit.session, hit.id) not in texts:
            message = store.graph.message(space, hit.id, hit.session)
            if message is not None:
                texts[hit.session, hit.id] = message.text
    return texts


def _previous(found: SearchOutcome) -> dict[MessageKey, str]:
    """Uids of the chunks before the hits, where they are among the candidates."""
    previous: dict[MessageKey, str] = {}
    for hit, query, row in _placed(found):
        uid = query.before(row)
        if uid is not None:
            previous[hit.session, hit.id] = uid
    return previous


def _placed(found: SearchOutcome) -> Iterator[tuple[Hit, QueryOutcome, int]]:
    """Each hit with the query that gave it, and its row among the candidates of that query."""
    rows = [query.row_of_hits() for query in found.queries]
    for hit, given_by in zip(found.result.hits, found.given_by, strict=True):
        yield hit, found.queries[given_by], rows[given_by][hit.session, hit.id]


def _following(found: SearchOutcome) -> dict[MessageKey, list[NextTurn]]:
    """The chunks that may correct the hits, in their order."""
    return {
        (hit.session, hit.id): query.following(row, hit.parts) for hit, query, row in _placed(found)
    }


def _corrections(
    hits: Sequence[Hit],
    following: Mapping[MessageKey, Sequence[NextTurn]],
    records: Mapping[str, ChunkRecord],
) -> dict[MessageKey, Hit]:
    """The correction of each message that has one: of hits, and of their corrections."""
    known = {(hit.session, hit.id): hit for hit in hits}
    corrections: dict[MessageKey, Hit] = {}
    for hit in hits:
        said = hit
        for turn in following[hit.session, hit.id]:
            record = records.get(turn.uid)
            if record is None or record.message_id == hit.id:
                continue
            if record.parts > 1 or not corrects(record.text, said.text, at_once=turn.at_once):
                break
            correction = known.get((record.session, record.message_id)) or _correction(hit, record)
            corrections[said.session, said.id] = correction
            said = correction
    return corrections


def _correction(corrected: Hit, record: ChunkRecord) -> Hit:
    """A message that is shown because it corrects a hit, with the score of that one."""
    why = replace(corrected.why, notes=(*corrected.why.notes, f"corrects {corrected.id}"))
    return replace(
        corrected,
        id=record.message_id,
        text=record.text,
        at=record.at,
        triples=(),
        why=why,
        part=0,
        parts=1,
        heading=record.heading,
        metadata=record.metadata,
        tags=record.tags,
    )


def _before(
    hits: Sequence[Hit],
    previous: Mapping[MessageKey, str],
    records: Mapping[str, ChunkRecord],
) -> dict[MessageKey, Before]:
    found = {}
    for hit in hits:
        record = records.get(previous.get((hit.session, hit.id), ""))
        if record is not None and record.message_id != hit.id and record.role not in UNREAD_ROLES:
            found[hit.session, hit.id] = Before(record.message_id, record.speaker, record.text)
    return found
