"""The history of an entity's states, conflicts between facts, and users' decisions on facts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from cognigraph.errors import ConfigurationError, NotFoundError
from cognigraph.ids import normalise
from cognigraph.loop.data import Repair
from cognigraph.model import Conflict, History, Triple
from cognigraph.retrieve.known_at import known_at
from cognigraph.states.slots import claim_about, same_value
from cognigraph.states.succession import NewRuling
from cognigraph.stores.protocols import Store

_CONTESTED = 10_000


def history(
    store: Store,
    space: str,
    entity: str,
    relation: str | None,
    *,
    as_of: datetime | None = None,
    valid_at: datetime | None = None,
) -> list[History]:
    """The states of an entity by slot; see :meth:`cognigraph.Space.history`."""
    chains: dict[tuple[str, str], list[Triple]] = {}
    for triple in known_at(store, space, store.states.of_entity(space, entity), as_of):
        if valid_at is not None and not triple.is_true_at(valid_at):
            continue
        chains.setdefault(slot_of(triple), []).append(triple)
    found = [
        History(subject, slot, tuple(sorted(triples, key=_beginning)))
        for (subject, slot), triples in sorted(chains.items())
    ]
    return found if relation is None else [one for one in found if _is_about(one, relation)]


def conflicts(store: Store, space: str, limit: int) -> list[Conflict]:
    """Current facts that cannot all be true; see :meth:`cognigraph.Space.conflicts`."""
    found: list[Conflict] = []
    for triples in store.states.contested(space, _CONTESTED):
        against = _disagreeing(triples)
        if against:
            subject, slot = slot_of(against[0])
            found.append(Conflict(subject, slot, tuple(sorted(against, key=_beginning))))
    return found[:limit]


def supersede(
    store: Store,
    space: str,
    old: Triple | str,
    new: Triple | str,
    at: datetime | None,
    reason: str,
) -> None:
    """Record that one fact took the place of another; see :meth:`cognigraph.Space.supersede`."""
    store.states.rule(space, _superseding(store, space, old, new, at, reason))


def _superseding(
    store: Store,
    space: str,
    old: Triple | str,
    new: Triple | str,
    at: datetime | None,
    reason: str,
) -> NewRuling:
    old_uid, new_uid = _uid(old), _uid(new)
    if old_uid == new_uid:
        raise ConfigurationError("old and new are the same triple")
    known = store.search.triples_by_uid(space, [new_uid])
    if new_uid not in known:
        raise NotFoundError(f"there is no triple with the uid {new_uid!r}")
    since = known[new_uid].valid_from or known[new_uid].first_observed
    return NewRuling("supersede", old_uid, new_uid, at or since, reason)


def retract(store: Store, space: str, triple: Triple | str, reason: str) -> None:
    """Take a fact back; see :meth:`cognigraph.Space.retract`."""
    store.states.rule(space, NewRuling("retract", _uid(triple), reason=reason))


def restore(store: Store, space: str, triple: Triple | str, reason: str) -> None:
    """Make a fact current; see :meth:`cognigraph.Space.restore`."""
    store.states.rule(space, NewRuling("restore", _uid(triple), reason=reason))


def apply_repairs(store: Store, space: str, repairs: Sequence[Repair]) -> None:
    """Make the changes that a loop proposes, all of them in one transaction or none.

    Raises:
        NotFoundError: a fact was deleted since it was found.
    """
    store.states.rule(space, *(_ruling(store, space, one) for one in repairs))


def _ruling(store: Store, space: str, repair: Repair) -> NewRuling:
    if repair.new is None:
        return NewRuling("retract", repair.old.uid, reason=repair.reason)
    return _superseding(store, space, repair.old, repair.new, repair.at, repair.reason)


def _uid(triple: Triple | str) -> str:
    return triple if isinstance(triple, str) else triple.uid


def slot_of(triple: Triple) -> tuple[str, str]:
    """Return whose slot a triple is about, and the slot as people would call it."""
    claim = claim_about(triple)
    if claim is None:
        return triple.subject, triple.relation
    subject = triple.object if claim.on_object else triple.subject
    return subject, claim.slot.removeprefix("<").replace("|", " ")


def _beginning(triple: Triple) -> tuple[datetime, datetime, str]:
    return triple.valid_from or triple.first_observed, triple.first_observed, triple.uid


def _is_about(chain: History, relation: str) -> bool:
    wanted = normalise(relation)
    relations = {normalise(triple.relation) for triple in chain.triples}
    return wanted in relations or chain.slot == wanted or chain.slot.startswith(f"{wanted} ")


def _disagreeing(triples: Sequence[Triple]) -> list[Triple]:
    """Return the facts that hold another value than one of the others."""
    claims = [(triple, claim_about(triple)) for triple in triples]
    holding = [(triple, one) for triple, one in claims if one is not None and one.says == "holds"]
    return [
        triple
        for triple, one in holding
        if any(
            not same_value(one.slot, one.value, other.value) and _overlap(triple, against)
            for against, other in holding
        )
    ]


def _overlap(one: Triple, other: Triple) -> bool:
    """Whether two facts may be true at the same time."""
    return _before_end(one, other) and _before_end(other, one)


def _before_end(one: Triple, other: Triple) -> bool:
    return one.valid_from is None or other.valid_to is None or one.valid_from < other.valid_to
