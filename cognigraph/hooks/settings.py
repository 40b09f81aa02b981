"""Write the hooks into an agent's settings, and take them out again, without touching the rest.

The file is plain JSON, which is written as agents write it themselves: the order of what is in it
stays, and so does its indentation.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from pathlib import Path
from secrets import token_hex
from typing import Any

import cognigraph
from cognigraph.errors import ConfigurationError
from cognigraph.hooks.agents import Agent

BACKUP = ".cognigraph-backup"
"""What is added to the name of a settings file to name the copy from before the last change."""
_LAUNCH = "import sys; sys.path.append(sys.argv.pop(1)); from cognigraph.cli import main; main()"
"""What a hook runs; the next word is the folder with the package. If that is gone, it ends with 1,
where a script that is gone ends with 2, by which a hook of Claude Code rejects the prompt."""


def settings_file(agent: Agent, project: str | None) -> Path:
    """The settings of an agent: those of a project, or those of the user."""
    if project is None:
        return Path(agent.user_folder(), agent.file)
    return Path(project, agent.project_folder or agent.folder, agent.project_file or agent.file)


def command(agent: Agent, event: str, db: Path | None) -> str:
    """The command of a hook."""
    return shlex.join(_words(agent, event, db))


def _words(agent: Agent, event: str, db: Path | None) -> list[str]:
    """The words of a command.

    ``-I`` keeps modules in the project's folder from being imported. ``-S`` leaves out what Python
    sets up for installed packages, which takes longer than the hook and of which it uses none.
    """
    folder = str(Path(cognigraph.__file__).parents[1])
    words = [sys.executable, "-I", "-S", "-c", _LAUNCH, folder, "hook", agent.name]
    return [*words, *([event] if event else []), *(["--db", str(db)] if db else [])]


def _entry(agent: Agent, event: str, db: Path | None) -> dict[str, Any]:
    hook: dict[str, Any] = {"command": command(agent, event, db)}
    if not agent.is_grouped:
        return hook
    hook = {"type": "command", **hook}
    if agent.timeout is not None:
        hook["timeout"] = agent.timeout
    return {"hooks": [hook]}


def gone(command_text: str) -> list[str]:
    """What the command of a hook needs and is not there: its Python, the folder of the package."""
    words = shlex.split(command_text)
    needed = [Path(word) for word in words[:1]]
    if _LAUNCH in words:
        needed.append(Path(words[words.index(_LAUNCH) + 1], "cognigraph"))
    return [str(path) for path in needed if not path.exists()]


def is_own(agent: Agent, given: Any) -> bool:
    """Whether an element of the settings is one of our hooks."""
    text = given.get("command") if isinstance(given, dict) else None
    return isinstance(text, str) and f" hook {agent.name} " in text and _LAUNCH in text


def added(text: str | None, agent: Agent, db: Path | None) -> str:
    """The settings with our hooks, in place of older ones of ours.

    Raises:
        ValueError: they cannot be read.
    """
    if agent.plugin:
        return _plugin(agent.plugin, text, _words(agent, "", db))
    settings = {} if text is None else _settings(text)
    _take_out(settings, agent)
    hooks = settings.setdefault("hooks", {})
    for event in agent.events:
        hooks.setdefault(event, []).append(_entry(agent, event, db))
    if not agent.is_grouped:
        settings.setdefault("version", 1)
    return _text(settings, text)


def removed(text: str, agent: Agent) -> str | None:
    """The settings without our hooks; ``None`` if nothing else is in them.

    Raises:
        ValueError: they cannot be read.
    """
    if agent.plugin:
        _words_of_plugin(text)
        return None
    settings = _settings(text)
    if not _take_out(settings, agent):
        return text
    return _text(settings, text) if settings.keys() - {"version"} else None


def installed(text: str, agent: Agent) -> dict[str, str]:
    """Our hooks in the settings: the events, with their commands.

    Raises:
        ValueError: the settings cannot be read.
    """
    if agent.plugin:
        words = _words_of_plugin(text)
        return {event: shlex.join([*words, event]) for event in agent.events}
    return {
        event: handler["command"]
        for event, entries in _settings(text).get("hooks", {}).items()
        for entry in entries
        for handler in (entry, *_handlers(entry))
        if is_own(agent, handler)
    }


_COMMAND_LINE = re.compile(r"^const COMMAND = (.*);$", re.MULTILINE)


def _plugin(file: str, text: str | None, words: list[str]) -> str:
    """A plugin with the command that it runs, in place of an older one of ours."""
    if text is not None:
        _words_of_plugin(text)
    whole = Path(__file__).with_name(file).read_text("utf-8")
    return _COMMAND_LINE.sub(lambda _: f"const COMMAND = {json.dumps(words)};", whole)


def _words_of_plugin(text: str) -> list[str]:
    """The command that a plugin of ours runs.

    Raises:
        ValueError: it is none of ours.
    """
    found = _COMMAND_LINE.search(text)
    words = json.loads(found[1]) if found else []
    if _LAUNCH not in words:
        raise ValueError("it is not a plugin of cognigraph")
    return [str(word) for word in words]


def _settings(text: str) -> dict[str, Any]:
    """The settings, checked as far as they are about hooks."""
    try:
        settings = json.loads(text.removeprefix("\ufeff"))
    except ValueError as error:
        raise ValueError(
            f"it is not plain JSON: {error}; comments and trailing commas must go"
        ) from error
    if not isinstance(settings, dict):
        raise ValueError("it is no object")
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        raise ValueError("its hooks are not an object")
    for event, entries in hooks.items():
        if not isinstance(entries, list):
            raise ValueError(f"its hooks for {event} are not a list")
    return settings


def _handlers(entry: Any) -> list[Any]:
    """The hooks of a group; of what is no group none."""
    found = entry.get("hooks") if isinstance(entry, dict) else None
    return found if isinstance(found, list) else []


def _take_out(settings: dict[str, Any], agent: Agent) -> bool:
    """Take our hooks out, and groups and events with nothing else; whether there were any."""
    hooks, is_changed = settings.get("hooks", {}), False
    for event, entries in list(hooks.items()):
        kept = []
        for entry in entries:
            handlers = _handlers(entry)
            others = [handler for handler in handlers if not is_own(agent, handler)]
            if len(others) == len(handlers) and not is_own(agent, entry):
                kept.append(entry)
            elif others:
                kept.append(entry | {"hooks": others})
        if kept != entries:
            is_changed = True
            hooks[event] = kept
            if not kept:
                del hooks[event]
    if is_changed and not hooks:
        del settings["hooks"]
    return is_changed


def _text(settings: dict[str, Any], like: str | None) -> str:
    """The settings as JSON, indented as the file is that they come from."""
    unit = re.search(r"\n([ \t]+)\S", like or "")
    text = json.dumps(settings, indent=unit[1] if unit else 2, ensure_ascii=False) + "\n"
    return text.replace("\n", "\r\n") if "\r\n" in (like or "") else text


# The file


def read(path: Path) -> str | None:
    """A settings file; ``None`` if there is none.

    Raises:
        ConfigurationError: it cannot be read.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"cannot read {path}: {error}") from error


def write(path: Path, text: str | None) -> None:
    """Replace a settings file at once, or delete it, and keep a copy of what was there.

    A link is followed, and the file keeps its permissions.

    Raises:
        ConfigurationError: it cannot be written; then it is as it was.
    """
    path = Path(os.path.realpath(path))
    part = path.with_name(f"{path.name}.{token_hex(4)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
        if path.exists():
            _put(part, path.read_bytes(), mode)
            part.replace(path.with_name(path.name + BACKUP))
        if text is None:
            path.unlink(missing_ok=True)
        else:
            _put(part, text.encode("utf-8"), mode)
            part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise ConfigurationError(f"cannot write {path}: {error.strerror or error}") from error


def _put(path: Path, data: bytes, mode: int) -> None:
    with path.open("xb") as file:
        path.chmod(mode)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
