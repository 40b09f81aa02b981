"""Merge and split entities by name, and list suspected duplicates, for ``Space``."""

from __future__ import annotations

from rapidfuzz import process

from cognigraph.errors import ConfigurationError, NotFoundError
from cognigraph.ids import normalise
from cognigraph.model import SuspectedDuplicate
from cognigraph.resolution.by_vectors import MOST_BY_VECTORS, near
from cognigraph.resolution.compare import EntityName
from cognigraph.resolution.name_forms import is_proper
from cognigraph.stores.merge_records import suspicion
from cognigraph.stores.protocols import NamedEntity, Store

_NEAR = 3
_NEAR_SCORE = 75.0
_LOOKED_AT = 2000


def merge(
    store: Store, space: str, name: str, into: str, type: str | None, into_type: str | None
) -> None:
    """Merge two entities; ``into`` is canonical. See :meth:`cognigraph.Space.merge`."""
    target = _one(store, space, into, into_type or type)
    source = _one(store, space, name, type, preferred=target.type)
    _check_two(source, target)
    store.resolution.merge(space, source.uid, target.uid)


def split(
    store: Store,
    space: str,
    name: str,
    apart_from: str | None,
    type: str | None,
    other_type: str | None,
) -> None:
    """Undo a merge; see :meth:`cognigraph.Space.split`."""
    entity = _one(store, space, name, type)
    if apart_from is not None:
        other = _one(store, space, apart_from, other_type or type, preferred=entity.type)
        _check_two(entity, other)
        store.resolution.split(space, entity.uid, other.uid)
    elif not store.resolution.split(space, entity.uid):
        raise NotFoundError(f"nothing is merged with {entity.name!r} ({entity.type})")


def suspected(store: Store, space: str, limit: int, offset: int) -> list[SuspectedDuplicate]:
    """Pairs of separate entities that may be the same, by spelling or by vectors of their names.

    The most similar come first; see :meth:`cognigraph.Space.suspected_duplicates`.
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
        suspicion(
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


def _one(
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
        candidates = [one for one in candidates if one.type == preferred] or candidates
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
