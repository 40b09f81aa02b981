"""Verb groups of a dependency parse: what auxiliaries, particles and "to do" make of a verb."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cognigraph.ingest import verbs
from cognigraph.ingest.relations import Relation
from cognigraph.ingest.words import word_set

_ADVERBS = word_set("forward back away up off out down together along")
Node = Any
"""A ``spacy.tokens.Token``."""
_UNREAL_MARKS = word_set("if unless whether like as than though")
_WISHING = word_set("hope wish imagine suppose doubt bet let guess wonder")
_LIKES = {"stand": "hate", "bear": "hate"}


@dataclass(frozen=True, slots=True)
class VerbGroup:
    """A relation, and the verb whose objects are meant ("wants to *buy* a car")."""

    relation: Relation
    last: Node


def auxiliaries_of(verb: Node) -> list[Node]:
    """The helping verbs of a verb."""
    return [child for child in verb.children if child.dep_ in ("aux", "auxpass")]


def _negated(verb: Node) -> bool:
    marks = [c for c in verb.children if c.dep_ == "neg" or c.lower_ in ("never", "hardly")]
    return len(marks) % 2 == 1


def denies(node: Node) -> bool:
    """Tell "no garden"."""
    return any(child.dep_ == "det" and child.lower_ == "no" for child in node.children)


def has_more(verb: Node) -> bool:
    """Tell whether something follows the verb that was not understood."""
    return any(c.dep_ in ("dobj", "attr", "acomp", "ccomp", "xcomp", "prep") for c in verb.children)


def verb_group(verb: Node) -> VerbGroup | None:
    """The verb with what its auxiliaries say, in the third person, with particle and "to do"."""
    auxiliaries = auxiliaries_of(verb)
    modal = next((a.lower_ for a in auxiliaries if a.tag_ == "MD"), "")
    modal = {"'ll": "will", "wo": "will", "'d": "would", "ca": "can", "sha": "shall"}.get(
        modal, modal
    )
    negated = _negated(verb)
    near = [inner for child in verb.children for inner in (child, *child.children)]
    if negated and any(node.lower_ in ("just", "only") for node in near):
        return None  # "is not just a job": it is one
    text = _finite(verb, {a.lower_ for a in auxiliaries}, modal)
    if text is None:
        return None
    main, last = verb.lemma_.lower(), verb
    if negated and modal == "can" and main in _LIKES:
        text, main, negated, modal = verbs.third_person("hate"), "hate", False, ""
    text += _particles(verb)
    for _ in range(2):
        inner = next((c for c in last.children if c.dep_ == "xcomp" and c.pos_ == "VERB"), None)
        if inner is None:
            break
        going = last.lemma_ == "go" and last.tag_ == "VBG" and inner.tag_ == "VB"
        to = any(a.lower_ == "to" for a in auxiliaries_of(inner))
        if going:
            text = f"{'was going to' if text.startswith('was') else 'will'} {inner.lower_}"
        else:
            text = f"{text} {'to ' if to else ''}{inner.lower_}"
        text += _particles(inner)
        main, last = inner.lemma_.lower(), inner
    copula = last is verb and main == "be"
    return VerbGroup(Relation(text, 0, main, modal, negated, copula), last)


def _particles(verb: Node) -> str:
    """ "gave up", "looks forward": what stands right after the verb and belongs to it."""
    next_to_it = (c for c in verb.children if c.dep_ == "advmod" and c.i == verb.i + 1)
    found = [c.lower_ for c in verb.children if c.dep_ == "prt"]
    found += [c.lower_ for c in next_to_it if c.lower_ in _ADVERBS]
    return "".join(f" {word}" for word in found)


def _finite(verb: Node, auxiliaries: set[str], modal: str) -> str | None:
    low, base, tag = str(verb.lower_), str(verb.lemma_).lower(), verb.tag_
    be = auxiliaries & (verbs.BE | {"'m", "'re", "'s"})
    perfect = bool(auxiliaries & (verbs.HAVE | {"'ve", "'d", "'s"})) and tag == "VBN"
    if modal:
        return f"{modal} {'be ' if 'be' in auxiliaries else ''}{low}" if low.isalpha() else None
    if base == "be":
        return "has been" if tag == "VBN" else "was" if tag == "VBD" else "is"
    passive = any(child.dep_ in ("auxpass", "nsubjpass") for child in verb.children)
    if passive or (tag == "VBG" and be):
        past = bool(auxiliaries & {"was", "were"})
        return f"{'has been' if 'been' in auxiliaries else 'was' if past else 'is'} {low}"
    if perfect:
        return verbs.simple_past(low)
    if auxiliaries & {"did"}:
        return verbs.past_of(base)
    if tag == "VBD":
        return low
    return verbs.third_person(base) if tag in ("VBZ", "VBP", "VB") and base.isalpha() else None


def is_unreal(verb: Node) -> bool:
    """Tell conditions, wishes, orders and embedded questions from statements."""
    node = verb
    while True:
        marks = {child.lower_ for child in node.children if child.dep_ in ("mark", "advmod")}
        if marks & {"before", "until"} and node.tag_ != "VBD":
            return True
        asked = node.dep_ in ("ccomp", "advcl", "pcomp") and any(
            child.tag_ in ("WP", "WRB", "WDT") and child.lower_ not in ("when", "that")
            for child in node.children
        )
        wished = node.dep_ == "ccomp" and node.head.lemma_ in _WISHING
        if asked or wished or (node.dep_ != "ROOT" and marks & _UNREAL_MARKS):
            return True
        conditions = [c for c in node.children if c.dep_ == "advcl"]
        if any(g.lower_ in ("if", "unless") for c in conditions for g in c.children):
            return True
        if node.dep_ == "ROOT" or node.head.i == node.i:
            return False
        node = node.head
