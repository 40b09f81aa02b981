"""The coding agents that have hooks: where their settings are, what they send and what they take.

Sources: the hook references of `Claude Code <https://code.claude.com/docs/en/hooks>`_, `Gemini CLI
<https://geminicli.com/docs/hooks/reference>`_ and `Cursor <https://cursor.com/docs/hooks>`_, the
schemas in ``codex-rs/hooks/schema`` of Codex, and the plugin references of OpenCode
`1 <https://opencode.ai/v1/docs/plugins>`_ and `2 <https://opencode.ai/docs/build/plugins>`_, whose
events here are those of its plugin. This module is loaded at every event, so it
imports little: data classes would take longer than all the rest.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, NamedTuple

from cognigraph.text.hook_context import without_hook_context

Kind = Literal["start", "prompt", "answer", "keep"]
"""What an event means: a session begins (or goes on), the user or the agent has said something, or
the transcript is about to be shortened or left."""

TIMEOUT_SECONDS = 10
PERSON = "person"
"""The space of what holds in every project."""


class Agent(NamedTuple):
    """One agent.

    Args:
        name: its name on the command line.
        folder: its folder in the home folder and in a project.
        home: the environment variable that names the folder in the home folder, if there is one.
        file: the settings file in the folder.
        project_file: that of a project.
        events: its events that are used, and what they mean.
        memory: the file in its folder in which it keeps what holds for the user everywhere.
        timeout: after how long it ends a hook, in its own unit; ``None`` for its default.
        is_grouped: whether hooks are in groups with a matcher, as Claude Code has them.
        plugin: the file beside this one that is its plugin, if it has no hooks in its settings.
        project_folder: its folder in a project, if it is called otherwise there.
        takes_context: the kinds of event at which it takes text for the model.
        has_transcript: whether its transcript can be read while it grows, by the importer with the
            agent's name, so that messages have the same ids as in an import.
    """

    name: str
    folder: str
    file: str
    events: Mapping[str, Kind]
    project_file: str | None = None
    home: str | None = None
    memory: str | None = None
    timeout: int | None = None
    is_grouped: bool = True
    takes_context: tuple[Kind, ...] = ("start", "prompt")
    has_transcript: bool = False
    plugin: str | None = None
    project_folder: str | None = None

    def user_folder(self, environ: Mapping[str, str] | None = None) -> Path:
        """Its folder of the user."""
        given = (os.environ if environ is None else environ).get(self.home or "", "").strip()
        if given and self.plugin:  # the variable names the folder around it
            return Path(given).expanduser() / Path(self.folder).name
        return Path(given).expanduser() if given else Path.home() / self.folder

    def settings_file(self, project: Path | None) -> Path:
        """Its settings: those of a project, or those of the user."""
        if project is None:
            return self.user_folder() / self.file
        return project / (self.project_folder or self.folder) / (self.project_file or self.file)

    def answer(self, event: str, block: str) -> dict[str, Any]:
        """A block in the form in which the agent takes it."""
        if not self.is_grouped:
            return {"additional_context": block}
        return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": block}}


AGENTS: Mapping[str, Agent] = {
    agent.name: agent
    for agent in (
        Agent(
            name="claude-code",
            folder=".claude",
            file="settings.json",
            # The command has the path of this machine's Python: not for the file that is committed.
            project_file="settings.local.json",
            home="CLAUDE_CONFIG_DIR",
            memory="CLAUDE.md",
            timeout=TIMEOUT_SECONDS,
            events={
                "SessionStart": "start",
                "UserPromptSubmit": "prompt",
                "Stop": "answer",
                "PreCompact": "keep",
                "SessionEnd": "keep",
            },
            has_transcript=True,
        ),
        Agent(
            name="codex",
            folder=".codex",
            file="hooks.json",
            home="CODEX_HOME",
            memory="AGENTS.md",
            timeout=TIMEOUT_SECONDS,
            events={"SessionStart": "start", "UserPromptSubmit": "prompt", "Stop": "answer"},
            has_transcript=True,
        ),
        Agent(
            name="gemini",
            folder=".gemini",
            file="settings.json",
            memory="GEMINI.md",
            timeout=TIMEOUT_SECONDS * 1000,
            events={"SessionStart": "start", "BeforeAgent": "prompt", "AfterAgent": "answer"},
            has_transcript=True,
        ),
        Agent(
            name="cursor",
            folder=".cursor",
            file="hooks.json",
            is_grouped=False,
            takes_context=("start",),
            events={
                "sessionStart": "start",
                "beforeSubmitPrompt": "prompt",
                "afterAgentResponse": "answer",
            },
        ),
        Agent(
            name="opencode",
            folder=".config/opencode",
            project_folder=".opencode",
            home="XDG_CONFIG_HOME",
            file="plugins/cognigraph.js",
            memory="AGENTS.md",
            is_grouped=False,
            plugin="opencode.js",
            events={
                "session.start": "start",
                "session.prompt": "prompt",
                "session.answer": "answer",
            },
        ),
    )
}

_TEXTS: Mapping[Kind, tuple[str, ...]] = {
    "prompt": ("prompt",),
    "answer": ("last_assistant_message", "prompt_response", "text"),
}
"""The field with what was said, by agent: Claude Code and Codex, Gemini CLI, Cursor."""


class Event(NamedTuple):
    """One event of a conversation, as it waits to be stored.

    Args:
        agent: the agent's name.
        kind: what it means.
        at: when it happened, in ISO 8601.
        space: the space of the project.
        session: the conversation.
        id: the id of the message if ``text`` is stored as one.
        text: what was said; empty if the event does not say it.
        transcript: the path of the transcript, if it can be read.
        is_end: whether the conversation ends with it.
        memory: the path of what the agent keeps for the user everywhere.
    """

    agent: str
    kind: Kind
    at: str
    space: str
    session: str
    id: str
    text: str
    transcript: str | None
    is_end: bool
    memory: str | None


def event_of(agent: Agent, name: str, given: Mapping[str, Any]) -> Event | None:
    """The event that an agent has sent; ``None`` if it is none of this agent's.

    Cursor also runs the hooks of Claude Code. It has hooks of its own, and its transcripts are
    others. What happens in a sub-agent (it has an ``agent_id``) is no talk with the user.
    """
    kind = agent.events.get(name)
    session = _text(given, "session_id", "conversation_id")
    if kind is None or not session or _text(given, "agent_id"):
        return None
    if "cursor_version" in given and agent.name != "cursor":
        return None
    at = _text(given, "timestamp") or datetime.now(UTC).isoformat()
    text = without_hook_context(_text(given, *_TEXTS.get(kind, ())))
    turn = _text(given, "turn_id", "generation_id") or at
    digest = blake2b("\0".join((session, turn, kind, text)).encode("utf-8", "replace"))
    memory = agent.user_folder() / agent.memory if agent.memory and kind == "start" else None
    return Event(
        agent=agent.name,
        kind=kind,
        at=at,
        space=space_of(folder_of(given)),
        session=session,
        id=_text(given, "message_id") or f"hook-{digest.hexdigest()[:16]}",
        text=text,
        transcript=_transcript(given) if agent.has_transcript else None,
        is_end=name == "SessionEnd",
        memory=str(memory) if memory else None,
    )


def _text(given: Mapping[str, Any], *names: str) -> str:
    values = (given.get(name) for name in names)
    return next((value for value in values if isinstance(value, str) and value.strip()), "")


def _transcript(given: Mapping[str, Any]) -> str | None:
    """The path of the transcript, if lines are added to it. Until 2026 Gemini CLI wrote it anew."""
    path = _text(given, "transcript_path")
    return path if path.endswith(".jsonl") else None


def folder_of(given: Mapping[str, Any]) -> Path:
    """The folder in which the agent works."""
    roots = given.get("workspace_roots")
    root = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
    return Path(_text(given, "cwd") or root or Path.cwd())


def project_of(folder: Path) -> Path:
    """The root of the Git repository that a folder is in; without one, the folder.

    The worktrees of a repository are one project.
    """
    folder = Path(os.path.realpath(folder))
    for path in (folder, *folder.parents):
        git = path / ".git"
        if git.is_dir():
            return path
        if git.is_file():
            link = git.read_text("utf-8", "replace").removeprefix("gitdir:").strip()
            main, marker, _ = link.replace("\\", "/").partition("/.git/worktrees/")
            return Path(os.path.realpath(main)) if marker and Path(main).is_absolute() else path
    return folder


def space_of(folder: Path) -> str:
    """The name of a project's space: its folder's name and, as names repeat, a hash of its path."""
    root = project_of(folder)
    digest = blake2b(os.fsencode(root), digest_size=3).hexdigest()
    name = "".join(sign if sign.isalnum() or sign in "._-" else "-" for sign in root.name)
    return f"{name or 'root'}-{digest}"
