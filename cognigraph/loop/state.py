"""``LoopState``: what a loop knows at one moment, and the answer that is written from it.

Every slot is called with the state. Evidence is one line of a prompt for each item, which cannot
close its section.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from cognigraph.loop.asker import Asker
from cognigraph.loop.data import Assessment, Evidence, ModelCall, Plan, Verdict
from cognigraph.loop.pool import Pool, Recall, Recalled
from cognigraph.model import Citation, Context
from cognigraph.retrieve.block_lines import day
from cognigraph.retrieve.question.analyse import analyse
from cognigraph.text.marks import one_line

_MOST_HISTORY = 12
_LONGEST_TURN = 500
NONE = "(none)"


_LONGEST_QUERY = 300
_RELATED = 10
_INSTEAD_MESSAGES = {"episodes": "episode", "memories": "memory"}
"""Layers that messages are searched in place of if they have nothing, and what they consist of."""


def same_query(text: str) -> str:
    """Reduce a query to what makes it different from others: its words in order."""
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())


class LoopState:
    """A question, what was found so far, and what was made of it.

    Slots read it and add evidence through :meth:`fetch` and :meth:`add`. A slot that needs a model
    finds it in ``asker``; to use one alone, create a state with a recall and an asker.
    """

    def __init__(
        self,
        question: str,
        *,
        recall: Recall,
        asker: Asker | None = None,
        history: Sequence[str] = (),
        now: datetime,
        max_tokens: int = 2000,
    ) -> None:
        self.question = question
        self.recall = recall
        self.history = tuple(history)
        self.now = now
        self.max_tokens = max_tokens
        self.pool = Pool(recall)
        self.plan = Plan((question,))
        self.round = 0
        self.shown: tuple[str, ...] = ()
        self.assessment: Assessment | None = None
        self.verdict: Verdict = "unchecked"
        self.chosen: tuple[str, ...] = ()
        self.as_said = False
        self.answers: list[str] = []
        self.cited: tuple[Citation, ...] = ()
        self.notes: list[str] = []
        self._asker = asker
        self._sent: dict[tuple[str, str], str] = {}

    # What was sent

    @property
    def sent(self) -> tuple[str, ...]:
        """The queries sent so far, each once."""
        return tuple(dict.fromkeys(self._sent.values()))

    def unsent(self, queries: Iterable[str], most: int, layer: str = "messages") -> list[str]:
        """The first ``most`` of these queries that were not sent to a layer; notes the others."""
        new: dict[str, str] = {}
        repeated = total = 0
        for query in queries:
            total += 1
            form = same_query(query)
            if not form or form in new or (layer, form) in self._sent:
                repeated += 1
            else:
                new[form] = " ".join(query.split())[:_LONGEST_QUERY]
        taken = list(new.values())[:most]
        if repeated:
            self.note(f"{repeated} of {total} queries were empty or sent before: not sent again")
        if len(new) > most:
            self.note(f"{len(new) - most} of {total} queries were left out: {most} a round")
        return taken

    def note(self, text: str) -> None:
        """Add a note to the round."""
        self.notes.append(text)

    # Evidence

    def fetch(self, plan: Plan) -> tuple[Evidence, ...]:
        """Send what a plan asks for; returns what is new. Nothing is sent twice to a layer."""
        self.plan, before = plan, len(self.pool)
        self.pool.lists |= bool(plan.again)
        labels: list[str] = []
        if plan.related:
            hits = self.pool.hits()[:_RELATED]
            labels += self.add(self.recall.related(self.question, hits), "related messages")
        for query in plan.queries:
            key = (plan.layer, same_query(query))
            if key not in self._sent:
                self._sent[key] = query
                labels += self.add(self._send(query, plan), query)
                if plan.again and plan.layer == "messages" and labels:
                    seen = self.pool.message_keys()
                    more = self.recall.messages(query, plan.again, seen, per_session=1)
                    labels += self.add(more, query)
        nothing = not labels and not before and not self.pool.holds_written
        if nothing and plan.layer in _INSTEAD_MESSAGES:
            self.note(
                f"no {_INSTEAD_MESSAGES[plan.layer]} was found: messages were searched instead"
            )
            return self.fetch(replace(plan, layer="messages"))
        self.shown = tuple(dict.fromkeys(labels))
        return self.pool.items[before:]

    def _send(self, query: str, plan: Plan) -> Recalled:
        if plan.layer == "messages":
            return self.recall.messages(query, plan.k, self.pool.message_keys())
        if plan.layer == "facts":
            return self.recall.facts(query, plan.k, self.pool.uids("facts"))
        if plan.layer == "memories":
            return self.recall.memories(query, plan.k)
        return self.recall.episodes(query, plan.k)

    def unvisited(self, layer: str, query: str) -> bool:
        """Whether a query was not sent to a layer."""
        return (layer, same_query(query)) not in self._sent

    def add(self, recalled: Recalled, query: str) -> tuple[str, ...]:
        """Add what a query has found; returns the labels of all of it."""
        return self.pool.add(recalled, query, self.round)

    def known(self, labels: Iterable[str], among: Iterable[str] | None = None) -> tuple[str, ...]:
        """Those labels that a model may name: of items it was shown. Others are noted."""
        given = tuple(labels)
        allowed = set(self.pool.known(among) if among is not None else self.pool.known(given))
        known = tuple(label for label in self.pool.known(given) if label in allowed)
        invented = len({label.strip().strip("[]").upper() for label in given}) - len(known)
        if invented > 0:
            self.note(f"{invented} of {len(given)} ids were not among those shown: left out")
        return known

    def choose(self, labels: Iterable[str]) -> None:
        """Add items to those that the block is made of; without any, it is made of all."""
        self.chosen = tuple(dict.fromkeys((*self.chosen, *labels)))

    def block(self) -> Context:
        """The prompt block of the chosen evidence.

        With ``as_said`` it has the chosen messages whole and in order of time, if they fit.
        """
        if self.as_said:
            whole = self.pool.as_said(self.question, self.max_tokens, self.chosen)
            if whole is not None:
                return whole
        return self.pool.block(self.question, self.max_tokens, self.chosen)

    # In words, for prompts

    @property
    def asker(self) -> Asker:
        """The model; slots that need none do not ask for it."""
        assert self._asker is not None, "this slot needs a model: give the state an Asker"
        return self._asker

    @property
    def asked_on(self) -> str:
        """The day of the question."""
        return f"{self.now.astimezone(self.recall.zone):%A, %d %B %Y}"

    @property
    def has_asker(self) -> bool:
        """Whether there is a model."""
        return self._asker is not None

    def take_calls(self) -> tuple[ModelCall, ...]:
        """The calls since the last time."""
        return self._asker.take() if self._asker is not None else ()

    def lines(self, labels: Iterable[str]) -> str:
        """The items with these labels, one a line: the label, the day, and the text."""
        items, zone = map(self.pool.item, labels), self.recall.zone
        lines = [f"[{item.label}] {day(item.at, zone)} {one_line(item.text)}" for item in items]
        return "\n".join(lines) or NONE

    @property
    def history_lines(self) -> str:
        """The last turns of the conversation before the question, oldest first."""
        return _bullets(
            turn[:_LONGEST_TURN] for turn in map(one_line, self.history[-_MOST_HISTORY:])
        )

    @property
    def answer_lines(self) -> str:
        """The intermediate answers so far (HyMem's memory pool M_i)."""
        return _bullets(map(one_line, self.answers))

    @property
    def sent_lines(self) -> str:
        """The queries so far."""
        return _bullets(map(one_line, self.sent))


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines) or NONE


