"""What an import keeps in memory does not grow with what it reads."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from cognigraph import Memory
from cognigraph.importers.source import FolderFiles, locate
from cognigraph.model import ImportReport


def peak(table: Path) -> tuple[ImportReport, int]:
    """The report of a dry run, and the most bytes it needed beyond those before it."""
    with Memory(table.with_suffix(".db"), enrich="manual") as memory:
        tracemalloc.start()
        try:
            report = memory.files.import_file(table, dry_run=True)
            return report, tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


def table(path: Path, rows: int) -> Path:
    lines = (f"2026-05-01T10:00:00Z,row number {n}\n" for n in range(rows))
    path.write_text("at,text\n" + "".join(lines), "utf-8")
    return path


@pytest.mark.slow
def test_rows_without_an_id_are_not_remembered(tmp_path: Path) -> None:
    peak(table(tmp_path / "warm.csv", 600))
    few, small = peak(table(tmp_path / "few.csv", 1_200))
    many, large = peak(table(tmp_path / "many.csv", 3_000))
    assert (few.new, many.new) == (1_200, 3_000)
    assert large - small < 1_800 * 40  # a hash of each row in a dict takes three times as much


def test_a_folder_is_walked_in_the_order_of_its_names(tmp_path: Path) -> None:
    names = ["a.md", "a/z.md", "a b.md", "B.md", "a/b/c.markdown", "z/a.md"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("hi", "utf-8")
    files = locate(tmp_path, (".md", ".markdown"))
    assert isinstance(files, FolderFiles)
    found = [file.name for file in files]
    assert found == [
        path.relative_to(tmp_path).as_posix()
        for path in sorted(tmp_path.rglob("*"))
        if path.is_file()
    ]
    assert sorted(found) == sorted(names)
    (tmp_path / "z" / "b.md").symlink_to(tmp_path.parent / "outside.md")
    (tmp_path.parent / "outside.md").write_text("secret", "utf-8")
    assert [name in files for name in ("a/z.md", "a.md", "no.md", "z/b.md")] == [
        True, True, False, False,
    ]  # fmt: skip
    outside = ("../outside.md", "z/../a.md", f"{tmp_path}/a.md", "a\0.md", "", ".md")
    assert not any(name in files for name in outside)
