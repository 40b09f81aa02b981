"""Keeping the map from entities to the ones they are shown as, inside a store's transaction.

The result is a function of the set of entities, aliases and user rulings of a space, never of the
order in which they came:

- what :func:`~cognigraph.ingest.resolve.relate` says of two entities is kept for every pair that
  shares a small block (:mod:`cognigraph.ingest.blocking`);
- how many readings a name has is counted over those pairs, and gives the verdicts;
- equal pairs are joined in a fixed order, user rulings first, never across a ruling or a
  contradiction; each group is shown as the member that ranks first.

Only what new entities touch is looked at: their blocks, the pairs around them and their groups.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from cognigraph.ingest.blocking import Blocks, Ends, Keys, compare, leave
from cognigraph.ingest.forms import block_keys
from cognigraph.ingest.groups import Link, Pair, Ruling, join
from cognigraph.ingest.resolve import Evidence, Named, judge, relate


class Ledger(Blocks, Protocol):
    """What a store offers within one write transaction on one space. Uids are of raw entities."""

    def named(self, uids: Collection[str]) -> list[Named]:
        """Entities by uid, with the normalised aliases the text gives them."""
        ...

    def pairs(self, uids: Collection[str]) -> list[Pair]:
        """Every pair with at least one of these ends."""
        ...

    def write_pairs(self, pairs: Sequence[Pair]) -> None:
        """Insert or overwrite pairs."""
        ...

    def drop_pairs(self, pairs: Sequence[Pair]) -> None:
        """Delete pairs."""
        ...

    def rulings(self, uids: Collection[str]) -> list[Ruling]:
        """Every ruling with at least one of these ends."""
        ...

    def groups(self, uids: Collection[str]) -> dict[str, str]:
        """All members of the groups these entities are in, each with the one it is shown as.

        An entity that is alone is missing from the answer.
        """
        ...

    def links(self, uids: Collection[str]) -> list[Link]:
        """The merges in force with at least one of these ends."""
        ...

    def rule(self, rulings: Sequence[Ruling]) -> None:
        """Insert or overwrite rulings."""
        ...

    def unrule(self, rulings: Sequence[Ruling]) -> None:
        """Delete rulings."""
        ...

    def relink(self, gone: Sequence[Link], new: Sequence[Link]) -> None:
        """Record that merges ended and began."""
        ...

    def regroup(self, shown: Mapping[str, str | None]) -> None:
        """Show entities as others (as themselves in a group; None: alone), with all their facts."""
        ...


def settle(
    ledger: Ledger, touched: Collection[str], lost: Mapping[str, Collection[str]] | None = None
) -> None:
    """Bring pairs, verdicts, groups and merges up to date.

    ``touched`` are entities that are new, have a new alias or are spelled in another way; ``lost``
    are aliases (normalised) that the text does not give entities any more.
    """
    names = _Names(ledger)
    looked_at = {*touched, *(lost or ())}
    if lost:
        looked_at |= leave(ledger, names.keys_of_aliases(lost))
    if not looked_at:
        return
    ends = compare(ledger, names, looked_at)
    if ends:
        _regroup(ledger, names, _judge(names, ends))


def forget(ledger: Ledger, gone: Collection[str]) -> None:
    """Take entities that are about to be deleted out of pairs, blocks and groups.

    No user may have spoken of them, and nothing may be read with them any more.
    """
    if not gone:
        return
    names = _Names(ledger)
    pairs = names.pairs(gone)
    names.drop(pairs)
    revived = leave(ledger, names.keys(gone)) - set(gone)
    ends = {uid for pair in pairs for uid in pair.ends} - set(gone)
    if revived:
        ends |= compare(ledger, names, revived)
    changed = _judge(names, ends) if ends else set()
    _regroup(ledger, names, changed | set(gone))


class _Names:
    """Names compared by their letters: a :class:`~cognigraph.ingest.blocking.Comparison`.

    Entities and pairs are read once: nobody else changes them during the transaction.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._named: dict[str, Named] = {}
        self._pairs: dict[str, dict[Ends, Pair]] = {}

    def named(self, uids: Iterable[str]) -> dict[str, Named]:
        """Entities by uid."""
        wanted = set(uids)
        if missing := wanted - self._named.keys():
            self._named.update((one.uid, one) for one in self._ledger.named(missing))
        return {uid: self._named[uid] for uid in wanted if uid in self._named}

    def keys(self, uids: Collection[str]) -> Keys:
        return {uid: _keys(one) for uid, one in self.named(uids).items()}

    def keys_of_aliases(self, lost: Mapping[str, Collection[str]]) -> Keys:
        """Blocks that entities were in for nothing but the aliases they lost."""
        return {
            uid: block_keys(one.name, one.type, one.aliases | set(lost[uid])) - _keys(one)
            for uid, one in self.named(lost).items()
        }

    def relate(self, ends: Iterable[Ends]) -> list[Pair]:
        listed = list(ends)
        known = self.named(uid for pair in listed for uid in pair)
        related = [(pair, relate(known[pair[0]], known[pair[1]])) for pair in listed]
        return [Pair(*pair, relation) for pair, relation in related if relation is not None]

    def pairs(self, uids: Collection[str]) -> list[Pair]:
        if missing := {uid for uid in uids if uid not in self._pairs}:
            self._pairs.update((uid, {}) for uid in missing)
            self._keep(self._ledger.pairs(missing))
        return list(
            {ends: pair for uid in uids for ends, pair in self._pairs[uid].items()}.values()
        )

    def write(self, pairs: Sequence[Pair]) -> None:
        self._ledger.write_pairs(pairs)
        self._keep(pairs)

    def _keep(self, pairs: Sequence[Pair]) -> None:
        for pair in pairs:
            for uid in pair.ends:
                if uid in self._pairs:
                    self._pairs[uid][pair.ends] = pair

    def drop(self, pairs: Sequence[Pair]) -> None:
        self._ledger.drop_pairs(pairs)
        for pair in pairs:
            for uid in pair.ends:
                self._pairs.get(uid, {}).pop(pair.ends, None)