_LABEL = re.compile(r"\[?\b([STCEF]\d+)\b\]?")


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """An answer, the block that it was written from, and the items that it cites."""

    text: str
    context: Context
    citations: tuple[Citation, ...]


def write_answer(state: LoopState, *, last: bool = True, prompt: str = "") -> WrittenAnswer:
    """Ask the model for the answer; to what would or might be, also for one that it infers.

    ``prompt`` takes the place of the prompt that the question calls for.

    Raises:
        ModelError: there is no usable answer.
    """
    from cognigraph.loop.schemas import FinalAnswer

    block = state.block()
    inputs = {
        "asked": state.asked_on,
        "history": state.history_lines,
        "question": one_line(state.question),
        "pool": state.answer_lines,
        "memory": str(block) or NONE,
    }
    usual = "loop-infer-1" if asks_for_inference(state.question) else "loop-answer-1"
    prompt = prompt or usual
    answer = state.asker.ask(prompt, FinalAnswer, inputs, last=last)
    text = answer.answer.strip()
    return WrittenAnswer(text, block, cited(state, block, answer.labels, text))


def cited(state: LoopState, block: Context, labels: list[str], text: str) -> tuple[Citation, ...]:
    """The items of a block that an answer names; labels that the block lacks are noted."""
    known = {citation.label: citation for citation in block.citations}
    named = [match[1] for label in labels for match in _LABEL.finditer(label.upper())]
    invented = len({label for label in named if label not in known})
    invented += sum(not _LABEL.search(label.upper()) for label in labels)
    if invented:
        state.note(f"{invented} labels of the answer are not in the block: left out")
    inside = [match[1] for match in re.finditer(r"\[([STCEF]\d+)\]", text)]
    return tuple(known[label] for label in dict.fromkeys((*named, *inside)) if label in known)


