"""The generated tables: how numbers are written, and that a stale table is noticed."""

from __future__ import annotations

import pytest

from bench import figures
from tests.cases import each


@each(
    ("number", "written"),
    [(0.0301, "+.030"), (-0.0689, "−.069"), (0.0004, ".000"), (-0.0004, ".000"), (1.0, "+1.000")],
)
def test_a_difference_has_a_sign_unless_it_rounds_to_zero(number: float, written: str) -> None:
    assert figures.difference(number) == written


@pytest.mark.parametrize(("number", "written"), [(0.8923, ".892"), (1.0, "1.000"), (0.0, ".000")])
def test_a_share_has_three_digits(number: float, written: str) -> None:
    assert figures.share(number) == written


@pytest.mark.parametrize(("number", "written"), [(0.492, "0.49 ms"), (122.34, "122.3 ms")])
def test_milliseconds_below_one_have_two_digits(number: float, written: str) -> None:
    assert figures.ms(number) == written


def test_a_table_has_a_row_for_each_result(monkeypatch: pytest.MonkeyPatch) -> None:
    real = figures.result
    times = {"prefilled": {"p50_ms": 0.492, "p95_ms": 0.698, "p99_ms": 1.0}}
    monkeypatch.setattr(
        figures,
        "result",
        lambda name: real(name) | (times if name == "insert-sqlite" else {}),
    )
    lines = figures.insert().splitlines()
    assert [line.split(" | ")[0] for line in lines] == ["| ", "| ---", "| SQLite", "| Neo4j"]
    assert "0.49 ms / 0.70 ms" in lines[2]


def test_a_changed_result_makes_its_tables_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    real = figures.result

    def changed(name: str) -> object:
        found = real(name)
        return found | {"growth": 7.77} if name == "insert-sqlite" else found

    monkeypatch.setattr(figures, "result", changed)
    assert [path.name for path in figures.stale()] == ["insert.md"]
