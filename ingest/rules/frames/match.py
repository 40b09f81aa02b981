"""Match frames with a sentence, and join what they state to what the clause reader found."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from cognigraph.english import verbs
from cognigraph.english.sentences import Token
from cognigraph.english.words import KIN, NUMBERS
from cognigraph.ingest.rules.discourse import Discourse
from cognigraph.ingest.rules.frames.candidates import clause_starts, matches, possible
from cognigraph.ingest.rules.frames.mood import asserts
from cognigraph.ingest.rules.frames.plain import DENIED, Plain, plain
from cognigraph.ingest.rules.frames.table import Frame
from cognigraph.ingest.rules.frames.values import (
    is_tool,
    thing_name,
    told_day,
    tool_name,
    valid,
)
from cognigraph.ingest.rules.frames.whose import in_full
from cognigraph.ingest.rules.names import phrase_type
from cognigraph.ingest.rules.noun_phrases import Voices
from cognigraph.ingest.rules.statement import PreparedSentence, Statement
from cognigraph.states.slots import FactForm, claim_of


def with_frames(
    told: list[Statement], sentence: PreparedSentence, voices: Voices, discourse: Discourse
) -> list[Statement]:
    """Return the statements of a sentence with what frames read in it.

    What a frame reads takes the place of what the clause reader made of the same words.
    """
    if sentence.question or not asserts(sentence.tokens):
        return told
    added: list[Statement] = []
    understood: list[Statement] = []
    for one, said in _found(sentence, voices, discourse, told):
        same = [other for other in told if _says_as_much(one, other)]
        if same and (same[0].replaces or not one.replaces):
            understood += same
            continue
        told = [
            other
            for other in told
            if other in understood or (other not in same and not _covers(one, said, other))
        ]
        added.append(one)
    return in_full(told + added, sentence.tokens, voices.speaker)


def _found(
    sentence: PreparedSentence, voices: Voices, discourse: Discourse, told: Sequence[Statement]
) -> Iterator[tuple[Statement, str]]:
    """Yield what frames state, each with the words that were matched."""
    form = plain(sentence.tokens, sentence.names, sentence.times)
    types = {
        name.text: "object" if name.type == "person" and not name.sure else name.type
        for name in sentence.names.values()
    }
    reader = _Reader(form, types, voices, discourse, told)
    taken: list[tuple[int, int, str]] = []
    starts = clause_starts(form.text)
    for frame in possible(form.text):
        if frame.now and not form.now:
            continue
        for match in matches(frame.pattern, form.text, starts):
            span = match.start(), match.end(), frame.slot
            if any(_overlap(span, other) for other in taken):
                continue
            statements = reader.read(frame, match)
            if statements:
                taken.append(span)
                yield from ((one, match.group()) for one in statements)


def _overlap(one: tuple[int, int, str], other: tuple[int, int, str]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


class _Reader:
    """Makes statements of the matches in one sentence."""

    def __init__(
        self,
        form: Plain,
        types: Mapping[str, str],
        voices: Voices,
        discourse: Discourse,
        told: Sequence[Statement],
    ) -> None:
        self._form = form
        self._types = types
        self._voices = voices
        self._discourse = discourse
        self._told = told

    def read(self, frame: Frame, match: re.Match[str]) -> list[Statement]:
        """Return what a frame states of a match; nothing if a value does not fit."""
        denied = DENIED in match.group()
        if denied and frame.change:
            return []
        values = {name: text for name, text in match.groupdict().items() if text}
        if not all(valid(name, text, self._types) for name, text in values.items()):
            return []
        who = self._who(values.get("who"), match)
        if who is None:
            return []
        if frame.states == ("swap",):
            return list(self._swapped(who, values))
        when = self._when(match)
        made = [self._made(one, who, values, frame, when) for one in frame.states]
        if any(one is None for one in made):
            return []
        statements = [one for one in made if one is not None]
        return (
            [replace(one, negated=True, replaces=False) for one in statements]
            if denied
            else statements
        )

    def _who(self, said: str | None, match: re.Match[str]) -> tuple[str, str] | None:
        """Return whom a match is about, and the type."""
        me = self._voices.speaker, "person"
        if said is None:
            if not match.start() or "who" not in match.re.groupindex:
                return me
            before = (one for one in reversed(self._told) if one.subject_type == "person")
            last = next(before, None)
            if last is not None:
                return last.subject, "person"
            mine = re.match(r"(?:.* )?(?:I|[Ww]e) ", self._form.text[: match.start()])
            return None if mine is None else me
        low = said.lower()
        if low in ("i", "we"):
            return me
        if low in ("he", "she"):
            return self._somebody(low)
        if low.startswith(("my ", "our ")):
            kin = low.split(" ")[1]
            name = said.split(" ", 2)[2:]
            return (
                (name[0], "person")
                if name and kin in KIN
                else (f"{me[0]}'s {low.split(' ', 1)[1]}", "person")
            )
        type = self._types.get(said, "person")
        return self._discourse.name_of(said), "person" if type == "object" else type

    def _somebody(self, pronoun: str) -> tuple[str, str] | None:
        people = {one.subject for one in self._told if one.subject_type == "person"}
        people.discard(self._voices.speaker)
        if len(people) == 1:
            return people.pop(), "person"
        found = self._discourse.find(pronoun, ())
        return None if found is None else (found.name, found.type)

    def _when(self, match: re.Match[str]) -> str | None:
        signs = re.findall(r"⟦(\d+)⟧", self._form.text)
        inside = re.findall(r"⟦(\d+)⟧", match.group())
        number = next(iter(inside or signs), None)
        return None if number is None else self._form.times[int(number)].when

    def _swapped(self, who: tuple[str, str], values: Mapping[str, str]) -> Iterator[Statement]:
        old, new = (tool_name(values.get(name, "")) for name in ("old", "new"))
        when = None
        if "kind" in values:
            yield Statement(
                *who, "uses", f"{new} as {values['kind']}", "object", when, replaces=True
            )
            return
        types = {self._types.get(old), self._types.get(new)}
        if types == {"location"} and not (is_tool(old) or is_tool(new)):
            yield Statement(*who, "moved from", old, "location", when)
            yield Statement(*who, "moved to", new, "location", when)
            return
        if old and (old[:1].isupper() or new[:1].isupper() or is_tool(old)):
            yield Statement(*who, "switched from", old, "object", when)
            yield Statement(*who, "switched to", new, "object", when)

    def _made(
        self,
        told: str,
        who: tuple[str, str],
        values: Mapping[str, str],
        frame: Frame,
        when: str | None,
    ) -> Statement | None:
        subject, relation, rest = told.split(" | ")
        denied, relation = relation.startswith("not "), relation.removeprefix("not ")
        relation = _filled(relation, values)
        object, _, type = rest.partition(" : ")
        name = self._subject(subject, who, values)
        if name is None:
            return None
        if "{day}" in object:
            told_of = told_day(values["day"], self._form.times)
            if told_of is None:
                return None
            return Statement(*name, relation, told_of[0], told_of[1], told_of[2])
        said = _filled(object, values)
        if relation == "uses" and " as " in said:
            return Statement(*name, relation, said, "object", None, replaces=True)
        if relation == "stopped":
            return Statement(*name, relation, said, "concept", when, replaces=True)
        if relation == "switched to":
            return Statement(*name, relation, said, "object", when, replaces=is_tool(said))
        at = when if frame.change else None
        replaces = relation == "uses" and self._form.now
        return Statement(*name, relation, said, type or "object", at, denied, replaces=replaces)

    def _subject(
        self, template: str, who: tuple[str, str], values: Mapping[str, str]
    ) -> tuple[str, str] | None:
        me = self._voices.speaker
        if template == "me":
            return me, "person"
        if template == "{who}":
            return who
        if template == "{one}":
            return values["one"], "person"
        if template.startswith("me's "):
            return f"{me}'s {_filled(template[5:], values)}", "person"
        if template == "own(boss)":
            return f"{who[0]}'s boss", "person"
        if template.startswith("own("):
            owner = who[0] if who[1] == "person" else me
            return _typed(f"{owner}'s {_filled(template[4:-1], values)}")
        inside = re.sub(r"^\w+\(\{(\w+)\}(.*)\)", lambda m: f"{m[1]}|{m[2]}", template)
        key, _, rest = inside.partition("|")
        thing = values.get("thing") or values.get("event") or values.get("doing") or values.get(key)
        if thing is None:
            return None
        name = thing_name(thing, me, own="event" in values)
        if name is None:
            return None
        suffix = rest.removesuffix(")")
        return _typed(f"{name}{suffix}")


def _typed(name: str) -> tuple[str, str]:
    """Return a name with the type that its words tell, as the clause reader finds it."""
    what = name.rpartition("'s ")[2].split(" ")
    return name, phrase_type([Token(word, word.lower(), "word") for word in what])


def _filled(template: str, values: Mapping[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        name = found[1]
        text = next((values[one] for one in _INSTEAD.get(name, (name,)) if one in values), "")
        return GROUPS_TEXT[name](text) if name in GROUPS_TEXT else text

    return re.sub(r"\{(\w+)\}", value, template).strip()


_INSTEAD = {
    "org": ("org", "firm"), "tool": ("tool", "product"), "amount": ("amount", "amount2"),
}  # fmt: skip
"""Values that fill a place of a name, by its name."""


def _age(text: str) -> str:
    return str(NUMBERS.get(text, text))


def _cares(text: str) -> str:
    return {
        "supervises": "supervisor", "mentors": "mentor", "coaches": "coach", "manages": "boss",
        "treats": "doctor", "trains": "trainer", "tutors": "tutor", "advises": "advisor",
    }.get(text, text)  # fmt: skip


def _does(text: str) -> str:
    """Return what somebody does: "runs" for "running" and "run"."""
    word, _, rest = text.partition(" ")
    verb = verbs.guess_verb(word)
    if verb is None:
        return text if word.endswith("s") else f"{word}s {rest}".strip()
    return f"{verbs.third_person(verb.base)} {rest}".strip()


def _days(text: str) -> str:
    return text if text.endswith("s") else f"{text}s"


GROUPS_TEXT: dict[str, Callable[[str], str]] = {
    "age": _age, "cares": _cares, "tool": tool_name, "does": _does, "days": _days,
}  # fmt: skip


def _claim(one: Statement) -> tuple[str, ...] | None:
    claim = claim_of(
        FactForm(
            one.subject, one.subject_type, one.relation, one.object, one.object_type, one.negated
        )
    )
    return None if claim is None else (one.subject.lower(), claim.slot, claim.value, claim.says)


def _says_as_much(one: Statement, other: Statement) -> bool:
    """Whether the clause reader understood the same, or more of it."""
    if one.relation == other.relation == "is" and (one.subject, one.object) == (
        other.object,
        other.subject,
    ):
        return True  # "Ann's wife is Mary" and "Mary is Ann's wife"
    claim, known = _claim(one), _claim(other)
    if claim is None or known is None:
        return False
    more = claim[:2] == known[:2] and other.object.startswith(f"{one.object} ")
    return claim == known or (more and one.object_type != "time")


def _covers(one: Statement, said: str, other: Statement) -> bool:
    """Whether another statement is a literal reading of the words that a frame understood."""
    if other.relation == "is" and other.object.partition("'s ")[2] in KIN:
        return False
    words = re.findall(r"[\w-]+", said.lower())
    spoken = re.findall(r"[\w-]+", other.object.lower())
    if spoken and set(spoken) <= set(words):
        return True
    start = f" {other.relation.split(' ')[-1]} {' '.join(spoken[:1])} "
    value = re.split(r" as | of ", one.object)[0].lower()
    return start in f" {' '.join(words)} " or value in f"{other.subject} {other.object}".lower()
