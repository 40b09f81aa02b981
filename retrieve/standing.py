"""Time in a result: what was superseded, what was known when, and what comes first for "now".

A question about how things are gets the current fact, and the message that states it, before what
it superseded. A question about how things were ("where did she live before?") gets the old first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import TypeVar

import numpy as np

from cognigraph.english.words import PLEASANTRIES
from cognigraph.model import Session, SessionHit, Triple
from cognigraph.retrieve.question.temporal import Order
from cognigraph.states.slots import claim_about
from cognigraph.states.succession import Standing
from cognigraph.stores.candidates import Candidates, ChunkRecord, NewestSources
from cognigraph.stores.protocols import Store
from cognigraph.text.marks import one_line
from cognigraph.text.terms import STOP_WORDS, words

_T = TypeVar("_T")
_MOST_STEPS = 100
"""Facts of one chain that are followed; a user may have made them supersede each other."""


def newest_of(uid: str, known: Mapping[str, Triple]) -> str:
    """Return the uid of the fact that stands at the end of the chain that begins with ``uid``."""
    for _ in range(_MOST_STEPS):
        triple = known.get(uid)
        if triple is None or triple.superseded_by not in known:
            return uid
        uid = triple.superseded_by or uid
    return uid


def with_superseding(
    found: Mapping[str, Triple], fetch: Callable[[Sequence[str]], Mapping[str, Triple]]
) -> dict[str, Triple]:
    """Return these facts with all that superseded them; ``fetch`` gets more by their uids."""
    known = dict(found)
    for _ in range(_MOST_STEPS):
        missing = {
            triple.superseded_by
            for triple in known.values()
            if triple.superseded_by is not None and triple.superseded_by not in known
        }
        more = fetch(sorted(missing)) if missing else {}
        if not more:
            break
        known.update(more)
    return known


def current_facts_first(
    ranked: Sequence[Triple], known: Mapping[str, Triple], *, past: bool
) -> list[Triple]:
    """Put what superseded a fact before it, whether or not it was found by itself.

    With ``past`` everything stays as it is ranked. Retracted facts are left out.
    """
    ordered: dict[str, Triple] = {}
    by_uid = {triple.uid: triple for triple in ranked}
    for triple in ranked:
        newest = newest_of(triple.uid, known)
        if not past and newest != triple.uid and newest not in ordered:
            superseding = by_uid.get(newest) or replace(known[newest], score=triple.score)
            ordered[newest] = superseding
        ordered.setdefault(triple.uid, triple)
    return [triple for triple in ordered.values() if triple.status != "retracted"]


def current_messages_first(
    items: Sequence[_T],
    stated: Sequence[Collection[str]],
    known: Mapping[str, Triple],
    times: Sequence[datetime],
    relevant: Collection[str],
    *,
    past: bool,
) -> list[_T]:
    """Put a message of the current fact before the messages of what it superseded.

    ``stated`` are the uids of the facts that each item states, ``times`` when the items were said,
    and ``relevant`` the facts that the question is about; other facts move nothing. With ``past``
    it is the other way round.
    """
    chains = {uid: newest_of(uid, known) for uids in stated for uid in uids if uid in known}
    asked = {newest_of(uid, known) for uid in relevant}
    order = list(range(len(items)))
    for chain in sorted({chains[uid] for uid in chains if chains[uid] in asked}):
        new = [row for row in order if chain in stated[row]]
        old = [
            row
            for row in order
            if row not in new and any(chains.get(uid) == chain for uid in stated[row])
        ]
        wanted, others = (old, new) if past else (new, old)
        order = _move_before(order, wanted, others, times, late=not past)
    return [items[row] for row in order]


def true_messages_first(
    items: Sequence[_T],
    stated: Sequence[Collection[str]],
    known: Mapping[str, Triple],
    relevant: Collection[str],
    valid_at: datetime,
) -> list[_T]:
    """Put a message of a fact that is true at ``valid_at`` before those of others in its chain.

    ``relevant`` are the uids of the true facts that the question is about; others move nothing.
    """
    order = list(range(len(items)))
    for uid in sorted(relevant):
        chain = newest_of(uid, known)
        wanted = [row for row in order if uid in stated[row]]
        others = [
            row
            for row in order
            if row not in wanted
            and any(
                newest_of(item, known) == chain and not known[item].is_true_at(valid_at)
                for item in stated[row]
                if item in known
            )
        ]
        if wanted and others and order.index(wanted[0]) > order.index(others[0]):
            rest = [row for row in order if row != wanted[0]]
            at = rest.index(others[0])
            order = [*rest[:at], wanted[0], *rest[at:]]
    return [items[row] for row in order]


def _move_before(
    order: list[int],
    wanted: Sequence[int],
    others: Sequence[int],
    times: Sequence[datetime],
    *,
    late: bool,
) -> list[int]:
    """Move the best wanted row before the others, if it was said before all of them.

    With ``late`` it is moved if it was said after all of them.
    """
    fitting = [
        row
        for row in wanted
        if all(times[row] > times[other] if late else times[row] < times[other] for other in others)
    ]
    if not fitting or not others or order.index(fitting[0]) < order.index(others[0]):
        return order
    rest = [row for row in order if row != fitting[0]]
    at = rest.index(others[0])
    return [*rest[:at], fitting[0], *rest[at:]]


def shown_facts(triples: Iterable[Triple], *, past: bool) -> list[Triple]:
    """Return the facts of a prompt block: superseded ones only for a question about the past."""
    return [
        triple
        for triple in triples
        if triple.status == "current" or (past and triple.superseded_by)
    ]


def true_when(triple: Triple, zone: tzinfo) -> str:
    """Say when a fact is true, empty if nobody said."""
    if triple.status == "superseded" and triple.valid_to is not None:
        until = _month(triple.valid_to, zone)
        since = "" if triple.valid_from is None else f"{_month(triple.valid_from, zone)} "
        return f"{since}until {until}"
    if triple.when is None:
        return ""
    claim = claim_about(triple)
    is_open = triple.valid_from is not None and triple.valid_to is None
    if claim is None or claim.change or not claim.dated or not is_open:
        return str(triple.when)
    begins = "from" if triple.when.start > triple.last_observed else "since"  # a plan, or not
    return f"{begins} {triple.when.text.split('/')[0]}"


def no_longer_true(
    stated: Iterable[Triple],
    labels: Mapping[str, str],
    known: Mapping[str, Triple],
    said: datetime,
    zone: tzinfo,
    carried: Callable[[Triple], Triple | None] = lambda fact: fact,
) -> str:
    """Say at the end of a message what took the place of a fact that it states.

    That is the label of a fact in the block, or else the fact in words as far as it is known and
    ``carried`` by its messages, with the day on which it was said. What was not said after the
    message (``said``) takes no place.
    """
    later: dict[str, datetime] = {}
    for item in stated:
        if item.status != "superseded" or item.superseded_at is None or item.superseded_at <= said:
            continue
        uid, at = newest_of(item.uid, known), item.superseded_at
        if uid in known and known[uid].last_observed > said:
            at = known[uid].last_observed
        else:  # what a user put in its place may have been said before
            uid = item.superseded_by or uid
        later[uid] = max(at, later.get(uid, at))
    seen = sorted({labels[uid] for uid in later if uid in labels}, key=lambda x: (len(x), x))
    if seen:
        return f" [no longer true: see {', '.join(seen)}]"
    told = [
        f"{one_line(known[uid].text)} (said {at.astimezone(zone).date()})"
        if uid in known and known[uid].status == "current" and carried(known[uid])
        else f"replaced on {at.astimezone(zone).date()}"
        for uid, at in later.items()
    ]
    return f" [no longer true: {'; '.join(dict.fromkeys(told))}]" if told else ""


def not_true_then(
    stated: Iterable[Triple],
    labels: Mapping[str, str],
    known: Mapping[str, Triple],
    valid_at: datetime,
    zone: tzinfo,
) -> str:
    """Say at the end of a message that a state that it tells of is not the one at ``valid_at``.

    The label is that of the state which is true then, if it is in the block.
    """
    over = [item for item in stated if claim_about(item) and not item.is_true_at(valid_at)]
    if not over:
        return ""
    chains = {newest_of(item.uid, known) for item in over}
    seen = sorted(
        (labels[uid] for uid in labels if uid in known and newest_of(uid, known) in chains),
        key=lambda label: (len(label), label),
    )
    then = valid_at.astimezone(zone).date().isoformat()
    see = f": see {', '.join(seen)}" if seen else ""
    return f" [not true at {then}{see}]"


def _month(at: datetime, zone: tzinfo) -> str:
    return at.astimezone(zone).strftime("%Y-%m")


# Order results by time where the question asks for it, and hide what ``as_of`` excludes.

BAND = 0.75
"""Items that score at least this share of the best score count as states of the same thing."""

DEPTH = 15
"""The number of best items among which such states are sought."""

CLOSE = 0.12
"""A newer message moves before an older one whose score is higher by at most this share of the
best score."""

CLOSE_IF_CHANGED = 0.15
"""Added to ``CLOSE`` for a message that tells of a change, in proportion to how much it does."""

ANSWERS_AS_WELL = 0.6
"""With few candidates, so does one whose own answer is at least this share of the older one's."""

