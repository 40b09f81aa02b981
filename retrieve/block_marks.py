"""The marks of a prompt block, and sanitising of stored text so that it cannot imitate them.

Models that read the block, and :mod:`cognigraph.ingest.insert.echo`, rely on its marks:
``[memory]``, ``[/memory]`` and labels such as ``[C7]``. Stored text may contain the same
characters, or others that look the same: full-width brackets, letters of another alphabet, or
invisible characters in between.
"""

from __future__ import annotations

import re
import unicodedata

from cognigraph.text.clean import printable

HEADER = "[memory]"
FOOTER = "[/memory]"
"""First and last line of a block. They identify recalled text that is added to the memory again."""

# Every bracket that looks square, whatever its script.
_OPENING = "[［﹇⁅⟦〚【〖〔〘❲⦋⦍⦏⎡⎢⎣"
_CLOSING = "]］﹈⁆⟧〛】〗〕〙❳⦌⦎⦐⎤⎥⎦"
_BRACKETED = re.compile(
    f"[{re.escape(_OPENING)}]([^{re.escape(_OPENING + _CLOSING)}]*)[{re.escape(_CLOSING)}]"
)
_MARK = re.compile(r"/*memory|[stc]\d+")

_OTHER_SPACE = re.compile(r"[^\S \t\n]")

# After case folding: Cyrillic and Greek letters that look like those of a mark, and slashes.
_LOOKALIKES = str.maketrans("еоумгѕтсοτϲυɡ⁄∕⧸╱⟋\\", "eoymrstcotcyg//////")

# Invisible characters. Joiners and direction marks are kept, because scripts and emoji need them.
# Tag characters are kept in the flag of a region: a black flag and then tags that name the region.
_INVISIBLE = re.compile(
    "(\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,6}\U000e007f)"
    "|[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u206a-\u206f\u3164"
    "\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def one_line(text: str) -> str:
    """Return the text on one line, without invisible characters and without imitated marks.

    Brackets around text that looks like a mark become parentheses; other brackets are kept.
    """
    visible = _INVISIBLE.sub(r"\1", printable(text))
    return _BRACKETED.sub(_rounded, " ".join(visible.split()))


def same_lines(text: str) -> list[str]:
    """The lines of a text as :func:`one_line` would show them, but with their indentation.

    Lines end at line feeds alone; other line ends become spaces. Brackets of what looks like a mark
    become round even if it is broken across lines.
    """
    visible = _INVISIBLE.sub(r"\1", printable(text))
    lines = _OTHER_SPACE.sub(" ", visible).split("\n")
    return _BRACKETED.sub(_rounded, "\n".join(line.rstrip() for line in lines)).split("\n")


def _rounded(match: re.Match[str]) -> str:
    inside = match[1]
    return f"({inside})" if _MARK.fullmatch(_skeleton(inside)) else match[0]


def _skeleton(text: str) -> str:
    """Reduce a text to what it looks like: visible characters in one alphabet and one case."""
    plain = unicodedata.normalize("NFKD", text).casefold().translate(_LOOKALIKES)
    return "".join(c for c in plain if not c.isspace() and unicodedata.category(c)[0] not in "MC")
