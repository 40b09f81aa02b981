"""Many cheap cases in one test.

``pytest.mark.parametrize`` makes a test of each case. That costs some milliseconds for each, in
every process of a run: more than most of these cases take.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any, NoReturn

import pytest


def each(
    names: str | Sequence[str], cases: Iterable[Any], ids: Iterable[str] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call a test with each case, as ``pytest.mark.parametrize`` does, and report all that fail.

    The cases share the fixtures of the test: use it where no case changes what another one sees.

    Args:
        names: The parameters that a case gives, in a sequence or with commas between them.
        cases: The values, or tuples of them where there are several names.
        ids: What the report calls the cases; by default the values.
    """
    given = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]
    rows = [(case,) if isinstance(names, str) and len(given) == 1 else case for case in cases]
    labels = [*ids] if ids is not None else [", ".join(map(repr, row)) for row in rows]
    if not rows:
        raise ValueError("a test without cases would check nothing")

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)
        fixtures = [one for name, one in signature.parameters.items() if name not in given]

        @wraps(test)
        def run(**shared: Any) -> None:
            failed: list[BaseException] = []
            for label, row in zip(labels, rows, strict=True):
                try:
                    test(**dict(zip(given, row, strict=True)), **shared)
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  raised below
                    error.add_note(f"in the case {label}")
                    failed.append(error)
            if failed:
                _report(failed, len(rows))

        run.__signature__ = signature.replace(parameters=fixtures)  # type: ignore[attr-defined]
        return run

    return decorate


def first_on_neo4j(cases: Iterable[Any]) -> list[Any]:
    """Cases for ``pytest.mark.parametrize`` of which Neo4j runs the first, and SQLite all.

    A tuple has a value for each of several parameters.
    """
    first, *others = cases
    rows = (case if isinstance(case, tuple) else (case,) for case in others)
    return [first, *(pytest.param(*row, marks=pytest.mark.above_stores) for row in rows)]


def _report(failed: list[BaseException], cases: int) -> NoReturn:
    if len(failed) == 1:
        raise failed[0]
    raise BaseExceptionGroup(f"{len(failed)} of {cases} cases failed", failed)
