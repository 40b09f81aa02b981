"""``ConflictChecker``: checks every input against what is known before it is stored.

AMA, sections 3.3 and 3.4: its Judge compares the input with the memories that were found for it,
and its Refresher updates those that no longer hold. Here nothing is overwritten: the known fact is
superseded by the new one, and a user can restore it. Nothing is deleted.

A new fact that repeats a known one in other words is stored as that one, with one more source. That
is LiCoMemory's search for semantic duplicates (3.3); here a model decides, because cosines cannot
tell "likes" from "dislikes".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import tzinfo
from typing import TypeVar

from cognigraph.errors import ModelError
from cognigraph.ingest.extraction import Extraction, Extractor, Fact, OnTop, Window
from cognigraph.ingest.model.summarise import estimated_call
from cognigraph.ingest.model.transcript import Turn, numbered
from cognigraph.llm import Model, Prompt
from cognigraph.llm.prompts import prompt_file, render
from cognigraph.model import Triple, Usage
from cognigraph.text.marks import one_line

PROMPT = "conflicts-2"
NOT_CHECKED = "conflicts were not checked"
NOT_SHOWN = "a conflict names a fact that was not shown"
NOT_THE_SAME = "a fact that denies a known one, or is of another time, is not the same"
SAID_LATER = "a fact that was said later is not superseded"
_ANSWER_TOKENS = 60
_T = TypeVar("_T")


class ConflictChecker(OnTop):
    """Another extractor, whose new facts supersede known ones, or are further sources of them.

    Args:
        model: says which known facts no longer hold and which new ones repeat them, with one call
            for a window that has new facts.
        base: the underlying extractor.
        timezone: the speakers' timezone.
    """

    recalls = 40

    def __init__(self, model: Model, base: Extractor, *, timezone: tzinfo | None = None) -> None:
        super().__init__(model, base)
        self._zone = timezone
        self._prompt = prompt_file(PROMPT)
        self.name = f"ama-{self._prompt.version}:{model.name}+{base.name}"

    def extract(self, window: Window) -> Extraction:
        """Extract, and mark which known facts the new ones supersede.

        If the model fails, the facts are stored unchecked, and ``rejected`` says so.
        """
        extraction = self._base.extract(window)
        known = window.notes.facts
        if extraction.starts_over or not extraction.facts or not known:
            return extraction
        facts, usage, rejected = self._check(window, extraction.facts, known)
        return replace(
            extraction,
            facts=tuple(facts),
            usage=extraction.usage + usage,
            rejected=(*extraction.rejected, *rejected),
        )

    def estimate(self, window: Window) -> Usage:
        """Estimate the cost of a window, with that of the check."""
        usage = super().estimate(window)
        if not window.chunks:
            return usage
        prompt = self._filled(window, window.notes.facts, ())
        return usage + estimated_call(self.model, prompt, _ANSWER_TOKENS)

    def _filled(self, window: Window, known: Sequence[Triple], new: Sequence[Fact]) -> Prompt:
        turns = [Turn.from_chunk(chunk, self._zone) for chunk in window.chunks]
        return render(
            self._prompt,
            known="\n".join(
                f"{label}. {one_line(fact.text)} ({fact.last_observed:%Y-%m-%d})"
                for label, fact in _labelled("F", known).items()
            ) or "-",
            turns=numbered(turns),
            new="\n".join(
                f"{label}. {_stated(fact)}" for label, fact in _labelled("N", new).items()
            ) or "-",
        )  # fmt: skip

    def _check(
        self, window: Window, new: Sequence[Fact], known: Sequence[Triple]
    ) -> tuple[list[Fact], Usage, list[str]]:
        """The new facts as they are to be stored, the usage, and what was left out."""
        from cognigraph.ingest.model.answer_schema import ConflictsAnswer

        facts, rejected = list(new), list[str]()
        try:
            answer = self.model.ask(self._filled(window, known, new), ConflictsAnswer)
        except ModelError as error:
            return facts, error.usage, [f"{NOT_CHECKED}: {error}"]
        by_label, places = _labelled("F", known), _labelled("N", range(len(new)))
        for repeat in answer.value.repeats:
            old, place = by_label.get(repeat.entry), places.get(repeat.new)
            if old is None or place is None:
                rejected.append(f"{NOT_SHOWN}: {repeat.new[:10]} {repeat.entry[:10]}")
            elif (same := _as_known(facts[place], old)) is None:
                rejected.append(f"{NOT_THE_SAME}: {_stated(facts[place])}")
            else:
                facts[place] = same
        for line in answer.value.conflicts:
            old, place = by_label.get(line.entry), places.get(line.replaced_by)
            if old is None or place is None:
                rejected.append(f"{NOT_SHOWN}: {line.entry[:10]} {line.replaced_by[:10]}")
            elif old.last_observed > max(window.chunks[at].at for at in facts[place].chunks):
                rejected.append(f"{SAID_LATER}: {old.text}")
            else:
                fact = facts[place]
                facts[place] = replace(fact, supersedes=(*fact.supersedes, old.uid))
        return facts, answer.usage, rejected


def _as_known(fact: Fact, known: Triple) -> Fact | None:
    """A fact in the words of the known one; ``None`` if it denies it, or is of another time."""
    when = known.when.text if known.when else None
    if fact.negated != known.negated or fact.when not in (None, when):
        return None
    return replace(
        fact,
        subject=known.subject,
        subject_type=known.subject_type,
        relation=known.relation,
        object=known.object,
        object_type=known.object_type,
        when=when,
    )


def _labelled(letter: str, items: Sequence[_T]) -> Mapping[str, _T]:
    return {f"{letter}{number}": item for number, item in enumerate(items, 1)}


def _stated(fact: Fact) -> str:
    denied = "not " if fact.negated else ""
    when = f" ({fact.when})" if fact.when else ""
    return one_line(f"{fact.subject} {denied}{fact.relation} {fact.object}{when}")
