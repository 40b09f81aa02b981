"""A dependency parse as statements: subject, verb group, object, polarity, time, whose words.

Works on parses in spaCy's English (ClearNLP) scheme: ``nsubj``, ``dobj``, ``prep``/``pobj``,
``attr``, ``acomp``, ``xcomp``, ``ccomp``, ``relcl``, ``conj``. The same caution as the rules':
questions, conditions, orders and wishes give nothing, and a pronoun with two candidates gives
nothing. What is worth keeping, tenses, times and pronouns are decided by the rules' own modules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cognigraph.ingest import words
from cognigraph.ingest.discourse import Discourse
from cognigraph.ingest.nounphrases import Phrase, Voices
from cognigraph.ingest.objects import GIVING
from cognigraph.ingest.referents import referent
from cognigraph.ingest.relations import Relation
from cognigraph.ingest.spans import NounReader
from cognigraph.ingest.statement import OWNERS, SAYING, Statement
from cognigraph.ingest.subjects import Subject
from cognigraph.ingest.timewords import TimeSpan
from cognigraph.ingest.verbgroups import (
    VerbGroup,
    auxiliaries_of,
    denies,
    has_more,
    is_unreal,
    verb_group,
)
from cognigraph.ingest.words import word_set
from cognigraph.ingest.worth import dated, is_courtesy, is_impersonal, is_vague, worth_stating

Node = Any
"""A ``spacy.tokens.Token``; spaCy is imported by nobody but ``SpacyExtractor``."""
_SUBJECTS = ("nsubj", "nsubjpass")
_CLAUSES = ("ROOT", "conj", "ccomp", "advcl", "relcl", "parataxis", "acl")
_RELATIVES = word_set("who which that whom")
_MAX_PREPOSITIONS = 2


@dataclass(frozen=True, slots=True)
class Parsed:
    """A parsed sentence: its words, times by word place, names with types, and who is talking."""

    nodes: Sequence[Node]
    times: tuple[TimeSpan, ...]
    names: Mapping[str, str]
    voices: Voices
    question: bool = False


class DependencyReader:
    """Reads parsed sentences of one conversation in order."""

    def __init__(self) -> None:
        self._discourse = Discourse()

    @property
    def aliases(self) -> Mapping[str, Sequence[str]]:
        """Other names of the persons introduced so far."""
        return self._discourse.aliases

    def read(self, sentence: Parsed) -> list[Statement]:
        """Statements of the next sentence."""
        scan = _Scan(sentence, self._discourse)
        statements = [] if sentence.question else scan.run()
        voiced = (sentence.voices.speaker, sentence.voices.other)
        told = [(name, type_) for name, type_ in sentence.names.items() if type_ != "time"]
        told += [(one.subject, one.subject_type) for one in statements]
        told += [
            (one.object, one.object_type)
            for one in statements
            if not one.relation.startswith(("is", "was"))
        ]
        said = " ".join(name for name, _ in told).lower()
        things = [thing for thing in scan.nouns.things() if thing.lower() not in said]
        self._discourse.close(
            [self._discourse.referent(n, t) for n, t in told if n not in voiced]
            + [referent(thing, "object", solid=False) for thing in things]
        )
        return statements


class _Scan:
    """One pass over one sentence."""

    def __init__(self, sentence: Parsed, discourse: Discourse) -> None:
        self.sentence = sentence
        self.voices = sentence.voices
        self.discourse = discourse
        self.timed = {p for span in sentence.times for p in range(span.start, span.end)}
        self.first = sentence.nodes[0].i
        self.nouns = NounReader(sentence.nodes, sentence.names, sentence.voices, self.timed)
        self.out: list[Statement] = []
        self.place = 0  # of the verb being read
        self.when = dict(self._times())

    def run(self) -> list[Statement]:
        """All statements of the sentence, in the order of its verbs."""
        for node in self.sentence.nodes:
            if node.pos_ in ("VERB", "AUX") and node.dep_ in _CLAUSES and not self._baptism(node):
                self._clause(node)
            elif node.dep_ == "appos":
                self._apposition(node)
        return self.out

    def _baptism(self, verb: Node) -> bool:
        """ "Her name is Luna": who it is of, if that is clear; and Luna is a "she"."""
        subject = next((c for c in verb.children if c.dep_ == "nsubj" and c.lower_ == "name"), None)
        name = next((c for c in verb.children if c.dep_ == "attr" and c.pos_ == "PROPN"), None)
        if subject is None or name is None or verb.lemma_ != "be":
            return False
        owner = next((OWNERS.get(c.lower_) for c in subject.children if c.dep_ == "poss"), None)
        phrase = self.nouns.phrase(name, short=True)
        if owner is None or phrase is None:
            return owner is None
        what = self._resolve(owner)
        self.discourse.pronouns[phrase.text] = frozenset((owner,))
        if what is not None:
            self._append(Statement(phrase.text, what.type, "is", what.text, what.type))
        return True

    def _times(self) -> Iterator[tuple[int, str]]:
        """The date that belongs to each verb: of the nearest verb above it."""
        for span in self.sentence.times:
            node = self.sentence.nodes[span.start]
            while node.head.i != node.i and not (
                node.pos_ in ("VERB", "AUX") and node.dep_ in _CLAUSES
            ):
                node = node.head
            if span.when:
                yield node.i, span.when

    # Clauses

    def _clause(self, verb: Node) -> None:
        if is_unreal(verb):
            return
        self.place = verb.i - self.first
        for subject in self._subjects(verb):
            group = verb_group(verb)
            if group is None or not worth_stating(subject, group.relation):
                continue
            if subject.pronoun and verb.lemma_ == "be" and group.last.i != verb.i:
                continue  # "it is nice to have friends"
            if subject.phrase.alias is not None:
                self._introduce(subject.phrase)
            self._state(verb, subject, group)

    def _subjects(self, verb: Node) -> list[Subject]:
        """The subjects of a verb: its own, those of the verb it is joined to, or the speaker."""
        if any(child.dep_ == "expl" for child in verb.children):
            return []
        own = [child for child in verb.children if child.dep_ in _SUBJECTS]
        place = verb.i - self.first
        if own and place and self.sentence.nodes[place - 1].text == ",":
            own = [node for node in own if node.i > verb.i or node.right_edge.dep_ == "punct"]
        if own:
            head = own[-1]  # one before it is somebody addressed: "Tom, I moved"
            found = [self._subject(node) for node in (head, *head.conjuncts)]
            return [one for one in found if one is not None]
        if verb.dep_ == "conj" and verb.head.pos_ in ("VERB", "AUX"):
            if self._something_between(verb):
                return []
            order = verb.tag_ == "VB" and not auxiliaries_of(verb) and not auxiliaries_of(verb.head)
            return [] if order else [replace(s, elided=True) for s in self._subjects(verb.head)]
        first = verb.i == self.first or self.sentence.nodes[0].dep_ in ("intj", "advmod")
        if verb.dep_ == "ROOT" and verb.tag_ == "VBD" and first:
            return [Subject(self._speaker(), 0, elided=True, speaker=True)]
        return []

    def _something_between(self, verb: Node) -> bool:
        """Tell "bought bread and ate it" from a subject that the parser did not see."""
        for node in reversed(self.sentence.nodes[: verb.i - self.first]):
            if node.dep_ == "cc" or node.lower_ in (",", ";"):
                return False
            if node.pos_ in ("NOUN", "PROPN", "PRON") and not self._is_time(node):
                return True
        return False

    def _subject(self, node: Node) -> Subject | None:
        low = node.lower_
        if low in words.FIRST_PERSON:
            return Subject(self._speaker(), 0, speaker=True)
        if low in _RELATIVES:
            head = node.head.head
            relative = node.head.dep_ == "relcl" and head.pos_ in ("NOUN", "PROPN")
            phrase = self.nouns.phrase(head, short=True) if relative else None
            return None if phrase is None else Subject(phrase, 0)
        if low == "you":
            advice = any(child.tag_ == "MD" for child in node.head.children)
            advice = advice or node.head.lemma_ in ("need", "have", "want")
            other = self.voices.other
            return None if other is None or advice else Subject(Phrase(other, "person"), 0)
        if node.pos_ == "PRON":
            found = self._resolve(low) if low in ("he", "she", "it", "they") else None
            thing = low in ("it", "they")
            return None if found is None else Subject(found, 0, pronoun=True, thing=thing)
        phrase = self.nouns.phrase(node, alone=True)
        return None if phrase is None else Subject(phrase, 0)

    def _speaker(self) -> Phrase:
        return Phrase(self.voices.speaker, "person", proper=True)

    def _resolve(self, pronoun: str) -> Phrase | None:
        voiced = (self.voices.speaker, self.voices.other)
        pairs = [(s.subject, s.subject_type) for s in self.out]
        pairs += [(s.object, s.object_type) for s in self.out]
        here = [self.discourse.referent(name, type_) for name, type_ in pairs if name not in voiced]
        before = " ".join(node.text for node in self.sentence.nodes[: self.place])
        here += [
            self.discourse.referent(name, type_)
            for name, type_ in self.sentence.names.items()
            if name not in voiced and (name in before or name in self.discourse.pronouns)
        ]
        found = self.discourse.find(pronoun, here)
        return None if found is None else Phrase(found.name, found.type)

    # Facts

    def _state(self, verb: Node, subject: Subject, group: VerbGroup) -> None:
        when = self.when.get(verb.i) or self.when.get(group.last.i)
        said_by = self._reporter(verb)
        stated = False
        for relation, node in self._objects(group):
            phrase = self._object(node, subject)
            if phrase is None or (relation.main in SAYING and phrase.type == "person"):
                continue
            negated = relation.negated != denies(node)
            relation = replace(relation, negated=negated)
            impersonal = subject.thing and is_impersonal(relation, phrase)
            if impersonal or is_vague(relation, phrase) or is_courtesy(relation, phrase):
                continue
            self._add(subject.phrase, relation, phrase, when, said_by)
            stated = True
        bare = not stated and verb.dep_ != "relcl" and not group.relation.copula
        if bare and when and not has_more(group.last):
            relation = dated(group.relation, when)
            self._add(subject.phrase, relation, Phrase(when, "time"), when, said_by)

    def _object(self, node: Node, subject: Subject) -> Phrase | None:
        low = node.lower_
        given = node.head.lemma_ in GIVING
        if low in ("me", "us", "myself"):
            return None if subject.speaker or given else self._speaker()
        if low == "you" and not given:
            other = self.voices.other
            return None if other is None else Phrase(other, "person", proper=True)
        if node.pos_ == "PRON":
            return self._resolve(low) if low in ("him", "her", "it", "them") else None
        if node.pos_ in ("ADJ", "VERB") or node.tag_ in ("VBN", "JJ"):
            text = " ".join(part.lower_ for part in self.nouns.adjective(node))
            plain = " " not in text and node.lower_ in words.SENTIMENT | words.LIGHT
            return None if plain else Phrase(text, "concept")
        return self.nouns.phrase(node)

    def _objects(self, group: VerbGroup) -> Iterator[tuple[Relation, Node]]:
        """Direct objects, what something is, and the first prepositional objects."""
        last, relation = group.last, group.relation
        plain = False
        direct = [child for child in last.children if child.dep_ == "dobj"]
        for child in last.children:
            if self._is_time(child):
                continue
            if child.dep_ == "dobj" and child.i != direct[-1].i:
                continue  # "bought my mother a scarf"
            measured = child.dep_ == "npadvmod" and any(c.dep_ == "nummod" for c in child.children)
            if child.dep_ == "oprd" and any(c.dep_ == "dobj" for c in last.children):
                continue  # "keep you updated"
            if measured or (child.dep_ in ("dobj", "attr", "oprd") and child.pos_ != "ADP"):
                # "adopted her from the shelter": who is unclear, from where is not
                plain = child.pos_ != "PRON"
                yield relation, child
            elif child.dep_ == "acomp":
                plain = True
                yield from self._quality(relation, child)
        count = 0
        for preposition, node in self._prepositional(last):
            compared = preposition in ("like", "than") and relation.main != "be"
            if compared or node.pos_ not in ("NOUN", "PROPN", "NUM", "PRON"):
                continue
            named = node.ent_type_ in ("PERSON", "GPE", "LOC", "ORG", "FAC") or node.pos_ == "PROPN"
            if count < _MAX_PREPOSITIONS and (named or not plain):
                count += 1
                # "is at home" is no copula: its object is a place.
                text = f"{relation.text} {preposition}"
                yield replace(relation, text=text, copula=False), node

    def _quality(self, relation: Relation, quality: Node) -> Iterator[tuple[Relation, Node]]:
        """ "is allergic to walnuts", else "is tired"."""
        found = list(self._prepositional(quality))
        for preposition, node in found[:1]:
            text = f"{relation.text} {quality.lower_} {preposition}"
            yield replace(relation, text=text), node
        if not found and not any(child.dep_ in ("xcomp", "ccomp") for child in quality.children):
            yield relation, quality

    def _prepositional(self, node: Node) -> Iterator[tuple[str, Node]]:
        for child in node.children:
            if child.dep_ not in ("prep", "agent") or self._is_time(child):
                continue
            for inner in child.children:
                if inner.dep_ == "pobj" and not self._is_time(inner):
                    yield child.lower_, inner
                elif inner.dep_ == "prep":
                    yield from (
                        (f"{child.lower_} {inner.lower_}", n)
                        for n in inner.children
                        if n.dep_ == "pobj" and not self._is_time(n)
                    )

    def _is_time(self, node: Node) -> bool:
        return node.i - self.first in self.timed

    def _reporter(self, verb: Node) -> str | None:
        """Whose words a clause gives: the subject of the verb of saying above it."""
        node = verb
        while node.dep_ == "conj" and not any(c.dep_ in _SUBJECTS for c in node.children):
            node = node.head
        if node.dep_ != "ccomp" or node.head.lemma_ not in SAYING:
            return None
        subjects = self._subjects(node.head)
        if len(subjects) != 1 or subjects[0].speaker:
            return None
        return self.discourse.name_of(subjects[0].phrase.text)

    def _apposition(self, node: Node) -> None:
        """ "Helios, a bakery in Bonn" says what Helios is."""
        head = node.head
        named = "PROPN" in (head.pos_, node.pos_) and head.pos_ in ("PROPN", "NOUN")
        if not named or self._is_time(node) or node.pos_ not in ("NOUN", "PROPN"):
            return
        name, what = (head, node) if head.pos_ == "PROPN" else (node, head)
        if what.tag_ == "NNS" or self.nouns.introduces(head):
            return  # "two cats, Luna and Milo"
        left, right = self.nouns.phrase(name, short=True), self.nouns.phrase(what, alone=True)
        if what.pos_ == "PROPN" or left is None or right is None or left.text in right.text:
            return
        if right.type == "person" and "'s " in right.text:
            self._introduce(replace(left, alias=right.text))
        elif left.text not in (self.voices.speaker, self.voices.other):
            self._append(Statement(left.text, left.type, "is", right.text, right.type))

    def _add(
        self, subject: Phrase, relation: Relation, phrase: Phrase, when: str | None, by: str | None
    ) -> None:
        who, what = self.discourse.name_of(subject.text), self.discourse.name_of(phrase.text)
        if relation.text == "is" and phrase.type == "person" and "'s " in phrase.text:
            what = phrase.text
            if subject.proper and not relation.negated:
                self.discourse.introduce(who, what)
        if who.lower() != what.lower():
            self._append(
                Statement(
                    who, subject.type, relation.text, what, phrase.type, when, relation.negated, by
                )
            )
        if phrase.alias is not None:
            self._introduce(phrase)

    def _introduce(self, phrase: Phrase) -> None:
        alias = phrase.alias or ""
        self.discourse.introduce(phrase.text, alias)
        self._append(Statement(phrase.text, phrase.type, "is", alias, phrase.type))

    def _append(self, statement: Statement) -> None:
        if statement not in self.out:
            self.out.append(statement)
