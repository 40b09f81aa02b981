"""Write the hooks into an agent's settings, and take them out again, without touching the rest.

The file is edited as text, so that comments, order and formatting of everything else stay as they
are, and exactly what was put in is taken out again. An array or object that was there and empty
gets its first member right behind its bracket; one that is made here begins with a line break.
That tells later which of them to remove with their last member.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any

import cognigraph
from cognigraph.errors import ConfigurationError
from cognigraph.hooks.agents import Agent

BACKUP = ".cognigraph-backup"
"""What is added to the name of a settings file to name the copy from before the last change."""
_STRING = r'"(?:[^"\\]|\\.)*"'
_COMMENT = re.compile(rf"({_STRING})|//[^\n]*|/\*.*?\*/", re.DOTALL)
_LAST_COMMA = re.compile(rf"({_STRING}|[\[{{]\s*,)|,(?=\s*[\]}}])", re.DOTALL)
_SPACE = re.compile(r"\s*")
_DECODER = json.JSONDecoder()
_LAUNCH = "import sys; sys.path.append(sys.argv.pop(1)); from cognigraph.cli import main; main()"
"""What a hook runs; the next word is the folder with the package. If that folder is gone, the hook
exits with 1. A script that is gone would exit with 2, and with that Claude Code rejects prompts."""
_OLD_LAUNCH = " -m cognigraph hook "
"""How hooks began that were installed earlier."""


def settings_file(agent: Agent, project: str | None) -> Path:
    """The settings of an agent: those of a project, or those of the user."""
    if project is None:
        return Path(agent.user_folder(), agent.file)
    return Path(project, agent.project_folder or agent.folder, agent.project_file or agent.file)


@dataclass(frozen=True, slots=True)
class _Value:
    """A value of a JSON text, and its place in the array or object that it is a member of.

    The value is at ``start`` to ``end``; ``first`` is where its key begins, if it has one, and
    ``comma`` where the comma before it is.
    """

    text: str = field(repr=False)
    value: Any
    start: int
    end: int
    container: _Value | None = None
    key: str | None = None
    first: int = 0
    comma: int = -1

    @property
    def members(self) -> list[_Value]:
        """The members of an array or object, in order."""
        members: list[_Value] = []
        if not isinstance(self.value, dict | list):
            return members
        text, index, comma = self.text, _skip(self.text, self.start + 1), -1
        while text[index] not in "]}":
            first, key = index, None
            if isinstance(self.value, dict):
                key, end = _DECODER.raw_decode(text, index)
                index = _skip(text, _skip(text, end) + 1)  # past the colon
            value, end = _DECODER.raw_decode(text, index)
            members.append(_Value(text, value, index, end, self, key, first, comma))
            index = comma = _skip(text, end)
            if text[index] == ",":
                index = _skip(text, index + 1)
        return members

    def member(self, key: str) -> _Value | None:
        """The member with a key."""
        return next((member for member in self.members if member.key == key), None)


def _skip(text: str, index: int) -> int:
    """Where white space ends."""
    gap = _SPACE.match(text, index)
    return gap.end() if gap else index


def _strict(text: str) -> str:
    """The text as strict JSON: comments, and commas after a last member, are spaces instead."""
    spaced = _COMMENT.sub(lambda match: match[1] or re.sub(r"\S", " ", match[0]), text)
    return _LAST_COMMA.sub(lambda match: match[1] or " ", spaced.replace("\ufeff", " ", 1))


# What is written


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
    """What the command of a hook needs and does not find: its Python, the folder of the package."""
    words = shlex.split(command_text)
    needed = [Path(word) for word in words[:1]]
    if _LAUNCH in words:
        needed.append(Path(words[words.index(_LAUNCH) + 1], "cognigraph"))
    return [str(path) for path in needed if not path.exists()]


def is_own(agent: Agent, given: Any) -> bool:
    """Whether an element of the settings is one of our hooks."""
    text = given.get("command") if isinstance(given, dict) else None
    return (
        isinstance(text, str)
        and f" hook {agent.name} " in text
        and any(launch in text for launch in (_LAUNCH, _OLD_LAUNCH))
    )


def added(text: str | None, agent: Agent, db: Path | None) -> str:
    """The settings with our hooks, in place of older ones of ours.

    Raises:
        ValueError: they cannot be read.
    """
    if agent.plugin:
        return _plugin(agent.plugin, text, _words(agent, "", db))
    wanted = {event: [_entry(agent, event, db)] for event in agent.events}
    rest = None if text is None else removed(text, agent)
    if rest is None:
        whole: dict[str, Any] = {"hooks": wanted}
        return json.dumps(whole if agent.is_grouped else whole | {"version": 1}, indent=2) + "\n"
    for event, entries in wanted.items():
        root = _root(rest)
        hooks = root.member("hooks")
        if hooks is None:
            return _inserted(rest, root, {"hooks": wanted})
        those_there = hooks.member(event)
        if those_there is None:
            rest = _inserted(rest, hooks, {event: entries})
        else:
            rest = _inserted(rest, those_there, entries)
    return rest


def removed(text: str, agent: Agent) -> str | None:
    """The settings without our hooks; ``None`` if nothing else was ever in them.

    Raises:
        ValueError: they cannot be read.
    """
    if agent.plugin:
        _words_of_plugin(text)
        return None
    rest: str | None = text
    while rest is not None and (own := list(_own(_root(rest), agent))):
        _, last = own[-1]
        rest = _cut(rest, last)
    return rest


def installed(text: str, agent: Agent) -> dict[str, str]:
    """Our hooks in the settings: the events, with their commands.

    Raises:
        ValueError: the settings cannot be read.
    """
    if agent.plugin:
        words = _words_of_plugin(text)
        return {event: shlex.join([*words, event]) for event in agent.events}
    commands = {}
    for event, own in _own(_root(text), agent):
        hook = own.value["hooks"][0] if "hooks" in own.value else own.value
        commands[event] = hook["command"]
    return commands


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
    line = _COMMAND_LINE.search(text)
    words = json.loads(line[1]) if line else []
    if not {_LAUNCH, "cognigraph"} & set(words):
        raise ValueError("it is not a plugin of cognigraph")
    return [str(word) for word in words]


def _root(text: str) -> _Value:
    """The settings; only the part about hooks is checked."""
    strict = _strict(text)
    root = _Value(strict, json.loads(strict), _skip(strict, 0), len(strict))
    if not isinstance(root.value, dict):
        raise ValueError("it is not an object")
    hooks = root.value.get("hooks", {})
    if not isinstance(hooks, dict):
        raise ValueError("its hooks are not an object")
    wrong = [event for event, entries in hooks.items() if not isinstance(entries, list)]
    if wrong:
        raise ValueError(f"its hooks for {wrong[0]} are not a list")
    return root


def _own(root: _Value, agent: Agent) -> Iterator[tuple[str, _Value]]:
    """Our hooks with their events. A group is ours, unless others have hooks in it, too."""
    hooks = root.member("hooks")
    for event in hooks.members if hooks else ():
        for entry in event.members:
            group = entry.member("hooks")
            handlers = group.members if group else []
            own = [handler for handler in handlers if is_own(agent, handler.value)]
            if is_own(agent, entry.value) or (own and len(own) == len(handlers)):
                yield str(event.key), entry
            elif own:
                yield str(event.key), own[0]


# Editing


def _inserted(text: str, container: _Value, given: dict[str, Any] | list[Any]) -> str:
    """The text with the first item of ``given`` as the last one of the container."""
    unit = re.search(r"\n([ \t]+)\S", text)
    last = container.members[-1] if container.members else None
    at = container.start + 1 if last is None else last.end
    first = at if last is None else last.first
    lead = text[text.rfind("\n", 0, first) + 1 : first]
    margin = lead[: len(lead) - len(lead.lstrip())]
    rendered = json.dumps(given, indent=unit[1] if unit else 2, ensure_ascii=False)
    inside = rendered.split("\n")[1:-1]  # without the brackets around it
    depth = len(inside[0]) - len(inside[0].lstrip())
    piece = f"\n{margin}".join(row[depth:] for row in inside)
    if last is not None:
        piece = f",\n{lead}{piece}" if not lead.strip() else f", {piece}"
    newline = "\r\n" if "\r\n" in text else "\n"
    return text[:at] + piece.replace("\n", newline) + text[at:]


def _cut(text: str, member: _Value) -> str | None:
    """The text without a member, and without the containers that were made for it."""
    container = member.container
    if container is None:
        return None
    if len(container.members) == 1:
        if member.first == container.start + 1:  # the container was there, and empty
            return text[: member.first] + text[member.end :]
        return _cut(text, container)
    first, second = container.members[:2]
    if member.first != first.first:
        between = text[member.comma + 1 : member.first]
        return text[: member.comma] + _comments(between) + text[member.end :]
    is_root = container.container is None and len(container.members) == 2
    if is_root and second.key == "version" and member.first != container.start + 1:
        return None  # only the version is left, which is written here for Cursor
    between = text[member.end : second.comma] + text[second.comma + 1 : second.first]
    return text[: member.first] + _comments(between) + text[second.first :]


def _comments(between: str) -> str:
    """What stands beside a comma that is cut, if it is more than white space."""
    return between.rstrip() + "\n" if between.strip() else ""


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
