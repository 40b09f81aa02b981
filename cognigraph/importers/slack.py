"""Exports of Slack: a folder for each channel, in it a file for each day, and a list of users.

A day of a channel is a session, and so is a thread. An id is the message's ``ts``, which is its
time.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from cognigraph.importers.fields import day_of, iso
from cognigraph.importers.json_records import first_text, from_messages, mapping, mappings, present
from cognigraph.importers.record import Bad, Head, Reader, ReadOptions, Record
from cognigraph.importers.source import SLACK_DAY, SLACK_USERS, Input

_SAID = frozenset(
    {None, "bot_message", "file_comment", "file_share", "me_message", "reply_broadcast",
     "thread_broadcast"}
)  # fmt: skip
"""Kinds of messages that somebody wrote; all others tell of joining, topics, pins and the like."""
_MARK = re.compile(r"<([^<>|]+)(?:\|([^<>]*))?>")
_FILE = ("id", "name", "title", "mimetype", "size")
"""What is kept of a file. Its address is not: in an export it has a token."""
_PERSON = ("display_name", "real_name", "name")


def _sniff(head: Head) -> bool:
    return (
        head.is_json and {"ts", "type"} <= head.keys and not head.keys.isdisjoint({"user", "text"})
    )


def _read(file: Input, options: ReadOptions) -> Iterator[Record]:
    is_day = SLACK_DAY.fullmatch(file.name) is not None
    if is_day or not (file.archive or file.folder):  # not the lists of users and channels
        yield from from_messages(_message)(file, options)


def _people(file: Input) -> Mapping[str, str]:
    """The names of users, read once for all files of an export."""
    if "slack" not in file.cache:
        users = mappings(_parsed(file.sibling(f"../{SLACK_USERS}")))
        file.cache["slack"] = {str(user["id"]): _name(user) for user in users if user.get("id")}
    people: Mapping[str, str] = file.cache["slack"]
    return people


def _parsed(data: bytes | None) -> Any:
    try:
        return json.loads(data or b"[]")
    except (ValueError, RecursionError):
        return []


def _name(user: Mapping[str, Any]) -> str:
    fields = {**user, **mapping(user.get("profile"))}
    return first_text(fields, _PERSON) or str(user.get("id"))


def _message(
    given: Mapping[str, Any], file: Input, options: ReadOptions
) -> dict[str, Any] | Bad | None:
    """The fields of a message; ``None`` for what Slack itself wrote."""
    if given.get("subtype") not in _SAID:
        return None
    at = iso(given.get("ts"))
    if at is None:
        return Bad("has no 'ts', which is its time")
    day = SLACK_DAY.fullmatch(file.name)
    channel = day[1] if day else "slack"
    thread = given.get("thread_ts")
    is_in_thread = isinstance(thread, str) and thread
    people = _people(file)
    files = [present(shared, _FILE) for shared in mappings(given.get("files"))]
    return {
        "text": _text(given, people),
        "session": f"{channel} {f'thread {thread}' if is_in_thread else day_of(at, options.zone)}",
        "id": str(given["ts"]),
        "at": at,
        "speaker": _speaker(given, people),
        "metadata": {"channel": channel},
        "raw": {"files": files} if files else None,
    }


def _speaker(given: Mapping[str, Any], people: Mapping[str, str]) -> str | None:
    user = given.get("user")
    if isinstance(user, str) and user in people:
        return people[user]
    for name in ("user_profile", "bot_profile"):
        if isinstance(given.get(name), Mapping):
            return _name(given[name])
    return first_text(given, ("username", "user"))


def _text(given: Mapping[str, Any], people: Mapping[str, str]) -> str:
    """What is said; of a bot that only sends attachments, what these say in short."""
    text = given.get("text")
    if not (isinstance(text, str) and text.strip()):
        shown = mappings(given.get("attachments"))
        texts = (item.get("fallback") or item.get("text") for item in shown)
        text = "\n".join(item for item in texts if isinstance(item, str))
    return plain(text, people)


def plain(text: str, people: Mapping[str, str]) -> str:
    """A text without Slack's marks: names of people and channels, and addresses as they are."""
    return html.unescape(_MARK.sub(lambda match: _unmarked(match[1], match[2], people), text))


def _unmarked(target: str, label: str | None, people: Mapping[str, str]) -> str:
    kind, rest = target[0], target[1:]
    if kind == "@":
        return "@" + (people.get(rest) or label or rest)
    if kind == "#":
        return "#" + (label or rest)
    if kind == "!":
        return label or "@" + rest.partition("^")[0]
    address = target.removeprefix("mailto:")
    return f"{label} ({address})" if label and label != address else address


READER = Reader(
    "slack", "Slack's export, zipped or unpacked: days of channels, and threads", _sniff, _read,
    (".json",),
)  # fmt: skip
