"""What a question to an assistant aims at: what the assistant said, or a piece of work.

Rules for English, no model. "What did you suggest?" is answered by the assistant. A request ("Write
me a script", "What should I cook?") has no answer in the memory; what helps with it is what the
user wants and does not want.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cognigraph.english.verbs import is_past
from cognigraph.text.terms import words

_TELLS = frozenset("tell told remind show name list say know recall remember".split())
"""Verbs that ask for what is known: "can you tell me where I live?" is no request for work."""
_GIVES = frozenset("tell told give gave given show showed send sent ask asked".split())
"""Verbs whose object may be "you": in "the trips I told you about" the assistant says nothing."""
_LISTING = re.compile(r"\b(?:give|make) me (?:a|the) (?:full |complete )?(?:list|overview)\b")
_SENTENCE = re.compile(r"[.!?;:]\s+")
_POLITE = re.compile(
    r"^(?:(?:and|so|but|ok|okay|hi|hello|hey|now|then|also|please|thanks|thank you)[,!]* )+"
)
_WORK = frozenset(
    "add adapt advise analyse analyze arrange book brainstorm bring build calculate change check "
    "choose code come compare compose convert cook correct cover create debug decide describe "
    "design develop draft draw edit estimate evaluate explain expand extend find finish fix "
    "format generate give go guide help implement improve invent keep let make organise organize "
    "outline pick plan prepare propose proofread put recommend refactor reply rephrase research "
    "review revise rewrite schedule set shorten sketch solve sort start structure suggest "
    "summarise summarize teach test think translate turn update use walk work write".split()
)
"""Verbs that open an order: "write me a letter"."""
_REQUEST = re.compile(
    r"^i(?:'d| would)? (?:need|want|like|love|am looking for)\b|^i(?:'m| am) looking for\b"
    r"|\b(?:should|could|shall|might|can) (?:i|we|the \w+ of us|my \w+)\b"
    r"|^how (?:do|can|should|could|would|might|best)(?: i| we| to| one)\b"
    r"|\b(?:suggest|recommend|advise)\b|\b(?:ideas?|tips|suggestions|recommendations|advice) "
    r"(?:for|on|about|how)\b|\bwhat (?:would|do) you (?:think|say)\b|\bhelp me\b"
)
_OFFERS = re.compile(r"\b(?:can|could|would|will) you (?:please |maybe |also )?(\w+)")
_DID_YOU = re.compile(r"\b(?:did|had|was it|were) you\b(?! know\b)")
_YOURS = re.compile(r"\byours?\b|\bassistant\b")
_YOU = re.compile(r"(?:\b(\w+) )?\byou (?:also |already |just |once |first |then )?(\w+)")


@dataclass(frozen=True, slots=True)
class Aim:
    """What a question aims at; by default at what the user said.

    - ``assistant``: at what the assistant said.
    - ``request``: at advice or work, for which the wishes of the user matter.
    """

    assistant: bool = False
    request: bool = False


def aim_of(question: str) -> Aim:
    """Read what a question aims at. Never raises on any text."""
    low = " ".join(question.casefold().replace("’", "'").split())
    request = _is_request(low)
    return Aim(assistant=not request and _asks_assistant(low), request=request)


def _is_request(low: str) -> bool:
    if _LISTING.search(low):
        return False
    return any(_orders(_POLITE.sub("", sentence)) for sentence in _SENTENCE.split(low))


def _orders(sentence: str) -> bool:
    """Whether a sentence in lower case asks for work or advice."""
    if _DID_YOU.search(sentence):
        return False
    offer = _OFFERS.search(sentence)
    if offer is not None:
        return offer[1] not in _TELLS
    first = words(sentence)[:1]
    return (bool(first) and first[0] in _WORK) or _REQUEST.search(sentence) is not None


def _asks_assistant(low: str) -> bool:
    """Whether "you" or "your" names somebody who said or made something."""
    if _DID_YOU.search(low) or _YOURS.search(low):
        return True
    return any(match[1] not in _GIVES and is_past(match[2]) for match in _YOU.finditer(low))
