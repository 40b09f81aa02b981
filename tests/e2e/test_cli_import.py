"""Importing files and watching notes on the command line."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
import zstandard

from cognigraph.importers.formats import READERS
from tests.e2e.command_line import Cli, command, document, environment, error_of

DATA = Path(__file__).parents[1] / "data" / "imports"


def test_a_dry_run_says_what_is_in_a_file_and_stores_nothing(quick: Cli, tmp_path: Path) -> None:
    told = quick("import", DATA / "claude-code.jsonl", "--dry-run")
    assert told.returncode == 0
    assert "5 new messages would be stored, 0 stored before" in told.stdout
    assert "1 file (claude-code) with 1 session, from 2025-11-01 08:00 to 2025" in told.stdout
    assert "nothing was stored" in told.stderr
    assert list(tmp_path.iterdir()) == []
    report = document(quick("import", DATA / "claude.json", "--dry-run", "--json"), 1)
    assert (report["new"], report["is_dry_run"], report["rejected_count"]) == (4, True, 1)
    assert report["rejected"] == [
        {"position": "item 1, message 4", "reason": "is not a JSON object", "line": None}
    ]


def test_a_folder_of_another_format_is_read_when_it_is_named(quick: Cli, tmp_path: Path) -> None:
    project = tmp_path / "projects" / "-home-ann-app"
    project.mkdir(parents=True)
    shutil.copy(DATA / "claude-code.jsonl", project / "s-1.jsonl")
    (project / "s-2.jsonl").write_text("{oops\n", "utf-8")
    assert "no files with the suffix .md or .markdown" in error_of(quick("import", "projects"), 2)
    options = ("--format", "claude-code", "--skip-invalid", "--no-enrich", "--json")
    report = document(quick("import", "projects", *options), 1)
    assert (report["files"], report["new"], report["formats"]) == (2, 5, ["claude-code"])
    assert report["rejected"][0]["position"] == "-home-ann-app/s-2.jsonl: line 1"
    again = document(quick("import", "projects", *options), 1)
    assert (again["new"], again["known"]) == (0, 5)


@pytest.mark.slow
def test_options_of_an_import(quick: Cli, tmp_path: Path) -> None:
    shutil.copy(DATA / "table.csv", tmp_path / "in.csv")
    said = error_of(quick("import", "in.csv", "--no-enrich"), 2)
    assert "line 6 has 5 cells, but there are 4 columns; 2 messages read so far are stored" in said
    done = quick("import", "in.csv", "--columns", "at=Sent At", "--skip-invalid", "--no-enrich")
    assert "left out: line 6 has 5 cells" in done.stderr
    (tmp_path / "note.md").write_text("# Ferry\nAt eight.", "utf-8")
    done = quick("import", "note.md", "--speaker", "Ann", "--session", "trips", "--no-enrich")
    assert done.returncode == 0
    (note,) = document(quick("messages", "--session", "trips", "--json"))["messages"]
    assert (note["speaker"], note["id"], note["tags"]) == ("Ann", "Ferry", ["note"])
    assert "did you mean" in error_of(quick("import", "in.csv", "--format", "markdwon"), 2)
    told = " ".join(quick("import", "--help").stdout.split())
    assert all(f"{reader.name} {reader.what}" in told for reader in READERS.values())


@pytest.mark.parametrize(
    ("file", "format", "new"),
    [
        ("slack", "slack", 5), ("telegram.json", "telegram", 6),
        ("WhatsApp Chat with Trip.txt", "whatsapp", 5), ("mail.mbox", "mbox", 4),
    ],
)  # fmt: skip
def test_chats_of_people_are_known_by_themselves(
    quick: Cli, file: str, format: str, new: int
) -> None:
    options = ("--dry-run", "--skip-invalid", "--json", "--timezone", "Europe/Oslo")
    report = json.loads(quick("import", DATA / file, *options).stdout)
    assert (report["formats"], report["new"], report["first_at"][:10]) == (
        [format], new, "2026-05-20",
    )  # fmt: skip


@pytest.mark.slow
def test_a_dump_goes_to_the_spaces_of_its_owners_unless_one_is_named(
    quick: Cli, tmp_path: Path
) -> None:
    told = quick("import", DATA / "mem0.json", "--skip-invalid", "--dry-run")
    assert "2 new messages would be stored" in told.stdout
    assert "for 1 space: user_id:alice" in told.stdout
    assert list(tmp_path.iterdir()) == []
    graphiti = document(quick("import", DATA / "graphiti.json", "--json"))
    assert (graphiti["spaces"], graphiti["new"], graphiti["enriched"]["chunks"]) == (["g"], 2, 2)
    assert quick("search", "Oslo", "--space", "g").returncode == 0
    named = document(
        quick("import", DATA / "mem0.json", "--skip-invalid", "--json", "--space", "one"), 1
    )
    by_environment = document(
        quick("import", DATA / "graphiti.json", "--json", COGNIGRAPH_SPACE="two"), 0
    )
    assert (named["spaces"], by_environment["spaces"]) == (["one"], ["two"])
    assert document(quick("spaces", "--json"))["spaces"] == ["g", "one", "two"]
    found = document(quick("messages", "--json", COGNIGRAPH_SPACE="two"))["messages"]
    assert len(found) == 2
    assert document(quick("messages", "--json", "--space", "one", COGNIGRAPH_SPACE="two"))


@pytest.mark.slow
def test_watching_follows_notes_until_it_is_interrupted(quick: Cli, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# Ferry\nAt eight.\n# Hotel\nBooked.", "utf-8")
    process = subprocess.Popen(
        command("watch", "notes", "--every", "0.05", "--no-enrich"),
        cwd=tmp_path, env=environment(), text=True, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert process.stderr is not None
    assert "2 new messages" in process.stderr.readline()
    (notes / "b.md").write_text("Packed.", "utf-8")
    assert "1 new message, 2 stored before" in process.stderr.readline()
    (notes / "a.md").write_text("# Ferry\nAt nine, not eight.", "utf-8")
    said = process.stderr.readline()
    assert "1 given a new text" in said and "1 forgotten" in said
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "stopped watching; everything read so far is stored" in rest
    found = json.loads(quick("messages", "--json").stdout)["messages"]
    assert {message["text"] for message in found} == {"# Ferry\nAt nine, not eight.", "Packed."}
    assert "nowhere is no folder" in error_of(quick("watch", "nowhere"), 2)


@pytest.mark.slow
@pytest.mark.parametrize("format", ["claude-code", "codex"])
def test_transcripts_of_agents_are_watched(quick: Cli, tmp_path: Path, format: str) -> None:
    name, total = {
        "claude-code": ("claude-code.jsonl", 5),
        "codex": ("rollout-2026-05-20T09-00-00-01a0f082-0630-7d50-a1b2-c3d4e5f6a7b8.jsonl", 5),
    }[format]
    lines = (DATA / name).read_text("utf-8").splitlines(keepends=True)
    transcript = tmp_path / "sessions" / "2026" / name
    transcript.parent.mkdir(parents=True)
    transcript.write_text("".join(lines[:3]), "utf-8")
    process = subprocess.Popen(
        command("watch", "sessions", "--format", format, "--every", "0.05", "--no-enrich"),
        cwd=tmp_path, env=environment(), text=True, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr is not None
    if format != "codex":  # its first lines are not said by anybody
        assert f"2026/{name}: read " in process.stderr.readline()
    with transcript.open("a", encoding="utf-8") as file:
        file.write("".join(lines[3:]))
    assert f"2026/{name}: read {total} messages" in process.stderr.readline()
    if format == "codex":  # it packs its sessions after a while
        packed = transcript.with_name(f"{name}.zst")
        packed.write_bytes(zstandard.compress(transcript.read_bytes()))
        transcript.unlink()
        other = packed.with_name(packed.name.replace("01a0f082", "99999999"))
        text = "".join(lines).replace("01a0f082", "99999999")
        other.write_bytes(zstandard.compress(text.encode()))
        assert f"2026/{other.name}: read {total} messages" in process.stderr.readline()
        total *= 2
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == 0
    assert len(json.loads(quick("messages", "--json").stdout)["messages"]) == total


@pytest.mark.slow
def test_watching_an_empty_folder_forgets_nothing(quick: Cli, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("Packed.", "utf-8")
    assert quick("import", "notes", "--no-enrich").returncode == 0
    (notes / "a.md").unlink()
    process = subprocess.Popen(
        command("watch", "notes"), cwd=tmp_path, env=environment(), text=True,
        stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr is not None
    assert "there are no Markdown notes in notes; nothing was changed" in process.stderr.readline()
    time.sleep(0.1)
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == 0
    assert len(json.loads(quick("messages", "--json").stdout)["messages"]) == 1
