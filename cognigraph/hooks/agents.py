"""The coding agents that have hooks: where their settings are, what they send and what they take.

Sources: the hook references of `Claude Code <https://code.claude.com/docs/en/hooks>`_, `Gemini CLI
<https://geminicli.com/docs/hooks/reference>`_ and `Cursor <https://cursor.com/docs/hooks>`_, the
schemas in ``codex-rs/hooks/schema`` of Codex, and the plugin references of OpenCode
`1 <https://opencode.ai/v1/docs/plugins>`_ and `2 <https://opencode.ai/docs/build/plugins>`_, whose
events here are those of its plugin. This module is loaded at every event, and an agent waits
for it: ``pathlib``, ``typing`` and data classes would take longer than all the rest.
"""

from __future__ import annotations

import os
import time

from cognigraph.text.hook_context import without_hook_context

try:
    from _blake2 import blake2b
except ImportError:  # hashlib has the same function, and loads OpenSSL
    from hashlib import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from dataclasses import dataclass
    from typing import Any, Literal

    Kind = Literal["start", "prompt", "answer", "keep"]
    """What an event means: a session begins (or goes on), the user or the agent has said something,
    or the transcript is about to be shortened or left."""

else:

    def dataclass(**options):
        """What is needed here of the library's ``dataclass``, which takes long to import."""

        def decorated(cls):
            def init(self, **given):
                vars(self).update(given)
                names = cls.__annotations__.keys()
                wrong = given.keys() - names or [name for name in names if not hasattr(self, name)]
                if wrong:
                    raise TypeError(f"{cls.__name__}: unknown or missing: {', '.join(wrong)}")

            cls.__init__ = init
            return cls

        return decorated


TIMEOUT_SECONDS = 10
PERSON = "person"
"""The space of what holds in every project."""


@dataclass(kw_only=True)
class Agent:
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

    def user_folder(self) -> str:
        """Its folder of the user."""
        given = os.environ.get(self.home, "").strip() if self.home else ""
        if given and self.plugin:  # the variable names the folder around it
            given = os.path.join(given, os.path.basename(self.folder))
        return os.path.expanduser(given or os.path.join("~", self.folder))

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


@dataclass(kw_only=True)
class Event:
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
    """The event that an agent has sent; ``None`` if it is not one to be stored.

    Cursor also runs the hooks of Claude Code; what it sends them is left to its own hooks. What
    happens in a sub-agent (it has an ``agent_id``) is not said to the user.
    """
    kind = agent.events.get(name)
    session = _text(given, "session_id", "conversation_id")
    if kind is None or not session or _text(given, "agent_id"):
        return None
    if "cursor_version" in given and agent.name != "cursor":
        return None
    at = _text(given, "timestamp") or _now()
    text = without_hook_context(_text(given, *_TEXTS.get(kind, ())))
    turn = _text(given, "turn_id", "generation_id") or at
    digest = blake2b("\0".join((session, turn, kind, text)).encode("utf-8", "replace"))
    memory = None
    if kind == "start" and agent.memory:
        memory = os.path.join(agent.user_folder(), agent.memory)
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
        memory=memory,
    )


def _now() -> str:
    seconds, nanoseconds = divmod(time.time_ns(), 10**9)
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{nanoseconds // 1000:06d}+00:00"


def _text(given: Mapping[str, Any], *names: str) -> str:
    values = (given.get(name) for name in names)
    return next((value for value in values if isinstance(value, str) and value.strip()), "")


def _transcript(given: Mapping[str, Any]) -> str | None:
    """The path of the transcript, if lines are added to it. Until 2026 Gemini CLI wrote it anew."""
    path = _text(given, "transcript_path")
    return path if path.endswith(".jsonl") else None


def folder_of(given: Mapping[str, Any]) -> str:
    """The folder in which the agent works."""
    roots = given.get("workspace_roots")
    root = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
    return _text(given, "cwd") or root or os.getcwd()


def project_of(folder: str | os.PathLike[str]) -> str:
    """The root of the Git repository that a folder is in; without one, the folder.

    The worktrees of a repository are one project.
    """
    folder = path = os.path.realpath(folder)
    while True:
        git = os.path.join(path, ".git")
        if os.path.isdir(git):
            return path
        if os.path.isfile(git):
            with open(git, encoding="utf-8", errors="replace") as file:
                link = file.read().removeprefix("gitdir:").strip()
            main, marker, _ = link.replace("\\", "/").partition("/.git/worktrees/")
            return os.path.realpath(main) if marker and os.path.isabs(main) else path
        if os.path.dirname(path) == path:
            return folder
        path = os.path.dirname(path)


def space_of(folder: str | os.PathLike[str]) -> str:
    """The name of a project's space: its folder's name and, as names repeat, a hash of its path."""
    root = project_of(folder)
    digest = blake2b(os.fsencode(root), digest_size=3).hexdigest()
    name = "".join(
        sign if sign.isalnum() or sign in "._-" else "-" for sign in os.path.basename(root)
    )
    return f"{name or 'root'}-{digest}"
