"""Incremental entity resolution: keep groups and canonical entities current in one transaction.

The result is a function of the set of entities, aliases and user constraints of a space. It does
not depend on the order in which they arrived:

- Every pair of entities that shares a block of at most :data:`MOST_IN_BLOCK` members and that
  :func:`~cognigraph.resolution.compare.relate` finds related is stored. Larger blocks are ignored.
- The verdict on a pair depends on how many entities each of the two names could denote, counted
  over the stored pairs.
- Pairs with the verdict "same" are joined in a fixed order after the user constraints, unless
  that violates a constraint or joins entities that conflict. The member that ranks first is the
  canonical entity of its group.

Only what new entities can affect is read: their blocks, the pairs around them and their groups.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from cognigraph.resolution.cluster import Constraint, Link, Pair, join
from cognigraph.resolution.compare import EntityName, judge, relate
from cognigraph.resolution.name_forms import block_keys

MOST_IN_BLOCK = 50
"""Blocks with more members are ignored: their key is too common to suggest a duplicate."""


class EntityMap(Protocol):
    """The operations a store provides within one write transaction on one space.

    All uids are those of entities as extracted, not of canonical entities.
    """

    def named(self, uids: Collection[str]) -> list[EntityName]:
        """Return entities by uid, with the normalised aliases that the text gives them."""

    def enter(self, keys: Mapping[str, Collection[int]]) -> dict[int, tuple[int, int]]:
        """Add entities to blocks; return each key's new size and how many members were added.

        Counting may stop at :data:`MOST_IN_BLOCK` plus the number of added members.
        """

    def leave(self, keys: Mapping[str, Collection[int]]) -> dict[int, tuple[int, int]]:
        """Remove entities from blocks; return each key's new size and how many were removed."""

    def blocks(self, keys: Collection[int]) -> dict[int, list[str]]:
        """Return the members of blocks by key."""

    def sizes(self, keys: Collection[int]) -> dict[int, int]:
        """Return the sizes of blocks by key."""

    def pairs(self, uids: Collection[str]) -> list[Pair]:
        """Return every pair that contains at least one of these entities."""

    def write_pairs(self, pairs: Sequence[Pair]) -> None:
        """Insert or overwrite pairs."""

    def drop_pairs(self, pairs: Sequence[Pair]) -> None:
        """Delete pairs."""

    def constraints(self, uids: Collection[str]) -> list[Constraint]:
        """Return every user constraint on at least one of these entities."""

    def groups(self, uids: Collection[str]) -> dict[str, str]:
        """Return all members of the groups of these entities, each with its canonical entity.

        An entity without a group is missing from the result.
        """

    def links(self, uids: Collection[str]) -> list[Link]:
        """Return the merges in force that involve at least one of these entities."""

    def constrain(self, constraints: Sequence[Constraint]) -> None:
        """Insert or overwrite user constraints."""

    def lift(self, constraints: Sequence[Constraint]) -> None:
        """Delete user constraints."""

    def relink(self, gone: Sequence[Link], new: Sequence[Link]) -> None:
        """Delete the merges that ended and record the new ones."""

    def regroup(self, canonical: Mapping[str, str | None]) -> None:
        """Set the canonical entities of these entities and move all their facts to them.

        An entity that maps to itself is canonical in its group; None takes it out of any group.
        """


def settle(
    entity_map: EntityMap,
    touched: Collection[str],
    lost: Mapping[str, Collection[str]] | None = None,
) -> None:
    """Bring pairs, verdicts, groups and merges up to date.

    ``touched`` are entities that are new, have a new alias or a new spelling. ``lost`` are the
    normalised aliases that the text no longer gives to entities.
    """
    seen = _Seen(entity_map)
    looked_at = {*touched, *(lost or ())}
    if lost:
        looked_at |= _leave(entity_map, _keys_of_aliases(seen, lost))
    if not looked_at:
        return
    ends = _compare(seen, looked_at)
    if ends:
        changed = _judge(seen, ends)
        _regroup(seen, changed)


def forget(entity_map: EntityMap, gone: Collection[str]) -> None:
    """Remove entities that are about to be deleted from pairs, blocks and groups.

    No user constraint may refer to them, and no fact may still use them.
    """
    if not gone:
        return
    seen = _Seen(entity_map)
    pairs = seen.pairs(gone)
    seen.drop(pairs)
    keys = {uid: _keys(entity) for uid, entity in seen.named(gone).items()}
    revived = _leave(entity_map, keys) - set(gone)
    ends = {uid for pair in pairs for uid in pair.ends} - set(gone)
    if revived:
        ends |= _compare(seen, revived)
    changed = _judge(seen, ends) if ends else set()
    _regroup(seen, changed | set(gone))


