"""What the wording of a question or an answer tells a loop, without a model.

Only words that mean nothing else: what they miss is treated as usual.
"""

from __future__ import annotations

import re
from datetime import datetime

from cognigraph.retrieve.question.analyse import analyse

_OPEN = re.compile(
    r"\b(?:would|could|might|likely|probably|presumably)\b"
    r"|\b(?:würde|würden|könnte|könnten|wahrscheinlich|vermutlich|wohl)\b"
    r"|\b(?:pourrait|pourraient|serait|seraient|probablement|sans doute)\b"
    r"|\b(?:podría|podrían|sería|serían|probablemente|probable)\b"
    r"|\b(?:poderia|poderiam|seria|seriam|provavelmente|provável)\b"
    r"|\b(?:potrebbe|potrebbero|sarebbe|sarebbero|probabilmente|probabile)\b"
    r"|\b(?:zou|zouden|waarschijnlijk|vermoedelijk)\b"
    r"|可能|也许|大概|会不会|かもしれ|だろう|でしょう|아마|것 같",
    re.IGNORECASE,
)
_POLITE = re.compile(
    r"\b(?:would|could) (?:you|i|we)\b|\b(?:i|we) (?:would|could|might)\b"
    r"|\b(?:würden|könnten) sie\b|\bkönnte ich\b"
    r"|\bzou (?:je|u|jij|ik)\b",
    re.IGNORECASE,
)
_LIST = re.compile(
    r"\bhow (?:many|often)\b|\b(?:list|enumerate)\b|\bin total\b|\bput together\b|\baltogether\b"
    r"|\b(?:wie oft|wie viele|zähle?|insgesamt)\b"
    r"|\b(?:combien de|quels|quelles|en tout|au total)\b"
    r"|\b(?:cuánt[oa]s|cuáles|en total)\b"
    r"|\b(?:quant[oa]s|quais|no total)\b"
    r"|\b(?:quant[ie]|quali|in tutto)\b"
    r"|\b(?:hoe vaak|hoeveel|in totaal)\b"
    r"|几次|多少次|哪些|一共|何回|いくつ|全部で|몇 번|몇 개|모두",
    re.IGNORECASE,
)
_UNKNOWN = re.compile(
    r"\b(?:(?:not|isn['’]t|aren['’]t|wasn['’]t) (?:known|mentioned|stated|specified|recorded|clear)"
    r"|unknown|unclear|no information|do(?:es)? not (?:say|mention|state|contain|tell))\b"
    r"|\b(?:nicht bekannt|unbekannt|unklar|nicht erwähnt|keine angaben?|keine informationen?)\b"
    r"|\b(?:inconnue?s?|pas connue?s?|pas précisée?s?|pas mentionnée?s?)\b"
    r"|\b(?:desconocid[oa]s?|no se sabe|no se menciona|desconhecid[oa]s?|não se sabe)\b"
    r"|\b(?:sconosciut[oaie]|non è not[oa]|onbekend|niet bekend)\b"
    r"|未知|不清楚|不知道|没有提到|不明|わかりません|分かりません|알 수 없|모릅니다",
    re.IGNORECASE,
)


def asks_for_inference(question: str) -> bool:
    """Whether a question asks what would be or might be, which need not have been said.

    >>> asks_for_inference("Would Ann enjoy a week on a boat?")
    True
    >>> asks_for_inference("Could you tell me where Ann lives?")
    False
    """
    return _OPEN.search(_POLITE.sub(" ", question)) is not None


def asks_for_many(question: str, now: datetime) -> bool:
    """Whether the parts of the answer may be scattered: a list, a number or a sum of things.

    >>> from datetime import UTC
    >>> asks_for_many("How often has the bus been late?", datetime(2026, 5, 1, tzinfo=UTC))
    True
    >>> asks_for_many("Where does Ann live?", datetime(2026, 5, 1, tzinfo=UTC))
    False
    """
    return _LIST.search(question) is not None or analyse(question, now).enumerates


def says_unknown(answer: str) -> bool:
    """Whether an answer says that it, or a part of it, is not known.

    >>> says_unknown("In Turin; since when is not known.")
    True
    """
    return _UNKNOWN.search(answer) is not None
