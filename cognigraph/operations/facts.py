"""List the facts of a space, also as they were known at an earlier time, and state new ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import islice

from cognigraph.engine import Engine
from cognigraph.errors import ConfigurationError, NotFoundError
from cognigraph.ids import normalise
from cognigraph.ingest.stated import StoredFact, name_of, period, time_of
from cognigraph.model import (
    AddResult,
    Entity,
    EntityProfile,
    History,
    Message,
    ProfileEntry,
    Triple,
)
from cognigraph.model.filters import TripleQuery
from cognigraph.operations.adding import add_batch
from cognigraph.resolution.name_forms import NAME_TYPE
from cognigraph.retrieve.standing import known_at
from cognigraph.states.slots import claim_about
from cognigraph.stores.protocols import NamedEntity, Store
from cognigraph.times import When, to_utc

_PAGE = 500


def listed(store: Store, space: str, query: TripleQuery) -> list[Triple]:
    """The facts that a query asks for; see :meth:`cognigraph.Space.facts`."""
    if query.as_of is None:
        return store.graph.triples(space, query)
    if query.status is None and query.valid_at is None:
        found = known_at(store, space, store.graph.triples(space, query), query.as_of)
        return sorted(found, key=lambda triple: triple.last_observed, reverse=True)
    end = query.offset + query.limit
    return list(islice(_known(store, space, query), query.offset, end))


def _known(store: Store, space: str, query: TripleQuery) -> Iterator[Triple]:
    """Facts by what was known of them at ``as_of``, which the store does not hold."""
    page = replace(query, status=None, valid_at=None, limit=_PAGE, offset=0)
    while found := store.graph.triples(space, page):
        for triple in known_at(store, space, found, query.as_of):
            if query.status in (None, triple.status) and (
                query.valid_at is None or triple.is_true_at(query.valid_at)
            ):
                yield triple
        page = replace(page, offset=page.offset + _PAGE)


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
        History(subject, slot, tuple(sorted(triples, key=beginning)))
        for (subject, slot), triples in sorted(chains.items())
    ]
    return found if relation is None else [item for item in found if _is_about(item, relation)]


def slot_of(triple: Triple) -> tuple[str, str]:
    """Return whose slot a triple is about, and the slot as people would call it."""
    claim = claim_about(triple)
    if claim is None:
        return triple.subject, triple.relation
    subject = triple.object if claim.on_object else triple.subject
    return subject, claim.slot.removeprefix("<").replace("|", " ")


def beginning(triple: Triple) -> tuple[datetime, datetime, str]:
    """Order facts by when they became true, else by when they were first said."""
    return triple.since, triple.first_observed, triple.uid


def _is_about(chain: History, relation: str) -> bool:
    wanted = normalise(relation)
    relations = {normalise(triple.relation) for triple in chain.triples}
    return wanted in relations or chain.slot == wanted or chain.slot.startswith(f"{wanted} ")


_PAGE = 500
_OWNED_MOST = 200
_VALUE = "value"


def profile(
    store: Store,
    space: str,
    entity: str,
    *,
    at: datetime,
    as_of: datetime | None,
    earlier: bool,
) -> EntityProfile:
    """What is true of an entity ``at`` a time; see :meth:`Overview.profile`."""
    found = store.resolution.named(space, entity)
    if not found:
        raise NotFoundError(f"no entity is called {entity!r}")
    # Entities of several types can share a name; that it is a name is the least of what one is.
    called = list(dict.fromkeys(item.name for item in sorted(found, key=_is_only_a_name)))
    names = {normalise(name) for name in (*called, entity)}
    known = [
        item
        for name in called
        for item in store.graph.entities(space, match=name, limit=_OWNED_MOST, as_of=as_of)
        if normalise(item.name) in names
    ]
    triples = {
        triple.uid: triple for name in called for triple in _about(store, space, name, names, as_of)
    }
    return EntityProfile(
        called[0],
        tuple(sorted({item.type for item in found})),
        tuple(sorted({alias for item in known for alias in item.aliases})),
        tuple(_entries(triples.values(), names, at, earlier=earlier)),
    )


def _is_only_a_name(one: NamedEntity) -> bool:
    return one.type == NAME_TYPE


def _about(
    store: Store, space: str, name: str, names: set[str], as_of: datetime | None
) -> Iterator[Triple]:
    """Facts of the entity, and of what is called its own: "Ann's rent"."""
    for triple in _all(store, space, name, as_of):
        if _holder(triple) in names:
            yield triple
    for own in _owned(store, space, name, as_of):
        for triple in _all(store, space, own.name, as_of):
            if _holder(triple) == normalise(own.name):
                yield triple


def _owned(store: Store, space: str, name: str, as_of: datetime | None) -> Iterator[Entity]:
    found = store.graph.entities(space, match=name, limit=_OWNED_MOST, as_of=as_of)
    beginnings = tuple(f"{normalise(name)}{mark}s " for mark in "'’")
    return (item for item in found if normalise(item.name).startswith(beginnings))


def _all(store: Store, space: str, entity: str, as_of: datetime | None) -> Iterator[Triple]:
    query = TripleQuery(entity=entity, limit=_PAGE, as_of=as_of)
    while page := listed(store, space, query):
        yield from page
        if len(page) < _PAGE:
            return
        query = replace(query, offset=query.offset + _PAGE)


def _holder(triple: Triple) -> str:
    """The normalised name of the entity that a fact is about."""
    claim = claim_about(triple)
    return normalise(triple.object if claim and claim.on_object else triple.subject)


def _entries(
    triples: Iterable[Triple], names: set[str], at: datetime, *, earlier: bool
) -> Iterator[ProfileEntry]:
    """Yield what is true by slot, in alphabetical order."""
    slots: dict[str, list[Triple]] = {}
    for triple in triples:
        if triple.status != "retracted":
            slots.setdefault(_slot(triple, names), []).append(triple)
    entries = []
    for slot, found in slots.items():
        ordered = sorted(found, key=lambda fact: (fact.since, fact.uid))
        true = tuple(item for item in ordered if _is_true(item, at))
        over = tuple(item for item in ordered if not _is_true(item, at) and item.since <= at)
        if true or (over and earlier):
            entries.append(ProfileEntry(slot, true, over if earlier else ()))
    yield from sorted(entries, key=lambda entry: (entry.since is None, entry.slot))


def _slot(triple: Triple, names: set[str]) -> str:
    """The slot as people would call it; of "Ann's rent" it is "rent"."""
    subject, slot = slot_of(triple)
    owner, mark, what = normalise(subject).replace("’", "'").partition("'s ")
    if mark and owner in names:
        return what if slot == _VALUE else f"{what} {slot}"
    # Several objects of one relation are one entry: likes jazz, likes rock.
    return triple.relation if slot.startswith(f"{triple.relation} ") else slot


def _is_true(triple: Triple, at: datetime) -> bool:
    """Whether a fact is true then; what happened once stays true."""
    if triple.is_true_at(at):
        return True
    return triple.status == "current" and claim_about(triple) is None and triple.since <= at


# State a fact: store a message that says it, with the fact.

FACTS = "facts"
"""The session of stated facts, unless another is given."""

_UNKNOWN = "object"
"""What extractors call the type of a name that nobody has said more of."""


def state(
    engine: Engine,
    space: str,
    fact: StoredFact,
    message: Message,
    *,
    when: str | None,
    valid_from: datetime | str | None,
    valid_to: datetime | str | None,
    by: str | None,
) -> AddResult:
    """Store a fact; see :meth:`cognigraph.Space.add_fact`.

    ``message`` is to say it and has no text yet. A type that is empty becomes that of the entity.
    """
    subject, relation, object = (
        name_of(name, getattr(fact, name)) for name in ("subject", "relation", "object")
    )
    at = engine.clock() if message.at is None else to_utc(message.at, engine.zone)
    true_when = _when(when, valid_from, valid_to, at)
    fact = replace(
        fact,
        subject=subject,
        subject_type=fact.subject_type or _type_of(engine.store, space, subject),
        relation=relation,
        object=object,
        object_type=fact.object_type or _type_of(engine.store, space, object),
        when=true_when.text if true_when else None,
    )
    text = f"{fact.text} ({true_when})" if true_when else fact.text
    message = replace(message, text=text, at=at)
    return add_batch(engine, space, [message], Counter(), facts=fact.json, by=by)


def _type_of(store: Store, space: str, name: str) -> str:
    """The type of the entity that has this name, if there is only one."""
    types = {
        entity.type
        for entity in store.resolution.named(space, name)
        if normalise(entity.name) == normalise(name) or entity.type == "person"
    }
    return types.pop() if len(types) == 1 else _UNKNOWN


def _when(
    when: str | None,
    valid_from: datetime | str | None,
    valid_to: datetime | str | None,
    at: datetime,
) -> When | None:
    """When the fact is true.

    Raises:
        ConfigurationError: a time is not a date, or the times do not fit together.
    """
    if when is None:
        return period(valid_from, valid_to, at)
    if valid_from is not None or valid_to is not None:
        raise ConfigurationError("give either when, or valid_from and valid_to")
    return time_of("when", when)
