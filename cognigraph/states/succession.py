"""Decide which of the statements about one slot are current: a pure function of all of them.

What is said later wins: each statement ends what it contradicts of what was said before it, and
nothing is ever ended by what was said earlier. A later statement about the past ends nothing that
is newer than the past it tells of: "I moved to Paris in 2019", told after "I live in Oslo".
Statements of the same moment do not end each other; they stay side by side, as a conflict. Nothing
depends on the order in which statements are given.

A user's rulings come first: a retracted statement says nothing, a restored one is current.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Literal

from cognigraph.model.graph import Period, Status
from cognigraph.states.slots import ANY, Claim, base_slot, excludes, same_value
from cognigraph.times import When, from_micros

RulingKind = Literal["supersede", "retract", "restore"]

BY_RULES, BY_USER = "rules", "user"

OTHER_VALUE = "another value was given later"
DENIED = "it was denied later"
ENDED = "its end was told later"
TAKEN_BACK = "the opposite was said later"
REPLACED = "a later statement replaces it"


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact with all that decides whether it is current. ``said`` are the times of its evidence.

    ``replaces`` says that the extraction found it to replace others of its relation.
    """

    uid: str
    claim: Claim | None
    said: tuple[datetime, ...]
    when: When | None = None
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class NewRuling:
    """What a user says of a fact, before it is recorded; the fields are those of a Ruling."""

    kind: RulingKind
    uid: str
    by: str | None = None
    at: datetime | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a user said of a fact; of several about one fact the last counts.

    ``order`` is when it was recorded, in microseconds since 1970 and later than all before it.
    ``by`` is the fact that supersedes it, and ``at`` when it ended, if the user said so.
    """

    kind: RulingKind
    uid: str
    order: int
    by: str | None = None
    at: datetime | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether a fact is current, and since when and until when it is true, as far as known.

    ``superseded_by`` is the uid of the fact that ended it and ``superseded_at`` when that was said;
    ``by`` is who decided so: the rules or a user. ``earlier`` are the times in which it was true
    before, if it was said again after it had ended.
    """

    status: Status = "current"
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    superseded_by: str | None = None
    superseded_at: datetime | None = None
    by: str | None = None
    reason: str | None = None
    earlier: tuple[Period, ...] = ()


RECENT = timedelta(days=31)
"""How long before a statement a change may have happened that still ends it when it is told later.

"I live in Leeds", and four days later "I moved to Edinburgh last week": the move is the news,
though it came before the first sentence.
"""


@dataclass(frozen=True, slots=True)
class _Event:
    """A statement at the moment when it was said: true since, and of a change the time it tells."""

    said: datetime
    since: datetime
    changed: datetime | None
    statement: Statement


def decide(statements: Iterable[Statement], rulings: Sequence[Ruling] = ()) -> dict[str, Standing]:
    """Return the standing of every statement. All are about one slot of one subject.

    Statements of several-valued slots may be given together with those that replace them.
    """
    known = {statement.uid: statement for statement in statements}
    ruled = {item.uid: item for item in sorted(rulings, key=lambda ruling: ruling.order)}
    taken = {uid for uid, value in ruled.items() if value.kind == "retract"}
    events = sorted(
        (event for uid, value in known.items() if uid not in taken for event in _events(value)),
        key=lambda event: (event.said, event.statement.uid),
    )
    standings = {uid: _alone(value) for uid, value in known.items()}
    for uid, standing in _replay(events).items():
        ended = standing.superseded_at
        if ended is None or ended > max(known[uid].said):
            standings[uid] = standing
    for uid in known.keys() & ruled.keys():
        standings[uid] = _as_ruled(standings[uid], known[uid], ruled[uid], known)
    return standings


def _alone(statement: Statement) -> Standing:
    """Return the standing of a statement that no other one touches."""
    claim, when = statement.claim, statement.when
    if claim is None or claim.says == "ends":
        return Standing(
            valid_from=when.start if when else None, valid_to=when.end if when else None
        )
    if when is None or not claim.dated:
        return Standing(valid_from=min(statement.said, default=None))
    planned = "/" in when.text and when.end > max(statement.said, default=when.end)
    planned = planned or when.is_period
    return Standing(valid_from=when.start, valid_to=when.end if planned else None)


