"""Extract statements from sentences as triples: who does, is or has what, and when.

There is no full parse. A clause yields a fact only if its subject is clear: a speaker, a name, a
noun phrase before a finite verb, or a pronoun with exactly one candidate in this sentence and the
two before it. Questions, conditions and wishes yield no facts.
"""

from __future__ import annotations

from dataclasses import replace

from cognigraph.english import verbs, words
from cognigraph.english.words import word_set
from cognigraph.ingest.rules import (
    clause_kinds,
    employment,
    filters,
    instructions,
    named_kin,
    places,
    questions,
    usefulness,
)
from cognigraph.ingest.rules.clauses import Clause, split_clauses
from cognigraph.ingest.rules.discourse import Discourse
from cognigraph.ingest.rules.each_other import of_each_other
from cognigraph.ingest.rules.noun_phrases import Phrase, Voices, noun_phrase
from cognigraph.ingest.rules.objects import ObjectReader
from cognigraph.ingest.rules.pronouns import Referent
from cognigraph.ingest.rules.relations import Relation, read_relation
from cognigraph.ingest.rules.statement import (
    OWNERS,
    SAYING,
    PreparedSentence,
    Statement,
    is_listed,
    is_over,
    last_of,
    referents_of,
)
from cognigraph.ingest.rules.subjects import RELATIVE, Before, Subject, SubjectFinder, antecedent

_UNREAL = word_set("if unless whether how what why where whenever whose than as like though")
_WISHES = word_set("hope wish imagine suppose doubt bet let guess wonder")
_MAX_LIST = 8


class StatementReader:
    """Reads the sentences of one conversation in order and keeps the context between them."""

    def __init__(self, discourse: Discourse | None = None) -> None:
        self._discourse = discourse or Discourse()

    def read(self, sentence: PreparedSentence, voices: Voices) -> list[Statement]:
        """Return the statements of the next sentence."""
        stated = questions.without_question(sentence)
        scan = _Scan(stated, voices, self._discourse)
        statements = scan.run() if stated.tokens else []
        spoken_of = [*statements, *scan.dropped]
        self._discourse.close(referents_of(sentence, spoken_of, voices, self._discourse))
        return statements


