"""Notes of two folders that have the same name, in one space."""

from __future__ import annotations

from cognigraph import Memory


def test_pruning_one_folder_leaves_the_notes_of_another_with_the_same_name(tmp_path):
    for owner in ("ann", "ben"):
        folder = tmp_path / owner / "notes"
        folder.mkdir(parents=True)
        (folder / f"{owner}.md").write_text(f"# Me\nI am {owner}.\n")
    with Memory(tmp_path / "memory.db", enrich="manual") as memory:
        memory.files.import_file(tmp_path / "ann" / "notes", prune=True)
        report = memory.files.import_file(tmp_path / "ben" / "notes", prune=True)
        assert (report.new, report.pruned) == (1, 0)
        assert [message.session for message in memory.messages()] == ["ann.md", "ben.md"]
        (tmp_path / "ben" / "notes" / "ben.md").rename(tmp_path / "ben" / "notes" / "new.md")
        assert memory.files.import_file(tmp_path / "ben" / "notes", prune=True).pruned == 1
        assert {message.session for message in memory.messages()} == {"ann.md", "new.md"}
