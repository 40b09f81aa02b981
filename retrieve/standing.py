"""Time in a result: what was superseded, what was known when, and what comes first for "now".

A question about how things are gets the current fact, and the message that states it, before what
it superseded. A question about how things were ("where did she live before?") gets the old first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Ints
from cognigraph.embed.word_vectors import token_means
from cognigraph.english.words import PLEASANTRIES
from cognigraph.model import Session, Triple
from cognigraph.retrieve.question.temporal import Order
from cognigraph.states.succession import Standing
from cognigraph.stores.candidates import Candidates, ChunkRecord, NewestSources
from cognigraph.stores.protocols import Store
from cognigraph.text.terms import STOP_WORDS, parts, remembered, terms, words

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
        fitting = [
            row
            for row in wanted
            if all(times[row] < times[at] if past else times[row] > times[at] for at in others)
        ]
        order = _move_before(order, fitting, others)
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
        order = _move_before(order, wanted, others)
    return [items[row] for row in order]


def _move_before(order: list[int], wanted: Sequence[int], others: Sequence[int]) -> list[int]:
    """Move the best wanted row directly before the others, unless it precedes them already."""
    if not wanted or not others or order.index(wanted[0]) < order.index(others[0]):
        return order
    rest = [row for row in order if row != wanted[0]]
    at = rest.index(others[0])
    return [*rest[:at], wanted[0], *rest[at:]]


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


# Later versions of a message: what its speaker said of the same thing at another time.
#
# "My phone plan is 23 pounds for eight gigs" and "I'm with Lemon now, eleven pounds for twenty
# gigs" answer the same question, and only time tells which is true now. An update need not match
# the question ("The barn went bust, so it's the boat house"), but it matches what it updates: of
# all that people said and the search found, each is one of the nearest to the other, in meaning and
# in the words that few of the others have. That holds in any language, without a list of words. How
# similar two versions are differs from space to space, so only ranks are compared. The vectors are
# those of the wordllama wheel, whichever embedder is used: they take microseconds and need nothing
# from the store.

COMPARED = 30
"""The number of best messages that are compared with one another."""

BETWEEN = 5 / COMPARED
"""Two messages are versions if at most this share of the messages compared is nearer to one of them
than the other is, counted by vectors and by words together: five of thirty, one of ten."""

VERSION_DEPTH = 20
"""The number of best messages of which later ones move up."""

LEAD = 5
"""A later version moves only before one of the first five messages: those that would be read."""

FEW = 10
"""Among fewer messages of people, any two are near to each other, whatever they are about."""

ANSWERS_HALF_AS_WELL = 0.5
"""Among so few, a later version must have at least this share of the earlier one's score."""

LIKELY, SURE = -1.0, 0.6
"""Log-odds from which a message is taken for a later version of another one: where a question
surely asks how something is, and where it may do so, as in languages that the rules do not read."""

VERSION_WEIGHTS = {
    "bias": -0.28, "messages": -0.81, "few": 0.82, "shared words": 0.84,
    "between": -2.02, "score": -0.37, "days": 1.63, "rank": -2.37,
    "length of the earlier": -0.88,
}  # fmt: skip
"""Learned by bench/fit_versions.py; the order is that of :func:`version_features`."""


@dataclass(frozen=True, slots=True)
class ComparedMessage:
    """A message of a result with its score.

    ``named`` are the name of who said it, and those names and figures of the question that it has.
    Only messages of the same ``speaker`` are versions of one another; ``None`` for one that is
    none, such as an assistant's.
    """

    text: str
    at: datetime
    session: str
    speaker: Hashable | None
    score: float
    named: frozenset[str] = frozenset()


def later_versions_first(found: Sequence[ComparedMessage], *, asks_state: bool = True) -> list[int]:
    """Return the order of messages, best first, in which later versions precede earlier ones.

    A later version is one of the nearest to the earlier one. It may also be one that shares a rare
    word with it, if what was learned of such pairs makes it likely: "The crack won, I've gone over
    to a Kobo" is near to nothing. That must be likelier where the question only may ask how
    something is, and not surely (``asks_state``). One that moves stands directly before the first
    of the ``LEAD`` best messages of which it is a later version, from another session; all others
    keep their order.
    """
    compared = found[:COMPARED]
    similar, shared = _similarities(compared)
    between, most = messages_between(compared, [similar, shared]), BETWEEN * len(compared)
    few = sum(item.speaker is not None for item in compared) < FEW
    score = [item.score for item in compared]
    odds = version_features(compared, between, shared) @ [*VERSION_WEIGHTS.values()]
    is_likely = (shared > 0) & (odds > (LIKELY if asks_state else SURE))
    placed: list[int] = []
    for row in range(min(VERSION_DEPTH, len(compared))):
        position = next(
            (
                position
                for position, before in enumerate(placed[:LEAD])
                if _is_later(compared[row], compared[before])
                and (
                    is_likely[before, row]
                    or (
                        between[before, row] <= most
                        and (not few or score[row] >= ANSWERS_HALF_AS_WELL * score[before])
                    )
                )
            ),
            len(placed),
        )
        placed.insert(position, row)
    return [*placed, *range(len(placed), len(found))]


