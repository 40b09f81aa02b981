"""Exports of Telegram Desktop: ``result.json``, of one chat or of all.

A day of a chat is a session.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cognigraph.importers.fields import day_of, iso
from cognigraph.importers.json_records import MalformedError, first_text, mappings, nested, present
from cognigraph.importers.record import Bad, Head, Position, Reader, ReadOptions, Record
from cognigraph.importers.source import Input

_WAYS = frozenset({"chats", "left_chats", "list"})
"""In a complete export, where the chats are."""
_CHAT = frozenset({"name", "type", "id", "messages"})
_MEDIA = (
    "photo", "file", "file_name", "media_type", "mime_type", "duration_seconds",
    "location_information", "contact_information", "sticker_emoji",
)  # fmt: skip


def _sniff(head: Head) -> bool:
    if not head.is_json or head.lines:
        return False
    is_chat = head.keys >= _CHAT and '"date"' in head.text
    return is_chat or {"about", "chats"} <= head.keys or _is_complete(head)


def _is_complete(head: Head) -> bool:
    """Whether it is the export of an account whose chats begin after these bytes."""
    return {"about", "personal_information"} <= head.keys


def _read(file: Input, options: ReadOptions) -> Iterator[Record]:
    number = 0
    try:
        for chat, given in nested(file.stream, {"messages"}, _WAYS):
            number += 1
            position = Position(number, "message")
            if not isinstance(given, dict):
                yield Record(position, Bad("is not a JSON object"))
            elif given.get("type") != "service":
                yield Record(position, _message(given, chat, options))
    except MalformedError as error:
        yield Record(Position(number + 1, "message"), Bad(f"cannot be read: {error}"))


def _message(
    given: Mapping[str, Any], chat: Mapping[str, Any], options: ReadOptions
) -> dict[str, Any] | Bad:
    at = iso(given.get("date_unixtime")) or iso(given.get("date"))
    if at is None:
        return Bad("has no 'date'")
    name = first_text(chat, ("name",)) or "chat"
    label = f"{name} {chat['id']}" if isinstance(chat.get("id"), int) else name
    media = present(given, _MEDIA)
    made: dict[str, Any] = {
        "text": _text(given),
        "session": options.session or f"{label} {day_of(at, options.zone)}",
        "at": at,
        "metadata": _metadata(given, name),
    }
    if isinstance(given.get("id"), int):
        made["id"] = str(given["id"])
    # What was forwarded are the words of who wrote it.
    said_by = "forwarded_from" if "forwarded_from" in given else "from"
    if speaker := first_text(given, (said_by,)):
        made["speaker"] = speaker
    if media:
        made["raw"] = media
    return made


def _text(given: Mapping[str, Any]) -> str:
    """The text, also that of a caption or a poll; of a sticker its emoji."""
    text = _joined(given.get("text"))
    poll = given.get("poll")
    if isinstance(poll, Mapping):
        options = (f"- {_joined(item.get('text'))}" for item in mappings(poll.get("answers")))
        lines = [_joined(poll.get("question")), *options]
        text = "\n".join(filter(None, [text, *lines]))
    emoji = given.get("sticker_emoji")
    return text or (emoji if isinstance(emoji, str) else "")


def _joined(text: object) -> str:
    """A text, whose links, mentions and styles are parts of their own."""
    if isinstance(text, list):
        return "".join(_joined(part) for part in text if isinstance(part, str | Mapping))
    if not isinstance(text, Mapping):
        return text if isinstance(text, str) else ""
    said, address = text.get("text"), text.get("href")
    said = said if isinstance(said, str) else ""
    return f"{said} ({address})" if isinstance(address, str) and address != said else said


def _metadata(given: Mapping[str, Any], chat: str) -> dict[str, Any]:
    found: dict[str, Any] = {"chat": chat}
    if isinstance(given.get("reply_to_message_id"), int):
        found["reply_to"] = str(given["reply_to_message_id"])
    if "forwarded_from" in given and isinstance(given.get("from"), str):
        found["forwarded_by"] = given["from"]
    return found


READER = Reader(
    "telegram", "Telegram Desktop's export as JSON: result.json, of one chat or of all", _sniff,
    _read, (".json",),
)  # fmt: skip
