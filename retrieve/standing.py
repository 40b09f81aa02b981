"""Facts that have been superseded, in a result and in the prompt block.

A question about how things are gets the current fact, and the message that states it, before what
it superseded. A question about how things were ("where did she live before?") gets the old first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import TypeVar

from cognigraph.model import Triple
from cognigraph.states.slots import claim_about
from cognigraph.text.marks import one_line

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
        order = _first(order, wanted, others, times, late=not past)
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
                newest_of(one, known) == chain and not known[one].is_true_at(valid_at)
                for one in stated[row]
                if one in known
            )
        ]
        if wanted and others and order.index(wanted[0]) > order.index(others[0]):
            rest = [row for row in order if row != wanted[0]]
            at = rest.index(others[0])
            order = [*rest[:at], wanted[0], *rest[at:]]
    return [items[row] for row in order]


def _first(
    order: list[int],
    wanted: Sequence[int],
    others: Sequence[int],
    times: Sequence[datetime],
    *,
    late: bool,
) -> list[int]:
    """Move the best wanted row before all others, if it was said before them, or ``late``r."""
    fitting = [
        row
        for row in wanted
        if all(times[row] > times[one] if late else times[row] < times[one] for one in others)
    ]
    if not fitting or not others or order.index(fitting[0]) < order.index(others[0]):
        return order
    rest = [row for row in order if row != fitting[0]]
    at = rest.index(others[0])
    return [*rest[:at], fitting[0], *rest[at:]]


def shown_facts(triples: Iterable[Triple], *, past: bool) -> list[Triple]:
    """Return the facts of a prompt block: superseded ones only for a question about the past."""
    return [one for one in triples if one.status == "current" or (past and one.superseded_by)]


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
    for one in stated:
        if one.status != "superseded" or one.superseded_at is None or one.superseded_at <= said:
            continue
        uid, at = newest_of(one.uid, known), one.superseded_at
        if uid in known and known[uid].last_observed > said:
            at = known[uid].last_observed
        else:  # what a user put in its place may have been said before
            uid = one.superseded_by or uid
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
    over = [one for one in stated if claim_about(one) and not one.is_true_at(valid_at)]
    if not over:
        return ""
    chains = {newest_of(one.uid, known) for one in over}
    seen = sorted(
        (labels[uid] for uid in labels if uid in known and newest_of(uid, known) in chains),
        key=lambda label: (len(label), label),
    )
    then = valid_at.astimezone(zone).date().isoformat()
    see = f": see {', '.join(seen)}" if seen else ""
    return f" [not true at {then}{see}]"


def _month(at: datetime, zone: tzinfo) -> str:
    return at.astimezone(zone).strftime("%Y-%m")
