"""Who may state facts in a conversation with an assistant.

What the user says about the user's life is a fact. What the assistant says is nearly always advice
for anybody, so it counts only where it is concrete and for this user: something it recommends by
name or number, and what it says the user said, has or arranged. The assistant's own deeds and
feelings are never facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from cognigraph.english import verbs
from cognigraph.english.sentences import Token
from cognigraph.english.words import word_set
from cognigraph.ingest.rules.instructions import ASKED_ONCE
from cognigraph.ingest.rules.noun_phrases import Voices
from cognigraph.ingest.rules.statement import Statement

_RECOMMENDING = word_set("recommend suggest advise propose")
_IMPERSONAL = word_set(
    """if when whenever once unless usually typically often generally many most people anyone
    everyone sometimes should could would might may can"""
)
"""Words of sentences about anybody in such a case, not about this user."""
_QUOTING = word_set("said told mentioned wrote asked decided chose planned wanted noted")
_FEWEST_LETTERS = 2


def to_assistant(said: Iterable[Statement], voices: Voices, *, alone: bool) -> list[Statement]:
    """Keep of what a user says to an assistant all that is not about the assistant.

    "Answer in German." counts for good only if it is a message of its own, ``alone``.
    """
    said = [one for one in said if alone or one.relation != ASKED_ONCE or one.negated]
    if voices.other is None:
        return said
    return [one for one in said if not _is_about(one, voices.other)]


def of_assistant(
    said: Iterable[Statement], tokens: Sequence[Token], voices: Voices
) -> list[Statement]:
    """Keep of what an assistant says only what is concrete and for this user."""
    user = voices.other
    lows = {token.low for token in tokens}
    kept: list[Statement] = []
    for one in said:
        recommended = _recommended(one, voices)
        if recommended is not None:
            kept.append(recommended)
        elif user and not lows & _IMPERSONAL and _is_for_user(one, user, voices.speaker, lows):
            kept.append(one if one.said_by else _as_said(one, user, lows))
    return kept


def _is_about(one: Statement, name: str) -> bool:
    owned = f"{name}'s"
    return name in (one.subject, one.object) or owned in one.subject or owned in one.object


def _recommended(one: Statement, voices: Voices) -> Statement | None:
    """Return "I would suggest X" as a recommendation of X, if X has a name or a number."""
    if one.subject != voices.speaker or one.negated:
        return None
    bases = {verb.base for word in one.relation.split() if (verb := verbs.known_verb(word))}
    if not bases & _RECOMMENDING or not _is_concrete(one):
        return None
    return replace(one, relation="recommended")


def _is_for_user(one: Statement, user: str, speaker: str, lows: set[str]) -> bool:
    """Return whether a statement says something of the user that could be looked up."""
    if one.subject != user and not one.subject.startswith(f"{user}'s "):
        return False
    first = one.relation.split()[0]
    if first in verbs.MODALS - {"will"} or _is_about(one, speaker):
        return False
    settled = verbs.is_past(first) or (one.when is not None and first in ("is", "has", "will"))
    return settled and (_is_concrete(one) or bool(lows & _QUOTING))


def _as_said(one: Statement, user: str, lows: set[str]) -> Statement:
    """Attribute a statement to the user where the assistant repeats the user's words."""
    return replace(one, said_by=user) if lows & _QUOTING and "you" in lows else one


def _is_concrete(one: Statement) -> bool:
    """Return whether a statement holds a date, a number or a name."""
    named = any(word[:1].isupper() and len(word) >= _FEWEST_LETTERS for word in one.object.split())
    return one.when is not None or named or any(char.isdigit() for char in one.object)