class _Scan:
    """One pass over the clauses of one sentence."""

    def __init__(self, sentence: PreparedSentence, voices: Voices, discourse: Discourse) -> None:
        self.tokens = sentence.tokens
        self.names = sentence.names
        self.times = sentence.times
        self.voices = voices
        self.discourse = discourse
        self.out: list[Statement] = []
        self.dropped: list[Statement] = []
        """What is no useful fact, but what pronouns may refer to."""
        self.timed = {index for span in self.times for index in range(span.start, span.end)}
        self.subjects = SubjectFinder(self.tokens, self.names, voices, self.timed, self._resolve)
        self.objects = ObjectReader(self.tokens, self.names, voices, self.timed, self._resolve)
        self.before = Before()
        self.waiting: str | None = None  # a time at the start, for the first statement
        self.conditional = False
        self.unreal = False  # inside a wish or condition
        self.reporter: str | None = None  # whom the statement is attributed to
        self.index = 0  # start of the current clause
        self.apart: Phrase | None = None  # a phrase before a comma: "Anna, my sister, ..."
        self.listing = False  # whether the last object may continue as a list

    def run(self) -> list[Statement]:
        """Return all statements of the sentence."""
        starts = {span.start for span in self.times}
        inside = self.timed - starts
        for name in self.names.values():
            inside.update(range(name.start + 1, name.end))
        order = instructions.standing_order(self.tokens, self.names, self.voices)
        if order is not None:
            return [order]
        told_by = self._own_name()
        called = dict(named_kin.called(self.tokens, self.names, self.voices))
        for clause in split_clauses(self.tokens, self.names, inside):
            named = called.get(clause.start)
            if named is not None:
                self._introduce(named)
            elif clause.start >= told_by:
                self._clause(clause)
        self._named_in_passing()
        located = places.located(self.tokens, self.names, self.timed, self.voices)
        told = [one.object for one in self.out if one.relation == "is"]
        when = next((span.when for span in self.times if span.when), None)
        worked = employment.of_speaker(self.tokens, self.names, self.timed, when, self.voices)
        return [*self.out, *worked, *(one for one in located if not places.is_told(one, told))]

    def _own_name(self) -> int:
        """Read what the speaker wants to be called; return where that ends."""
        found = instructions.own_name(self.tokens, self.names, self.voices)
        if found is None:
            return 0
        called, end = found
        self.discourse.introduce(self.voices.speaker, called.object)
        self._add(called)
        return end

    def _named_in_passing(self) -> None:
        for phrase in named_kin.in_passing(self.tokens, self.names, self.voices):
            told = [one.object for one in self.out if one.subject == phrase.text]
            if phrase.alias is not None and phrase.alias not in told:
                self._introduce(phrase)

    def _clause(self, clause: Clause) -> None:
        start = clause_kinds.opening(self.tokens, self.names, self.timed, self.voices, clause)
        end, self.index = clause.end, clause.start
        if start >= end:
            self._bare_time(clause)
            return
        unreal = clause.connector in _UNREAL or self._describes(clause)
        if clause.connector in ("if", "unless"):
            self._condition()
        if unreal or (self.unreal and clause.connector in ("+", "that", "and")):
            self.before, self.unreal = Before(lost=True), unreal
            return
        self.unreal = False
        if self._baptism(start, end):
            return
        before = antecedent(self.tokens, clause, start, self.before, has_said=bool(self.out))
        subject = self.subjects.find(clause, start, end, before)
        if subject is None:
            self._without_subject(clause, start, end)
            return
        self._attribute(clause, subject)
        for phrase in (subject.phrase, *subject.others):
            if phrase.alias is not None:
                self._introduce(phrase)
        relation = read_relation(self.tokens, subject.end, end)
        self._remember(clause, subject, relation)
        if clause.connector in ("before", "until") and not is_over(relation):
            return
        if self.conditional and relation is not None and relation.modal:
            return
        case = clause.connector if self._when(clause) is None else ""
        possible = relation is not None and usefulness.is_possible_only(relation, case)
        if relation is not None and not possible and filters.worth_stating(subject, relation):
            self._state(subject, relation, clause, end)
        self._report(subject, relation)

    def _describes(self, clause: Clause) -> bool:
        """Return whether a clause describes the noun before it, or says what somebody thinks."""
        return clause_kinds.is_reduced_relative(
            self.tokens, self.timed, clause, is_quoted=self.reporter is not None
        )

    def _baptism(self, start: int, end: int) -> bool:
        """Read "Her name is Luna": whose name it is, if that is clear, and Luna's pronoun."""
        name = self.names.get(start + 3)
        low = self.tokens[start].low
        said = [self.tokens[index].low for index in range(start + 1, min(start + 3, end))]
        if low not in OWNERS or name is None or said not in (["name", "is"], ["name", "was"]):
            return False
        pronoun = OWNERS[low]
        owner = self._resolve(pronoun)
        self.discourse.baptise(name.text, pronoun)
        self.before = Before(Phrase(name.text, name.type, proper=True))
        if owner is not None:
            self._add(Statement(name.text, owner.type, "is", owner.name, owner.type))
        return True

    # Reported speech

    def _attribute(self, clause: Clause, subject: Subject) -> None:
        """End reported speech at a clause of the speaker's own."""
        own = subject.speaker and not subject.elided and clause.connector not in ("that", "+")
        if own or clause.connector in ("but", "because", "so"):
            self.reporter = None

    def _report(self, subject: Subject, relation: Relation | None) -> None:
        """Start reported speech: the clause after "Ben told me" is attributed to Ben."""
        if relation is not None and relation.main in SAYING and not relation.negated:
            self.reporter = None if subject.speaker else subject.phrase.text

    def _condition(self) -> None:
        """Start a condition: a modal statement before or after it is not a fact."""
        self.conditional = True
        if self.out and self.out[-1].relation.split(" ")[0] in verbs.MODALS:
            self.out.pop()

    def _remember(self, clause: Clause, subject: Subject, relation: Relation | None) -> None:
        said = relation.text if relation is not None else ""
        relative = clause.connector in RELATIVE and subject.elided
        self.before = Before(
            None if relative else subject.phrase,
            progressive=any(verbs.is_ing(word) for word in said.split()),
            infinitive=relation is not None and (bool(relation.modal) or " to " in said),
            lost=self.before.lost or relative,
        )
        wish = relation is not None and relation.main in _WISHES and " to " not in said
        self.unreal = wish and not said.startswith("lets")

    # Times

    def _bare_time(self, clause: Clause) -> None:
        """Assign a clause that is only a time to the statement before it, else to the next one."""
        when = self._when(clause)
        if when is None:
            return
        if self.out and self.out[-1].when is None:
            self.out[-1] = replace(self.out[-1], when=when)
        elif not self.out:
            self.waiting = when

    def _when(self, clause: Clause) -> str | None:
        return clause_kinds.time_of(self.tokens, self.times, clause)

    # Clauses without a subject

    def _without_subject(self, clause: Clause, start: int, end: int) -> None:
        if self.tokens[start].low == "according" and start + 2 < end:
            source = noun_phrase(self.tokens, start + 2, end, self.names, self.voices)
            self.reporter = source.text if source is not None else None
        elif not clause_kinds.brings_up(self.tokens, start, end):
            self._fragment(clause, start, end)

    def _fragment(self, clause: Clause, start: int, end: int) -> None:
        """Read a clause without a verb: an apposition, a list item or a subject before a comma."""
        phrase = noun_phrase(self.tokens, start, end, self.names, self.voices)
        self.before.lost = self.tokens[start].low in words.PRONOUNS
        if phrase is None:
            return
        last = self.out[-1] if self.out else None
        if self._apposition(clause, phrase, start, end):
            return
        if last is None:
            apart = self.tokens[start].low in words.POSSESSIVES
            name = start in self.names and self.names[start].end >= end
            self.apart = phrase if apart or name else None
            self.before.subject = phrase if apart else None
            self.before.lost = self.before.lost or not (apart or name)
        elif self._is_listed(clause, last, start, end):
            joined = f"{last.object}, {phrase.text}"
            if len(joined.split()) <= _MAX_LIST:
                self.out[-1] = replace(last, object=joined)

    def _is_listed(self, clause: Clause, last: Statement, start: int, end: int) -> bool:
        """Return whether a fragment continues the list that the last object began."""
        listed = self.listing and last.object_type != "time"
        return listed and clause_kinds.goes_on(self.tokens, clause, start, end)

    def _apposition(self, clause: Clause, phrase: Phrase, start: int, end: int) -> bool:
        """Read an apposition as an "is": "Helios, a bakery", "My boss, Dr. Berg, ..."."""
        following = self.tokens[end].low if end < len(self.tokens) else "."
        second = self.tokens[end + 1].low if end + 1 < len(self.tokens) else ""
        if clause.connector != "," or following not in ",.!;" or second in ("and", "or"):
            return False
        first = self.tokens[start].low
        described = first in words.DETERMINERS or first in words.POSSESSIVES
        if self.apart is not None and described and not self.apart.proper:
            self._add(Statement(self.apart.text, self.apart.type, "is", phrase.text, phrase.type))
            self.before.subject, self.apart = self.apart, None
            return True
        if self.apart is not None and described != (self.apart.proper is False):
            name, what = (self.apart, phrase) if described else (phrase, self.apart)
            if name.proper and name.text not in (self.voices.speaker, self.voices.other):
                self._introduce(replace(name, alias=what.text))
                self.before.subject, self.apart = name, None
                return True
            return False
        named = next((one for one in self.names.values() if one.end == start - 1), None)
        if named is None or not described or not self.out or is_listed(self.tokens, start, end):
            return False
        self._add(Statement(named.text, named.type, "is", phrase.text, phrase.type))
        return True

    def _resolve(self, pronoun: str) -> Referent | None:
        """Resolve a pronoun by the two preceding sentences and this one up to the clause."""
        voiced = (self.voices.speaker, self.voices.other)
        here = [
            self.discourse.referent(name, type_)
            for one in self.out
            for name, type_ in ((one.subject, one.subject_type), (one.object, one.object_type))
            if name not in voiced
        ]
        named = [
            self.discourse.referent(name.text, name.type)
            for name in self.names.values()
            if name.text not in voiced
            and (name.end <= self.index or self.discourse.is_baptised(name.text))
        ]
        return self.discourse.find(pronoun, (*here, *named))

    # Facts

    def _state(self, who: Subject, relation: Relation, clause: Clause, end: int) -> None:
        if relation.text in ("lets", "let") and self._allowed(relation, clause, end):
            return
        when = self._when(clause) or self.waiting
        self.waiting = None
        if self._each_other(who, relation, end, when):
            return
        found = self.objects.read(relation, end) or clause_kinds.opinion(
            self.tokens, who, relation, end
        )
        if found is None:
            if when is not None and clause_kinds.is_only_time(
                self.tokens, self.timed, who, relation, end
            ):
                self._emit_all(who, filters.dated(relation, when), Phrase(when, "time"), when)
            return
        relation, phrase = found
        told = relation.main in SAYING and phrase.text in (self.voices.speaker, self.voices.other)
        if told or filters.says_nothing(who, relation, phrase):
            return
        self._emit_all(who, relation, phrase, when)
        self.listing = True
        self.before.object = last_of(phrase)
        self._named(relation.end, end)

    def _each_other(self, who: Subject, relation: Relation, end: int, when: str | None) -> bool:
        """Read "Karl and I got divorced" as what each of the two did with the other."""
        mutual = of_each_other(self.tokens, self.timed, relation, end) if who.others else None
        if mutual is None:
            return False
        for subject, other in ((who.phrase, who.others[0]), (who.others[0], who.phrase)):
            self._emit(subject, mutual, other, when)
        return True

    def _allowed(self, relation: Relation, clause: Clause, end: int) -> bool:
        """Read "My boss lets me run the mill": it is the speaker who runs the mill."""
        first = relation.end
        if first + 1 >= end or self.tokens[first].low not in ("me", "us"):
            return False
        allowed = read_relation(self.tokens, first + 1, end)
        if allowed is not None:
            speaker = Subject(self.subjects.speaker, first + 1, speaker=True)
            self._state(speaker, allowed, clause, end)
        return True

    def _emit_all(self, who: Subject, relation: Relation, phrase: Phrase, when: str | None) -> None:
        """Add the statement for each of its subjects for which it is a useful fact."""
        for subject in (who.phrase, *who.others):
            if usefulness.is_useful(who, subject, relation, phrase, when, self.voices):
                self._emit(subject, relation, phrase, when)
            else:
                named = (self.discourse.name_of(one.text) for one in (subject, phrase))
                about, what = named
                self.dropped.append(
                    Statement(about, subject.type, relation.text, what, phrase.type)
                )

    def _emit(self, subject: Phrase, relation: Relation, phrase: Phrase, when: str | None) -> None:
        who, what = self.discourse.name_of(subject.text), self.discourse.name_of(phrase.text)
        related = relation.text == "is" and not relation.negated and subject.proper
        if (
            related
            and phrase.type == "person"
            and phrase.text.startswith(f"{self.voices.speaker}'s ")
        ):
            self.discourse.introduce(who, phrase.text)
            what = phrase.text  # "Anna is my sister" must not become "Anna is Anna"
        if who == what:
            return
        self._add(
            Statement(who, subject.type, relation.text, what, phrase.type, when, relation.negated)
        )
        if phrase.alias is not None:
            self._introduce(phrase)

    def _add(self, statement: Statement) -> None:
        self.out.append(replace(statement, said_by=self.reporter))
        self.listing = False

    def _introduce(self, phrase: Phrase) -> None:
        """Record the alias in "my sister Anna" and add the statement that Anna is the sister."""
        alias = phrase.alias or ""
        self.discourse.introduce(phrase.text, alias)
        self._add(Statement(phrase.text, phrase.type, "is", alias, phrase.type))

    def _named(self, start: int, end: int) -> None:
        """Add the statement that Rex is a dog for "a dog named Rex"."""
        found = clause_kinds.named_thing(self.tokens, self.names, self.voices, start, end)
        if found is not None:
            name, what = found
            type_ = name.type if name.sure and name.type != "object" else what.type
            self._add(Statement(name.text, type_, "is", what.text, what.type))
