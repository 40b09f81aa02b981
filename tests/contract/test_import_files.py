"""Files are brought into a space: once, again, changed, partly bad, or only looked at."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from cognigraph import BadRecordError, ConfigurationError, ImportProgress, Memory
from cognigraph.settings import InsertSettings, Settings
from cognigraph.testing import HashEmbedder
from tests.conftest import OpenMemory

DATA = Path(__file__).parents[1] / "data" / "imports"


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory(enrich="manual", settings=Settings(insert=InsertSettings(batch=4)))


def test_an_export_is_imported_once(memory: Memory, tmp_path: Path) -> None:
    seen: list[ImportProgress] = []
    space = memory.space("imported")
    foreseen = space.files.import_file(DATA / "chatgpt.json", dry_run=True)
    assert (foreseen.new, foreseen.rejected_count, foreseen.sessions) == (6, 1, 2)
    assert space.stats().messages == 0
    report = space.files.import_file(
        DATA / "chatgpt.json", skip_invalid=True, on_progress=seen.append
    )
    assert (report.read, report.new, report.known, report.formats) == (7, 6, 0, ("chatgpt",))
    assert [str(bad) for bad in report.rejected] == [
        "item 2 is no conversation: it has no 'mapping'"
    ]
    assert [item.read for item in seen] == [4, 7]
    assert seen[-1].bytes == seen[-1].total_bytes == (DATA / "chatgpt.json").stat().st_size
    assert str(report.first_at) == "2024-05-18 02:40:01.500000+00:00"
    call = space.get("n2")
    assert call is not None and call.raw["content"]["language"] == "json"
    again = space.files.import_file(DATA / "chatgpt.json", skip_invalid=True)
    assert (again.new, again.known, again.stored) == (0, 6, 6)
    foreseen = space.files.import_file(DATA / "chatgpt.json", dry_run=True)
    assert (foreseen.new, foreseen.known, foreseen.is_dry_run) == (0, 6, True)


def test_an_import_stops_at_a_bad_line_and_continues(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    good = [json.dumps({"text": f"Message {n}", "session": "s"}) for n in range(6)]
    file.write_text("\n".join([*good[:5], "{oops", good[5]]), "utf-8")
    space = memory.space("lines")
    with pytest.raises(BadRecordError) as caught:
        space.files.import_file(file)
    assert (caught.value.position, caught.value.stored) == ("line 6", 5)
    assert caught.value.reason.startswith("is not JSON: Expecting property name")
    file.write_text("\n".join(good), "utf-8")
    report = space.files.import_file(file)
    assert (report.new, report.known) == (1, 5)
    file.write_text('{"text": "Other", "id": "x"}\n{"text": "Another", "id": "x"}', "utf-8")
    with pytest.raises(BadRecordError, match="line 2 has the id 'x', which already belongs to an"):
        space.files.import_file(file)
    report = space.files.import_file(file, skip_invalid=True)
    assert (report.known, report.rejected[0].line) == (1, 2)


def test_a_repeated_import_embeds_only_what_is_new(tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    said = [{"text": f"Message {n}", "id": f"m{n}", "at": 1_700_000_000 + n} for n in range(40)]
    file.write_text("\n".join(map(json.dumps, said[:30])), "utf-8")
    embedded: list[str] = []

    def embed(texts: Sequence[str]) -> np.ndarray:
        embedded.extend(texts)
        return HashEmbedder().embed(texts)

    settings = Settings(insert=InsertSettings(batch=5))
    with Memory(tmp_path / "m.db", embedder=embed, enrich="manual", settings=settings) as memory:
        assert memory.files.import_file(file).new == 30
        file.write_text("\n".join(map(json.dumps, said)), "utf-8")
        embedded.clear()
        report = memory.files.import_file(file)
        assert (report.new, report.known) == (10, 30)
        assert embedded == [f"Message {n}" for n in range(30, 40)]
        said[20]["text"] = "Another text"
        file.write_text("\n".join(map(json.dumps, said)), "utf-8")
        with pytest.raises(BadRecordError, match="line 21 has the id 'm20', which already"):
            memory.files.import_file(file)


@pytest.mark.slow
def test_notes_are_kept_in_step(memory: Memory, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    plan, diary = notes / "plan.md", notes / "2026-05-20.md"
    plan.write_text("# Ferry\nIt leaves at eight.\n# Hotel\nBooked.\n", "utf-8")
    diary.write_text("It rained.", "utf-8")
    space = memory.space("notes")
    report = space.files.import_file(notes)
    assert (report.files, report.sessions, report.new) == (2, 2, 3)
    plan.write_text("# Ferry\nIt leaves at nine.\n", "utf-8")
    diary.unlink()
    foreseen = space.files.import_file(notes, prune=True, dry_run=True)
    assert (foreseen.updated, foreseen.pruned, space.stats().messages) == (1, 2, 3)
    report = space.files.import_file(notes, prune=True)
    assert (report.new, report.updated, report.pruned) == (0, 1, 2)
    assert [message.text for message in space.messages()] == ["# Ferry\nIt leaves at nine."]
    assert len(space.overview.versions("Ferry")) == 2
    plan.write_text("# Ferry\nIt leaves at eight.\n# Hotel\nBooked.\n", "utf-8")
    report = space.files.import_file(notes, prune=True)  # back to an earlier text, and to a section
    assert (report.new, report.updated, report.pruned) == (1, 1, 0)
    ferry = space.get("Ferry")
    assert ferry is not None and ferry.text == "# Ferry\nIt leaves at eight."
    assert space.files.import_file(notes).known == 2


def test_pruning_leaves_all_that_is_no_note_of_the_folder(memory: Memory, tmp_path: Path) -> None:
    space = memory.space("mixed")
    space.add("Said by hand.", session="plan.md", id="hand")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_text(f"# {name}\nText of {name}.", "utf-8")
        space.files.import_file(tmp_path / name, session=None)
    space.files.import_file(tmp_path / "two", prune=True)
    assert {message.id for message in space.messages()} == {"hand", "one", "two"}


def test_an_export_of_a_space_is_refused_with_what_reads_it(memory: Memory, tmp_path: Path) -> None:
    space = memory.space("exported")
    space.add("Hello.")
    space.files.export(tmp_path / "all.jsonl")
    with pytest.raises(ConfigurationError, match=r"files\.load\(\) reads it"):
        space.files.import_file(tmp_path / "all.jsonl")
    with pytest.raises(ConfigurationError, match=r"cannot read .*nothing"):
        space.files.import_file(tmp_path / "nothing")