def _is_later(new: ComparedMessage, old: ComparedMessage) -> bool:
    """Whether somebody said one message after the other, in another session, of what is asked for.

    "Order 13 was shipped" is no later version of "order 3 was shipped" for who asks for order 3.
    """
    return (
        new.speaker == old.speaker
        and new.speaker is not None
        and new.at > old.at
        and new.session != old.session
        and new.named >= old.named
    )


def version_features(found: Sequence[ComparedMessage], between: Ints, shared: Floats) -> Floats:
    """What tells whether message j is a later version of message i (n, n, f), in any language.

    ``between`` (n, n) is :func:`messages_between`, and ``shared`` (n, n) the similarity by the
    words that few of the messages have. The features, in this order, are all about 1 in size:

    - a constant; how many messages of people there are, and whether they are few;
    - the rare words that the two share, and how many messages are nearer to one of them;
    - the score of the later one as a share of the earlier one's, and its rank;
    - the days between them, and the length of the earlier: who says much says several things.
    """
    n = len(found)
    people = max(sum(item.speaker is not None for item in found), 1)
    score = np.maximum([item.score for item in found], 1e-6)
    at = np.array([item.at.timestamp() for item in found])
    days = np.maximum(at[None, :] - at[:, None], 0.0) / 86_400
    length = np.log1p([len(words(item.text)) for item in found])
    features = [
        np.ones((n, n)),
        np.full((n, n), np.log(max(people, 2)) / 4),
        np.full((n, n), float(people < FEW)),
        shared,
        np.minimum(between / people, 1.0),
        np.minimum(score[None, :] / score[:, None], 1.5),
        np.log1p(days) / 5,
        np.broadcast_to(np.log1p(np.arange(n)) / 4, (n, n)),
        np.broadcast_to(length[:, None] / 4, (n, n)),
    ]
    return np.stack(features, axis=2)


def messages_between(
    found: Sequence[ComparedMessage], similarities: Sequence[Floats] | None = None
) -> Ints:
    """How many messages of people are nearer to message i or j than these are to each other (n, n).

    That is the larger number of the two, by each of the ``similarities`` (n, n), added; without
    them, by vectors and by words.
    """
    similarities = _similarities(found) if similarities is None else similarities
    is_person = np.array([item.speaker is not None for item in found], bool)
    total = np.zeros((len(found), len(found)), np.int64)
    for similar in similarities:
        others = np.where(is_person[None, :] & ~np.eye(len(found), dtype=bool), similar, -np.inf)
        nearer = (others[:, None, :] > similar[:, :, None]).sum(axis=2)
        total += np.maximum(nearer, nearer.T)
    return total


def _similarities(found: Sequence[ComparedMessage]) -> list[Floats]:
    """How similar the messages are to one another (n, n), by vectors and by their rare words."""
    texts = [item.text for item in found]
    return [_similarity(token_means().embed(texts)), _similarity(_rare_words(texts))]


def _rare_words(texts: Sequence[str]) -> Floats:
    """What is indexed of each text (n, t), weighted by how few of these texts have it."""
    indexed = [_indexed(text) for text in texts]
    different = dict.fromkeys(term for own in indexed for term in own)
    column = {term: place for place, term in enumerate(different)}
    has = np.zeros((len(texts), len(column)))
    for row, own in enumerate(indexed):
        has[row, [column[term] for term in own]] = 1.0
    return np.asarray(has * np.sqrt(np.log((len(texts) + 1) / np.maximum(has.sum(axis=0), 1.0))))


def _indexed(text: str) -> tuple[int, ...]:
    """The hashes of the different terms and parts of a text."""
    return remembered(
        ("indexed", hash(text)),
        lambda: tuple(dict.fromkeys(map(hash, (*terms(text), *parts(text))))),
    )


def _similarity(vectors: npt.NDArray[np.floating]) -> Floats:
    """Cosines (n, n) of some vectors."""
    vectors = vectors.astype(float)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors /= np.where(norms > 0, norms, 1.0)
    # Not by BLAS, whose threads take longer to wake for so little. Rounded because the last bits of
    # a product depend on the order of its terms.
    return np.asarray(np.round(np.einsum("ik,jk->ij", vectors, vectors), 6))


# Results and facts as of a time.


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