class _Seen:
    """A cache of the entities and pairs of a space, valid because writers are locked out."""

    def __init__(self, entity_map: EntityMap) -> None:
        self.entity_map = entity_map
        self._named: dict[str, EntityName] = {}
        self._pairs: dict[str, dict[tuple[str, str], Pair]] = {}

    def named(self, uids: Collection[str]) -> dict[str, EntityName]:
        """Return entities by uid; unknown uids are missing from the result."""
        missing = [uid for uid in uids if uid not in self._named]
        if missing:
            self._named.update((entity.uid, entity) for entity in self.entity_map.named(missing))
        return {uid: self._named[uid] for uid in uids if uid in self._named}

    def pairs(self, uids: Collection[str]) -> list[Pair]:
        """Return every pair that contains one of these entities."""
        missing = [uid for uid in uids if uid not in self._pairs]
        if missing:
            self._pairs.update((uid, {}) for uid in missing)
            self._keep(self.entity_map.pairs(missing))
        pairs: dict[tuple[str, str], Pair] = {}
        for uid in uids:
            pairs.update(self._pairs[uid])
        return list(pairs.values())

    def write(self, pairs: Sequence[Pair]) -> None:
        """Insert or overwrite pairs."""
        if pairs:
            self.entity_map.write_pairs(pairs)
            self._keep(pairs)

    def _keep(self, pairs: Sequence[Pair]) -> None:
        for pair in pairs:
            for uid in pair.ends:
                if uid in self._pairs:
                    self._pairs[uid][pair.ends] = pair

    def drop(self, pairs: Sequence[Pair]) -> None:
        """Delete pairs."""
        if pairs:
            self.entity_map.drop_pairs(pairs)
        for pair in pairs:
            for uid in pair.ends:
                self._pairs.get(uid, {}).pop(pair.ends, None)


def _keys_of_aliases(
    seen: _Seen, lost: Mapping[str, Collection[str]]
) -> dict[str, Collection[int]]:
    """Return the blocks that each entity was in only because of the aliases it lost."""
    return {
        uid: block_keys(entity.name, entity.type, entity.aliases | set(lost[uid])) - _keys(entity)
        for uid, entity in seen.named(lost).items()
    }


def _leave(entity_map: EntityMap, keys: Mapping[str, Collection[int]]) -> set[str]:
    """Remove entities from blocks; return the members of blocks that are small enough again."""
    left = entity_map.leave(keys)
    revived = {key for key, (size, gone) in left.items() if size <= MOST_IN_BLOCK < size + gone}
    return {uid for members in entity_map.blocks(revived).values() for uid in members}


def _keys(entity: EntityName) -> frozenset[int]:
    return block_keys(entity.name, entity.type, entity.aliases)


def _compare(seen: _Seen, touched: Collection[str]) -> set[str]:
    """Compare entities with the members of their blocks; return the entities of changed pairs."""
    entity_map = seen.entity_map
    keys = {uid: _keys(entity) for uid, entity in seen.named(touched).items()}
    entered = entity_map.enter(keys)
    small = {key for key, (size, _) in entered.items() if 1 < size <= MOST_IN_BLOCK}
    burst = {key for key, (size, new) in entered.items() if size > MOST_IN_BLOCK >= size - new}
    blocks = entity_map.blocks(small | burst) if small or burst else {}
    candidates = {
        (min(uid, other), max(uid, other))
        for uid, own in keys.items()
        for key in own & small
        for other in blocks[key]
        if other != uid
    }
    known = seen.named({uid for ends in candidates for uid in ends})
    related = [(ends, relate(known[ends[0]], known[ends[1]])) for ends in sorted(candidates)]
    pairs = {ends: Pair(*ends, relation) for ends, relation in related if relation is not None}
    dropped = _burst(seen, burst, blocks)
    # A new spelling can also end a relation.
    ended = [pair for pair in seen.pairs(keys) if pair.ends not in pairs]
    seen.drop(ended)
    seen.write(list(pairs.values()))
    return {uid for pair in [*pairs.values(), *dropped, *ended] for uid in pair.ends}


def _burst(seen: _Seen, burst: set[int], blocks: Mapping[int, list[str]]) -> list[Pair]:
    """Delete the pairs whose only common blocks have become too large."""
    inside = {uid for key in burst for uid in blocks[key]}
    if not inside:
        return []
    pairs = [pair for pair in seen.pairs(inside) if inside.issuperset(pair.ends)]
    named = seen.named({uid for pair in pairs for uid in pair.ends})
    keys = {uid: _keys(entity) for uid, entity in named.items()}
    shared = {pair.ends: keys[pair.a] & keys[pair.b] for pair in pairs}
    sizes = seen.entity_map.sizes({key for common in shared.values() for key in common})
    dropped = [
        pair
        for pair in pairs
        if all(sizes.get(key, 0) > MOST_IN_BLOCK for key in shared[pair.ends])
    ]
    seen.drop(dropped)
    return dropped