def _keys(one: Named) -> frozenset[int]:
    return block_keys(one.name, one.type, one.aliases)


def _judge(names: _Names, ends: set[str]) -> set[str]:
    """Give every pair around ``ends`` its verdict; return the ends of those that count anew."""
    pairs = names.pairs(ends)
    readings = _readings(names.pairs({uid for pair in pairs for uid in pair.ends}))
    changed = [
        replace(pair, verdict=verdict)
        for pair in pairs
        for verdict in [judge(pair.relation, _evidence(pair, readings)).verdict]
        if verdict != pair.verdict
    ]
    if changed:
        names.write(changed)
    return ends | {uid for pair in changed for uid in pair.ends}


def _readings(pairs: Iterable[Pair]) -> dict[str, set[str]]:
    readings: dict[str, set[str]] = {}
    for pair in pairs:
        for uid, reading in ((pair.a, pair.relation.reading_a), (pair.b, pair.relation.reading_b)):
            if reading is not None:
                readings.setdefault(uid, set()).add(reading)
    return readings


def _evidence(pair: Pair, readings: Mapping[str, set[str]]) -> Evidence:
    return Evidence(len(readings.get(pair.a, ())), len(readings.get(pair.b, ())))


# Groups


def _regroup(ledger: Ledger, names: _Names, seeds: Collection[str]) -> None:
    """Form the groups around some entities anew and show what changed."""
    shown, pairs, rulings = _closure(ledger, names, set(seeds))
    members = {uid for pair in pairs for uid in pair.ends} | shown.keys() | set(seeds)
    members |= {uid for ruling in rulings for uid in (ruling.a, ruling.b)}
    named = names.named(members)
    groups, links = join(named, pairs, rulings)
    new = {uid: shown_as for uid, shown_as in groups.items() if uid in named}
    changes = {uid: new.get(uid) for uid in sorted(named) if new.get(uid) != shown.get(uid)}
    old_links = [link for link in ledger.links(members) if {link.a, link.into} <= members]
    gone = [link for link in old_links if link not in links]
    begun = [link for link in links if link not in old_links]
    if gone or begun:
        ledger.relink(gone, begun)
    if changes:
        ledger.regroup(changes)


def _closure(
    ledger: Ledger, names: _Names, seeds: set[str]
) -> tuple[dict[str, str], list[Pair], list[Ruling]]:
    """Everything that groups of ``seeds`` can depend on: follow equal pairs and rulings."""
    shown: dict[str, str] = {}
    pairs: dict[tuple[str, str], Pair] = {}
    rulings: dict[tuple[str, str], Ruling] = {}
    seen: set[str] = set()
    fresh = set(seeds)
    while fresh:
        seen |= fresh
        found = ledger.groups(fresh)
        shown.update(found)
        reached = set(found)
        for pair in names.pairs(fresh):
            if pair.verdict == "same":
                pairs[pair.ends] = pair
                reached.update(pair.ends)
        for ruling in ledger.rulings(fresh):
            rulings[ruling.a, ruling.b] = ruling
            if ruling.verdict == "same":
                reached.update((ruling.a, ruling.b))
        fresh = reached - seen
    kept = [rule for rule in rulings.values() if {rule.a, rule.b} <= seen]
    return shown, list(pairs.values()), kept


def merge(ledger: Ledger, a: str, into: str, at: int) -> None:
    """Let a user's word make two entities one, whatever was said before of their groups."""
    groups = ledger.groups([a, into])
    left = {uid for uid, shown in groups.items() if shown == groups.get(a)} | {a}
    right = {uid for uid, shown in groups.items() if shown == groups.get(into)} | {into}
    lifted = [
        rule
        for rule in ledger.rulings(left)
        if rule.verdict == "different"
        and ((rule.a in left and rule.b in right) or (rule.b in left and rule.a in right))
    ]
    ledger.unrule(lifted)
    ledger.rule([Ruling(min(a, into), max(a, into), "same", into, at)])
    _regroup(ledger, _Names(ledger), {a, into})


def split(ledger: Ledger, uid: str, at: int, apart_from: str | None = None) -> bool:
    """Take an entity out of its group for good; False if it is in none.

    If a user's merge holds it, the latest of these is taken back; else it is kept apart from every
    other member. With ``apart_from`` these two are kept apart, whether they are one now or not.
    """
    if apart_from is not None:
        ends = min(uid, apart_from), max(uid, apart_from)
        ledger.rule([Ruling(*ends, "different", uid, at)])
        _regroup(ledger, _Names(ledger), ends)
        return True
    groups = ledger.groups([uid])
    if uid not in groups:
        return False
    merges = [rule for rule in ledger.rulings([uid]) if rule.verdict == "same"]
    if merges:
        latest = max(merges, key=lambda rule: (rule.at, rule.a, rule.b))
        apart = [replace(latest, verdict="different", at=at)]
    else:
        apart = [
            Ruling(min(uid, other), max(uid, other), "different", uid, at)
            for other in sorted(groups.keys() - {uid})
        ]
    ledger.rule(apart)
    _regroup(ledger, _Names(ledger), groups.keys())
    return True
