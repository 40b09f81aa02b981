"""Find out what became of each recorded triple: stored, merged, rejected with a reason, or lost.

A stored triple must also be reachable: it is listed under its subject with every turn that it
cites, and a search for its own words returns it (checked for a sample). Only the public API is
used.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bench.recorded import NO_TURN, RecordedFact
from cognigraph import Space, Triple
from cognigraph.ids import normalise
from cognigraph.text.terms import terms
from cognigraph.times import parse_when

_PAGE = 1000
_ARTICLES = frozenset({"a", "an", "the"})
Key = tuple[str, str, str, str, bool]


@dataclass
class Account:
    """Counts of recorded triples; the first four add up to ``recorded``."""

    recorded: int = 0
    stored: int = 0
    merged: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)
    listed: int = 0
    searched: int = 0
    found: int = 0

    def report(self) -> dict[str, Any]:
        """Return the counts as JSON."""
        kept = self.stored + self.merged
        return {
            "recorded": self.recorded,
            "stored": self.stored,
            "merged": self.merged,
            "rejected": dict(self.rejected),
            "lost": len(self.lost),
            "listed": self.listed,
            "reachable": round(self.listed / self.recorded, 4) if self.recorded else None,
            "searched": self.searched,
            "found_by_search": round(self.found / self.searched, 4) if self.searched else None,
            "kept": kept,
        }


def key_of(subject: str, relation: str, object: str, when: str | None, negated: bool) -> Key:
    """Return a key that is equal for triples with the same words, event time and polarity."""
    return normalise(subject), normalise(relation), normalise(object), when or "", negated


def all_triples(space: Space) -> list[Triple]:
    """Return every triple of a space."""
    found: list[Triple] = []
    while page := space.facts(limit=_PAGE, offset=len(found)):
        found += page
    return found


def account(
    space: Space,
    facts: Iterable[tuple[str, RecordedFact]],
    known: set[str],
    now: datetime,
    sample: int,
) -> Account:
    """Follow (session, fact) pairs, and search for ``sample`` of them."""
    result = Account()
    triples = all_triples(space)
    by_key = defaultdict(list)
    for triple in triples:
        when = str(triple.when) if triple.when else None
        by_key[key_of(triple.subject, triple.relation, triple.object, when, triple.negated)].append(
            triple
        )
    by_turn = _by_turn(triples)
    followed: list[Triple] = []
    taken: set[str] = set()
    for _, fact in facts:
        result.recorded += 1
        cited = known.intersection(fact.turns)
        if not cited:
            result.rejected[NO_TURN] += 1
            continue
        triple = _same(fact, by_key) or _resolved(fact, cited, by_turn)
        if triple is None:
            result.lost.append(f"{fact.subject} {fact.relation} {fact.object}")
            continue
        if triple.uid in taken:
            result.merged += 1
        else:
            result.stored += 1
        taken.add(triple.uid)
        result.listed += cited <= {source.id for source in triple.sources}
        followed.append(triple)
    _search(space, followed, now, sample, result)
    return result


def _by_turn(triples: Iterable[Triple]) -> Mapping[str, list[Triple]]:
    found: dict[str, list[Triple]] = defaultdict(list)
    for triple in triples:
        for source in triple.sources:
            found[source.id].append(triple)
    return found


def _same(fact: RecordedFact, by_key: Mapping[Key, list[Triple]]) -> Triple | None:
    when = parse_when(fact.when)
    key = key_of(
        fact.subject, fact.relation, fact.object, str(when) if when else None, fact.negated
    )
    fitting = by_key.get(key, [])
    types = (normalise(fact.subject_type), normalise(fact.object_type))
    for triple in fitting:
        if (triple.subject_type, triple.object_type) == types:
            return triple
    return fitting[0] if fitting else None


def _resolved(
    fact: RecordedFact, cited: set[str], by_turn: Mapping[str, list[Triple]]
) -> Triple | None:
    """Find the same statement with another name of an entity, or other forms of its words."""
    wanted = [_content(part) for part in (fact.subject, fact.relation, fact.object)]
    for turn in sorted(cited):
        for triple in by_turn.get(turn, ()):
            words = [_content(part) for part in (triple.subject, triple.relation, triple.object)]
            same = sum(word == other for word, other in zip(words, wanted, strict=True))
            if same >= 2:  # the "not" of a relation may have become the polarity of the triple
                return triple
    return None


def _content(text: str) -> list[str]:
    """The stems of the words, without articles, which the store does not keep of every name."""
    return [term for term in terms(text) if term not in _ARTICLES] or [normalise(text)]


def _search(
    space: Space, followed: list[Triple], now: datetime, sample: int, result: Account
) -> None:
    step = max(1, len(followed) // sample) if sample else len(followed) + 1
    for triple in followed[::step]:
        found = space.search(triple.text, now=now)
        result.searched += 1
        linked = {item.uid for hit in found for item in hit.triples}
        result.found += triple.uid in linked | {item.uid for item in found.triples}
