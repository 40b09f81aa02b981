"""Whose thing it is, and which: "the thesis" is the speaker's, "my appointment" the dentist's.

The same thing is said with and without "my", and in short where the sentence tells the rest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from cognigraph.english.sentences import Token
from cognigraph.english.words import word_set
from cognigraph.ingest.rules.statement import Statement
from cognigraph.states.slots import gives_value

_OWN = re.compile(
    r"(?P<thing>(?:[a-z]+ )?(?:thesis|dissertation|appointment|flight|checkup|check-up|surgery"
    r"|essay|homework|exam|paycheck))(?: deadline)?"
)
"""Things that somebody who says "the" of them has."""
_BARE = re.compile(r"(?P<owner>.+'s )(?P<thing>appointment|checkup|check-up|session)")
_PROVIDERS = word_set(
    """dentist doctor gp vet hairdresser physio physiotherapist therapist psychiatrist
    psychologist optician barber dermatologist cardiologist gynaecologist gynecologist
    orthodontist midwife notary lawyer"""
)
"""Who gives appointments, which are called after them."""


def in_full(told: Sequence[Statement], tokens: Sequence[Token], speaker: str) -> list[Statement]:
    """Return statements about things under the name that tells whose and which they are."""
    lows = [token.low for token in tokens]
    providers = {low for low in lows if low in _PROVIDERS}
    provider = providers.pop() if len(providers) == 1 else None
    return [_with_provider(_owned(one, lows, speaker), provider) for one in told]


def _owned(one: Statement, lows: Sequence[str], speaker: str) -> Statement:
    name = _OWN.fullmatch(one.subject)
    if name is None or not gives_value(one.relation):
        return one
    said = name["thing"].split(" ")
    the = any(lows[at : at + len(said) + 1] == ["the", *said] for at in range(len(lows)))
    return replace(one, subject=f"{speaker}'s {one.subject}") if the else one


def _with_provider(one: Statement, provider: str | None) -> Statement:
    name = _BARE.fullmatch(one.subject)
    if provider is None or name is None or not gives_value(one.relation):
        return one
    return replace(one, subject=f"{name['owner']}{provider} {name['thing']}")
