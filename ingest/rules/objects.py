"""Read the object of a clause: the noun phrase or pronoun that follows its relation."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from cognigraph.english import verbs, words
from cognigraph.english.sentences import Token
from cognigraph.english.words import word_set
from cognigraph.ingest.rules.names import Name
from cognigraph.ingest.rules.noun_phrases import Phrase, Voices, noun_phrase
from cognigraph.ingest.rules.pronouns import Referent
from cognigraph.ingest.rules.relations import Relation

MAX_RELATION = 3
"""Number of spaces in a relation from which on no preposition is appended to it."""
_CUTS = words.NOMINATIVE | word_set("and or that it you")
_TOWARDS = word_set("with to from for")
GIVING = word_set("send give show tell ask lend bring offer hand teach remind")
_TRADING = word_set("buy sell rent pay order get take bring leave put lose find")
_AFTER_PRONOUN = word_set("there here home back up out off away around like as again once twice")
"""Words between which and a verb "it" is the whole object: "takes it there"."""
_PLACES_AND_PEOPLE = frozenset(("person", "location", "organization"))
_NO_OBJECT = word_set("least all first like than as")
_HELPING = word_set("help remind let make keep")
_DEMONSTRATIVE = word_set("this that these those one")


@dataclass(frozen=True, slots=True)
class ObjectReader:
    """Reads the objects of one sentence. ``timed`` are the token indices of time expressions."""

    tokens: tuple[Token, ...]
    names: Mapping[int, Name]
    voices: Voices
    timed: Collection[int]
    resolve: Callable[[str], Referent | None]

    def read(self, relation: Relation, end: int) -> tuple[Relation, Phrase] | None:
        """Return the relation, possibly extended by a preposition, and the object after it.

        Time expressions are not part of the object. ``None`` if there is no clear object, such as
        for a pronoun that cannot be resolved.
        """
        first, last = self._object_span(relation.end, end)
        if first >= last or self._runs_on(first, last):
            return None
        low = self.tokens[first].low
        if low in ("yours", "mine", "hers", "theirs", "like", "than"):
            return None
        if low in words.PREPOSITIONS and low not in ("about", "around", "over"):
            dated = relation.end - 1 in self.timed and " " in relation.text
            if dated:  # "got married on [June 5] in Venice"
                relation = replace(relation, text=relation.text.rpartition(" ")[0])
            if relation.text.split()[-1] in words.PREPOSITIONS or (low == "at" and dated):
                return None  # "was born on [Thursday] at four"
            relation, first = replace(relation, text=f"{relation.text} {low}"), first + 1
            if first >= last:
                return None
            low = self.tokens[first].low
        if low == "no" and last - first > 1:
            relation, first = replace(relation, negated=not relation.negated), first + 1
        elif low in words.OBJECT_PRONOUNS and (low not in _DEMONSTRATIVE or last - first == 1):
            return self._pronoun_object(relation, first, last)
        first = self._after_receiver(relation, first, last)
        phrase = noun_phrase(self.tokens, first, last, self.names, self.voices)
        if phrase is None:
            return None
        if relation.copula and phrase.type == "object" and not phrase.proper and last - first == 1:
            phrase = replace(phrase, type="concept")  # "is ready": an adjective
        return relation, phrase

    def _after_receiver(self, relation: Relation, first: int, last: int) -> int:
        """Skip an indirect object: in "bought my mother a scarf" the object is "a scarf"."""
        if relation.main not in GIVING | {"buy", "make", "cook", "bake"}:
            return first
        for index in range(first + 1, last - 1):
            before, low = self.tokens[index - 1].low, self.tokens[index].low
            if before in words.PERSON_NOUNS and low in ("a", "an", "some"):
                return index
        return first

    def _object_span(self, start: int, end: int) -> tuple[int, int]:
        """Return the tokens up to the first time expression: "moved to Oslo | last May | for"."""
        while start < end and start in self.timed:
            start += 1
        last = start
        while last < end and last not in self.timed:
            last += 1
        return start, self._before_next_verb(start, self._before_purpose(start, last))

    def _before_purpose(self, first: int, last: int) -> int:
        """Return where a purpose with a person begins: "a class | to help me put it in words"."""
        for index in range(first + 1, last - 2):
            lows = [token.low for token in self.tokens[index : index + 3]]
            if lows[0] == "to" and lows[1] in _HELPING and lows[2] in words.OBJECT_PRONOUNS:
                return index
        return last

    def _before_next_verb(self, first: int, last: int) -> int:
        """Return where an unrecognised clause begins: "a book | and hoping it will help"."""
        auxiliaries = (p for p in range(first + 1, last) if self.tokens[p].low in verbs.FINITE_AUX)
        trouble = next(auxiliaries, None)
        if trouble is None:
            return last
        cuts = (p for p in range(first + 1, trouble) if self.tokens[p].low in _CUTS)
        return next(cuts, last)

    def _runs_on(self, first: int, last: int) -> bool:
        """Return whether the tokens contain an unrecognised clause and so are not an object."""
        if any(self.tokens[index].low in verbs.FINITE_AUX for index in range(first + 1, last)):
            return True
        following = self.tokens[first + 1].low if first + 1 < last else ""
        return verbs.is_past(self.tokens[first].low) and (
            following in words.DETERMINERS
            or following in words.POSSESSIVES
            or (first + 1 < last and first + 1 in self.names)
        )

    def _pronoun_object(
        self, relation: Relation, first: int, last: int
    ) -> tuple[Relation, Phrase] | None:
        """Read an object that starts with a pronoun: "gave me a book", "saw them"."""
        low = self.tokens[first].low
        following = self.tokens[first + 1].low if first + 1 < last else ""
        if last - first == 1 and low in ("me", "us", "you") and relation.main in GIVING:
            return None  # "the picture you sent me"
        if last - first == 1 and low in ("me", "us"):
            return relation, Phrase(self.voices.speaker, "person", proper=True)
        if last - first == 1 and low == "you":
            other = self.voices.other
            return None if other is None else (relation, Phrase(other, "person", proper=True))
        if low in ("me", "us", "you"):
            whole = noun_phrase(self.tokens, first, last, self.names, self.voices)
            return None if whole is None or whole.text == self.voices.speaker else (relation, whole)
        if last - first == 1:
            found = self.resolve(low) if relation.main != "do" else None
            return None if found is None else (relation, Phrase(found.name, found.type))
        if following in _AFTER_PRONOUN:
            found = self.resolve(low)
            return None if found is None else (relation, Phrase(found.name, found.type))
        if following in words.PREPOSITIONS:
            # "want it to be" and "put it in the car" mean nothing while "it" is unknown.
            third = self._low(first + 2, last)
            verb = following == "to" and (third == "be" or verbs.known_verb(third) is not None)
            if verb or following not in _TOWARDS:
                return None
            past = self._past_pronoun(relation, following, first, last)
            found = self.resolve(low) if relation.main in _TRADING and past is None else None
            # "bought it for fifty euros" without a buyer: it is the object
            return past if found is None else (relation, Phrase(found.name, found.type))
        if low not in ("him", "her", "them"):
            return None  # "pushed it the whole way"
        rest = noun_phrase(self.tokens, first + 1, last, self.names, self.voices)
        return None if rest is None else (relation, rest)  # "gave them a book"

    def _low(self, index: int, end: int) -> str:
        return self.tokens[index].low if index < end else ""

    def _past_pronoun(
        self, relation: Relation, preposition: str, first: int, last: int
    ) -> tuple[Relation, Phrase] | None:
        """Read "shared it with Ann" as "shared with" Ann: only "it" is unclear, not Ann."""
        rest = noun_phrase(self.tokens, first + 2, last, self.names, self.voices)
        counting = first + 2 < last and self.tokens[first + 2].low in _NO_OBJECT
        fits = relation.text.count(" ") < MAX_RELATION
        if rest is None or not (rest.proper or rest.type in _PLACES_AND_PEOPLE):
            return None  # "caught it with half a litre on the floor"
        if counting or not fits or relation.text.endswith(f" {preposition}"):
            return None
        return replace(relation, text=f"{relation.text} {preposition}", end=first + 2), rest