def _events(statement: Statement) -> list[_Event]:
    """Return the moments at which a statement says something about its slot."""
    claim, when = statement.claim, statement.when
    if claim is None or not statement.said:
        return []
    said = sorted(set(statement.said))
    if when is None or not claim.dated:
        return [_Event(at, at, None, statement) for at in said]
    if when.start > said[-1]:
        return []  # a plan
    if when.is_period and when.end <= said[0]:
        return []  # it was over when it was said
    said = [at for at in said if at >= when.start]
    if when.is_period:
        said = [at for at in said if at < when.end]
    if claim.change:
        return [_Event(said[0], when.start, when.end, statement)]
    return [_Event(at, when.start, None, statement) for at in said]


def _replay(events: Sequence[_Event]) -> dict[str, Standing]:
    """Let each moment end what it contradicts of those before; return what became of each."""
    live: dict[str, _Event] = {}
    standings: dict[str, Standing] = {}
    for _, at_once in groupby(events, key=lambda event: event.said):
        together = list(at_once)
        again = {event.statement.uid for event in together}
        for uid, before in list(live.items()):
            reasons = [(event, _contradiction(before, event)) for event in together]
            ender = next(((event, why) for event, why in reasons if why is not None), None)
            if ender is not None and uid not in again:
                standings[uid] = _ended(standings[uid], *ender)
                del live[uid]
        for event in together:
            uid = event.statement.uid
            if uid not in live:
                standings[uid] = _begun_again(event, standings.get(uid))
            live[uid] = event
    return standings


def _begun_again(event: _Event, before: Standing | None) -> Standing:
    """Return the standing of a statement that begins, and that may have ended before."""
    start, past = _begun(event), _past(before)
    if past and start.valid_from is not None and start.valid_from < past[-1][1]:
        start = replace(start, valid_from=event.said)
    return replace(start, earlier=past)


def _past(standing: Standing | None) -> tuple[Period, ...]:
    """Return the times in which a statement was true, if it is over."""
    if standing is None or standing.valid_from is None or standing.valid_to is None:
        return ()
    last = (standing.valid_from, standing.valid_to)
    return (*standing.earlier, last) if last[0] < last[1] else standing.earlier


def _begun(event: _Event) -> Standing:
    claim = event.statement.claim
    start = _alone(event.statement)
    dated = event.statement.when is not None and claim is not None and claim.dated
    if claim is None or claim.says == "ends" or dated:
        return start
    return replace(start, valid_from=event.since)


def _ended(standing: Standing, event: _Event, reason: str) -> Standing:
    start = standing.valid_from
    end = event.since if start is None else max(event.since, start)
    return replace(
        standing,
        status="superseded",
        valid_to=end,
        superseded_by=event.statement.uid,
        superseded_at=event.said,
        by=BY_RULES,
        reason=reason,
    )


def _contradiction(before: _Event, event: _Event) -> str | None:
    """Return why an event ends a statement that was current; ``None`` if both can be true."""
    if _is_of_the_past(event, before):
        return None
    old, new = before.statement.claim, event.statement.claim
    assert old is not None and new is not None
    if base_slot(old.slot) != base_slot(new.slot):
        if not event.statement.replaces or old.says == "ends":
            return None
        if new.says == "ends":
            return ENDED if new.value == ANY else None
        return REPLACED
    same = same_value(new.slot, old.value, new.value)
    if old.says == "holds" and new.says == "ends":
        return (ENDED if new.change else DENIED) if same else None
    if new.says == "ends":
        return None
    if old.says == "ends":
        return TAKEN_BACK if same else None
    if same or not (event.statement.replaces or excludes(old, new)):
        return None
    return OTHER_VALUE


def _is_of_the_past(event: _Event, before: _Event) -> bool:
    """Whether an event tells of a change before the state that the earlier one tells of."""
    if event.changed is None:
        return False
    if before.changed is not None:
        return event.changed <= before.since
    return event.changed < before.said - RECENT


def _as_ruled(
    standing: Standing, statement: Statement, ruling: Ruling, known: Mapping[str, Statement]
) -> Standing:
    plain = _alone(statement)
    if ruling.kind == "restore":
        return replace(plain, by=BY_USER, reason=ruling.reason or None)
    if ruling.kind == "retract":
        return replace(plain, status="retracted", by=BY_USER, reason=ruling.reason or None)
    return replace(
        plain,
        status="superseded",
        valid_to=ruling.at,
        superseded_by=ruling.by,
        superseded_at=from_micros(ruling.order),
        by=BY_USER,
        reason=ruling.reason or None,
    )
