"""Read how a job of the speaker began or ended, where the speaker is not the subject.

| said                                          | stated                          |
|-----------------------------------------------|---------------------------------|
| "Zalando laid me off", "Nokia let me go"      | was laid off from Zalando       |
| "Bosch fired me"                              | was fired from Bosch            |
| "Today was my first day at Spotify"           | started at Spotify              |
| "Friday was my last day with Ikea"            | left Ikea                       |
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from cognigraph.english import words
from cognigraph.english.sentences import Token
from cognigraph.english.words import word_set
from cognigraph.ingest.rules.names import Name
from cognigraph.ingest.rules.noun_phrases import Voices
from cognigraph.ingest.rules.statement import Statement

_ENDED: Mapping[tuple[str, ...], str] = {
    ("laid", "me", "off"): "was laid off from",
    ("let", "me", "go"): "was laid off from",
    ("made", "me", "redundant"): "was laid off from",
    ("fired", "me"): "was fired from",
    ("sacked", "me"): "was fired from",
    ("dismissed", "me"): "was fired from",
}
_BEFORE_VERB = word_set("has have just finally recently suddenly then")
_NOBODY = (
    words.CONJUNCTIONS
    | words.PRONOUNS
    | word_set("somebody someone everybody everyone nobody please")
)
_DAYS = {"first": "started at", "last": "left"}


def of_speaker(
    tokens: Sequence[Token],
    names: Mapping[int, Name],
    timed: Collection[int],
    when: str | None,
    voices: Voices,
) -> Iterator[Statement]:
    """Yield that the speaker lost, left or began a job; ``when`` is the time of the sentence."""
    for name in (*names.values(), *_unknown(tokens, names)):
        relation = _ended(tokens, name, timed) or _day(tokens, name, timed)
        if relation is not None:
            at = (name.text, "organization", when)
            yield Statement(voices.speaker, "person", relation, *at)


def _unknown(tokens: Sequence[Token], names: Mapping[int, Name]) -> Iterator[Name]:
    """Yield the first word of the sentence if it may be a name: every first word is capitalised."""
    first = tokens[0]
    if 0 not in names and first.kind == "word" and first.low not in _NOBODY:
        yield Name(0, 1, first.text, "object", sure=False)


def _ended(tokens: Sequence[Token], name: Name, timed: Collection[int]) -> str | None:
    """Read "Zalando has laid me off"; "Tom let me go first" is about something else."""
    first = name.end
    while first < len(tokens) and tokens[first].low in _BEFORE_VERB:
        first += 1
    for said, relation in _ENDED.items():
        end = first + len(said)
        if tuple(token.low for token in tokens[first:end]) == said:
            return relation if _stops(tokens, end, timed) else None
    return None


def _day(tokens: Sequence[Token], name: Name, timed: Collection[int]) -> str | None:
    """Read "was my first day at Spotify" and "my first day at Spotify was"; it lies in the past."""
    start = name.start - 4
    lows = [token.low for token in tokens[max(start, 0) : name.start]]
    if start < 0 or lows[0] != "my" or lows[1] not in _DAYS or lows[2] != "day":
        return None
    if lows[3] not in ("at", "with") or name.type in ("event", "time"):
        return None
    before = start > 0 and tokens[start - 1].low == "was" and _stops(tokens, name.end, timed)
    after = name.end < len(tokens) and tokens[name.end].low == "was"
    return _DAYS[lows[1]] if before or after else None


def _stops(tokens: Sequence[Token], index: int, timed: Collection[int]) -> bool:
    """Return whether the clause ends here, but for a time or a reason."""
    if index >= len(tokens) or index in timed or tokens[index].kind == "mark":
        return True
    return tokens[index].low in ("and", "but", "so", "because", "after", "when", "as")
