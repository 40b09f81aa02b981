"""``Review``: the decisions of people on facts and entities, which nothing overrides."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import islice

from rapidfuzz import process

from cognigraph.errors import ConfigurationError, NotFoundError
from cognigraph.ids import normalise
from cognigraph.loop.data import Repair
from cognigraph.model import (
    Conflict,
    Merge,
    SuspectedDuplicate,
    Triple,
)
from cognigraph.operations.facts import beginning, slot_of
from cognigraph.operations.tenant import Tenant
from cognigraph.resolution.by_vectors import MOST_BY_VECTORS, near
from cognigraph.resolution.compare import EntityName
from cognigraph.resolution.name_forms import is_proper
from cognigraph.states.slots import claim_about, same_value
from cognigraph.states.succession import NewRuling
from cognigraph.stores.protocols import NamedEntity, Store
from cognigraph.stores.records import suspected_duplicate
from cognigraph.validation import checked

_CONTESTED = 10_000
"""Facts in slots with several current values that are looked at."""


class Review(Tenant):
    """What is in doubt in a space, and what people decide about it."""

    @checked
    def conflicts(self, limit: int = 100) -> list[Conflict]:
        """List current triples of which only one can be true, the newest conflict first.

        They were said at the same time, or a user restored one of them. Decide with
        :meth:`supersede` or :meth:`retract`.
        """
        contested = self._engine.store.states.contested(self._name, _CONTESTED)
        disagreeing = map(_disagreeing, contested)
        conflicts = (_conflict(facts) for facts in disagreeing if facts)
        return [*islice(conflicts, limit)]

    @checked
    def supersede(
        self,
        old: Triple | str,
        new: Triple | str,
        *,
        at: datetime | str | None = None,
        reason: str = "",
    ) -> None:
        """Record that the fact ``new`` has taken the place of ``old``.

        Nothing is deleted, and :meth:`restore` undoes it. What users decide on a fact outlives
        enrichment: reading messages again does not change it.

        Args:
            old: a fact as it was listed, or its uid.
            new: the fact that took its place, likewise.
            at: since when; by default since the new fact began.
            reason: why, for those who look at the history.

        Raises:
            NotFoundError: there is no such fact.
        """
        ruling = _superseding(self._engine.store, self._name, old, new, self._utc(at), reason)
        self._engine.store.states.rule(self._name, ruling, by=self._by)

    @checked
    def retract(self, fact: Triple | str, *, reason: str = "") -> None:
        """Take a fact back, as if it had never been said. What it superseded is current again.

        Nothing is deleted, and :meth:`restore` undoes it.

        Args:
            fact: a fact as it was listed, or its uid.
            reason: why, for those who look at the history.

        Raises:
            NotFoundError: there is no such fact.
        """
        ruling = NewRuling("retract", _uid(fact), reason=reason)
        self._engine.store.states.rule(self._name, ruling, by=self._by)

    @checked
    def restore(self, fact: Triple | str, *, reason: str = "") -> None:
        """Make a fact current, whatever superseded it, by a user or by the rules.

        Args:
            fact: a fact as it was listed, or its uid.
            reason: why, for those who look at the history.

        Raises:
            NotFoundError: there is no such fact.
        """
        ruling = NewRuling("restore", _uid(fact), reason=reason)
        self._engine.store.states.rule(self._name, ruling, by=self._by)

    @checked
    def duplicates(self, limit: int = 100, offset: int = 0) -> list[SuspectedDuplicate]:
        """List pairs of entities that may be the same but are not merged, most similar first.

        Pairs with similar spelling come first, then pairs with similar vectors ("nature's beauty",
        "beauty of nature"), then equal names of which one has no specific type. Decide a pair with
        :meth:`merge`, or with ``split(a, apart_from=b)``.
        """
        return self._engine.use(lambda store, _: _suspected(store, self._name, limit, offset))

    @checked
    def merge(
        self, name: str, into: str, *, type: str | None = None, into_type: str | None = None
    ) -> None:
        """Merge the entity ``name`` into the entity ``into``, whose name and type both then have.

        The merge is permanent until :meth:`split` undoes it: later evidence does not.

        Args:
            name: the entity that is merged.
            into: the entity whose name is kept.
            type: the type of the entities, if several have such a name.
            into_type: the type of the entity whose name is kept, if it is another.

        Raises:
            NotFoundError: there is no entity of that name; the error lists similar names.
            ConfigurationError: several entities have that name.
        """
        store = self._engine.store
        target = _entity(store, self._name, into, into_type or type)
        source = _entity(store, self._name, name, type, preferred=target.type)
        _check_two(source, target)
        store.resolution.merge(self._name, source.uid, target.uid, self._by)

    @checked
    def split(
        self,
        name: str,
        *,
        apart_from: str | None = None,
        type: str | None = None,
        other_type: str | None = None,
    ) -> None:
        """Undo a merge, so that the entity ``name`` is an entity of its own again.

        This undoes the latest merge by a user that it takes part in. If there is none, it is
        separated from every entity that the rules merged it with. The rules never again merge what
        was split.

        Args:
            name: the entity.
            apart_from: only keep these two apart, whether they are merged now, suspected
                duplicates, or neither.
            type: the type of the entity, if several have that name.
            other_type: the type of the other entity, if it is another.

        Raises:
            NotFoundError: nothing is merged with it.
        """
        store = self._engine.store
        entity = _entity(store, self._name, name, type)
        if apart_from is not None:
            other = _entity(
                store, self._name, apart_from, other_type or type, preferred=entity.type
            )
            _check_two(entity, other)
            store.resolution.split(self._name, entity.uid, other.uid, self._by)
        elif not store.resolution.split(self._name, entity.uid, by=self._by):
            raise NotFoundError(f"nothing is merged with {entity.name!r} ({entity.type})")

    @checked
    def merges(self, limit: int = 100, offset: int = 0) -> list[Merge]:
        """List all merges by rules and users, newest first; an undone merge has ``undone_at``."""
        return self._engine.store.resolution.merges(self._name, limit=limit, offset=offset)


def _conflict(facts: Sequence[Triple]) -> Conflict:
    subject, slot = slot_of(facts[0])
    return Conflict(subject, slot, tuple(sorted(facts, key=beginning)))


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
    since = known[new_uid].since
    return NewRuling("supersede", old_uid, new_uid, at or since, reason)


def apply_repairs(
    store: Store, space: str, repairs: Sequence[Repair], *, by: str | None = None
) -> None:
    """Make the changes that a loop proposes, all of them in one transaction or none.

    Raises:
        NotFoundError: a fact was deleted since it was found.
    """
    store.states.rule(space, *(_ruling(store, space, repair) for repair in repairs), by=by)


def _ruling(store: Store, space: str, repair: Repair) -> NewRuling:
    if repair.new is None:
        return NewRuling("retract", repair.old.uid, reason=repair.reason)
    return _superseding(store, space, repair.old, repair.new, repair.at, repair.reason)


def _uid(triple: Triple | str) -> str:
    return triple if isinstance(triple, str) else triple.uid


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


_NEAR = 3
_NEAR_SCORE = 75.0
_LOOKED_AT = 2000


def _suspected(store: Store, space: str, limit: int, offset: int) -> list[SuspectedDuplicate]:
    """Pairs of separate entities that may be the same, by spelling or by vectors of their names.

    The most similar come first; see :meth:`Review.duplicates`.
    """
    end = offset + limit
    by_letters = store.resolution.suspected(space, limit=end)
    if len(by_letters) == end and all(pair.score > MOST_BY_VECTORS for pair in by_letters):
        return by_letters[offset:]
    both = [*by_letters, *_by_vectors(store, space)]
    return sorted(both, key=lambda pair: -pair.score)[offset:end]


def _by_vectors(store: Store, space: str) -> list[SuspectedDuplicate]:
    """Pairs found by vectors alone; the rules for spelling and the user take precedence."""
    names = store.resolution.names(space)
    columns = zip(names.uids, names.normalised, names.types, names.names, strict=True)
    named = [EntityName(uid, own, type, proper=is_proper(name)) for uid, own, type, name in columns]
    pairs = [
        (a, b, relation)
        for a, b, relation in near(named, names.vectors)
        if names.canonical[a] != names.canonical[b]
    ]
    ends = {names.uids[index] for a, b, _ in pairs for index in (a, b)}
    judged = store.resolution.judged(space, sorted(ends))
    return [
        suspected_duplicate(
            names.names[a], names.types[a], names.names[b], names.types[b],
            relation.score, relation.reason,
        )
        for a, b, relation in pairs
        if (names.uids[a], names.uids[b]) not in judged
    ]  # fmt: skip


def _check_two(one: NamedEntity, other: NamedEntity) -> None:
    if one.uid == other.uid:
        raise ConfigurationError(
            f"both names refer to {one.name!r} ({one.type}); name two different entities"
        )


def _entity(
    store: Store, space: str, name: str, type: str | None, *, preferred: str | None = None
) -> NamedEntity:
    """The one entity that a name refers to; an entity's own name precedes aliases of others.

    Raises:
        NotFoundError: no entity has this name, or none of this type.
        ConfigurationError: several entities have this name.
    """
    found = store.resolution.named(space, name)
    if not found:
        raise NotFoundError(f"no entity is called {name!r}{_hint(store, space, name)}")
    own = [entity for entity in found if normalise(entity.name) == normalise(name)]
    candidates = own or found
    if type is not None:
        typed = [entity for entity in candidates if entity.type == normalise(type)]
        if not typed:
            raise NotFoundError(
                f"no entity called {name!r} has the type {type!r}; there is {_listed(candidates)}"
            )
        candidates = typed
    elif len(candidates) > 1 and preferred is not None:
        candidates = [
            candidate for candidate in candidates if candidate.type == preferred
        ] or candidates
    if len(candidates) > 1:
        raise ConfigurationError(
            f"{name!r} is the name of several entities: {_listed(candidates)}; "
            "choose one with type=... (--type)"
        )
    return candidates[0]


def _listed(entities: list[NamedEntity]) -> str:
    return ", ".join(f"{entity.name} ({entity.type})" for entity in entities)


def _hint(store: Store, space: str, name: str) -> str:
    names = {
        spelling
        for entity in store.graph.entities(space, limit=_LOOKED_AT)
        for spelling in (entity.name, *entity.aliases)
    }
    near = process.extract(
        normalise(name),
        sorted(names),
        processor=normalise,
        limit=_NEAR,
        score_cutoff=_NEAR_SCORE,
    )
    return f"; did you mean {', '.join(repr(match[0]) for match in near)}?" if near else ""
