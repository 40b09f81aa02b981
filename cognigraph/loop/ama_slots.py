"""The slots of AMA: Retriever (section 3.2), Judge (3.3) and the Retry that the Judge asks for.

The Refresher (3.4) is in :mod:`cognigraph.loop.refresher`. The memories of the paper are layers
here: Raw Text is ``messages``, Fact Knowledge is ``facts``, Episode is ``episodes``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cognigraph.loop.data import Assessment, Plan
from cognigraph.loop.state import LoopState
from cognigraph.model import Layer
from cognigraph.text.marks import one_line

LAYERS: tuple[Layer, ...] = ("facts", "messages", "episodes")
"""The order in which Retry visits the layers: those that did best alone in the paper first."""

_FEW_FACTS: tuple[Layer, ...] = ("messages", "episodes", "facts")
"""The order where the memory holds few facts: what it was told is mostly in the messages alone."""

_MOST_K = 50
_WIDER = 2
"""Each retry multiplies the number of results by this."""


@dataclass(frozen=True, slots=True)
class Intent:
    """The intent vector B = [b_fine, b_abs, b_event, b_atomic] (3.2)."""

    fine: bool = False
    abstract: bool = False
    event: bool = False
    atomic: bool = False


def layer_of(intent: Intent) -> Layer:
    """The routing function f_M (3.2): fine -> messages; abstract or event -> episodes; else facts.

    The intent is authoritative: a memory type that a model names beside it is not read.
    """
    if intent.fine:
        return "messages"
    return "episodes" if intent.abstract or intent.event else "facts"


@dataclass(frozen=True, slots=True)
class RewriteAndRoute:
    """``route``: rewrite the question, read its intent, and choose k = max(K_dyn, K_m) (3.2).

    K_m is not published, so ``k_min`` must be given. Where facts are hardly there, messages are
    searched in their place.
    """

    needs_model: ClassVar[bool] = True
    k_min: int

    def __call__(self, state: LoopState) -> Plan:
        """Plan the first search."""
        from cognigraph.loop.schemas import RouteAnswer

        inputs = {"history": state.history_lines, "question": one_line(state.question)}
        answer = state.asker.ask("ama-retrieve-1", RouteAnswer, inputs)
        intent = Intent(*map(bool, (answer.fine, answer.abstract, answer.event, answer.atomic)))
        query = answer.query.strip() or state.question
        k = min(max(answer.k, self.k_min), max(_MOST_K, self.k_min))
        layer, reason = layer_of(intent), _named(intent)
        if layer == "facts" and state.recall.has_few_facts:
            layer, reason = "messages", f"{reason}; few facts are stored"
        return Plan((query,), layer, k, reason=reason)


def _named(intent: Intent) -> str:
    names = ("fine", "abstract", "event", "atomic")
    return ", ".join(name for name in names if getattr(intent, name)) or "no intent"


@dataclass(frozen=True, slots=True)
class Judge:
    """``assess``: relevance first, then conflicts; Action = Pass, Retry or Refresh (3.3).

    A conflict is only reported if entries are named that are in conflict: two at least.
    """

    needs_model: ClassVar[bool] = True

    def __call__(self, state: LoopState) -> Assessment:
        """Check the evidence of this round together with what was kept before."""
        from cognigraph.loop.schemas import JudgeAnswer

        labels = tuple(dict.fromkeys((*state.chosen, *state.shown)))
        inputs = {
            "asked": state.asked_on,
            "question": one_line(state.question),
            "sent": state.sent_lines,
            "entries": state.lines(labels),
        }
        answer = state.asker.ask("ama-judge-2", JudgeAnswer, inputs)
        kept = state.known(answer.kept, among=labels)
        conflicts = state.known(answer.conflicts, among=labels)
        action = answer.action.strip().lower()
        if action not in ("pass", "retry", "refresh"):
            state.note(f"the action {action[:40]!r} is not one of those asked for: taken as retry")
            action = "retry"
        if action == "refresh" and len(conflicts) < 2:
            state.note("refresh, but no two entries in conflict: taken as pass")
            action, conflicts = "pass", ()
        # What was kept goes on to the answer; a judge that keeps nothing has rejected nothing.
        state.choose(kept or labels)
        enough = action != "retry"
        return Assessment(
            "enough" if enough else "partial" if kept else "nothing",
            answer.reason,
            missing="" if enough else answer.missing.strip(),
            kept=kept,
            conflicts=conflicts,
        )


@dataclass(frozen=True, slots=True)
class Retry:
    """``reflect``: after Retry the next layer not visited yet, then related messages (3.3).

    Each round is wider than the one before, and also searches for what the Judge says is missing.
    Related messages are the paper's expansion by relation indices R_t: here the turns beside those
    found, and those that the extractor has cited for the same facts. ``k_min`` is K_m, as for
    :class:`RewriteAndRoute`.
    """

    k_min: int

    def __call__(self, state: LoopState) -> Plan | None:
        """Plan the next round; ``None`` ends the loop."""
        if state.assessment is None or state.assessment.verdict == "enough":
            return None
        query = state.sent[0] if state.sent else state.question
        k = min(max(_WIDER * state.plan.k, self.k_min), max(_MOST_K, self.k_min))
        for layer in _FEW_FACTS if state.recall.has_few_facts else LAYERS:
            if state.unvisited(layer, query):
                queries = (query, *_missing(state, layer))
                return Plan(queries, layer, k, reason="next layer")
        if missing := _missing(state, "messages"):
            return Plan(missing, "messages", k, reason="what is missing")
        if state.plan.related or not state.pool.hits():
            return None
        return Plan((), "messages", related=True, reason="related messages")


def _missing(state: LoopState, layer: Layer) -> tuple[str, ...]:
    """The query for what the last assessment lacked, unless that was searched for before."""
    assert state.assessment is not None
    missing = state.assessment.missing
    return tuple(state.unsent([missing], 1, layer)) if missing else ()
