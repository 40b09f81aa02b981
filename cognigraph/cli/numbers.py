"""Numbers as arguments of the command line."""

from __future__ import annotations

import argparse

from cognigraph.validation import MAX_AMOUNT, MAX_COUNT, shown


def count(text: str) -> int:
    """Read a whole number of at least 1."""
    return _number(text, 1)


def whole(text: str) -> int:
    """Read a whole number of at least 0."""
    return _number(text, 0)


def _number(text: str, low: int) -> int:
    try:
        value = int(text)
    except ValueError:
        value = -1
    if not low <= value <= MAX_COUNT:
        raise argparse.ArgumentTypeError(
            f"must be a whole number from {low} to {MAX_COUNT:,}, not {shown(text)}"
        )
    return value


def amount(text: str) -> float:
    """Read a number of seconds or an amount of money."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= MAX_AMOUNT:
        raise argparse.ArgumentTypeError(
            f"must be a number from 0 to {MAX_AMOUNT:,.0f}, not {shown(text)}"
        )
    return value
