"""Signals of messages that look at who speaks, at each word, or at what a message does.

In a conversation with an assistant nearly all questions are about the user, and what the user says
is short and concrete, while the assistant's long answers share some word with any question.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cognigraph.arrays import Floats, Ints
from cognigraph.embed.word_vectors import TextWords, Vocabulary, joined, word_vectors
from cognigraph.english.times.readers import COUNTS, MONTHS, ORDINALS, SIMPLE, WEEKDAYS
from cognigraph.english.words import CORRECTING, TAKING_BACK
from cognigraph.model import Role
from cognigraph.retrieve.question.analyse import Aim
from cognigraph.stores.candidates import Candidates, ChunkCandidates, StoredTexts, texts_at
from cognigraph.text.numbers import stated_numbers
from cognigraph.text.terms import STOP_WORDS, is_question, words
from cognigraph.text.word_book import WordBook


def role_features(roles: Sequence[Role | None], similarity: Floats, aim: Aim) -> dict[str, Floats]:
    """Who says it, and whether that suits the aim of the question; each (n,) in [0, 1].

    There is no signal unless an assistant is among those who speak. ``similarity`` (n,) is the
    cosine, scaled over the candidates.
    """
    if "assistant" not in roles:
        return {}
    user = np.array([float(role == "user") for role in roles])
    features = {"user": user, "user vector": user * similarity}
    if aim.assistant:
        features["assistant asked"] = np.array([float(role == "assistant") for role in roles])
    return features


# What a user says and what the assistant answers, as one unit of evidence.
#
# The answer repeats in other words what it is about, and often the fact itself, so a message whose
# counterpart matches the question is more likely to be evidence. Windows do not see this: they mix
# two exchanges or three, and one long answer decides their score.


def counterparts(chunks: ChunkCandidates) -> Ints:
    """Return the row of each chunk's counterpart (n,); negative where there is no candidate.

    For what a user says it is the answer that follows, or the beginning of a long one; for the
    beginning of an answer what the user said before.
    """
    roles = np.array([role or "" for role in chunks.roles], dtype=object)
    after, before = chunks.following, chunks.previous
    # Row 0 stands in for a missing neighbour, which does not count.
    follows, precedes = roles[np.maximum(after, 0)], roles[np.maximum(before, 0)]
    answered = (roles == "user") & (after >= 0) & (follows == "assistant")
    answers = (roles == "assistant") & (before >= 0) & (precedes == "user")
    return np.where(answered, after, np.where(answers, before, -1))


def exchange_features(
    chunks: ChunkCandidates, similarity: Floats, triple: Floats | None
) -> Mapping[str, Floats]:
    """How well the counterpart of each chunk matches; each (n,) in [0, 1].

    There is no signal unless an assistant is among those who speak. ``similarity`` (n,) is the
    cosine, scaled over the candidates; ``triple`` (n,) the score of the best fact of each chunk.
    """
    if "assistant" not in chunks.roles:
        return {}
    rows = counterparts(chunks)
    features = {"counterpart vector": _of(rows, similarity)}
    if triple is not None:
        features["counterpart triple"] = _of(rows, triple)
    return features


def exchange_in_any_language(
    chunks: ChunkCandidates, own_words: Floats, aim: Aim
) -> Mapping[str, Floats]:
    """Who speaks in a talk of one user with an assistant, by words alone; each (n,) in [0, 1].

    Questions there are about the user, unless they ask what the assistant said. What the user says
    counts more, also if the answer to it matches; ``own_words`` (n,) are scaled. There is no signal
    if others speak, too: then a question may be about any of them.
    """
    users = {
        speaker
        for speaker, role in zip(chunks.speakers, chunks.roles, strict=True)
        if role == "user"
    }
    if len(users) != 1 or not {"user", "assistant"} <= {*chunks.roles} <= _OF_ONE_USER:
        return {}
    if aim.assistant:
        return {"assistant asked": _said_by(chunks, "assistant")}
    user = _said_by(chunks, "user")
    return {"user": user, "counterpart words": user * _of(counterparts(chunks), own_words)}


_OF_ONE_USER = frozenset({"user", "assistant", "tool", "system"})


def _said_by(chunks: ChunkCandidates, role: Role) -> Floats:
    return np.array([float(each == role) for each in chunks.roles])


def _of(rows: Ints, values: Floats) -> Floats:
    """Values (n,) of the counterparts; 0 where there is none."""
    return np.where(rows >= 0, values[np.maximum(rows, 0)], 0.0)


# Late interaction: match each word of the question with the most similar word of each text.
#
# As in ColBERT (Khattab & Zaharia 2020), but with static word vectors, and with the words of the
# question weighted by their idf.


def candidate_words(candidates: Candidates, rows: Ints, texts: Sequence[str]) -> TextWords:
    """Read the words of some chunks (each with its speaker's name), then those of the triples.

    ``texts`` are those of the chunks in ``rows``. Only those are read whose words are not stored.
    """
    speakers = candidates.chunks.speakers
    said = _Said([speakers[row] or "" for row in rows.tolist()], texts)
    stated = candidates.triples.texts
    return _put_together([said, _Said([""] * len(stated), stated)], word_vectors().current())


class _Said(NamedTuple):
    """Texts, and what stands before each of them."""

    before: Sequence[str]
    texts: Sequence[str]


def _put_together(said: Sequence[_Said], vocabulary: Vocabulary) -> TextWords:
    """The words of texts, from those that are stored and from the texts of the others.

    Each text is made of two pieces: what stands before it or, if its words are not stored, the
    whole; and its words, or none. The first piece of all is empty.
    """
    whole: list[str] = []
    stored, pieces, count = [(np.empty(0, np.int32), np.zeros(1, np.int64))], [], 1
    for before, texts in said:
        words = texts.words if isinstance(texts, StoredTexts) else None
        known = np.zeros(len(texts), bool) if words is None else words.known
        own = np.zeros((len(texts), 2), np.int64)
        if words is not None and known.any():
            assert isinstance(words.book, WordBook)
            stored.append((vocabulary.rows_of(words.book, words.values), words.sizes))
            own[known, 1] = count + np.flatnonzero(known)
            count += len(texts)
        # Numbers from -1 downwards are those of the pieces that are read, which come after these.
        spoken = {item: ~(len(whole) + number) for number, item in enumerate(dict.fromkeys(before))}
        whole += spoken
        own[:, 0] = np.fromiter(map(spoken.__getitem__, before), np.int64, len(before))
        unknown = np.flatnonzero(~known)
        own[unknown, 0] = ~(len(whole) + np.arange(len(unknown)))
        for row, text in zip(unknown.tolist(), texts_at(texts, unknown), strict=True):
            whole.append(f"{before[row]} {text}")
        pieces.append(own)
    read, order = vocabulary.read(whole), np.concatenate(pieces)
    order = np.where(order < 0, count + ~order, order)
    return joined([*stored, (read.rows, read.sizes)], order, vocabulary)


def weighted_mean(similar: Floats, weights: Floats) -> Floats:
    """Mean (n,) over the t words of the question of their best matches ``similar`` (n, t).

    ``weights`` (t,) are the idf of the words.
    """
    return np.asarray(similar @ weights / max(float(weights.sum()), 1e-9))


def late_features(similar: Floats, weights: Floats, around: Ints | None) -> dict[str, Floats]:
    """Late interaction of each chunk (n,), and of its window if ``around`` is given.

    ``similar`` (n, t) is the best match of each word of the question in each chunk; ``around``
    (n, w) are the row numbers of the chunks of each window, negative where there is none.
    """
    features = {"similar words": weighted_mean(similar, weights)}
    if around is not None:
        # An extra row stands in for the missing ones, whose numbers are negative.
        padded = np.concatenate([similar, np.zeros((1, similar.shape[1]))])
        near = np.where(around >= 0, around, len(similar))
        best = padded[near[:, 0]]
        for column in range(1, near.shape[1]):
            np.maximum(best, padded[near[:, column]], out=best)
        features["window similar words"] = weighted_mean(best, weights)
    return features


# Count which kinds of words a text contains, where a kind is a few words and pairs of words.


@dataclass(frozen=True, slots=True)
class KindOfWords:
    """Words of one kind, and pairs of words that follow one another.

    A word is written as :func:`cognigraph.text.terms.words` returns it.
    """

    words: frozenset[str]
    pairs: tuple[tuple[str, str], ...]


def kind(words: str, pairs: str = "") -> KindOfWords:
    """Return the kind with these words, separated by spaces, and these pairs, by commas."""
    both = [pair.split() for pair in pairs.split(",") if pair.strip()]
    return KindOfWords(frozenset(words.split()), tuple((first, second) for first, second in both))


def kinds_held(text_words: TextWords, kinds: Sequence[KindOfWords]) -> Floats:
    """Return how many of the kinds each text contains (texts,)."""
    vocabulary, rows = text_words.vocabulary, text_words.rows
    count = np.zeros(text_words.text_count)
    for each in kinds:
        found = np.isin(rows, vocabulary.rows(each.words))
        for pair in each.pairs:
            first, second = map(vocabulary.row, pair)
            if first >= 0 and second >= 0:
                found[1:] |= (rows[:-1] == first) & (rows[1:] == second)
        count += text_words.holding(found)
    return count


# Whether a message says that something has changed.
#
# The newest word on a thing mostly says that it changed: "we moved", "it is 41 now instead of 58",
# "the op has been brought forward". A question about how things are ("What do I pay?") looks for
# such messages. Rules for English.

_OF_CHANGE = (
    kind("now currently nowadays", "these days, the moment, as of, from now, so were, so im"),
    kind(
        "change changes changed changing switch switched switching swap swapped replaced "
        "replacing instead",
        "rather than, other than",
    ),
    kind(
        "moved moving shift shifts shifted postponed delayed rescheduled raised increased upped "
        "reduced lowered dropped cut",
        "brought forward, put back, put up, down to, up to, went up, went down",
    ),
    kind(
        "stopped quit quits cancelled canceled ended ends left sold lost broke broken anymore",
        "no longer, any more, gave up, given up, done with, used to",
    ),
    kind("new started starts began begun joined became become turned got bought arrived since"),
    kind(
        "finally final decided agreed settled confirmed fixed signed",
        "at last, after all, the end",
    ),
    kind("back again", "going back, gone back"),
    kind("update updated correction actually sorry", "was meant, meant to, supposed to"),
)
_ENOUGH_OF_CHANGE = 3


def changes(text_words: TextWords) -> Floats:
    """Return how much each text tells of a change (texts,): 1 with three of the kinds of words."""
    return np.minimum(kinds_held(text_words, _OF_CHANGE) / _ENOUGH_OF_CHANGE, 1.0)


# Whether a message says what its speaker wants: a rule, a taste, a limit.
#
# A request to an assistant ("Suggest a dinner") shares no word with what the answer must respect
# ("no cashews, I am allergic"). What such messages have in common is how they are put. Rules for
# English.

_OF_WISHES = (
    kind("always never ever anymore", "now on, in future, by default, every time, any more"),
    kind(
        "prefer prefers preferred preference preferences favourite favorite like love enjoy hate "
        "loathe dislike rather instead",
        "fan of, fond of, keen on",
    ),
    kind(
        "allergy allergic allergies intolerant intolerance vegetarian vegan pescatarian diabetic "
        "celiac coeliac",
        "afraid of",
    ),
    kind(
        "",
        "cant stand, cant bear, cant eat, cant have, cant do, cant use, cannot stand, cannot bear, "
        "cannot eat, cannot have, cannot do, cannot use",
    ),
    kind(
        "",
        "i dont, we dont, i wont, we wont, i only, we only, i use, we use, i avoid, we avoid, "
        "i want, we want, i need, we need",
    ),
    kind("please skip avoid without must mustnt", "keep it, stick to, make sure"),
    kind("no not nothing none"),
    kind("too under below max maximum budget limit cheap cheaper cheaply", "at most, at least"),
)
_ENOUGH_OF_WISHES = 3


def wishes(text_words: TextWords) -> Floats:
    """Return how much each text sounds like a wish (texts,): 1 with three of the kinds of words."""
    return np.minimum(kinds_held(text_words, _OF_WISHES) / _ENOUGH_OF_WISHES, 1.0)


# Messages that correct what the same speaker said just before.
#
# "Sorry, the 25th, I can't count" shares no word with "When is the wedding?", but whoever finds the
# message that it corrects must find it too, and first. So a correction ranks at least as well as
# what it corrects. Rules for English.

Corrections = Sequence[tuple[int, Sequence[int]]]
"""The row of each correction, oldest first, with the rows of what it corrects."""

_MOST_STEPS = 8
_BARELY = 1e-9
_HEAD = 160
MOST_WORDS = 12
"""A longer message says something of its own."""
_FIGURES = frozenset((*COUNTS, *ORDINALS, *MONTHS, *WEEKDAYS, *SIMPLE, "noon", "midnight")) - {
    "a", "an", "may", "march", "mar", "sun", "sat", "one", "second",
}  # fmt: skip
"""Words that stand for a number or a time, and mostly for nothing else."""
_NAME = re.compile(r"(?<=[\w,;:] )[^\W\d_a-zß-öø-ÿ][\w'’-]+")
_EXCLAIMED = re.compile(r"\w+[,.!:;… –—-]{1,3}\s?(?=\w)")
_MARKS = frozenset(
    "sorry correction typo mistake bad misread mistyped misspoke misheard miscounted misremembered "
    "mixed meant scratch".split()
)
"""One of these words is in every correction, as :func:`cognigraph.text.terms.words` returns it."""
_OPENING = (
    r"(?:^|[.!?]\s+)(?:(?:oh|ah|argh|oops|wait|no|ok|okay|um|er|and|but|actually|hang on|hold on)"
    r"[,.! ]+)*"
)
_PLAIN = re.compile(
    _OPENING + r"(?:(?:small |one |quick )?correction\b(?! fluid)|typo\b|my (?:bad|mistake)\b"
    r"|scratch that\b|i (?:meant(?! to)|mis(?:read|typed|spoke|heard|counted|remembered)"
    r"|mixed (?:that|those|them|it|these|the \w+) up)\b)",
    re.IGNORECASE,
)
_MAY = re.compile(
    r"(?:(?:oh|ah|argh|oops|hm+|um|er|uh|well|ok|okay|and|but|edit|update|wait|no|nein|ach)\b"
    rf"[^\w\n]{{1,4}}){{0,4}}(?:(?:{CORRECTING}|korrektur|quatsch|moment)\b"
    rf"|no[,:.]|nein[,:.]|(?:{TAKING_BACK}|ich meinte?|doch nicht)\b|不对|更正|说错|搞错|我是说)",
    re.IGNORECASE,
)
_SORRY = re.compile(_OPENING + r"sorry\b(?P<rest>[^.!?]*[.!?]?[^.!?]*)", re.IGNORECASE)
_WRONG = re.compile(
    r"\bnot (?:(?:the|on|in|at|for|from|to|until|till) )*(?:[£$€]?\d|[A-Z][a-z])"
    r"|\b(?i:meant(?! to)|mis(?:read|typed|spoke|heard|counted|remembered)|mixed|muddled|typo"
    r"|mistake|wrong|(?:i|we) (?:said|wrote|told you)|should (?:be|read|say|have (?:been|said))"
    r"|instead of|rather than|can['’]?t (?:count|read|type|spell|add up))\b"
)


def corrections(texts: Sequence[str], text_words: TextWords) -> Floats:
    """Return 1 for each text that corrects an earlier one, 0 for the others (texts,).

    ``text_words`` are the words of the texts, and of any other texts after them.
    """
    said = text_words.first(len(texts))
    marked = said.holding(said.vocabulary.marks("correction", _MARKS.__contains__)[said.rows])
    found = np.zeros(len(texts))
    for row in np.flatnonzero(marked).tolist():
        found[row] = float(is_correction(texts[row]))
    return found


def is_correction(text: str) -> bool:
    """Whether a text begins by correcting something. Never raises on any text."""
    head = text[:_HEAD]
    if _PLAIN.search(head):
        return True
    sorry = _SORRY.search(head)
    return sorry is not None and _WRONG.search(sorry["rest"]) is not None


def may_correct(text: str) -> bool:
    """Whether a sentence begins as if it corrected the one before; some that do not correct do so.

    For where it costs little to keep both together, in English, German and Chinese.
    """
    return _MAY.match(text) is not None


def what_is_corrected(chunks: ChunkCandidates, corrects: Floats) -> Corrections:
    """Return what each correction corrects: the last that the same speaker said in the session.

    ``corrects`` (n,) is 1 for corrections. An assistant that apologises is no correction of a user.
    """
    rows = [
        row
        for row in np.flatnonzero(corrects == 1.0).tolist()
        if chunks.roles[row] in (None, "user")
    ]
    rows.sort(key=chunks.at.__getitem__)
    return [(row, before) for row in rows if (before := _said_before(chunks, row))]


def _said_before(chunks: ChunkCandidates, row: int) -> list[int]:
    """The rows of the last chunks in a row of the same speaker, with others between at most."""
    speaker, found = chunks.speakers[row], list[int]()
    before = row
    for _ in range(_MOST_STEPS):
        before = int(chunks.previous[before])
        if before < 0 or (found and chunks.speakers[before] != speaker):
            break
        if chunks.speakers[before] == speaker:
            found.append(before)
    return found


def lifts(scores: Floats, corrected: Corrections) -> Floats:
    """Return what to add to the scores (n,), so that no correction ranks below what it corrects."""
    lifted = scores.copy()
    for row, before in corrected:
        lifted[row] = max(lifted[row], lifted[list(before)].max() + _BARELY)
    return np.asarray(lifted - scores)


def corrects(text: str, before: str, *, at_once: bool) -> bool:
    """Whether a text corrects another one that the same speaker said just before it.

    It is short and gives a number, a time or a name in the place of one of the same kind. Where it
    does not begin as a correction does, it must have been said ``at_once``, with nobody between,
    and say nothing else but a word at its beginning: "Pardon, le 25".
    """
    own = words(text)
    if not own or len(own) > MOST_WORDS or is_question(text):
        return False
    begins = may_correct(text) or is_correction(text)
    if not (begins or at_once):
        return False
    said = frozenset(words(before))
    replaces = _replaces_a_value(text, before)
    if begins:
        told = {word for word in own if not _is_figure(word)} - STOP_WORDS - _MARKS
        return replaces or not said.isdisjoint(told)
    if not replaces:
        return False
    opening = _EXCLAIMED.match(text)
    more = own[1:] if opening else own
    named = {word for name in _names(text) for word in words(name)}
    return all(word in said or word in named or _is_figure(word) for word in more)


def _replaces_a_value(text: str, before: str) -> bool:
    """Whether a text has a number, a time or a name that the one before has another of."""
    for kind in (_figures, _names):
        new = kind(text)
        if new and (old := kind(before)) and new - old:
            return True
    return False


def _figures(text: str) -> frozenset[str]:
    """The numbers and times of a text."""
    figures = {word: stated_numbers(word) for word in words(text) if _is_figure(word)}
    values = (numbers or {word} for word, numbers in figures.items())
    return frozenset(value for own in values for value in own)


def _is_figure(word: str) -> bool:
    return word in _FIGURES or not set(word).isdisjoint("0123456789")


def _names(text: str) -> frozenset[str]:
    """What is written with a capital letter within a sentence."""
    return frozenset(match[0].casefold() for match in _NAME.finditer(text)) - _FIGURES
