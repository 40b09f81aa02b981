"""Facts that a shown message states in the same words: in a block they would be said twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import tzinfo

from cognigraph.model import Triple
from cognigraph.retrieve.block_lines import day
from cognigraph.retrieve.excerpt.background import MessageKey
from cognigraph.retrieve.standing import true_when
from cognigraph.text.terms import terms

_STATED = 0.75
"""Share of a fact's words, beside its subject, that the message has if it states the fact."""


def told_again(facts: Sequence[Triple], shown: Mapping[MessageKey, str], zone: tzinfo) -> set[str]:
    """Uids of the facts that one of the shown texts states, so that they tell a reader nothing new.

    A fact tells more than its message if it says when it is true, and that is not the day on which
    it was said, or if it does not hold any more.
    """
    said: dict[str, frozenset[str]] = {}
    found = set()
    for fact in facts:
        if _tells_more(fact, zone):
            continue
        wanted = frozenset(terms(f"{fact.relation} {fact.object}"))
        for source in fact.sources:
            text = shown.get((source.session, source.id))
            if text is None:
                continue
            own = said.setdefault(text, frozenset(terms(text)))
            if wanted and len(wanted & own) >= _STATED * len(wanted):
                found.add(fact.uid)
                break
    return found


def _tells_more(fact: Triple, zone: tzinfo) -> bool:
    when = true_when(fact, zone)
    is_told = not when or when == day(fact.last_observed, zone)
    return not is_told or fact.superseded_by is not None or fact.status != "current"
