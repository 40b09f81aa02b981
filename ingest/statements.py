"""Statements of a speaker as triples: who did, is or has what, and when.

No grammar is parsed. A clause gives a fact only if its subject is clear: a speaker, a name, a
noun phrase before a finite verb, or a pronoun with exactly one candidate in the two sentences
before. Questions, conditions and wishes for others give none.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from cognigraph.ingest import verbs, words
from cognigraph.ingest.clauses import Clause, split_clauses
from cognigraph.ingest.names import Name
from cognigraph.ingest.nounphrases import Phrase, Voices, is_empty, noun_phrase
from cognigraph.ingest.relations import Relation, is_manner, read_relation
from cognigraph.ingest.sentences import Token
from cognigraph.ingest.timewords import TimeSpan

_UNREAL = frozenset(
    "if unless whether how what why where whenever than as like though".split()
)
_WISHES = frozenset("hope wish imagine suppose doubt bet let guess wonder".split())
_EMPTY_VERBS = frozenset(
    "guess mean bet suppose wonder agree let thank say figure doubt imagine bless wait seem".split()
)
_NEED_RELATION = frozenset("think hope know believe feel see tell look sound".split())
_FEELINGS = frozenset(
    "excited proud happy thrilled pumped stoked keen nervous grateful thankful passionate sad busy".split()
)
_MASCULINE, _FEMININE = frozenset(("he", "him")), frozenset(("she", "her"))


@dataclass(frozen=True, slots=True)
class Statement:
    """A triple of one clause, before its chunk is known."""

    subject: str
    subject_type: str
    relation: str
    object: str
    object_type: str
    when: str | None = None
    negated: bool = False


@dataclass(frozen=True, slots=True)
class _Referent:
    """Something a pronoun may stand for. ``fits`` are the pronouns it allows."""

    name: str
    type: str
    fits: frozenset[str]


@dataclass(frozen=True, slots=True)
class Reading:
    """One sentence ready to be read: tokens with its names and times."""

    tokens: tuple[Token, ...]
    names: Mapping[int, Name]
    times: tuple[TimeSpan, ...]
    question: bool


def reading(
    tokens: tuple[Token, ...], names: Sequence[Name], times: Sequence[TimeSpan], question: bool
) -> Reading:
    """Bundle a sentence with what was found in it."""
    return Reading(tokens, {name.start: name for name in names}, tuple(times), question)


class StatementReader:
    """Reads the sentences of one conversation in order; remembers the last two for pronouns."""

    def __init__(self) -> None:
        self._recent: deque[tuple[_Referent, ...]] = deque(maxlen=2)

    def read(self, sentence: Reading, voices: Voices) -> list[Statement]:
        """Triples of the next sentence."""
        scan = _Scan(sentence, voices, [item for one in self._recent for item in one])
        statements = [] if sentence.question else scan.run()
        self._recent.append(tuple(_referents(sentence, statements, voices)))
        return statements


def _referents(
    sentence: Reading, statements: Sequence[Statement], voices: Voices
) -> Iterator[_Referent]:
    voiced = (voices.speaker, voices.other)
    for name in sentence.names.values():
        if name.text not in voiced:
            yield _referent(name.text, name.type)
    for statement in statements:
        if statement.subject not in voiced:
            yield _referent(statement.subject, statement.subject_type)
        if not statement.relation.startswith(("is", "was")) or " a " in statement.relation:
            yield _referent(statement.object, statement.object_type)


def _referent(name: str, type_: str) -> _Referent:
    head = name.rsplit(" ", 1)[-1].lower()
    if type_ == "person":
        gender = words.KIN.get(head, "")
        if head.endswith("s") and " " in name or head in ("kids", "children", "parents", "friends"):
            return _Referent(name, type_, frozenset(("they", "them")))
        fits = (_FEMININE if gender != "m" else frozenset()) | (
            _MASCULINE if gender != "f" else frozenset()
        )
        return _Referent(name, type_, fits)
    if type_ in ("time", "concept"):
        return _Referent(name, type_, frozenset())
    plural = head.endswith("s") and not head.endswith("ss")
    return _Referent(name, type_, frozenset(("they", "them") if plural else ("it",)))


@dataclass(frozen=True, slots=True)
class _Subject:
    phrase: Phrase
    end: int
    elided: bool = False


class _Scan:
    """One pass over one sentence."""

    def __init__(self, sentence: Reading, voices: Voices, referents: list[_Referent]) -> None:
        self.tokens = sentence.tokens
        self.names = sentence.names
        self.times = sentence.times
        self.voices = voices
        self.referents = referents
        self.out: list[Statement] = []
        self.timed = {place for span in self.times for place in range(span.start, span.end)}
        self.subject: Phrase | None = None  # of the clause before, for "and asked for help"
        self.waiting: str | None = None  # a time that opened the sentence
        self.unreal = False

    def run(self) -> list[Statement]:
        inside = {place for span in self.times for place in range(span.start + 1, span.end)}
        for name in self.names.values():
            inside.update(range(name.start + 1, name.end))
        inside -= {span.start for span in self.times}
        for clause in split_clauses(self.tokens, self.names, inside):
            self._clause(clause)
        return self.out

    # One clause

    def _clause(self, clause: Clause) -> None:
        start, end = self._opening(clause.start, clause.end)
        if start >= end:
            self._bare_time(clause)
            return
        if clause.connector in _UNREAL or self.unreal and clause.connector in ("+", "that", "and"):
            self.subject, self.unreal = None, clause.connector in _UNREAL
            return
        self.unreal = False
        subject = self._find_subject(clause, start, end)
        if subject is None:
            self._fragment(clause, start, end)
            return
        relation = read_relation(self.tokens, subject.end, end)
        if relation is None:
            self.subject = subject.phrase
            return
        self.subject = subject.phrase
        self.unreal = relation.main in _WISHES and " to " not in relation.text
        if self._worth(subject, relation):
            self._state(subject.phrase, relation, clause, end)

    def _opening(self, start: int, end: int) -> tuple[int, int]:
        """Skip interjections, adverbs, times and a name that is only addressed."""
        while start < end:
            token = self.tokens[start]
            name = self.names.get(start)
            if start in self.timed:
                start += 1
            elif name is not None and name.text == self.voices.other and self._addressed(name, end):
                start = name.end
            elif name is None and (
                token.low in words.INTERJECTIONS or is_manner(token.low)
            ) and not (token.low == "thanks" and end - start > 3):
                start += 1
            else:
                break
        return start, end

    def _addressed(self, name: Name, end: int) -> bool:
        following = self.tokens[name.end].low if name.end < end else ""
        return following in words.PRONOUNS or following in ("", "'s") and name.end >= end

    def _bare_time(self, clause: Clause) -> None:
        """A time on its own belongs to the clause before it, else to the next."""
        when = self._when(clause)
        if when is None:
            return
        if self.out and self.out[-1].when is None:
            self.out[-1] = replace(self.out[-1], when=when)
        elif not self.out:
            self.waiting = when

    def _when(self, clause: Clause) -> str | None:
        for span in self.times:
            if clause.start <= span.start < clause.end or clause.start < span.end <= clause.end:
                return span.when
        return None

    def _fragment(self, clause: Clause, start: int, end: int) -> None:
        """A piece without a verb: more of a list, a subject set apart, or nothing."""
        phrase = noun_phrase(self.tokens, start, end, self.names, self.voices)
        if phrase is None:
            return
        last = self.out[-1] if self.out else None
        listed = clause.connector in (",", "and", "&", "or")
        if last is not None and listed and last.object_type != "time" and end - start <= 4:
            joined = f"{last.object}, {phrase.text}"
            if len(joined.split()) <= 8:
                self.out[-1] = replace(last, object=joined)
        elif last is None:
            self.subject = phrase if self.tokens[start].low in words.POSSESSIVES else None

    # Subjects

    def _find_subject(self, clause: Clause, start: int, end: int) -> _Subject | None:
        low = self.tokens[start].low
        following = self.tokens[start + 1].low if start + 1 < end else ""
        if low in words.FIRST_PERSON:
            return _Subject(self._me(), start + 1)
        if low == "you":
            generic = self.voices.other is None or following in verbs.MODALS
            return None if generic else _Subject(Phrase(self.voices.other or "", "person"), start + 1)
        if low in ("he", "she", "it", "they"):
            return self._resolved(low, start)
        if low == "there":
            return None
        if low in ("this", "that", "these", "those") and verbs.is_finite(following):
            return None
        elided = self._elided(clause, start, end)
        if elided is not None:
            return elided
        return self._nominal(clause, start, end)

    def _me(self) -> Phrase:
        return Phrase(self.voices.speaker, "person", proper=True)

    def _resolve(self, pronoun: str) -> _Referent | None:
        here = (
            referent
            for statement in self.out
            for referent in (
                _referent(statement.subject, statement.subject_type),
                _referent(statement.object, statement.object_type),
            )
            if referent.name not in (self.voices.speaker, self.voices.other)
        )
        fitting = {
            item.name: item for item in (*self.referents, *here) if pronoun in item.fits
        }
        return next(iter(fitting.values())) if len(fitting) == 1 else None

    def _resolved(self, pronoun: str, start: int) -> _Subject | None:
        found = self._resolve(pronoun)
        return None if found is None else _Subject(Phrase(found.name, found.type), start + 1)

    def _elided(self, clause: Clause, start: int, end: int) -> _Subject | None:
        """A clause that starts with its verb: "Lost my job", "and asked for help"."""
        low = self.tokens[start].low
        following = self.tokens[start + 1].low if start + 1 < end else ""
        verb = verbs.known_verb(low)
        joined = clause.connector in ("and", "but", "or", ",", "then", "who", "which", "so")
        if start in self.names:
            return None
        finite = low in verbs.FINITE_AUX or verbs.is_past(low) or low == "been"
        if joined and self.subject is not None and (finite or verb is not None):
            return _Subject(self.subject, start, elided=True)
        if clause.connector not in ("", ",", "-", "–", "—", "!", "and") or following == "'s":
            return None
        if clause.connector != "" and self.out:
            return None
        if low in ("can", "could") and following == "not":
            return _Subject(self._me(), start, elided=True)
        if verbs.is_past(low) or low in verbs.STATIVE or low == "been":
            return _Subject(self._me(), start, elided=True)
        if verbs.is_ing(low) and verbs.guess_verb(low) and not self._finite_ahead(start + 1, end):
            return _Subject(self._me(), start, elided=True) if clause.end >= len(self.tokens) - 2 else None
        if low in _FEELINGS and following in ("to", "about", "for", "of", "with"):
            return _Subject(self._me(), start, elided=True)
        return None

    def _finite_ahead(self, start: int, end: int) -> bool:
        return any(verbs.is_finite(self.tokens[place].low) for place in range(start, end))

    def _nominal(self, clause: Clause, start: int, end: int) -> _Subject | None:
        """A noun phrase followed by a finite verb."""
        first = self.tokens[start]
        if first.low in words.PREPOSITIONS or first.kind == "mark":
            return None
        determined = first.low in words.DETERMINERS or first.low in words.POSSESSIVES
        named = start in self.names
        verb = verbs.known_verb(first.low)
        if not (determined or named) and verb is not None and verbs.verb_only(first.low):
            return None
        place = self._verb_place(start, min(end, start + 9), determined or named)
        if place is None or not self._plain(start, place):
            return None
        phrase = noun_phrase(self.tokens, start, place, self.names, self.voices)
        if phrase is None:
            return None
        if phrase.alias is not None:
            self.out.append(Statement(phrase.text, "person", "is", phrase.alias, "person"))
        return _Subject(phrase, place)

    def _verb_place(self, start: int, end: int, clear: bool) -> int | None:
        name = self.names.get(start)
        place = name.end if name is not None else start + 1
        first = place
        while place < end:
            low = self.tokens[place].low
            if low in words.NOMINATIVE:
                return None
            if low == "'s":
                if self._contracted_is(place, end):
                    return place
            elif low in verbs.FINITE_AUX or low in words.NEGATIONS:
                return place
            elif verbs.is_finite(low) and (clear or verbs.verb_only(low)):
                # "my dance moves get me going": a later clear verb makes this one a noun.
                noun = (place == first and name is None and clear) or self._verb_follows(place + 1, end)
                if not noun or verbs.is_past(low) and place > first:
                    return place
            inner = self.names.get(place)
            place = inner.end if inner is not None else place + 1
        return None

    def _verb_follows(self, place: int, end: int) -> bool:
        if place >= end:
            return False
        low = self.tokens[place].low
        return low in verbs.FINITE_AUX or verbs.verb_only(low) and not verbs.is_ing(low)

    def _contracted_is(self, place: int, end: int) -> bool:
        """Tell "Anna's moving" and "the cat's not in" from "Anna's cat"."""
        following = self.tokens[place + 1].low if place + 1 < end else ""
        return (
            following in words.DETERMINERS
            or following in words.POSSESSIVES
            or following in words.NEGATIONS
            or following in ("been", "so", "really", "very", "in", "on", "at", "with", "from", "got")
            or (verbs.is_ing(following) and verbs.verb_only(following))
        )

    def _plain(self, start: int, end: int) -> bool:
        """A subject holds no pronoun and no verb of its own."""
        return all(
            token.low not in words.NOMINATIVE and token.low not in ("you", "me", "it", "to", "there")
            for token in self.tokens[start:end]
        )

    # Facts

    def _worth(self, subject: _Subject, relation: Relation) -> bool:
        if relation.main in _EMPTY_VERBS and not relation.text.startswith("is "):
            return False
        if relation.modal in ("would", "could") and relation.main not in (
            "love", "like", "want", "prefer",
        ) and not relation.text.startswith("would"):
            return False
        if relation.modal == "would" and not relation.text.startswith(("would love", "would like")):
            return False
        return not (subject.elided and relation.text.startswith(("hopes", "wishes")) and " to" not in relation.text)

    def _state(self, subject: Phrase, relation: Relation, clause: Clause, end: int) -> None:
        when = self._when(clause) or self.waiting
        self.waiting = None
        found = self._object(relation, end)
        if found is None:
            if when is not None and not relation.copula and relation.text.count(" ") < 3:
                preposition = "on" if len(when) == 10 else "in"
                text = relation.text if relation.text.endswith((" in", " on")) else f"{relation.text} {preposition}"
                self._emit(subject, replace(relation, text=text), Phrase(when, "time"), when)
            return
        relation, phrase = found
        bare = relation.main in _NEED_RELATION and " " not in relation.text
        if bare and phrase.type in ("concept", "object") and relation.main not in ("know", "see"):
            return
        self._emit(subject, relation, phrase, when)
        self._named(relation.end, end)

    def _emit(self, subject: Phrase, relation: Relation, phrase: Phrase, when: str | None) -> None:
        if subject.text == phrase.text:
            return
        negated = relation.negated
        self.out.append(
            Statement(subject.text, subject.type, relation.text, phrase.text, phrase.type, when, negated)
        )
        if phrase.alias is not None:
            self.out.append(Statement(phrase.text, "person", "is", phrase.alias, "person"))

    def _object(self, relation: Relation, end: int) -> tuple[Relation, Phrase] | None:
        """What follows the relation, without times; a leading pronoun is resolved or dropped."""
        places = [place for place in range(relation.end, end) if place not in self.timed]
        if not places:
            return None
        first, last = places[0], places[-1] + 1
        for place in range(first, last):
            if place in self.timed:  # "moved yesterday to Oslo": keep what comes first
                last = place
                break
        low = self.tokens[first].low
        if low == "no" and last - first > 1:
            relation, first = replace(relation, negated=not relation.negated), first + 1
        elif low in words.OBJECT_PRONOUNS and (low not in _DEMONSTRATIVE or last - first == 1):
            return self._pronoun_object(relation, first, last)
        phrase = noun_phrase(self.tokens, first, last, self.names, self.voices)
        if phrase is None or is_empty(self.tokens[first:last]):
            return None
        if relation.copula and phrase.type == "object" and not phrase.proper and last - first == 1:
            phrase = replace(phrase, type="concept")
        return relation, phrase

    def _pronoun_object(self, relation: Relation, first: int, last: int) -> tuple[Relation, Phrase] | None:
        low = self.tokens[first].low
        following = self.tokens[first + 1].low if first + 1 < last else ""
        if following in words.RELATION_PREPOSITIONS and not relation.text.endswith(f" {following}"):
            rest = noun_phrase(self.tokens, first + 2, last, self.names, self.voices)
            if rest is not None and relation.text.count(" ") < 3:
                return replace(relation, text=f"{relation.text} {following}", end=first + 2), rest
        if low in ("me", "us", "you"):
            whole = noun_phrase(self.tokens, first, last, self.names, self.voices)
            rest_empty = is_empty(self.tokens[first:last])
            return None if whole is None or rest_empty else (relation, whole)
        found = self._resolve({"him": "he", "them": "they"}.get(low, low)) if last - first == 1 else None
        return None if found is None else (relation, Phrase(found.name, found.type))

    def _named(self, start: int, end: int) -> None:
        """"a dog named Rex" also says what the dog is called."""
        for place in range(start + 1, min(end - 1, start + 8)):
            if self.tokens[place].low in ("named", "called", "titled") and place + 1 in self.names:
                what = noun_phrase(self.tokens, start, place, self.names, self.voices)
                name = self.names[place + 1]
                if what is not None:
                    self.out.append(Statement(name.text, _kind(name, what), "is", what.text, what.type))
                return


def _kind(name: Name, what: Phrase) -> str:
    return name.type if name.sure and name.type != "object" else what.type


_DEMONSTRATIVE = frozenset("this that one".split())
