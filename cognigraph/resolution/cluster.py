"""Cluster entities into groups, from verdicts on pairs and the constraints set by users. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from cognigraph.model.messages import ANONYMOUS
from cognigraph.resolution.compare import EntityName, PairVerdict, Verdict, conflict
from cognigraph.resolution.name_forms import GENERIC_TYPES, form


@dataclass(frozen=True, slots=True)
class Pair:
    """Two entities (``a < b`` by uid), the relation of their names, and the verdict on it."""

    a: str
    b: str
    relation: PairVerdict
    verdict: Verdict = "suspected"

    @property
    def ends(self) -> tuple[str, str]:
        """Both uids."""
        return self.a, self.b


@dataclass(frozen=True, slots=True)
class Constraint:
    """A user's constraint on two entities: they are the same, or they are different.

    ``at`` is when it was set and orders constraints; ``into`` is the entity that the user merged
    the other one into.
    """

    a: str
    b: str
    verdict: Literal["same", "different"]
    into: str
    at: int


@dataclass(frozen=True, slots=True)
class Link:
    """A merge in force: ``a`` belongs to the group of ``into`` because of it."""

    a: str
    into: str
    by: Literal["user", "rules"]
    reason: str
    score: float


_Homes = dict[str, list[str]]
"""The group of each entity; all members of a group share one list object."""


def join(
    named: Mapping[str, EntityName], pairs: Iterable[Pair], constraints: Iterable[Constraint]
) -> tuple[dict[str, str], list[Link]]:
    """Return the groups of two and more (member -> canonical entity) and the merges behind them.

    User constraints apply first, then pairs in order of descending score, then of name. A pair is
    skipped if it would join entities that a user keeps apart, or if it would join conflicting
    entities through merges by the rules alone.
    """
    constraints = list(constraints)
    apart = {(rule.a, rule.b) for rule in constraints if rule.verdict == "different"}
    homes: _Homes = {uid: [uid] for uid in named}
    by_rules: _Homes = {uid: [uid] for uid in named}
    merges = sorted(
        (rule for rule in constraints if rule.verdict == "same"),
        key=lambda rule: (rule.at, rule.a, rule.b),
    )
    links: list[Link] = []
    for rule in merges:
        other = rule.b if rule.into == rule.a else rule.a
        _unite(homes, rule.a, rule.b)
        links.append(Link(other, rule.into, "user", "merged by the user", 1.0))
    for pair in _in_order(named, pairs):
        one, other_group = homes[pair.a], homes[pair.b]
        if one is other_group or _are_apart(apart, one, other_group):
            continue
        if _contradict(named, by_rules[pair.a], by_rules[pair.b]):
            continue
        _unite(homes, pair.a, pair.b)
        _unite(by_rules, pair.a, pair.b)
        first, second = sorted(pair.ends, key=lambda uid: rank(named[uid]))
        relation = pair.relation
        links.append(Link(second, first, "rules", relation.reason, relation.score))
    return _heads(named, homes, merges), links


def _in_order(named: Mapping[str, EntityName], pairs: Iterable[Pair]) -> list[Pair]:
    return sorted(
        (pair for pair in pairs if pair.verdict == "same"),
        key=lambda pair: (
            -pair.relation.score,
            sorted((named[uid].name, named[uid].type) for uid in pair.ends),
        ),
    )


def _heads(
    named: Mapping[str, EntityName], homes: _Homes, merges: Sequence[Constraint]
) -> dict[str, str]:
    """Choose each group's canonical entity: the target of the user's latest merge, else by rank."""
    into = {rule.into: rule.at for rule in merges}
    for rule in merges:
        into.pop(rule.b if rule.into == rule.a else rule.a, None)
    canonical: dict[str, str] = {}
    for members in {id(group): group for group in homes.values() if len(group) > 1}.values():
        best = min(members, key=lambda uid: (-into.get(uid, -1), rank(named[uid])))
        canonical.update(dict.fromkeys(members, best))
    return canonical


def _unite(homes: _Homes, a: str, b: str) -> None:
    one, other = homes[a], homes[b]
    if one is not other:
        one.extend(other)
        for uid in other:
            homes[uid] = one


def _are_apart(
    apart: Collection[tuple[str, str]], one: Sequence[str], other: Sequence[str]
) -> bool:
    return bool(apart) and any((min(a, b), max(a, b)) in apart for a in one for b in other)


def _contradict(named: Mapping[str, EntityName], one: Sequence[str], other: Sequence[str]) -> bool:
    return any(conflict(named[a], named[b]) is not None for a in one for b in other)


def rank(entity: EntityName) -> tuple[bool, int, bool, int, int, int, str, str]:
    """Sort key for the canonical entity of a group: the smallest is preferred.

    A user without a name as a speaker stays the "user" of their messages, whatever name they say
    they have. A name with a type comes before the same one as an "object" that might be anything,
    and that before one without any type. A person's proper name comes before a description ("Pia's
    husband"), then a name without initials, then one with more words. Ties and other types: the
    shorter name, then A to Z.
    """
    own = form(entity.name, entity.type)
    abbreviated = sum(len(word) == 1 for word in own.words) if entity.type == "person" else 0
    words = -len(own.words) if entity.type == "person" else 0
    nameless = entity.type == "person" and not own.is_name
    untyped = 2 if entity.type in GENERIC_TYPES else int(entity.type == "object")
    named_user = entity.name == ANONYMOUS and bool(entity.aliases)
    return (
        not named_user, untyped, nameless, abbreviated, words, len(entity.name), entity.name,
        entity.uid,
    )  # fmt: skip