# What the wording of a question or an answer tells a loop, without a model.
#
# Only words that mean nothing else: what they miss is treated as usual.


_OPEN = re.compile(
    r"\b(?:would|could|might|likely|probably|presumably)\b"
    r"|\b(?:würde|würden|könnte|könnten|wahrscheinlich|vermutlich|wohl)\b"
    r"|\b(?:pourrait|pourraient|serait|seraient|probablement|sans doute)\b"
    r"|\b(?:podría|podrían|sería|serían|probablemente|probable)\b"
    r"|\b(?:poderia|poderiam|seria|seriam|provavelmente|provável)\b"
    r"|\b(?:potrebbe|potrebbero|sarebbe|sarebbero|probabilmente|probabile)\b"
    r"|\b(?:zou|zouden|waarschijnlijk|vermoedelijk)\b"
    r"|可能|也许|大概|会不会|かもしれ|だろう|でしょう|아마|것 같",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"\b(?:would|could) (?:you|i|we)\b|\b(?:i|we) (?:would|could|might)\b"
    r"|\b(?:würden|könnten) sie\b|\bkönnte ich\b"
    r"|\bzou (?:je|u|jij|ik)\b",
    re.IGNORECASE,
)
_LIST = re.compile(
    r"\bhow (?:many|often)\b|\b(?:list|enumerate)\b|\bin total\b|\bput together\b|\baltogether\b"
    r"|\b(?:wie oft|wie viele|zähle?|insgesamt)\b"
    r"|\b(?:combien de|quels|quelles|en tout|au total)\b"
    r"|\b(?:cuánt[oa]s|cuáles|en total)\b"
    r"|\b(?:quant[oa]s|quais|no total)\b"
    r"|\b(?:quant[ie]|quali|in tutto)\b"
    r"|\b(?:hoe vaak|hoeveel|in totaal)\b"
    r"|几次|多少次|哪些|一共|何回|いくつ|全部で|몇 번|몇 개|모두",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(
    r"\b(?:(?:not|isn['’]t|aren['’]t|wasn['’]t) (?:known|mentioned|stated|specified|recorded|clear)"
    r"|unknown|unclear|no information|do(?:es)? not (?:say|mention|state|contain|tell))\b"
    r"|\b(?:nicht bekannt|unbekannt|unklar|nicht erwähnt|keine angaben?|keine informationen?)\b"
    r"|\b(?:inconnue?s?|pas connue?s?|pas précisée?s?|pas mentionnée?s?)\b"
    r"|\b(?:desconocid[oa]s?|no se sabe|no se menciona|desconhecid[oa]s?|não se sabe)\b"
    r"|\b(?:sconosciut[oaie]|non è not[oa]|onbekend|niet bekend)\b"
    r"|未知|不清楚|不知道|没有提到|不明|わかりません|分かりません|알 수 없|모릅니다",
    re.IGNORECASE,
)


def asks_for_inference(question: str) -> bool:
    """Whether a question asks what would be or might be, which need not have been said.

    >>> asks_for_inference("Would Ann enjoy a week on a boat?")
    True
    >>> asks_for_inference("Could you tell me where Ann lives?")
    False
    """
    return _OPEN.search(_POLITE.sub(" ", question)) is not None


def asks_for_many(question: str, now: datetime) -> bool:
    """Whether the parts of the answer may be scattered: a list, a number or a sum of things.

    >>> from datetime import UTC
    >>> asks_for_many("How often has the bus been late?", datetime(2026, 5, 1, tzinfo=UTC))
    True
    >>> asks_for_many("Where does Ann live?", datetime(2026, 5, 1, tzinfo=UTC))
    False
    """
    return _LIST.search(question) is not None or analyse(question, now).enumerates


def says_unknown(answer: str) -> bool:
    """Whether an answer says that it, or a part of it, is not known.

    >>> says_unknown("In Turin; since when is not known.")
    True
    """
    return _UNKNOWN.search(answer) is not None
