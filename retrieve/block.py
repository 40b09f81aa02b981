"""Build the prompt block of a question: search, fetch what surrounds the hits, and assemble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import tzinfo

from cognigraph.model import Context, Filter, Hit
from cognigraph.model.roles import UNREAD_ROLES
from cognigraph.retrieve.assemble import assemble
from cognigraph.retrieve.confidence import without_support
from cognigraph.retrieve.excerpt.background import Background, Before, MessageKey
from cognigraph.retrieve.question.analyse import Analysis
from cognigraph.retrieve.request import SearchRequest
from cognigraph.retrieve.search import SearchOutcome, search_with_candidates
from cognigraph.retrieve.written_lines import written_lines
from cognigraph.settings import ContextSettings
from cognigraph.stores.protocols import Store
from cognigraph.text.bm25 import idf

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
) -> Context:
    """Answer a question with a block of at most ``max_tokens``.

    ``k`` is how many of the best messages are considered; ``None`` leaves it to the settings. A
    result of less confidence than ``settings.floor`` is left out, unless the request says which.
    """
    wanted = k or settings.messages
    if wanted is None:
        wanted = max(request.settings.k, max_tokens // TOKENS_PER_MESSAGE)
    found = search_with_candidates(request, k=wanted)
    sure = found.result.confidence
    is_judged = request.min_confidence is None and sure is not None and found.result.hits
    if is_judged and (sure or 0.0) < settings.floor:
        found = replace(found, result=without_support(found.result, settings.floor), given_by=())
    background = fetch_background(request.store, request.space, found)
    lines = written_lines(request, settings, max_tokens)
    background = replace(background, written=lines)
    block = assemble(
        found.result, settings, max_tokens=max_tokens, zone=zone, background=background
    )
    return block if found.result.hits else block.with_notes(found.result.trace.notes)


def fetch_background(store: Store, space: str, found: SearchOutcome) -> Background:
    """Fetch the whole texts of hits that were split, and the messages before the hits."""
    weights: dict[str, float] = {}
    for query in found.queries:
        terms = query.plan.analysis.terms
        weights.update(zip(terms, idf(query.candidates.lexicon, terms).tolist(), strict=True))
    hits = found.result.hits
    # With a filter only what passes it is shown, so nothing is quoted from other messages.
    is_filtered = any(query.plan.request.where != Filter() for query in found.queries)
    previous = {} if is_filtered else _previous(found)
    return Background(
        idf=weights,
        whole=_whole(store, space, hits),
        before=_before(store, space, hits, previous),
        analyses=_analyses(found),
    )


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
    for hit, given_by in zip(found.result.hits, found.given_by, strict=True):
        uid = found.queries[given_by].before(hit)
        if uid is not None:
            previous[hit.session, hit.id] = uid
    return previous


def _before(
    store: Store, space: str, hits: Sequence[Hit], previous: Mapping[MessageKey, str]
) -> dict[MessageKey, Before]:
    records = store.search.chunks(space, sorted(set(previous.values())))
    found = {}
    for hit in hits:
        record = records.get(previous.get((hit.session, hit.id), ""))
        if record is not None and record.message_id != hit.id and record.role not in UNREAD_ROLES:
            found[hit.session, hit.id] = Before(record.message_id, record.speaker, record.text)
    return found
