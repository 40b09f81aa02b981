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
from cognigraph.importers.json_records import first_text, mapping, mappings, objects, present
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
    folder = SLACK_DAY.fullmatch(file.name)
    if folder is None and (file.archive or file.folder):
        return  # the lists of users and channels
    channel = folder[1] if folder else "slack"
    people = _people(file)
    for item in objects(file):
        if isinstance(item.value, Bad):
            yield Record(item.position, item.value)
        elif item.value.get("subtype") in _SAID:
            yield Record(item.position, _message(item.value, channel, people, options))


def _people(file: Input) -> Mapping[str, str]:
    """The names of users, read once for all files of an export."""
    if "slack" not in file.known:
        users = mappings(_parsed(file.beside(f"../{SLACK_USERS}")))
        file.known["slack"] = {str(user["id"]): _name(user) for user in users if user.get("id")}
    known: Mapping[str, str] = file.known["slack"]
    return known


def _parsed(data: bytes | None) -> Any:
    try:
        return json.loads(data or b"[]")
    except (ValueError, RecursionError):
        return []


def _name(user: Mapping[str, Any]) -> str:
    fields = {**user, **mapping(user.get("profile"))}
    return first_text(fields, _PERSON) or str(user.get("id"))


def _message(
    given: Mapping[str, Any], channel: str, people: Mapping[str, str], options: ReadOptions
) -> dict[str, Any] | Bad:
    at = iso(given.get("ts"))
    if at is None:
        return Bad("has no 'ts', which is its time")
    thread = given.get("thread_ts")
    session = f"{channel} {day_of(at, options.zone)}"
    if isinstance(thread, str) and thread:
        session = f"{channel} thread {thread}"
    made: dict[str, Any] = {
        "text": _text(given, people),
        "session": options.session or session,
        "id": str(given["ts"]),
        "at": at,
        "metadata": {"channel": channel},
    }
    if speaker := _speaker(given, people):
        made["speaker"] = speaker
    if files := mappings(given.get("files")):
        made["raw"] = {"files": [present(file, _FILE) for file in files]}
    return made


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
        found = (item.get("fallback") or item.get("text") for item in shown)
        text = "\n".join(item for item in found if isinstance(item, str))
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
