"""What prompts hold: marks that stored text must not imitate, and estimates of their tokens.

Whatever reads a prompt relies on its marks: the first and last line of a block, labels such as
``[C7]``, notes such as ``[no longer true: see T1]``, the tags around the parts of a prompt, and
those with which a chat template separates system, user and assistant. Stored text may contain the
same characters, or others that look the same: full-width brackets, letters of another alphabet, or
invisible characters in between. Every text that is written into a block or a prompt therefore goes
through :func:`one_line` or :func:`same_lines`; names in front of a colon through :func:`named`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from cognigraph.text.terms import CONTROL, printable

HEADER = "[memory]"
FOOTER = "[/memory]"
"""First and last line of a block. They identify recalled text that is added to the memory again."""

INDENT = "  "
"""Before lines of stored text without a label, which thus do not stand where a heading does."""

TAGS = (
    "answer", "asked_before", "context", "earlier_answers", "entries", "episodes", "facts",
    "history", "keys", "known", "procedures", "profile", "question", "sent", "summaries", "themes",
    "turns",
)  # fmt: skip
"""The tags that prompts put around text that was written by others."""

# Brackets that look square or angled, whatever their script.
_OPENING = "[［⁅⌈⌊❲⟅⟦⟬⦋⦍⦏⦗⧘⧚⸢⸤⹕⹗「『【〔〖〘〚︗︹︻﹁﹃﹇﹝｢⎡⎢⎣"
_CLOSING = "]］⁆⌉⌋❳⟆⟧⟭⦌⦎⦐⦘⧙⧛⸣⸥⹖⹘」』】〕〗〙〛︘︺︼﹂﹄﹈﹞｣⎤⎥⎦"
_LESS = "<＜﹤‹«〈❬❮❰⟨⟪⦑⧼〈《︽︿˂ᐸ≪⋖"
_GREATER = ">＞﹥›»〉❭❯❱⟩⟫⦒⧽〉》︾﹀˃ᐳ≫⋗"
_BAR = "|｜¦∣│┃ǀ❘⏐"
_SQUARE = re.compile(
    f"[{re.escape(_OPENING)}]([^{re.escape(_OPENING + _CLOSING)}]*)[{re.escape(_CLOSING)}]"
)
_ANGLED = re.compile(f"([{_LESS}]+)([^{_LESS}{_GREATER}]*)([{_GREATER}]*)")
_TEMPLATE = re.compile(rf"(?<![{_LESS}])[{_LESS}]+(?=([^\w{_LESS}{_BAR}]{{0,16}})[{_BAR}])")
"""What begins a mark of a chat template, such as ``<|im_start|>``, with what stands between."""

# As they look without white space.
_MARK = re.compile(
    r"/*mem[o0]ry|[stcefm]\d+|[^\W\d_a-z]\d+|n[o0][l1i|][o0]ngertr[uy]e.*|n[o0]ttr[uy]eat.*"
    r"|/*[i1l]nst|/*system(?:_?prompt)?|/*(?:available_?)?tools?(?:_?calls?|_?results?)?"
)
_TAG = re.compile(rf"/*(?:{'|'.join(TAGS)}|s|[be]os|sys(?:tem)?|user|assistant|\w+_of_turn)/*")
_OPEN_TAG = re.compile(rf"[ /]*(?:{'|'.join(TAGS)})(?=[ /]|\Z)")

_OTHER_SPACE = re.compile(r"[^\S \t\n]")
_QUOTES = re.compile('["“”„‟″〃＂«»〝〞〟ʺˮ˝❝❞⹂״]')
_COLON = re.compile(r"[:：﹕︓∶꞉ː˸׃ꓽ](?=\s|\Z)")

# After case folding: characters of other alphabets that look like one of a mark.
_LOOKALIKES = {
    character: plain
    for plain, characters in {
        "a": "аα", "c": "сϲⲥᏟ", "e": "еεєҽ℮Ꭼ", "f": "ғϝք", "g": "ց", "i": "іι", "l": "ӏ",
        "m": "мμⲙᎷ", "n": "пνո", "o": "оοσօⲟ〇", "r": "гᴦᎡᏒ", "s": "ѕᏚտ", "t": "тτᎢ", "u": "ս",
        "y": "уυγүᎽ", "/": "\\⁄∕⧸╱⟋⟍", "|": _BAR,
    }.items()
    for character in characters
}  # fmt: skip
_LATIN = re.compile(
    r"(?:LATIN (?:SMALL |CAPITAL )?|SYMBOL )LETTER "
    r"(?:SMALL |CAPITAL |SCRIPT |OPEN |DOTLESS |LONG |TURNED |REVERSED )*([A-Z])(?: |$)"
)

# Invisible characters. Joiners and direction marks are kept, because scripts and emoji need them.
# Tag characters are kept in the flag of a region: a black flag and then tags that name the region.
_NOT_SEEN = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u206a-\u206f\u3164"
    "\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_INVISIBLE = re.compile(
    f"(\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{{1,6}}\U000e007f)|[{_NOT_SEEN}]"
)
_SUSPECT = re.compile(f"{CONTROL.pattern}|[{_NOT_SEEN}{_LESS}{re.escape(_OPENING)}]")
"""Without one of these characters a text is as it should be, but for white space."""


def one_line(text: str) -> str:
    """Return the text on one line, without invisible characters and without imitated marks.

    Brackets around text that looks like a mark become parentheses; other brackets are kept.
    """
    if _SUSPECT.search(text) is None:
        return " ".join(text.split())
    visible = _INVISIBLE.sub(r"\1", printable(text))
    return _unmarked(" ".join(visible.split()))


def same_lines(text: str) -> list[str]:
    """The lines of a text as :func:`one_line` would show them, but with their indentation.

    Lines end at line feeds alone; other line ends become spaces. Brackets of what looks like a mark
    become round even if it is broken across lines.
    """
    visible = _INVISIBLE.sub(r"\1", printable(text))
    lines = _OTHER_SPACE.sub(" ", visible).split("\n")
    return _unmarked("\n".join(line.rstrip() for line in lines)).split("\n")


def in_quotes(text: str) -> str:
    """The text on one line between double quotes; those inside become single ones."""
    inside = _QUOTES.sub("'", one_line(text))
    return f'"{inside}"'


@lru_cache(maxsize=4096)
def named(text: str) -> str:
    """A name or id as it may stand in front of the colon after which somebody speaks.

    It ends no quotation, and a colon before white space becomes a semicolon, so that nobody else
    seems to speak.
    """
    return _COLON.sub(";", in_quotes(text)[1:-1])


def _unmarked(text: str) -> str:
    return _ANGLED.sub(_without_tag, _TEMPLATE.sub(_rounded, _SQUARE.sub(_without_mark, text)))


def _without_mark(match: re.Match[str]) -> str:
    inside = match[1]
    return f"({inside})" if _MARK.fullmatch("".join(_looks(inside).split())) else match[0]


def _without_tag(match: re.Match[str]) -> str:
    before, inside, after = match.groups()
    looks = _looks(inside)
    if _OPEN_TAG.match(looks) or (after and _TAG.fullmatch("".join(looks.split()))):
        return f"{'(' * len(before)}{inside}{')' * len(after)}"
    return match[0]


def _rounded(match: re.Match[str]) -> str:
    """Round the bracket of a template if nothing visible stands between it and the bar."""
    between = (character for character in match[1] if not character.isspace())
    is_mark = all(unicodedata.category(character)[0] in "MC" for character in between)
    return "(" * len(match[0]) if is_mark else match[0]


def _looks(text: str) -> str:
    """Reduce a text to what it looks like: visible characters in one alphabet and one case."""
    folded = unicodedata.normalize("NFKD", text).casefold()
    if not folded.isascii():
        folded = "".join(map(_look, folded))
    return " ".join(folded.split()) if folded.strip() else ""


@lru_cache(maxsize=4096)
def _look(character: str) -> str:
    if plain := _LOOKALIKES.get(character):
        return plain
    if character.isspace():
        return " "
    if unicodedata.category(character)[0] in "MC":
        return ""
    latin = _LATIN.search(unicodedata.name(character, ""))
    return latin[1].lower() if latin else character


# Estimate the number of tokens of a text without a tokenizer, on the high side.

_WORD = re.compile(r"[A-Za-z]+")
_LINES = re.compile(r"\n+")
_WORDS_AND_SPACE = re.compile(r"[A-Za-z\s]+")
_SHORT_WORD = 6
_LETTERS_PER_TOKEN = 4


def estimate_tokens(text: str) -> int:
    """Estimate the number of tokens that a BPE tokenizer makes of a text.

    A word of up to six letters counts as one token, a longer word as one token per four letters or
    part thereof, and each digit as one (as in Llama and Qwen; GPT joins up to three). Any other
    character counts as one, as two in Indic and wide scripts, and as three from U+10000. The
    estimate is .9 to 1.1 of the count of the Llama 2 tokenizer on English prose, chat, code and
    licence texts, and more on CJK.
    """
    total = len(_LINES.findall(text)) if "\n" in text else 0
    for size in map(len, _WORD.findall(text)):
        total += 1 if size <= _SHORT_WORD else -(-size // _LETTERS_PER_TOKEN)
    others = _WORDS_AND_SPACE.sub("", text)
    return total + (len(others) if others.isascii() else sum(map(_cost, others)))


def _cost(character: str) -> int:
    if character.isdecimal():
        return 1
    if character >= "\U00010000":
        return 3
    return 2 if character >= "\u2e80" or "\u0900" <= character <= "\u0fff" else 1
