"""The lines of a prompt block for what writers keep: the core profile, and procedures that fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from cognigraph.model import Filter, Written
from cognigraph.retrieve.plan import SearchRequest
from cognigraph.settings import ContextSettings
from cognigraph.text.marks import INDENT, estimate_tokens, one_line, same_lines
from cognigraph.text.terms import query_terms

PROFILE_SHARE = 0.2
"""The largest share of a block for the core profile."""
PROCEDURE_SHARE = 0.15
MOST_PROCEDURES = 3


def written_lines(
    request: SearchRequest, settings: ContextSettings, max_tokens: int
) -> tuple[str, ...]:
    """The profile, as far as it fits, and the procedures that share words with the question.

    With a filter there are none, because they may tell what messages say that do not pass it.
    """
    if request.where != Filter():
        return ()
    known = newest(request.store.graph.written(request.space), request.as_of)
    count = settings.count_tokens or estimate_tokens
    profile = [line for one in known if one.kind == "profile" for line in same_lines(one.text)]
    room = int(max_tokens * PROFILE_SHARE)
    lines = _fitting("Profile:", (line for line in profile if line.strip()), room, count)
    procedures = relevant([one for one in known if one.kind == "procedure"], request.question)
    shown = (procedure_line(one) for one in procedures[:MOST_PROCEDURES])
    return (*lines, *_fitting("Procedures:", shown, int(max_tokens * PROCEDURE_SHARE), count))


def newest(written: Iterable[Written], as_of: datetime | None) -> list[Written]:
    """The newest version of each chain; with ``as_of``, of what had been said by then."""
    found: dict[str, Written] = {}
    for one in sorted(written, key=lambda one: one.version):
        if as_of is None or one.at <= as_of:
            found[one.chain] = one
    return list(found.values())


def relevant(procedures: Sequence[Written], question: str) -> list[Written]:
    """The procedures that have a word of the question, those with most of them first."""
    asked = set(query_terms(question))
    scored = [
        (len(asked & set(query_terms(" ".join((one.title, one.text, *one.steps))))), one)
        for one in procedures
    ]
    ranked = sorted(scored, key=lambda pair: (-pair[0], pair[1].title, pair[1].chain))
    return [one for score, one in ranked if score]


def procedure_line(procedure: Written) -> str:
    """A procedure with its context and its numbered steps."""
    steps = " ".join(f"{number}. {step}" for number, step in enumerate(procedure.steps, 1))
    where = f" ({procedure.text})" if procedure.text else ""
    return one_line(f"{procedure.title}{where}: {steps}")


def _fitting(
    heading: str, lines: Iterable[str], room: int, count: Callable[[str], int]
) -> list[str]:
    """The heading and the lines that fit; nothing if no line does."""
    taken: list[str] = []
    left = room - count(f"\n{heading}")
    for line in lines:  # indented, so that none stands where a heading does
        line = f"{INDENT}{line}"
        cost = count(f"\n{line}")
        if cost <= left:
            taken.append(line)
            left -= cost
    return [heading, *taken] if taken else []