STATE_DEPTH = 20
"""The number of best messages among which newer ones move before older ones."""

_TELLS_NOTHING = STOP_WORDS | PLEASANTRIES


def by_time_if_asked(
    items: Sequence[_T], order: Order | None, scores: Sequence[float], times: Sequence[datetime]
) -> list[_T]:
    """Put the newest (or oldest) of the best items first, and leave the others in their order.

    Every message about a place where she ever lived matches "Where does she live now?" about
    equally well; only their times tell which place is meant. ``items`` are sorted best first. The
    items that move are among the first ``DEPTH`` and score at least ``BAND`` times the highest.
    ``scores`` and ``times`` belong to the items at the same positions; a score says how well the
    item answers the question by itself, which may differ from the score that ranked it. Without an
    ``order`` nothing moves.
    """
    if order is None or not items:
        return list(items)
    head = range(min(DEPTH, len(items)))
    floor = BAND * max(scores[position] for position in head)
    states = [position for position in head if scores[position] >= floor]
    first = sorted(states, key=times.__getitem__, reverse=order == "last")
    rest = sorted(set(range(len(items))).difference(first))
    return [items[position] for position in (*first, *rest)]


@dataclass(frozen=True, slots=True)
class DatedMessage:
    """What decides whether a message moves before older ones.

    ``score`` ranks it, and ``own`` says how well it answers by itself. ``change`` in [0, 1] says
    how much it tells of a change. Only one that ``may_move`` moves, past others that may.
    """

    at: datetime
    score: float
    own: float
    change: float = 0.0
    may_move: bool = True


