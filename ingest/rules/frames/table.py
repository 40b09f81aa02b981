"""The frames: what is said of a slot in many wordings, and what it states in one.

They are data, in ``frames.md`` beside this module, which also says how they are written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources

_KINDS = ("state", "change", "now")


@dataclass(frozen=True, slots=True)
class Frame:
    """A pattern of a slot, and what it states.

    ``change`` is whether it tells of a change and not of a state, ``now`` whether it is only a
    frame in a sentence that says "now" or the like.
    """

    slot: str
    pattern: str
    states: tuple[str, ...]
    change: bool = False
    now: bool = False


@cache
def frames() -> tuple[Frame, ...]:
    """Return all frames in their order: of two that match the same words the first counts."""
    text = resources.files(__package__).joinpath("frames.md").read_text("utf-8")
    return tuple(_read(text))


def _read(text: str) -> Iterator[Frame]:
    slot, kind = "", ""
    states: tuple[str, ...] = ()
    for line in text.splitlines():
        head, mark, rest = line.partition(": ")
        if line.startswith("## "):
            slot = line.removeprefix("## ")
        elif mark and head in _KINDS:
            kind, states = head, tuple(one.strip() for one in rest.split("&"))
        elif line.startswith("    "):
            yield Frame(slot, line.strip(), states, kind == "change", kind == "now")
