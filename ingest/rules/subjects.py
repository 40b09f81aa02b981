"""Find the subject of a clause: a speaker, a name, a noun phrase, or an omitted subject."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from cognigraph.english import verbs, words
from cognigraph.english.sentences import Token
from cognigraph.english.words import word_set
from cognigraph.ingest.rules.clauses import Clause
from cognigraph.ingest.rules.names import Name
from cognigraph.ingest.rules.noun_phrases import Phrase, Voices, noun_phrase
from cognigraph.ingest.rules.pronouns import Referent

RELATIVE = word_set("who which that")
_REACH = 14  # largest number of tokens from the start of a noun subject to its verb
_FEELINGS = word_set(
    """excited proud happy thrilled pumped stoked keen nervous grateful thankful passionate sad
    busy"""
)
_JOINING = word_set("and but or , then who which that so")
_OPENING = frozenset(("", ",", "-", "–", "—", "!", "and"))
_THIRD = word_set("his her their he she they him them")
_OPENING_ADVERBS = words.ADVERBS - word_set("only all both simply somehow just almost")
_INSIDE_NO_SUBJECT = words.NOMINATIVE | word_set("you me it to there")
_AFTER_IS = (
    words.DETERMINERS
    | words.POSSESSIVES
    | words.NEGATIONS
    | word_set("been so really very in on at with from got")
)
_BEFORE_SIDE = words.POSSESSIVES | word_set("the a 's")
_SEEMING = word_set("sounds looks seems feels turns")
_ADJECTIVES = words.SENTIMENT | words.LIGHT


@dataclass(frozen=True, slots=True)
class Subject:
    """A subject; the search for its verb starts at token ``end``."""

    phrase: Phrase
    end: int
    elided: bool = False
    pronoun: bool = False
    thing: bool = False
    """Whether the subject is "it" or "they", which are often impersonal."""
    speaker: bool = False
    addressed: bool = False
    """Whether the subject is "you"."""
    plural: bool = False
    """Whether the subject is "we"."""
    others: tuple[Phrase, ...] = ()
    """Further subjects of the same verb: Tom in "Ann and Tom moved"."""


@dataclass(slots=True)
class Before:
    """Context from the preceding clauses of the same sentence."""

    subject: Phrase | None = None
    object: Phrase | None = None
    progressive: bool = False
    infinitive: bool = False
    lost: bool = False
    """Whether a subject was not understood; an omitted one then cannot be inferred."""


@dataclass(frozen=True, slots=True)
class SubjectFinder:
    """Finds the subjects of the clauses of one sentence."""

    tokens: tuple[Token, ...]
    names: Mapping[int, Name]
    voices: Voices
    timed: Collection[int]
    resolve: Callable[[str], Referent | None]

    @property
    def speaker(self) -> Phrase:
        """The speaker of the sentence, as a phrase."""
        return Phrase(self.voices.speaker, "person", proper=True)

    def find(self, clause: Clause, start: int, end: int, before: Before) -> Subject | None:
        """Return the subject of tokens ``[start, end)``; ``None`` if there is no clear one."""
        low, following = self._low(start, end), self._low(start + 1, end)
        if low in words.FIRST_PERSON:
            return Subject(self.speaker, start + 1, speaker=True, plural=low == "we")
        if low == "you":
            if self.voices.other is None or self._advice(start + 1, end):
                return None  # a generic "you", as in "you can't deny"
            other = Phrase(self.voices.other, "person", proper=True)
            return Subject(other, start + 1, addressed=True)
        if low in ("he", "she", "it", "they"):
            found = self.resolve(low)
            if found is None:
                return None
            thing = low in ("it", "they")
            return Subject(Phrase(found.name, found.type), start + 1, pronoun=True, thing=thing)
        if low in ("there", "here"):
            return None
        if low in ("somebody", "someone") and verbs.is_past(following):
            return Subject(Phrase("somebody", "person"), start + 1)
        if low in ("this", "that", "these", "those") and verbs.is_finite(following):
            return None
        return (
            self._left_out(clause, start, end, before)
            or self._several(start, end)
            or self._nominal(start, end)
        )

    def _advice(self, index: int, end: int) -> bool:
        """Return whether "you" is given advice ("you should", "you need to"), which is no fact."""
        low, following = self._low(index, end), self._low(index + 1, end)
        if index > 2 and self.tokens[index - 2].low == "sure":
            return True  # "make sure you ..."
        return low in verbs.MODALS or (
            low in ("need", "have", "want", "ought") and following == "to"
        )

    def _several(self, start: int, end: int) -> Subject | None:
        """Read a coordinated subject: "Ann and Tom moved", "my sister and I went"."""
        joint = next(
            (p for p in range(start + 1, min(end, start + 6)) if self._low(p, end) == "and"), 0
        )
        if not joint or any(self._low(p, end) in verbs.FINITE_AUX for p in range(start, joint)):
            return None
        first = noun_phrase(self.tokens, start, joint, self.names, self.voices)
        name = self.names.get(joint + 1)
        if self._low(joint + 1, end) == "i":
            second, after = Phrase(self.voices.speaker, "person", proper=True), joint + 2
        elif name is not None:
            second, after = Phrase(name.text, name.type, proper=True), name.end
        elif self._low(joint + 1, end) in words.POSSESSIVES:
            indices = range(joint + 3, min(joint + 6, end))
            verb_indices = (p for p in indices if self._finite_or_base(self._low(p, end)))
            after = next(verb_indices, joint + 1)
            other = noun_phrase(self.tokens, joint + 1, after, self.names, self.voices)
            if other is None:
                return None
            second = other
        else:
            return None
        low = self._low(after, end)
        verb = low in verbs.FINITE_AUX or verbs.guess_verb(low) is not None
        if (
            first is None
            or first.type not in ("person", "object")
            or not (verb or low in words.ADVERBS)
        ):
            return None
        return Subject(first, after, others=(second,))

    def _low(self, index: int, end: int) -> str:
        return self.tokens[index].low if index < end else ""

    def _finite_or_base(self, low: str) -> bool:
        found = verbs.known_verb(low)
        return low in verbs.FINITE_AUX or (found is not None and found.form in ("base", "past"))

    # Left out

    def _left_out(self, clause: Clause, start: int, end: int, before: Before) -> Subject | None:
        """Infer the subject of a clause that starts with its verb: "Lost my job", "and asked"."""
        if start in self.names:
            return None
        low = self._low(start, end)
        if low == "never":  # "but never tried it"
            low = self._low(start + 1, end)
        verb = verbs.known_verb(low)
        finite = low in verbs.FINITE_AUX or verbs.is_past(low) or low == "been"
        if clause.connector in _JOINING and before.subject is not None and (finite or verb):
            if not finite and verb is not None and verb.form == "base" and before.infinitive:
                return None  # "wants to start a blog and show it": the verb may be an infinitive
            if clause.connector == "so" and verb is not None and verb.form == "base":
                return None  # "so keep it to yourself": an order
            if verbs.is_ing(low) and not before.progressive:
                return None  # "the key to staying fit and reaching my goals"
            own = before.subject.text == self.voices.speaker
            described = clause.connector == "," and low.endswith("ed")
            if described and not self._takes_object(start + 1, end):
                return None  # "in three weeks, newly diagnosed patients"
            order = verb is not None and verb.form == "base" and not finite
            if order and before.subject.text == self.voices.other:
                return None  # "You too, take care"
            if own and verb is not None and verb.form == "s" and not finite:
                return None  # "I hate it, tastes like soap": not the speaker
            if clause.connector == "," and before.subject.type != "person":
                return None  # "The line was to open today, got a letter": somebody else got it
            return Subject(before.subject, start, elided=True, speaker=own)
        if clause.connector not in _OPENING or before.lost or self._low(start + 1, end) == "'s":
            return None
        if self._is_first(start) and self._opens(clause, start, end):
            return Subject(self.speaker, start, elided=True, speaker=True)
        return None

    def _is_first(self, start: int) -> bool:
        """Return whether only exclamations, adverbs, times and names addressed come before."""
        addressed = {
            index
            for name in self.names.values()
            if name.text == self.voices.other
            for index in range(name.start, name.end)
        }
        return all(
            token.kind == "mark"
            or token.low in words.INTERJECTIONS
            or token.low in _OPENING_ADVERBS
            or index in self.timed
            or index in addressed
            or token.low in ("and", "but", "so")
            for index, token in enumerate(self.tokens[:start])
        )

    def _opens(self, clause: Clause, start: int, end: int) -> bool:
        """Return whether a statement starts here whose "I" is omitted, not an order or a noun."""
        low, following = self._low(start, end), self._low(start + 1, end)
        if low in ("can", "could") and following == "not":
            return True
        if verbs.is_past(low) and self._auxiliary_ahead(start + 1, end):
            return False  # "mixed feelings are normal"
        if low == "been":  # "been working on it", but not "been a long week"
            return verbs.is_ing(following) or following in words.PREPOSITIONS
        if any(self.tokens[index].low in _THIRD for index in range(start, clause.end)):
            return False  # "Did not hit his head"
        if verbs.is_past(low) and low.endswith("ed") and not self._takes_object(start + 1, end):
            return False  # "Bruised ribs": a participle with its noun
        if verbs.is_past(low) or low in verbs.STATIVE:
            return True
        if low == "going" and following == "to":
            return True
        if verbs.is_ing(low) and verbs.guess_verb(low) is not None:
            ends = clause.end >= len(self.tokens) - 2
            return ends and not any(
                verbs.is_finite(token.low) for token in self.tokens[start + 1 :]
            )
        return low in _FEELINGS and following in ("to", "about", "for", "of", "with")

    def _takes_object(self, index: int, end: int) -> bool:
        """Return whether no bare noun stands here, which a participle would describe."""
        low = self._low(index, end)
        clear = words.DETERMINERS | words.POSSESSIVES | words.PREPOSITIONS | words.OBJECT_PRONOUNS
        return (
            not low
            or low in clear | words.ADVERBS | words.PARTICLES | words.NUMBERS.keys() | {"to"}
            or index in self.names
            or index in self.timed
            or self.tokens[index].kind != "word"
        )

    def _auxiliary_ahead(self, start: int, end: int) -> bool:
        return any(self.tokens[index].low in verbs.FINITE_AUX for index in range(start, end))

    # Noun phrases

    def _nominal(self, start: int, end: int) -> Subject | None:
        """Read a noun phrase that is followed by a finite verb."""
        first = self.tokens[start]
        if first.low in words.PREPOSITIONS or first.low in _SEEMING or first.kind == "mark":
            return None
        if first.low in words.NEGATIONS:
            return None
        clear = (
            first.low in words.DETERMINERS or first.low in words.POSSESSIVES or start in self.names
        )
        verb = verbs.known_verb(first.low)
        order = verb is not None and verb.form != "ing" and verbs.verb_only(first.low)
        if order and not clear:
            return None
        index = self._verb_index(start, min(end, start + _REACH), clear=clear)
        if index is None or any(
            token.low in _INSIDE_NO_SUBJECT for token in self.tokens[start:index]
        ):
            return None
        phrase = noun_phrase(self.tokens, start, index, self.names, self.voices)
        return None if phrase is None else Subject(phrase, index)

    def _verb_index(self, start: int, end: int, *, clear: bool) -> int | None:
        name = self.names.get(start)
        first = index = name.end if name is not None else start + 1
        while index < end:
            low = self.tokens[index].low
            if low in words.NOMINATIVE:
                return None
            if low == "'s":
                if self._contracted_is(index, end):
                    return index
            elif low in verbs.FINITE_AUX or low in words.NEGATIONS:
                return index
            elif low in ("left", "right") and self._low(index - 1, end) in _BEFORE_SIDE:
                pass  # "my left knee"
            elif self._plural_verb(index, end, clear=clear):
                return index
            elif verbs.is_finite(low) and (clear or verbs.verb_only(low)):
                # "my dance moves get me going": if an unambiguous verb follows, this is a noun.
                noun = index == first and name is None and clear
                noun = noun or self._verb_follows(index + 1, end)
                if not noun or (verbs.is_past(low) and index > first):
                    return index
            inner = self.names.get(index)
            index = inner.end if inner is not None else index + 1
        return None

    def _plural_verb(self, index: int, end: int, *, clear: bool) -> bool:
        """Return whether a base form after a plural noun is its verb: "my holidays start on"."""
        found, before = verbs.known_verb(self.tokens[index].low), self._low(index - 1, end)
        following = self._low(index + 1, end)
        plural = before.endswith("s") and not before.endswith(("ss", "us", "is"))
        return (
            clear
            and plural
            and found is not None
            and found.form == "base"
            and (
                following in words.PREPOSITIONS
                or following in words.DETERMINERS
                or following in words.POSSESSIVES
                or following in words.OBJECT_PRONOUNS
            )
        )

    def _verb_follows(self, index: int, end: int) -> bool:
        low = self._low(index, end)
        return low in verbs.FINITE_AUX or (verbs.verb_only(low) and not verbs.is_ing(low))

    def _contracted_is(self, index: int, end: int) -> bool:
        """Return whether "'s" means "is": in "Anna's moving", but not in "Anna's cat"."""
        following, second = self._low(index + 1, end), self._low(index + 2, end)
        if following in _AFTER_IS:
            return True
        if verbs.is_ing(following) and verbs.verb_only(following):
            return True
        if verbs.is_participle(following) and second in words.PREPOSITIONS:
            return True  # "Anna's moved to Oslo"
        if second == "of":
            return False  # "LeBron's moments of determination"
        closes = not second or second in words.PREPOSITIONS or second == "to"
        return closes and following in _ADJECTIVES


def antecedent(
    tokens: Sequence[Token], clause: Clause, start: int, before: Before, *, has_said: bool
) -> Before:
    """Make the last object the subject of a relative clause: "a friend who lives in Rome".

    ``has_said`` is whether the sentence has stated something already.
    """
    if clause.connector not in RELATIVE or tokens[start].low in words.PRONOUNS:
        return before
    loose = clause.connector == "which" and tokens[clause.start - 2].low == ","
    if loose and (before.object is None or not before.object.proper):
        return Before(lost=True)  # "which" may mean all that was said before
    if before.object is not None:
        return replace(before, subject=before.object)
    return Before(lost=True) if has_said else before
