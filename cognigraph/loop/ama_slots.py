"""The slots of AMA: Retriever (section 3.2), Judge (3.3) and the Retry that the Judge asks for.

The Refresher (3.4) is in :mod:`cognigraph.loop.refresher`. The memories of the paper are layers
here: Raw Text is ``messages``, Fact Knowledge is ``facts``, Episode is ``episodes``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar

from cognigraph.embed.word_vectors import word_vectors
from cognigraph.loop.data import Assessment, Evidence, Plan
from cognigraph.loop.state import LoopState
from cognigraph.model import Layer
from cognigraph.retrieve.question.analyse import analyse, form_features
from cognigraph.text.marks import one_line
from cognigraph.text.terms import STOP_WORDS, terms

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


def _routed(intent: Intent, k: int, query: str, state: LoopState) -> Plan:
    """The first plan: the layer of the intent, but messages for facts that are hardly there."""
    layer, reason = layer_of(intent), _named(intent)
    if layer == "facts" and state.recall.has_few_facts:
        layer, reason = "messages", f"{reason}; few facts are stored"
    return Plan((query,), layer, k, reason=reason)


@dataclass(frozen=True, slots=True)
class RewriteAndRoute:
    """``route``: rewrite the question, read its intent, and choose k = max(K_dyn, K_m) (3.2).

    K_m is not published, so ``k_min`` must be given.
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
        return _routed(intent, k, query, state)


_FINE = re.compile(
    r"\b(?:exact(?:ly)?|precise(?:ly)?|word for word|quote[ds]?|what did \w+ (?:say|write|tell)"
    r"|in (?:his|her|their) words|photo|picture)\b",
    re.IGNORECASE,
)
_ABSTRACT = re.compile(
    r"\b(?:summar\w+|overview|in general|overall|what kind of (?:person|relationship)"
    r"|how would you describe|personality|tell me about|what (?:is|was) .* like)\b",
    re.IGNORECASE,
)
_EVENT = re.compile(
    r"\b(?:what happened|how did .* (?:go|change|turn out)|before|after|since|over the (?:years|"
    r"months|summer|winter)|between|during|story of|how many times|how often)\b",
    re.IGNORECASE,
)


def intent_by_rules(question: str) -> Intent:
    """Read the intent without a model, from words of the question (English)."""
    fine = bool(_FINE.search(question))
    abstract = bool(_ABSTRACT.search(question))
    event = bool(_EVENT.search(question))
    return Intent(fine, abstract, event, not (fine or abstract or event))


@dataclass(frozen=True, slots=True)
class RouteByRules:
    """``route`` without a model: the question as it is, to the layer of :func:`intent_by_rules`."""

    needs_model: ClassVar[bool] = False
    k_min: int

    def __call__(self, state: LoopState) -> Plan:
        """Plan the first search."""
        return _routed(intent_by_rules(state.question), self.k_min, state.question, state)


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
class JudgeByRules:
    """``assess`` without a model: the Judge's requirements for who, where, when and how many.

    An entry suffices if it shares a content word with the question and contains what the answer
    must: a name, a time or a number, which also stands for an amount of money. Questions of another
    form need an entry that shares at least half of the question's words. Conflicts are not sought.
    """

    needs_model: ClassVar[bool] = False

    def __call__(self, state: LoopState) -> Assessment:
        """Check the evidence of this round."""
        items = [state.pool.item(label) for label in state.shown]
        kept = sufficient(state.question, items, state)
        state.choose(item.label for item in items)
        if kept:
            return Assessment("enough", "contains what was asked for", kept=kept)
        return Assessment("partial" if items else "nothing", "lacks what was asked for")


def sufficient(question: str, items: list[Evidence], state: LoopState) -> tuple[str, ...]:
    """The labels of the entries that would suffice by the Judge's requirements (Figure 10)."""
    analysis = analyse(question, state.now)
    asked = set(analysis.terms) - STOP_WORDS
    named = {term for word in question.split()[1:] if word[:1].isupper() for term in terms(word)}
    subject = (asked - named) or asked
    shared = [len(subject.intersection(terms(item.text))) for item in items]
    if analysis.form is None:
        fits = [2 * own >= len(subject) for own in shared]
    else:
        said = [_without_own_words(item.text, question) for item in items]
        form = "number" if analysis.form == "money" else analysis.form
        features = form_features(said, word_vectors().read(said), (), form)
        fits = [value > 0 for value in features["answer form"].tolist()]
    return tuple(
        item.label for item, own, fit in zip(items, shared, fits, strict=True) if own and fit
    )


def _without_own_words(text: str, question: str) -> str:
    """The text of an entry without its speaker and without words of the question."""
    _, _, said = text.partition(": ")
    words = {word.strip("?.,!'\"").casefold() for word in question.split()}
    kept = [
        word for word in (said or text).split() if word.strip("?.,!'\"").casefold() not in words
    ]
    return " ".join(kept)


@dataclass(frozen=True, slots=True)
class Retry:
    """``reflect``: after Retry the next layer not visited yet, then related messages (3.3).

    Each round is wider than the one before, and also searches for what the Judge says is missing.
    Related messages are the paper's expansion by relation indices R_t: here the turns beside those
    found, and those that the extractor has cited for the same facts. ``k_min`` is K_m, as for
    :class:`RewriteAndRoute`.
    """

    needs_model: ClassVar[bool] = False
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
