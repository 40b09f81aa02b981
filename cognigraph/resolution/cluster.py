"""Groups of entities that are one, from verdicts on pairs and what users said. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from cognigraph.resolution.compare import Named, Relation, Verdict, conflict
from cognigraph.resolution.name_forms import form


@dataclass(frozen=True, slots=True)
class Pair:
    """Two entities (``a < b`` by uid), how they belong together, and the verdict."""

    a: str
    b: str
    relation: Relation
    verdict: Verdict = "suspected"

    @property
    def ends(self) -> tuple[str, str]:
        """Both uids."""
        return self.a, self.b


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a user said of two entities; ``at`` orders rulings, ``into`` is the one to show."""

    a: str
    b: str
    verdict: Literal["same", "different"]
    into: str
    at: int


@dataclass(frozen=True, slots=True)
class Link:
    """One merge that is in force: ``a`` is shown as part of ``into``'s group because of it."""

    a: str
    into: str
    by: Literal["user", "rules"]
    reason: str
    score: float


_Homes = dict[str, list[str]]
"""Each entity with the members of its group, one list for all of them."""


def join(
    named: Mapping[str, Named], pairs: Iterable[Pair], rulings: Iterable[Ruling]
) -> tuple[dict[str, str], list[Link]]:
    """Groups of two and more (member -> the one shown) and the merges that make them.

    Links are taken user rulings first, then by score, then by name. One that would bring together
    what a user keeps apart is left out, and one of the rules that contradicts others of the rules.
    """
    rulings = list(rulings)
    apart = {(rule.a, rule.b) for rule in rulings if rule.verdict == "different"}
    homes: _Homes = {uid: [uid] for uid in named}
    by_rules: _Homes = {uid: [uid] for uid in named}
    said = sorted(
        (rule for rule in rulings if rule.verdict == "same"),
        key=lambda rule: (rule.at, rule.a, rule.b),
    )
    links: list[Link] = []
    for rule in said:
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
    return _heads(named, homes, said), links


def _in_order(named: Mapping[str, Named], pairs: Iterable[Pair]) -> list[Pair]:
    return sorted(
        (pair for pair in pairs if pair.verdict == "same"),
        key=lambda pair: (
            -pair.relation.score,
            sorted((named[uid].name, named[uid].type) for uid in pair.ends),
        ),
    )


def _heads(named: Mapping[str, Named], homes: _Homes, said: Sequence[Ruling]) -> dict[str, str]:
    """Whom each member is shown as: whom a user merged into last, else who ranks first."""
    into = {rule.into: rule.at for rule in said}
    for rule in said:
        into.pop(rule.b if rule.into == rule.a else rule.a, None)
    shown: dict[str, str] = {}
    for members in {id(group): group for group in homes.values() if len(group) > 1}.values():
        best = min(members, key=lambda uid: (-into.get(uid, -1), rank(named[uid])))
        shown.update(dict.fromkeys(members, best))
    return shown


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


def _contradict(named: Mapping[str, Named], one: Sequence[str], other: Sequence[str]) -> bool:
    return any(conflict(named[a], named[b]) is not None for a in one for b in other)


def rank(one: Named) -> tuple[bool, int, int, int, str, str]:
    """The order in which names stand for a group: full names, untitled, singular, then A to Z.

    People are called by their own names before "Pia's husband".
    """
    own = form(one.name, one.type)
    abbreviated = sum(len(word) == 1 for word in own.words) if one.type == "person" else 0
    words = -len(own.words) if one.type == "person" else 0
    nameless = one.type == "person" and not own.is_name
    return nameless, abbreviated, words, len(one.name), one.name, one.uid
