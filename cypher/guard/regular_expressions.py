"""The regular expressions that a query may use: those whose time is a polynomial in the text."""

from __future__ import annotations

import re
from math import comb, prod

_FLAGS = re.compile(r"\(\?[imsu]+\)")
_ATOM = r"\\[dDwWsSbB]|\\[^\w\s]|\[\^?(?:\\[dDwWsS]|\\[^\w\s]|[^\\\[\]&])+\]|[^\\\[\](){}|*+?]"
_PART = re.compile(
    rf"(?P<group>\((?:\?:)?(?!\?))|\)|\||(?:{_ATOM})(?P<times>[*+?]|\{{\d{{1,4}}(?:,\d{{0,4}})?\}})?[?+]?"
)
_MAX_PATTERN = 1_000
_MAX_UNLIMITED = 8


def matching_tries(pattern: str, chars: int) -> int | None:
    """Return how many characters of a text a regular expression may compare in all its attempts.

    None unless it is in the safe subset: characters and classes, each repeated or not, and groups
    that are not repeated. There the number of attempts is a polynomial in the length of the text,
    with one degree for each repetition without an end, and each attempt compares no more than the
    longest run of characters that are not repeated.
    """
    if len(pattern) > _MAX_PATTERN:
        return None
    flags = _FLAGS.match(pattern)
    at = flags.end() if flags else 0
    unlimited, choices, groups = 0, list[int](), [1]
    run = longest = 0
    while at < len(pattern):
        part = _PART.match(pattern, at)
        if part is None:
            return None
        at = part.end()
        times = part["times"] or ""
        run = 0 if times or part[0] == "|" else run + (part[0] != ")" and not part["group"])
        longest = max(longest, run)
        if part["group"]:
            groups.append(1)
        elif part[0] == "|":
            groups[-1] += 1
        elif part[0] == ")":
            if len(groups) < 2:
                return None
            choices.append(groups.pop())
        elif times == "?":
            choices.append(2)
        elif times in ("*", "+") or times.endswith(",}"):
            unlimited += 1
        elif "," in times:
            least, most = map(int, times[1:-1].split(","))
            choices.append(max(min(most, chars) - least, 0) + 1)
        elif times:
            longest += int(times[1:-1])
        if unlimited > _MAX_UNLIMITED:
            return None
    if len(groups) > 1:
        return None
    return comb(chars + unlimited, unlimited) * prod(choices) * groups[0] * max(longest, 1)
