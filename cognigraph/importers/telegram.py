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
"""The fields of a complete export that lead to the chats."""
_CHAT = frozenset({"name", "type", "id", "messages"})
_ACCOUNT = frozenset({"chats", "personal_information"})
_MEDIA = (
    "photo", "file", "file_name", "media_type", "mime_type", "duration_seconds",
    "location_information", "contact_information", "sticker_emoji",
)  # fmt: skip


def _sniff(head: Head) -> bool:
    if not head.is_json or head.lines:
        return False
    is_chat = head.keys >= _CHAT and '"date"' in head.text
    # Of a whole account, the chats may begin after these bytes.
    return is_chat or ("about" in head.keys and not _ACCOUNT.isdisjoint(head.keys))


def _read(file: Input, options: ReadOptions) -> Iterator[Record]:
    number = 0
    try:
        for number, (chat, given) in enumerate(nested(file.stream, {"messages"}, _WAYS), 1):
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
    # The words that are forwarded are those of their author.
    is_forwarded = "forwarded_from" in given
    sender = given.get("from")
    return {
        "text": _text(given),
        "session": f"{label} {day_of(at, options.zone)}",
        "at": at,
        "id": _id(given, "id"),
        "speaker": first_text(given, ("forwarded_from" if is_forwarded else "from",)),
        "metadata": present(
            {
                "chat": name,
                "reply_to": _id(given, "reply_to_message_id"),
                "forwarded_by": sender if is_forwarded and isinstance(sender, str) else None,
            }
        ),
        "raw": present(given, _MEDIA) or None,
    }


def _id(given: Mapping[str, Any], name: str) -> str | None:
    return str(given[name]) if isinstance(given.get(name), int) else None


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


READER = Reader(
    "telegram", "Telegram Desktop's export as JSON: result.json, of one chat or of all", _sniff,
    _read, (".json",),
)  # fmt: skip
