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


def port(text: str) -> int:
    """Read the number of a port; 0 stands for any that is free."""
    return _number(text, 0, 65_535)


def _number(text: str, low: int, high: int = MAX_COUNT) -> int:
    try:
        value = int(text)
    except ValueError:
        value = -1
    if not low <= value <= high:
        raise argparse.ArgumentTypeError(
            f"must be a whole number from {low} to {high:,}, not {shown(text)}"
        )
    return value


def amount(text: str) -> float:
    """Read a number of seconds or an amount of money."""
    return _up_to(MAX_AMOUNT, text)


def share(text: str) -> float:
    """Read a number from 0 to 1."""
    return _up_to(1, text)


def _up_to(most: float, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= most:
        raise argparse.ArgumentTypeError(
            f"must be a number from 0 to {most:,.0f}, not {shown(text)}"
        )
    return value