def _judge(seen: _Seen, ends: set[str]) -> set[str]:
    """Update the verdict on every pair that contains one of ``ends``.

    Returns ``ends`` and the entities of all pairs whose verdict changed.
    """
    pairs = seen.pairs(ends)
    # Only a name that can denote several entities makes a pair uncertain, so the further pairs of
    # other names are not read.
    ambiguous = {
        uid for pair in pairs for uid, reading in _readings_of(pair) if reading is not None
    }
    readings: dict[str, set[str]] = {}
    for pair in seen.pairs(ambiguous):
        for uid, reading in _readings_of(pair):
            if reading is not None:
                readings.setdefault(uid, set()).add(reading)
    changed = [
        replace(pair, verdict=verdict)
        for pair in pairs
        for verdict in [judge(pair.relation, *(len(readings.get(uid, ())) for uid in pair.ends))]
        if verdict != pair.verdict
    ]
    seen.write(changed)
    return ends | {uid for pair in changed for uid in pair.ends}


def _readings_of(pair: Pair) -> tuple[tuple[str, str | None], tuple[str, str | None]]:
    """Return both entities, each with the reading of its name that the pair implies."""
    return (pair.a, pair.relation.reading_a), (pair.b, pair.relation.reading_b)


# Groups


def _regroup(seen: _Seen, seeds: Collection[str]) -> None:
    """Recompute the groups that contain some entities and write the changes to the store."""
    entity_map = seen.entity_map
    canonical, pairs, constraints = _closure(seen, set(seeds))
    members = {uid for pair in pairs for uid in pair.ends} | canonical.keys() | set(seeds)
    members |= {uid for constraint in constraints for uid in (constraint.a, constraint.b)}
    named = seen.named(members)
    groups, links = join(named, pairs, constraints)
    new = {uid: canonical_uid for uid, canonical_uid in groups.items() if uid in named}
    changes = {uid: new.get(uid) for uid in sorted(named) if new.get(uid) != canonical.get(uid)}
    old_links = [link for link in entity_map.links(members) if {link.a, link.into} <= members]
    gone = [link for link in old_links if link not in links]
    begun = [link for link in links if link not in old_links]
    if gone or begun:
        entity_map.relink(gone, begun)
    if changes:
        entity_map.regroup(changes)


def _closure(seen: _Seen, seeds: set[str]) -> tuple[dict[str, str], list[Pair], list[Constraint]]:
    """Collect everything that the groups of ``seeds`` can depend on.

    Follows groups, pairs with the verdict "same" and user constraints until nothing new appears.
    """
    canonical: dict[str, str] = {}
    pairs: dict[tuple[str, str], Pair] = {}
    constraints: dict[tuple[str, str], Constraint] = {}
    reached: set[str] = set()
    fresh = set(seeds)
    while fresh:
        reached |= fresh
        found = seen.entity_map.groups(fresh)
        canonical.update(found)
        further = set(found)
        for pair in seen.pairs(fresh):
            if pair.verdict == "same":
                pairs[pair.ends] = pair
                further.update(pair.ends)
        for constraint in seen.entity_map.constraints(fresh):
            constraints[constraint.a, constraint.b] = constraint
            if constraint.verdict == "same":
                further.update((constraint.a, constraint.b))
        fresh = further - reached
    kept = [rule for rule in constraints.values() if {rule.a, rule.b} <= reached]
    return canonical, list(pairs.values()), kept


def merge(entity_map: EntityMap, a: str, into: str, at: int) -> None:
    """Merge two entities at a user's request; lift all constraints that keep their groups apart."""
    groups = entity_map.groups([a, into])
    left = {uid for uid, canonical in groups.items() if canonical == groups.get(a)} | {a}
    right = {uid for uid, canonical in groups.items() if canonical == groups.get(into)} | {into}
    lifted = [
        rule
        for rule in entity_map.constraints(left)
        if rule.verdict == "different"
        and ((rule.a in left and rule.b in right) or (rule.b in left and rule.a in right))
    ]
    entity_map.lift(lifted)
    entity_map.constrain([Constraint(min(a, into), max(a, into), "same", into, at)])
    _regroup(_Seen(entity_map), {a, into})


def split(entity_map: EntityMap, uid: str, at: int, apart_from: str | None = None) -> bool:
    """Permanently remove an entity from its group, at a user's request.

    If users merged the entity, the latest of these merges is turned into a constraint that keeps
    the two apart; otherwise the entity is kept apart from every other member. With ``apart_from``
    only these two are kept apart, whether or not they are in one group now.

    Returns False if the entity is in no group.
    """
    if apart_from is not None:
        ends = min(uid, apart_from), max(uid, apart_from)
        entity_map.constrain([Constraint(*ends, "different", uid, at)])
        _regroup(_Seen(entity_map), ends)
        return True
    groups = entity_map.groups([uid])
    if uid not in groups:
        return False
    merges = [rule for rule in entity_map.constraints([uid]) if rule.verdict == "same"]
    if merges:
        latest = max(merges, key=lambda rule: (rule.at, rule.a, rule.b))
        apart = [replace(latest, verdict="different", at=at)]
    else:
        apart = [
            Constraint(min(uid, other), max(uid, other), "different", uid, at)
            for other in sorted(groups.keys() - {uid})
        ]
    entity_map.constrain(apart)
    _regroup(_Seen(entity_map), groups.keys())
    return True
