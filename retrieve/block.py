"""Build the prompt block of a question: search, fetch what surrounds the hits, and assemble."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from itertools import zip_longest

import numpy as np

from cognigraph.ids import chunk_uid, message_uid
from cognigraph.model import Context, Episode, Filter, Hit, Triple, Written
from cognigraph.model.answers import Shape
from cognigraph.model.graph import newest_written
from cognigraph.model.messages import UNREAD_ROLES
from cognigraph.retrieve.assemble import assemble
from cognigraph.retrieve.block_lines import Background, Before, SpokenText
from cognigraph.retrieve.confidence import FEW, without_unsupported
from cognigraph.retrieve.plan import SearchRequest
from cognigraph.retrieve.question.analyse import subject_of
from cognigraph.retrieve.rank.signals import corrects
from cognigraph.retrieve.results import hit_of
from cognigraph.retrieve.search import (
    MessageKey,
    NextTurn,
    QueryOutcome,
    SearchOutcome,
    key_of,
    search,
    search_layer,
)
from cognigraph.settings import ContextSettings
from cognigraph.stores.candidates import Candidates, ChunkRecord
from cognigraph.stores.protocols import Store
from cognigraph.text.marks import INDENT, estimate_tokens, one_line, same_lines
from cognigraph.text.numbers import quantities
from cognigraph.text.terms import query_terms
from cognigraph.text.word_book import idf

TOKENS_PER_MESSAGE = 35
"""One message is considered for so many tokens of the budget, because few are shown in less."""

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
    many of the best messages are considered; ``None`` leaves it to the settings. What nothing
    supports is left out (:func:`~cognigraph.retrieve.confidence.without_unsupported`), unless the
    request has a ``min_confidence`` of its own.
    """
    subject = subject_of(request.question, shape)
    considered = k or settings.messages or max(request.settings.k, max_tokens // TOKENS_PER_MESSAGE)
    if subject is None:
        outcome = search(request, k=considered)
    else:
        outcome = find_overview(request, subject, k=considered)
    if request.min_confidence is None:
        # A floor of 0 leaves nothing out.
        few = settings.floor > 0 and all(
            query.candidates.lexicon.chunks < FEW for query in outcome.queries
        )
        supported = without_unsupported(outcome.result, settings.floor, few=few)
        outcome = replace(outcome, result=supported)
    background = fetch_background(request, outcome)
    unseen = {
        corrected: correction
        for corrected, correction in background.corrections.items()
        if not request.without.has_message(correction.session, correction.id)
    }
    background = replace(
        background,
        corrections=unseen,
        written=written_lines(request, settings, max_tokens),
        overview=subject is not None,
    )
    block = assemble(
        outcome.result, settings, max_tokens=max_tokens, zone=zone, background=background
    )
    return block if outcome.result.hits else block.with_notes(outcome.result.trace.notes)


def fetch_background(request: SearchRequest, outcome: SearchOutcome) -> Background:
    """Fetch the whole texts of hits that were split, and what was said around the hits."""
    store, space = request.store, request.space
    weights: dict[str, float] = {}
    for query in outcome.queries:
        terms = query.plan.analysis.terms
        weights.update(zip(terms, idf(query.candidates.lexicon, terms).tolist(), strict=True))
    hits = outcome.result.hits
    placed = list(_placed(outcome))
    # With a filter only what passes it is shown, so nothing is quoted from other messages.
    is_filtered = any(query.plan.request.where != Filter() for query in outcome.queries)
    previous = {} if is_filtered else {key_of(hit): query.before(row) for hit, query, row in placed}
    following = {key_of(hit): query.following(row, hit.parts) for hit, query, row in placed}
    sources = sources_of_facts(space, outcome)
    spoken = {**chunks_of_sessions(outcome), **chunks_of_episodes(space, outcome)}
    wanted = {uid for uid in previous.values() if uid is not None}
    wanted.update(turn.uid for turns in following.values() for turn in turns)
    wanted.update(uid for uids in (*sources.values(), *spoken.values()) for uid in uids)
    records = store.search.chunks(space, sorted(wanted))
    return Background(
        idf=weights,
        whole=_whole(store, space, hits),
        before=_before(hits, previous, records),
        corrections=_corrections(hits, following, records),
        sources=_spoken_texts(sources, records),
        spoken=_spoken_texts(spoken, records),
        analyses=tuple(query.plan.analysis for query in outcome.queries),
    )


def _placed(outcome: SearchOutcome) -> Iterator[tuple[Hit, QueryOutcome, int]]:
    """Each hit with the query that found it best, and its row among the candidates of that one."""
    queries = {query.result.question: query for query in outcome.queries}
    rows = {question: query.row_of_hits() for question, query in queries.items()}
    for hit in outcome.result.hits:
        question = hit.found_by[0]
        yield hit, queries[question], rows[question][key_of(hit)]


def _spoken_texts(
    uids: Mapping[str, Sequence[str]], records: Mapping[str, ChunkRecord]
) -> dict[str, tuple[SpokenText, ...]]:
    return {
        key: tuple(SpokenText(records[uid].text, records[uid].at) for uid in own if uid in records)
        for key, own in uids.items()
    }


def _whole(store: Store, space: str, hits: Sequence[Hit]) -> dict[MessageKey, str]:
    texts: dict[MessageKey, str] = {}
    for hit in hits:
        if 1 < hit.parts <= _MOST_PARTS and key_of(hit) not in texts:
            message = store.graph.message(space, hit.id, hit.session)
            if message is not None:
                texts[key_of(hit)] = message.text
    return texts


def _corrections(
    hits: Sequence[Hit],
    following: Mapping[MessageKey, Sequence[NextTurn]],
    records: Mapping[str, ChunkRecord],
) -> dict[MessageKey, Hit]:
    """The correction of each message that has one: of hits, and of their corrections."""
    known = {key_of(hit): hit for hit in hits}
    corrections: dict[MessageKey, Hit] = {}
    for hit in hits:
        said = hit
        for turn in following[key_of(hit)]:
            record = records.get(turn.uid)
            if record is None or record.message_id == hit.id:
                continue
            if record.parts > 1 or not corrects(record.text, said.text, at_once=turn.at_once):
                break
            correction = known.get((record.session, record.message_id)) or _correction(hit, record)
            corrections[key_of(said)] = correction
            said = correction
    return corrections


def _correction(corrected: Hit, record: ChunkRecord) -> Hit:
    """A message that is shown because it corrects a hit, with the score of that one."""
    why = replace(corrected.why, notes=(*corrected.why.notes, f"corrects {corrected.id}"))
    return hit_of(record, why, found_by=corrected.found_by, confidence=corrected.confidence)


def _before(
    hits: Sequence[Hit],
    previous: Mapping[MessageKey, str | None],
    records: Mapping[str, ChunkRecord],
) -> dict[MessageKey, Before]:
    """The messages before the hits, unless the system or a tool said them."""
    messages_before = {}
    for hit in hits:
        record = records.get(previous.get(key_of(hit)) or "")
        if record is not None and record.message_id != hit.id and record.role not in UNREAD_ROLES:
            messages_before[key_of(hit)] = Before(record.message_id, record.speaker, record.text)
    return messages_before


# The chunks behind those facts and summaries of a result whose dates and numbers are checked.

_MOST_SOURCES = 8
"""The newest messages of a fact that are read; more of them say the same."""
_MOST_OF_SESSION = 40
_MOST_PARTS_OF_SOURCE = 4
"""Parts of a message that are read where it is not known which one states a fact."""


def sources_of_facts(space: str, outcome: SearchOutcome) -> dict[str, list[str]]:
    """The uids of the chunks behind each fact of a result that has a date or a number.

    Facts that an application stated are left out: they are not checked. A fact that is no
    candidate, because it only superseded one, has the chunks of the messages it lists as sources.
    """
    uids: dict[str, list[str]] = {}
    for triple in _told(outcome):
        if triple.uid in uids or triple.is_stated or not _is_checked(triple):
            continue
        evidence = [
            uid for query in outcome.queries for uid in _evidence(query.candidates, triple.uid)
        ]
        uids[triple.uid] = evidence or list(_named(space, triple))
    return uids


def chunks_of_sessions(outcome: SearchOutcome) -> dict[str, list[str]]:
    """The uids of the chunks of each session whose summary or keys have a number.

    Only candidates are among them, and at most 40, those most like the question.
    """
    uids: dict[str, list[str]] = {}
    for hit in outcome.result.sessions:
        session = hit.session
        if not quantities(" ".join((session.summary, *session.keys))):
            continue
        own = [
            uid for query in outcome.queries for uid in _of_session(query.candidates, session.id)
        ]
        uids[session.id] = list(dict.fromkeys(own))
    return uids


def chunks_of_episodes(space: str, outcome: SearchOutcome) -> dict[str, list[str]]:
    """The uids of the chunks that an episode covers, for each whose text has a number."""
    return {
        episode.uid: [
            chunk_uid(message_uid(space, episode.session, id), part)
            for id in episode.messages[:_MOST_OF_SESSION]
            for part in range(_MOST_PARTS_OF_SOURCE)
        ]
        for episode in outcome.result.episodes
        if quantities(episode.text)
    }


def _told(outcome: SearchOutcome) -> Iterator[Triple]:
    """The facts of a result, and those that hits state and that superseded another one.

    The latter may be told at the end of a message that states what they superseded.
    """
    yield from outcome.result.triples
    stated = [triple for hit in outcome.result.hits for triple in hit.triples]
    superseding = {triple.superseded_by for triple in stated}
    superseding |= {triple.superseded_by for triple in outcome.result.triples}
    yield from (triple for triple in stated if triple.uid in superseding)


def _is_checked(triple: Triple) -> bool:
    return triple.when is not None or triple.valid_to is not None or bool(quantities(triple.object))


def _evidence(candidates: Candidates, uid: str) -> list[str]:
    triples, chunks = candidates.triples, candidates.chunks
    row = bisect_left(triples.uids, uid)
    if row == len(triples.uids) or triples.uids[row] != uid:
        return []
    newest = sorted(triples.evidence[row], key=lambda chunk: -chunks.at[chunk])
    return [chunks.uids[chunk] for chunk in newest[:_MOST_SOURCES]]


def _named(space: str, triple: Triple) -> Iterable[str]:
    for source in triple.sources[:_MOST_SOURCES]:
        message = message_uid(space, source.session, source.id)
        yield from (chunk_uid(message, part) for part in range(_MOST_PARTS_OF_SOURCE))


def _of_session(candidates: Candidates, session: str) -> list[str]:
    sessions, chunks = candidates.sessions, candidates.chunks
    if session not in sessions.ids:
        return []
    rows = np.flatnonzero(chunks.session == sessions.ids.index(session))
    best = rows[np.argsort(-chunks.cosine[rows], kind="stable")][:_MOST_OF_SESSION]
    return [chunks.uids[row] for row in best.tolist()]


# The lines of a prompt block for what writers keep: the core profile, and procedures that fit.

PROFILE_SHARE = 0.2
"""The largest share of a block for the core profile."""
PROCEDURE_SHARE = 0.15
MOST_PROCEDURES = 3


def written_lines(
    request: SearchRequest, settings: ContextSettings, max_tokens: int
) -> tuple[str, ...]:
    """The profile, as far as it fits, and the procedures that share words with the question.

    With a filter there are none, because they may tell what messages say that do not pass it.
    """
    if request.where != Filter():
        return ()
    known = request.store.graph.written(request.space)
    count = settings.count_tokens or estimate_tokens
    profiles = newest_written(known, "profile", request.as_of)
    profile = [line for item in profiles for line in same_lines(item.text)]
    room = int(max_tokens * PROFILE_SHARE)
    lines = _fitting("Profile:", (line for line in profile if line.strip()), room, count)
    procedures = relevant(newest_written(known, "procedure", request.as_of), request.question)
    shown = (procedure_line(procedure) for procedure in procedures[:MOST_PROCEDURES])
    return (*lines, *_fitting("Procedures:", shown, int(max_tokens * PROCEDURE_SHARE), count))


def relevant(procedures: Sequence[Written], question: str) -> list[Written]:
    """The procedures that have a word of the question, those with most of them first."""
    asked = set(query_terms(question))
    scored = [
        (
            len(
                asked
                & set(query_terms(" ".join((procedure.title, procedure.text, *procedure.steps))))
            ),
            procedure,
        )
        for procedure in procedures
    ]
    ranked = sorted(scored, key=lambda pair: (-pair[0], pair[1].title, pair[1].chain))
    return [procedure for score, procedure in ranked if score]


def procedure_line(procedure: Written) -> str:
    """A procedure with its context and its numbered steps."""
    steps = " ".join(f"{number}. {step}" for number, step in enumerate(procedure.steps, 1))
    where = f" ({procedure.text})" if procedure.text else ""
    return one_line(f"{procedure.title}{where}: {steps}")


def _fitting(
    heading: str, lines: Iterable[str], room: int, count: Callable[[str], int]
) -> list[str]:
    """The heading and the lines that fit; nothing if no line does."""
    taken: list[str] = []
    left = room - count(f"\n{heading}")
    for line in lines:  # indented, so that stored text cannot pose as a heading
        line = f"{INDENT}{line}"
        cost = count(f"\n{line}")
        if cost <= left:
            taken.append(line)
            left -= cost
    return [heading, *taken] if taken else []


# Find what spans a topic in time: its messages, spread over sessions, and its episodes.
#
# The best messages of an ordinary search are often those of the few sessions that say most about
# the topic. An overview needs the others as well, so each further message of a session counts less.

_WIDE = 3
"""The search gives three times as many messages as are chosen."""
_HALF_RANK = 10.0
"""The worth of a message falls with its rank r (from 0) as 1 / (1 + r / 10)."""
_NEXT = 0.9
"""Each further message of a session is worth this share of the one chosen before it."""
_EPISODES = 12
_MOST_SAMPLED = 2000
"""The newest episodes, from which those for an overview of everything are taken."""


def find_overview(request: SearchRequest, subject: str, *, k: int) -> SearchOutcome:
    """The ``k`` messages and the best episodes for an overview of a subject.

    An empty subject stands for everything. Then the queries are the titles of episodes at even
    distances in time.
    """
    if not subject and (sample := _sample(request)):
        return _of_everything(request, sample, k=k)
    settings = replace(request.settings, time_order=False)  # no state is asked for
    about = replace(request, question=subject or request.question, settings=settings)
    wide = search(about, k=_WIDE * k)
    chosen = spread(wide.result.hits, k)
    episodes = search_layer(replace(about, min_confidence=None), k=_EPISODES, layer="episodes")
    result = replace(
        wide.result,
        hits=tuple(wide.result.hits[place] for place in chosen),
        episodes=episodes.episodes if chosen else (),
    )
    return replace(wide, result=result)


def _sample(request: SearchRequest) -> list[Episode]:
    """Episodes from the first to the last that the request lets through, at even distances."""
    where, as_of = request.where, request.as_of
    since, latest = where.since, where.latest
    episodes = request.store.graph.episodes(request.space, limit=_MOST_SAMPLED, offset=0)
    wanted = [
        episode
        for episode in episodes
        if (not where.sessions or episode.session in where.sessions)
        and (as_of is None or episode.ended_at <= as_of)
        and (not isinstance(since, datetime) or episode.ended_at >= since)
        and (latest is None or episode.started_at <= latest)
        and not request.without.has_episode(episode.uid)
    ]
    wanted.sort(key=lambda episode: (episode.started_at, episode.uid))
    if len(wanted) <= _EPISODES:
        even = wanted
    else:
        step = (len(wanted) - 1) / (_EPISODES - 1)
        even = [wanted[round(place * step)] for place in range(_EPISODES)]
    return [*even[::4], *even[2::4], *even[1::2]]  # those that do not fit are missed evenly


def _of_everything(request: SearchRequest, sample: Sequence[Episode], *, k: int) -> SearchOutcome:
    queries = [episode.title or episode.summary for episode in sample]
    about = replace(request, question=queries[0], also=(*request.also, *queries[1:]))
    outcome = search(about, k=k)
    shown = {key_of(hit) for hit in outcome.result.hits}
    episodes = [item for item in sample if any((item.session, id) in shown for id in item.messages)]
    # The first episode of each session, then the second ones: not all may fit.
    by_session: defaultdict[str, list[Episode]] = defaultdict(list)
    for episode in episodes:
        by_session[episode.session].append(episode)
    rounds = zip_longest(*by_session.values())
    chosen = tuple(episode for turn in rounds for episode in turn if episode is not None)
    return replace(outcome, result=replace(outcome.result, episodes=chosen))


def spread(hits: Sequence[Hit], k: int) -> list[int]:
    """The places of ``k`` of the hits (best first), spread over sessions, in order of choice."""
    taken: Counter[str] = Counter()
    waiting = list(range(len(hits)))
    chosen: list[int] = []
    while waiting and len(chosen) < k:
        best = max(waiting, key=lambda place: _worth(place, taken[hits[place].session]))
        waiting.remove(best)
        chosen.append(best)
        taken[hits[best].session] += 1
    return chosen


def _worth(rank: int, taken: int) -> float:
    worth: float = _NEXT**taken / (1 + rank / _HALF_RANK)
    return worth
