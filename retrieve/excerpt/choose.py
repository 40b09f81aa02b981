"""Choose what to show of which message under a budget, by worth per token.

Every message offers steps: a first one with the units that are worth most per token, its header
included, then its other units one by one. Steps of all messages are taken in the order of their
worth per token, so that a second sentence of a good message competes with the first of a weaker
one. Pure functions on numbers; what a step costs in the end is asked of the caller.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Offer:
    """What one message may contribute.

    ``worth`` is that of the message, ``shares`` are the fractions of it that its units have,
    ``costs`` estimates of their tokens, ``header`` of what is shown once. ``needs`` lists for each
    unit the units without which it is not shown.
    """

    worth: float
    shares: tuple[float, ...]
    costs: tuple[float, ...]
    needs: tuple[tuple[int, ...], ...]
    header: float


@dataclass(frozen=True, slots=True)
class Step:
    """Units to add to what is shown of a message, and their worth per token."""

    density: float
    units: tuple[int, ...]


Take = Callable[[int, tuple[int, ...]], bool]
"""Called with a message's index and all units to show of it; False if they do not fit."""


def with_needed(unit: int, needs: Sequence[tuple[int, ...]]) -> set[int]:
    """A unit with all that it needs, directly or not."""
    found, waiting = {unit}, [unit]
    while waiting:
        for other in needs[waiting.pop()]:
            if other not in found:
                found.add(other)
                waiting.append(other)
    return found


def steps(offer: Offer) -> list[Step]:
    """The steps of a message, densest first; each adds to those before it."""
    parts = _parts(offer)
    gain = cost = 0.0
    best, size = -1.0, 0
    for number, (_, worth, tokens) in enumerate(parts, 1):
        gain, cost = gain + worth, cost + tokens
        if gain / (offer.header + cost) > best:
            best, size = gain / (offer.header + cost), number
    first = tuple(sorted(unit for units, _, _ in parts[:size] for unit in units))
    rest = [Step(worth / max(tokens, 1e-9), units) for units, worth, tokens in parts[size:]]
    return [Step(best, first), *rest]


def _parts(offer: Offer) -> list[tuple[tuple[int, ...], float, float]]:
    """Units with what they need, their worth and their cost, densest first, none twice."""
    shares, costs, needs = offer.shares, offer.costs, offer.needs
    spread = offer.header / 4  # of the header, so that very short units do not come first
    density = [
        share / (cost + spread)
        if not needed
        else _sum(shares, with_needed(unit, needs))
        / (_sum(costs, with_needed(unit, needs)) + spread)
        for unit, (share, cost, needed) in enumerate(zip(shares, costs, needs, strict=True))
    ]
    taken: set[int] = set()
    parts = []
    for unit in sorted(range(len(shares)), key=lambda unit: (-density[unit], unit)):
        if unit in taken:
            continue
        new = with_needed(unit, needs) - taken if needs[unit] else {unit}
        taken |= new
        parts.append((tuple(sorted(new)), offer.worth * _sum(shares, new), _sum(costs, new)))
    return parts


def _sum(values: Sequence[float], units: set[int]) -> float:
    return sum([values[unit] for unit in sorted(units)])


_MOST_REFUSALS = 12


def choose(offers: Sequence[Offer], take: Take) -> dict[int, tuple[int, ...]]:
    """Choose units of the messages (best message first) as long as ``take`` accepts them.

    The first message is served first, so that it is never crowded out: with less than its first
    step if that does not fit. A step that does not fit does not stop others, unless a dozen in
    succession did not.
    """
    plans = [steps(offer) for offer in offers]
    shown: dict[int, tuple[int, ...]] = {}
    waiting = [(-plan[0].density, index, 0) for index, plan in enumerate(plans) if index]
    heapq.heapify(waiting)
    if plans:
        first = _smallest_first(plans[0], offers[0], take)
        if first:
            shown[0] = first
            heapq.heappush(waiting, (-plans[0][0].density, 0, 0))
    refused = 0
    while waiting and refused < _MOST_REFUSALS:
        _, index, number = heapq.heappop(waiting)
        before = set(shown.get(index, ()))
        # A unit of an earlier step that it needs is missing if that step did not fit.
        added = _all_needed(plans[index][number].units, offers[index])
        units = tuple(sorted(before | added))
        if len(units) > len(before):
            if take(index, units):
                shown[index], refused = units, 0
            else:
                refused += 1
                if not before:
                    continue
        if number + 1 < len(plans[index]):
            heapq.heappush(waiting, (-plans[index][number + 1].density, index, number + 1))
    return shown


def _smallest_first(plan: Sequence[Step], offer: Offer, take: Take) -> tuple[int, ...]:
    """What is taken of the best message: its first step, else the best part that fits."""
    smaller = (tuple(sorted(_all_needed(units, offer))) for units, _, _ in _parts(offer))
    return next((units for units in (plan[0].units, *smaller) if units and take(0, units)), ())


def _all_needed(units: Sequence[int], offer: Offer) -> set[int]:
    return {need for unit in units for need in with_needed(unit, offer.needs)}
