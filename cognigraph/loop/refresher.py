"""AMA's Refresher (3.4) as proposals: what supersedes what, decided by when facts are true.

The paper updates or deletes entries in place. Here nothing is overwritten: an update becomes
``supersede``, a deletion ``retract``, and both can be undone. Whatever is ambiguous changes
nothing: facts about different things, facts of the same time, an update against the order of time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar

from cognigraph.ids import normalise
from cognigraph.loop.data import Repair
from cognigraph.loop.state import LoopState
from cognigraph.model import Triple
from cognigraph.retrieve.block_lines import triple_line
from cognigraph.states.slots import base_slot, claim_about, same_value
from cognigraph.text.marks import one_line

_FORGET = re.compile(r"\b(?:forget|delete|erase|remove|don'?t remember|no longer remember)\b", re.I)


def time_of(triple: Triple) -> datetime:
    """Since when a fact is true: the time it names, or else the time of the chunk that says it."""
    if triple.valid_from is not None:
        return triple.valid_from
    return triple.when.start if triple.when is not None else triple.first_observed


def slot_of(triple: Triple) -> tuple[str, str] | None:
    """Whose slot of one value a fact is about; ``None`` if it is about none."""
    claim = claim_about(triple)
    if claim is None or not claim.single or claim.says != "holds":
        return None
    return normalise(triple.object if claim.on_object else triple.subject), base_slot(claim.slot)


def later_time_wins(conflict: Sequence[Triple], reason: str = "") -> tuple[Repair, ...]:
    """Propose what supersedes what among facts in conflict; the order of the facts is irrelevant.

    Only facts about the same slot of the same entity are compared. The latest of them supersedes
    each earlier one that holds another value. Two values of the latest time are ambiguous, and then
    nothing is proposed about that slot.
    """
    slots: dict[tuple[str, str], dict[str, Triple]] = {}
    for triple in conflict:
        slot = slot_of(triple)
        if slot is not None and triple.status == "current":
            slots.setdefault(slot, {})[triple.uid] = triple
    repairs: list[Repair] = []
    for _, facts in sorted(slots.items()):
        repairs.extend(_of_one_slot(list(facts.values()), reason))
    return tuple(repairs)


def _of_one_slot(facts: Sequence[Triple], reason: str) -> list[Repair]:
    ordered = sorted(facts, key=lambda fact: (time_of(fact), fact.uid))
    newest = ordered[-1]
    at = time_of(newest)
    if any(time_of(fact) == at and _differ(fact, newest) for fact in ordered[:-1]):
        return []
    return [
        Repair("supersede", fact, newest, at, reason or "a later fact holds another value")
        for fact in ordered[:-1]
        if time_of(fact) < at and _differ(fact, newest)
    ]


def _differ(one: Triple, other: Triple) -> bool:
    mine, theirs = claim_about(one), claim_about(other)
    assert mine is not None and theirs is not None
    return not same_value(mine.slot, mine.value, theirs.value)


@dataclass(frozen=True, slots=True)
class Refresher:
    """``repair``: a model says which facts no longer hold; time and slots confirm it (3.4).

    Entries of any layer may be in conflict: messages and episodes stand for the facts that were
    read out of them. An update is proposed only if the facts are about the same slot and the new
    one is later. A deletion is proposed only if the user has asked in words to forget something, or
    if a fact that would be updated was last said longer ago than the ``retention`` limit.
    """

    needs_model: ClassVar[bool] = True
    retention: timedelta | None = None

    def __call__(self, state: LoopState) -> tuple[Repair, ...]:
        """Propose changes for the entries in conflict."""
        from cognigraph.loop.schemas import RefreshAnswer

        assert state.assessment is not None
        facts = _facts_behind(state, state.assessment.conflicts)
        if not facts:
            state.note("no facts were read from the entries in conflict: nothing to change")
            return ()
        labels = {f"F{number}": triple for number, triple in enumerate(facts, 1)}
        zone = state.recall.zone
        inputs = {
            "facts": "\n".join(
                f"[{label}] {one_line(triple_line(triple, zone))}"
                for label, triple in labels.items()
            ),
            "history": state.history_lines,
            "question": one_line(state.question),
        }
        answer = state.asker.ask("ama-refresh-1", RefreshAnswer, inputs)
        asks = any(_FORGET.search(text) for text in (state.question, *state.history))
        found: dict[str, Repair] = {}
        for change in answer.changes:
            old = labels.get(change.entry)
            new = labels.get(change.replaced_by)
            repair = _checked(change.action, old, new, change.reason, may_delete=asks)
            if isinstance(repair, Repair) and self._is_over(repair.old, state.now):
                repair = Repair("retract", repair.old, reason="older than the retention limit")
            if isinstance(repair, str):
                state.note(f"{change.action[:20]} {change.entry[:10]}: {repair}; nothing proposed")
            elif repair.old.uid in found:
                state.note(f"{change.entry[:10]} twice: the first change counts")
            else:
                found[repair.old.uid] = repair
        return _without_cycles(found)

    def _is_over(self, fact: Triple, now: datetime) -> bool:
        return self.retention is not None and now - fact.last_observed > self.retention


def _facts_behind(state: LoopState, labels: Sequence[str]) -> list[Triple]:
    """The facts among entries, and those that the messages and episodes among them state."""
    facts = {fact.uid: fact for fact in state.pool.triples(labels)}
    if episodes := state.pool.episodes(labels):
        for hit in state.recall.covered(state.question, episodes).hits:
            facts |= {fact.uid: fact for fact in hit.triples}
    return list(facts.values())


def _checked(
    action: str, old: Triple | None, new: Triple | None, reason: str, *, may_delete: bool
) -> Repair | str:
    """The repair that a change stands for, or the reason why it stands for none."""
    if old is None:
        return "it names no fact that was shown"
    if action.strip().lower() == "delete":
        if not may_delete:
            return "nobody asked to forget it"
        return Repair("retract", old, reason=reason or "the user asked to forget it")
    if new is None:
        return "it names no fact that was shown as the new one"
    allowed = {repair.old.uid: repair for repair in later_time_wins([old, new], reason)}
    if old.uid not in allowed:
        return "the facts are of the same time, about different things, or in the wrong order"
    return allowed[old.uid]


def _without_cycles(repairs: dict[str, Repair]) -> tuple[Repair, ...]:
    """The repairs whose new fact is not itself taken back."""
    retracted = {uid for uid, repair in repairs.items() if repair.action == "retract"}
    return tuple(
        repair
        for repair in repairs.values()
        if repair.new is None or repair.new.uid not in retracted
    )
