"""The marks of a prompt block, and text made safe to stand between them.

A reader of the block, and :mod:`cognigraph.ingest.insert.echo`, rely on its marks: ``[memory]``,
``[/memory]`` and labels such as ``[C7]``. Stored text may hold the same characters, or others that
look the same: full-width brackets, letters of another alphabet, or invisible characters in between.
"""

from __future__ import annotations

import re
import unicodedata

from cognigraph.text.clean import printable

HEADER = "[memory]"
FOOTER = "[/memory]"
"""First and last line of a block, by which recalled text is recognised when it comes back."""

# Every bracket that looks square, whatever its script.
_OPENING = "[［﹇⁅⟦〚【〖〔〘❲⦋⦍⦏⎡⎢⎣"
_CLOSING = "]］﹈⁆⟧〛】〗〕〙❳⦌⦎⦐⎤⎥⎦"
_BRACKETED = re.compile(
    f"[{re.escape(_OPENING)}]([^{re.escape(_OPENING + _CLOSING)}]*)[{re.escape(_CLOSING)}]"
)
_MARK = re.compile(r"/*memory|[stc]\d+")

# After case folding: Cyrillic and Greek letters that look like those of a mark, and slashes.
_LOOKALIKES = str.maketrans("еоумгѕтсοτϲυɡ⁄∕⧸╱⟋\\", "eoymrstcotcyg//////")

# Characters that show nothing. Joiners and direction marks stay: scripts and emoji need them. Tags
# stay in the flag of a region (a black flag, then tags), where they choose the picture.
_INVISIBLE = re.compile(
    "(\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,6}\U000e007f)"
    "|[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u206a-\u206f\u3164"
    "\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def one_line(text: str) -> str:
    """The text in one line, without invisible characters and without anything like a mark.

    The brackets of what looks like a mark become round; other brackets stay.
    """
    visible = _INVISIBLE.sub(r"\1", printable(text))
    return _BRACKETED.sub(_rounded, " ".join(visible.split()))


def _rounded(match: re.Match[str]) -> str:
    inside = match[1]
    return f"({inside})" if _MARK.fullmatch(_skeleton(inside)) else match[0]


def _skeleton(text: str) -> str:
    """What a text looks like: letters, digits and punctuation alone, in one alphabet and case."""
    plain = unicodedata.normalize("NFKD", text).casefold().translate(_LOOKALIKES)
    return "".join(c for c in plain if not c.isspace() and unicodedata.category(c)[0] not in "MC")