def may_tell_a_state(record: ChunkRecord) -> bool:
    """Whether a message may tell how things are: a user said it, and more than thanks or assent."""
    return record.role == "user" and not _TELLS_NOTHING.issuperset(words(record.text))


def newer_before_older(found: Sequence[DatedMessage]) -> list[int]:
    """Return the order of messages, best first, in which newer ones precede older ones.

    What the user said about a thing in March and in May matches "What do I pay?" about equally
    well; only the newer message tells how things are. So among the first ``STATE_DEPTH`` a message
    moves up past each older one that matches little better, up to the first that is newer or
    matches much better. Those that may move share their positions; all others keep theirs.
    """
    best = max((item.score for item in found), default=0.0)
    few = len(found) < STATE_DEPTH
    moving = [row for row, item in enumerate(found[:STATE_DEPTH]) if item.may_move]
    placed: list[int] = []
    for row in moving:
        at = len(placed)
        while at and _replaces(found[row], found[placed[at - 1]], best, few=few):
            at -= 1
        placed.insert(at, row)
    order = list(range(len(found)))
    for position, row in zip(moving, placed, strict=True):
        order[position] = row
    return order


def _replaces(new: DatedMessage, old: DatedMessage, best: float, *, few: bool) -> bool:
    """Whether a message is newer than another one and matches about as well.

    That is by its score, compared with the ``best`` one. With ``few`` candidates, for which scaling
    stretches small differences of the scores, it may also be by its own answer.
    """
    if new.at <= old.at:
        return False
    reach = new.score + best * (CLOSE + CLOSE_IF_CHANGED * new.change)
    return reach >= old.score or (few and new.own >= ANSWERS_AS_WELL * old.own)


