"""Hooks in settings files: exactly our own text is written and taken out."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from cognigraph.hooks.agents import AGENTS, Agent, event_of, project_of, space_of
from cognigraph.hooks.settings import added, command, gone, installed, removed, settings_file
from tests.cases import each

ROOT = str(Path(__file__).parents[2])
WITH_SETTINGS = {name: agent for name, agent in AGENTS.items() if not agent.plugin}

FOREIGN = {"matcher": "Bash", "hooks": [{"type": "command", "command": "echo hi"}]}
FILES = {
    "empty": "{}",
    "empty on lines": "{\n}\n",
    "one line": '{"model": "opus"}',
    "no hooks": '{\n  "model": "opus",\n  "env": {"A": "1"}\n}\n',
    "tabs": '{\n\t"model": "opus"\n}',
    "empty hooks": '{\n  "hooks": {},\n  "model": "opus"\n}\n',
    "empty event": '{\n  "hooks": {\n    "Stop": [ ],\n    "stop": []\n  }\n}\n',
    "foreign": json.dumps({"hooks": {"Stop": [FOREIGN], "SessionStart": [FOREIGN]}}, indent=4),
    "foreign on one line": json.dumps({"hooks": {"Stop": [FOREIGN], "PreToolUse": [FOREIGN]}}),
    "comments": (
        '{\n  // mine\n  "hooks": {\n    "Stop": [] /* none */, // yet\n  },\n  "a": 1, // b\n}\n'
    ),
    "windows": '{\r\n  "model": "opus",\r\n  "hooks": {\r\n    "Stop": []\r\n  }\r\n}\r\n',
    "byte order mark": '\ufeff{\n  "model": "Grüße"\n}\n',
    "odd spaces": '{ "a" : 1 ,\n\n     "hooks":{ "Stop":[  {"hooks":[ ]}  ] } }',
}


@each(
    ("agent", "text"),
    product(WITH_SETTINGS.values(), FILES.values()),
    ids=map(" ".join, product(WITH_SETTINGS, FILES)),
)
def test_what_is_removed_is_what_was_added(agent: Agent, text: str) -> None:
    with_hooks = added(text, agent, None)
    wanted = {event: command(agent, event, None) for event in agent.events}
    assert installed(with_hooks, agent) == wanted
    assert installed(text, agent) == {}
    assert removed(with_hooks, agent) == text
    assert added(with_hooks, agent, None) == with_hooks
    elsewhere = added(with_hooks, agent, Path("/other.db"))
    assert installed(elsewhere, agent) != wanted
    assert all(name.endswith("--db /other.db") for name in installed(elsewhere, agent).values())
    assert removed(elsewhere, agent) == text


def test_hooks_that_were_installed_earlier_are_replaced() -> None:
    claude = AGENTS["claude-code"]
    earlier = {"command": "/old/python -P -m cognigraph hook claude-code Stop --db /a.db"}
    text = json.dumps({"hooks": {"Stop": [{"hooks": [earlier]}]}})
    assert installed(text, claude) == {"Stop": earlier["command"]}
    assert gone(earlier["command"]) == ["/old/python"]
    assert installed(added(text, claude, None), claude)["Stop"] == command(claude, "Stop", None)


def test_what_a_command_needs_is_looked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    claude = AGENTS["claude-code"]
    assert gone(command(claude, "Stop", None)) == []
    monkeypatch.setattr("cognigraph.__file__", str(tmp_path / "it's here/cognigraph/__init__.py"))
    moved = command(claude, "Stop", None)
    assert gone(moved) == [str(tmp_path / "it's here/cognigraph")]
    with_hooks = added(None, claude, None)
    assert installed(with_hooks, claude)["Stop"] == moved
    # Claude Code rejects a prompt whose hook ends with 2, but not for another code.
    assert subprocess.run(moved, shell=True, stderr=subprocess.DEVNULL, check=False).returncode == 1


@pytest.mark.parametrize("agent", WITH_SETTINGS.values(), ids=WITH_SETTINGS)
def test_a_file_that_is_made_is_removed(agent: Agent) -> None:
    text = added(None, agent, None)
    given = json.loads(text)
    assert given.keys() == ({"hooks"} if agent.is_grouped else {"hooks", "version"})
    assert given["hooks"].keys() == agent.events.keys()
    assert removed(text, agent) is None


def test_the_form_is_that_of_the_agent() -> None:
    claude, cursor = AGENTS["claude-code"], AGENTS["cursor"]
    given = json.loads(added('{"model": "opus"}', claude, None))
    hook = {"type": "command", "command": command(claude, "Stop", None), "timeout": 10}
    assert given["model"] == "opus"
    assert given["hooks"]["Stop"] == [{"hooks": [hook]}]
    flat = json.loads(added(None, cursor, None))
    assert flat["hooks"]["sessionStart"] == [{"command": command(cursor, "sessionStart", None)}]
    assert claude.answer("SessionStart", "x") == {
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "x"}
    }
    assert cursor.answer("sessionStart", "x") == {"additional_context": "x"}


def test_what_was_written_behind_and_into_our_hooks_stays() -> None:
    claude = AGENTS["claude-code"]
    given = json.loads(added("{}", claude, None))
    given["hooks"]["Stop"].append(FOREIGN)
    given["hooks"]["PreCompact"][0]["hooks"].append({"type": "command", "command": "echo own"})
    given["later"] = True
    rest = json.loads(removed(json.dumps(given, indent=2), claude) or "")
    assert rest == {
        "hooks": {
            "Stop": [FOREIGN],
            "PreCompact": [{"hooks": [{"type": "command", "command": "echo own"}]}],
        },
        "later": True,
    }
    commented = added('{\n  "a": 1\n}\n', claude, None).replace('"a": 1,', '"a": 1, // mine')
    assert "// mine" in (removed(commented, claude) or "")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "Expecting value"),
        ("{", "Expecting property name .*: line 1 column 2"),
        ('{\n"a": 1 /*\n*/ "b": 2}', "Expecting ',' delimiter: line 3 column 4"),
        ("{} x", "Extra data: line 1 column 4"),
        ("{,}", "Expecting property name .*: line 1 column 2"),
        ("[]", "it is not an object"),
        ('{"hooks": []}', "its hooks are not an object"),
        ('{"hooks": {"Stop": {}}}', "its hooks for Stop are not a list"),
    ],
)
def test_a_broken_file_is_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        added(text, AGENTS["gemini"], None)
    with pytest.raises(ValueError, match=problem):
        removed(text, AGENTS["codex"])


def test_a_project_is_its_repository(tmp_path: Path) -> None:
    root = tmp_path / "my app"
    inner = root / "src" / "deep"
    inner.mkdir(parents=True)
    assert project_of(inner) == str(inner)
    (root / ".git").mkdir()
    assert project_of(inner) == str(root)
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {root}/.git/worktrees/tree\n")
    assert project_of(tree) == str(root)
    assert space_of(tree) == space_of(inner) == space_of(root)
    assert space_of(root).startswith("my-app-") and len(space_of(root)) == len("my-app-") + 6
    other = tmp_path / "other" / "my app"
    other.mkdir(parents=True)
    assert space_of(other) != space_of(root)


def test_what_agents_send_becomes_events(tmp_path: Path) -> None:
    base = {"session_id": "s1", "cwd": str(tmp_path), "transcript_path": "/t.jsonl"}
    prompt = event_of(AGENTS["claude-code"], "UserPromptSubmit", base | {"prompt": "Hello"})
    assert prompt is not None
    assert (prompt.kind, prompt.text, prompt.transcript) == ("prompt", "Hello", "/t.jsonl")
    end = event_of(AGENTS["claude-code"], "SessionEnd", base | {"reason": "exit"})
    assert end is not None and end.is_end and end.text == ""
    turn = base | {"turn_id": "t7", "last_assistant_message": "Done."}
    stop, again = (event_of(AGENTS["codex"], "Stop", turn) for _ in range(2))
    assert stop is not None and again is not None
    assert (stop.text, stop.transcript, stop.id) == ("Done.", "/t.jsonl", again.id)
    whole = event_of(AGENTS["gemini"], "AfterAgent", turn | {"transcript_path": "/t.json"})
    assert whole is not None and whole.transcript is None
    given = base | {"prompt": "<hook_context>[memory]\na\n[/memory]</hook_context>\n\nHello"}
    asked = event_of(AGENTS["gemini"], "BeforeAgent", given)
    assert asked is not None and asked.text == "Hello"
    assert event_of(AGENTS["codex"], "Stop", turn | {"agent_id": "a1"}) is None
    asked = event_of(AGENTS["codex"], "UserPromptSubmit", turn | {"prompt": "Done."})
    assert asked is not None and asked.id != stop.id
    gemini = base | {"timestamp": "2026-05-20T09:00:00.000Z", "prompt": "a", "prompt_response": "b"}
    after = event_of(AGENTS["gemini"], "AfterAgent", gemini)
    assert after is not None
    assert (after.text, after.at) == ("b", "2026-05-20T09:00:00.000Z")
    cursor = {"conversation_id": "c", "generation_id": "g", "workspace_roots": [str(tmp_path)],
              "cursor_version": "3", "text": "x"}  # fmt: skip
    said = event_of(AGENTS["cursor"], "afterAgentResponse", cursor)
    assert said is not None
    assert (said.session, said.space) == ("c", space_of(tmp_path))
    assert event_of(AGENTS["claude-code"], "Stop", cursor | base) is None
    assert event_of(AGENTS["claude-code"], "Notification", base) is None


def test_a_plugin_is_a_file_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    opencode = AGENTS["opencode"]
    text = added(None, opencode, Path("/a b.db"))
    assert added(text, opencode, Path("/a b.db")) == text
    commands = installed(text, opencode)
    assert commands.keys() == opencode.events.keys()
    assert all("hook opencode --db '/a b.db' session." in command for command in commands.values())
    assert removed(text, opencode) is None
    for foreign in ("", "export default {}", 'const COMMAND = ["rm"];'):
        for change in (removed, lambda text, agent: added(text, agent, None)):
            with pytest.raises(ValueError, match="not a plugin of cognigraph"):
                change(foreign, opencode)
    monkeypatch.setenv("XDG_CONFIG_HOME", "/config")
    assert opencode.user_folder() == "/config/opencode"
    assert settings_file(opencode, "/app") == Path("/app/.opencode/plugins/cognigraph.js")


def test_a_hook_loads_next_to_nothing() -> None:
    """An agent waits for it: without the libraries it takes a few hundredths of a second."""
    text = (
        "import sys, cognigraph.cli, cognigraph.hooks.run; print(*sys.modules);"
        "import cognigraph.stores.start_blocks; print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {ROOT!r}); {text}"],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    loaded, with_block = (set(line.split()) for line in done.stdout.splitlines())
    slow = {"pathlib", "typing", "datetime", "hashlib", "subprocess", "argparse", "asyncio"}
    assert not loaded & (slow | {"sqlite3", "numpy", "rich", "neo4j"})
    assert {name for name in loaded if name.startswith("cognigraph")} == {
        "cognigraph", "cognigraph._version", "cognigraph.cli", "cognigraph.deferred",
        "cognigraph.hooks", "cognigraph.hooks.agents", "cognigraph.hooks.handover",
        "cognigraph.hooks.run", "cognigraph.text", "cognigraph.text.hook_context",
    }  # fmt: skip
    assert {name for name in with_block - loaded if name.startswith("cognigraph")} == {
        "cognigraph.stores",
        "cognigraph.stores.start_blocks",
    }
