"""Listing, correcting, forgetting, exporting and backing up on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.command_line import Cli, document, error_of


@pytest.fixture
def filled(quick: Cli) -> Cli:
    for number, (speaker, text) in enumerate((
        ("Ann", "I moved to Oslo in May."),
        ("Ben", "I work at Equinor."),
        ("Ann", "I like kayaks."),
    )):  # fmt: skip
        quick("add", text, "--id", f"m{number}", "--speaker", speaker, "--session", "s",
              "--at", f"2026-05-20T09:0{number}:00Z")  # fmt: skip
    return quick


@pytest.mark.slow
def test_messages_are_listed_page_by_page(filled: Cli) -> None:
    first = filled("messages", "--limit", "2")
    assert "m0" in first.stdout and "m1" in first.stdout and "m2" not in first.stdout
    cursor = first.stderr.strip().removeprefix("the next page: ")
    assert "m2" in filled("messages", cursor).stdout
    found = document(filled("messages", "--newest", "--speaker", "Ann", "--json"))
    assert [message["id"] for message in found["messages"]] == ["m2", "m0"]
    assert "no messages" in filled("messages", "--session", "nowhere").stderr
    assert filled("spaces").stdout == "default\n"


@pytest.mark.slow
def test_messages_are_listed_by_role_tag_and_metadata(quick: Cli) -> None:
    for id, more in (
        ("m0", ("--role", "user", "--tag", "home", "--metadata", '{"topic": "move", "n": 1}')),
        ("m1", ("--role", "tool", "--tag", "home", "--tag", "raw")),
        ("m2", ("--role", "user", "--metadata", '{"topic": "move", "n": 2}')),
    ):
        added = quick("add", f"Text {id}.", "--id", id, "--no-enrich", *more)
        assert added.returncode == 0, added.stderr

    def listed(*options: str) -> list[str]:
        found = document(quick("messages", "--json", *options))["messages"]
        return [message["id"] for message in found]

    assert listed("--role", "user") == ["m0", "m2"]
    assert listed("--role", "user", "--role", "tool") == ["m0", "m1", "m2"]
    assert listed("--tag", "home") == ["m0", "m1"]
    assert listed("--tag", "home", "--role", "tool") == ["m1"]
    assert listed("--metadata", "topic=move") == ["m0", "m2"]
    assert listed("--metadata", "topic=move", "--metadata", "n=2") == ["m2"]
    assert "no messages" in quick("messages", "--tag", "none").stderr


@pytest.mark.slow
def test_forgetting_is_shown_first_and_done_with_yes(filled: Cli, tmp_path: Path) -> None:
    listed = filled("forget", "--speaker", "Ann", "--dry-run").stdout
    assert "I moved to Oslo in May." in listed and "I like kayaks." in listed
    assert "m0" in listed and "Equinor" not in listed
    report = document(filled("forget", "--speaker", "Ann", "--dry-run", "--json"))
    assert [(item["session"], item["id"]) for item in report["listed"]] == [
        ("s", "m0"),
        ("s", "m2"),
    ]
    assert "give one of them" in error_of(filled("forget", "--everything", "--dry-run", "--yes"), 2)
    shown = filled("forget", "--message", "m1")
    assert shown.returncode == 0 and "nothing was deleted" in shown.stderr
    assert document(filled("messages", "--json"))["messages"][1]["id"] == "m1"
    report = document(filled("forget", "--message", "m1", "--yes", "--json"))
    assert (report["messages"], report["dry_run"], report["is_erased"]) == (1, False, True)
    assert report["reread"] == 2
    found = document(filled("messages", "--json"))["messages"]
    assert [message["id"] for message in found] == ["m0", "m2"]
    for file in tmp_path.glob("*.db*"):
        assert b"Equinor" not in file.read_bytes()
    assert "no message matches" in filled("forget", "--message", "m1", "--yes").stderr
    assert "say what to forget" in error_of(filled("forget"), 2)
    again = filled("add", "I work at Equinor.", "--id", "m1", "--speaker", "Ben", "--session", "s")
    assert "forgotten" in again.stdout + again.stderr


@pytest.mark.slow
def test_a_message_is_corrected(filled: Cli) -> None:
    done = filled("update", "m0", "I moved to Hamar in May.")
    assert "version 2" in done.stdout
    assert "no message 'm9'" in error_of(filled("update", "m9", "Text."), 2)
    filled("enrich")
    assert "Hamar" in filled("facts").stdout and "Oslo" not in filled("facts").stdout


@pytest.mark.slow
def test_a_space_is_exported_imported_and_backed_up(filled: Cli, tmp_path: Path) -> None:
    export = tmp_path / "all.jsonl"
    assert "wrote 3 messages" in filled("export", export, "--derived").stdout
    read = document(filled("import", export, "--space", "copy", "--json"))
    assert (read["messages"], read["pending"]) == (3, 0)
    copied, own = filled("facts", "--space", "copy").stdout, filled("facts").stdout
    assert [line.split()[:-1] for line in copied.splitlines()] == [
        line.split()[:-1] for line in own.splitlines()
    ]  # but for the ids, which are those of a space
    assert filled("spaces").stdout == "copy\ndefault\n"
    assert "holds messages" in error_of(filled("import", export), 2)
    assert "exists already" in error_of(filled("export", export), 3)
    copy = tmp_path / "backup.db"
    assert filled("backup", copy).returncode == 0
    assert filled("facts", "--db", copy).stdout == filled("facts").stdout


def test_a_fact_is_stated_on_the_command_line(quick: Cli) -> None:
    given = ("add-fact", "Ann", "lives in", "Oslo", "--from", "2026-05", "--source", "crm")
    stored = document(quick(*given, "--at", "2026-06-01T09:00:00Z", "--json"))
    assert (stored["new"], stored["text"]) == (True, "Ann lives in Oslo (2026-05)")
    (fact,) = document(quick("facts", "Ann", "--json"))["facts"]
    assert (fact["object"], fact["valid_from"]) == ("Oslo", "2026-05-01T00:00:00+00:00")
    assert [(item["id"], item["said_by"], item["provenance"]) for item in fact["sources"]] == [
        (stored["id"], "crm", "user")
    ]
    assert "valid_from must be one time" in error_of(
        quick("add-fact", "Ann", "lives in", "Oslo", "--from", "2026/2027"), 2
    )


@pytest.mark.slow
def test_expiry_and_profile_on_the_command_line(quick: Cli) -> None:
    at = ("--speaker", "Ann", "--at", "2025-05-20T09:00:00Z", "--json")
    quick("add", "I live in Oslo.", "--id", "m1", "--session", "a", *at)
    quick("add", "My room is 512.", "--id", "m2", "--session", "b",
        "--expires", "2025-05-21T09:00:00Z", *at)  # fmt: skip
    expired = ("forget", "--expired")
    planned = document(quick(*expired, "--json"))
    assert (planned["messages"], planned["dry_run"]) == (1, True)
    assert document(quick(*expired, "--yes", "--json"))["messages"] == 1
    assert [item["id"] for item in document(quick("messages", "--json"))["messages"]] == ["m1"]
    profile = document(quick("profile", "Ann", "--json"))
    assert [entry["slot"] for entry in profile["entries"]] == ["home"]
