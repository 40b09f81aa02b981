"""Arrival numbers in cursors, sealed: they count the messages of all spaces of the file.

A cursor goes to whoever reads a space, who would learn from it how much others store. So the number
in it is a permutation of the real one under a key that only the file has. Changing a sealed number
gives another position in the same space, and nothing else.
"""

from __future__ import annotations

from hashlib import blake2b

_HALF = 29
_MASK = (1 << _HALF) - 1
_ROUNDS = 4
LARGEST = (1 << 2 * _HALF) - 1


def seal(number: int, key: bytes, at: int) -> int:
    """A number as others see it; ``at`` makes equal distances look different."""
    left, right = number >> _HALF, number & _MASK
    for turn in range(_ROUNDS):
        left, right = right, left ^ _mixed(right, turn, key, at)
    return left << _HALF | right


def unseal(number: int, key: bytes, at: int) -> int:
    """The number that was sealed."""
    left, right = min(number, LARGEST) >> _HALF, number & _MASK
    for turn in reversed(range(_ROUNDS)):
        left, right = right ^ _mixed(left, turn, key, at), left
    return left << _HALF | right


def _mixed(half: int, turn: int, key: bytes, at: int) -> int:
    text = f"{turn} {half} {at}".encode()
    return int.from_bytes(blake2b(text, key=key, digest_size=8).digest()) & _MASK