def state_time(triple: Triple) -> datetime:
    """Return when the state that a triple describes began, or else when it was last mentioned."""
    return triple.when.start if triple.when is not None else triple.last_observed


def seen_from(triple: Triple, as_of: datetime | None) -> Triple:
    """Return a triple as it was known at ``as_of``, without the sources that came later."""
    if as_of is None:
        return triple
    if triple.superseded_at is not None and triple.superseded_at > as_of:
        triple = replace(
            triple, status="current", valid_to=None, superseded_by=None, superseded_at=None,
            reason=None,
        )  # fmt: skip
    if triple.last_observed <= as_of:
        return triple
    sources = tuple(source for source in triple.sources if source.at <= as_of)
    last = max((source.at for source in sources), default=triple.first_observed)
    return replace(triple, sources=sources, last_observed=last)


def is_over(session: Session, as_of: datetime | None) -> bool:
    """Whether a session had ended at ``as_of``, so that its summary covers nothing later."""
    return as_of is None or session.ended_at <= as_of


def without_later_summaries(
    candidates: Candidates, sessions: Mapping[str, Session], as_of: datetime
) -> Candidates:
    """Remove the themes and keys of sessions that continued after ``as_of``."""
    found = candidates.sessions
    later = np.array(
        [id not in sessions or not is_over(sessions[id], as_of) for id in found.ids], bool
    )
    if not later.any():
        return candidates
    hidden = replace(
        found,
        theme=np.where(later, np.nan, found.theme),
        keys=np.where(later[:, None], np.nan, found.keys),
        matches=np.where(later[:, None], 0.0, found.matches),
        length=np.where(later, 0.0, found.length),
    )
    return replace(candidates, sessions=hidden)


def sessions_known_at(hits: Sequence[SessionHit], as_of: datetime | None) -> tuple[SessionHit, ...]:
    """Keep the sessions that had ended at ``as_of``; other summaries cover later messages."""
    return tuple(hit for hit in hits if is_over(hit.session, as_of))


# Facts as they were known at a time: what was current then, with the sources of that time.


def known_at(
    store: Store, space: str, triples: Iterable[Triple], as_of: datetime | None
) -> list[Triple]:
    """Return the facts that had been said at ``as_of``, as they were known then.

    What is current is decided again from what had been said by then, so a fact that ended and was
    true again later is shown with its first ending.
    """
    found = list(triples)
    if as_of is None:
        return found
    said = [triple for triple in found if triple.first_observed <= as_of]
    if not said:
        return []
    standings = store.states.standings_at(space, [triple.uid for triple in said], as_of)
    return [
        seen_from(_standing(triple, standings[triple.uid]), as_of)
        if triple.uid in standings
        else seen_from(triple, as_of)
        for triple in said
    ]


def fetched_at(
    store: Store,
    space: str,
    uids: Sequence[str],
    as_of: datetime | None,
    chunks: Sequence[str] = (),
) -> dict[str, Triple]:
    """Fetch the facts with these uids that had been said at ``as_of``, with their newest sources.

    Facts that are said often would otherwise cost a search more than all else. Their sources in
    ``chunks``, which are those of the hits, are read as well: a block leaves out what a message
    in it states.
    """
    found = store.search.triples_by_uid(space, uids, NewestSources(chunks=chunks, until=as_of))
    return {item.uid: item for item in known_at(store, space, found.values(), as_of)}


def _standing(triple: Triple, standing: Standing) -> Triple:
    return replace(
        triple,
        status=standing.status,
        valid_from=standing.valid_from,
        valid_to=standing.valid_to,
        superseded_by=standing.superseded_by,
        superseded_at=standing.superseded_at,
        reason=standing.reason,
        earlier=standing.earlier,
    )
