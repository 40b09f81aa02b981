"""Read a message from a mapping: with our own fields, or in the format of chat completions.

A chat message has a ``role`` and a ``content``, which is a text or a list of parts. Its text parts
are the text of the message. All else (images, audio, tool calls) is never turned into text: the
message is kept as it was given, in ``raw``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from cognigraph.errors import InvalidMessageError

FIELDS = frozenset(
    """text session speaker at id role metadata tags raw expires facts extract
    session_summary""".split()
)
"""The fields of a message of our own."""
PAYLOAD = frozenset("tool_calls function_call tool_call_id audio refusal".split())
"""Fields of a chat message that hold something other than its text."""
_CHAT = PAYLOAD | {"content", "name"}
_TEXT_TYPES = frozenset({"text", "input_text", "output_text"})
_TEXT_SEPARATOR = "\n"
_SHORTEST = 4
"""In shorter names, one letter makes another word: "uid" is no misspelled "id"."""


class _Refused(Exception):
    """What is wrong with a message, to be said after its number."""


def fields_of(value: object, index: int) -> dict[str, Any]:
    """The fields of a message, from a mapping or an object with ``model_dump`` (as pydantic's).

    Fields that are neither ours nor those of a chat message become metadata, unless one is nearly
    spelled like ours: what a typing error hides would be lost.

    Raises:
        InvalidMessageError: the value is neither, has no text, or has a misspelled field.
    """
    try:
        return _fields(_mapping(value), index)
    except _Refused as error:
        raise InvalidMessageError(f"message {index} {error}", index=index) from None


def _fields(value: Mapping[str, Any], index: int) -> dict[str, Any]:
    given = {name: item for name, item in value.items() if item is not None}
    if not FIELDS.isdisjoint(given) and "text" in given:
        if "content" in given:
            raise _Refused("has both 'text' and 'content'; give one of them")
        text, payload = given["text"], given.keys() & PAYLOAD
    elif not _CHAT.isdisjoint(given) or "raw" in given:
        text, is_whole = text_of(given.get("content", ""), index)
        has_more = not is_whole or not PAYLOAD.isdisjoint(given)
        payload = given.keys() & (_CHAT | {"role"}) if has_more else set()
    else:
        others = ", ".join(sorted(given.keys() - FIELDS))
        raise _Refused("has no 'text' or 'content'" + (f", but {others}" if others else ""))
    fields = {name: item for name, item in given.items() if name in FIELDS} | {"text": text}
    if payload:
        if "raw" in fields:
            name = next(iter(PAYLOAD & payload), "content")
            raise _Refused(f"has 'raw' and a {name!r} to be kept as it is; give one of them")
        fields["raw"] = {name: item for name, item in given.items() if name in payload}
    rest = {name: item for name, item in given.items() if name not in FIELDS | _CHAT}
    if "name" in given and "speaker" in fields:
        rest["name"] = given["name"]
    elif "name" in given:
        fields["speaker"] = given["name"]
    if rest:
        _check_spelling(rest)
        fields["metadata"] = _with_unknown(fields.get("metadata"), rest)
    return fields


def _mapping(value: object) -> Mapping[str, Any]:
    dump = getattr(value, "model_dump", None)
    if not isinstance(value, Mapping) and callable(dump) and not isinstance(value, type):
        value = dump(mode="json")
    if not isinstance(value, Mapping):
        raise _Refused(
            f"is a {type(value).__name__}; "
            "pass a Message or a dict with 'text', or with 'role' and 'content'"
        )
    odd = next((name for name in value if not isinstance(name, str)), None)
    if odd is not None:
        raise _Refused(f"has the field {odd!r}; names of fields are strings")
    return value


def text_of(content: object, index: int) -> tuple[str, bool]:
    """The text of a content, and whether that is all of it.

    Raises:
        InvalidMessageError: it is no content of a chat message.
    """
    if isinstance(content, str):
        return content, True
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, Sequence) or isinstance(content, bytes | bytearray):
        raise InvalidMessageError(
            f"message {index}: content must be a text or a list of parts, "
            f"not {type(content).__name__}",
            index=index,
        )
    texts = [_part_text(part) for part in content]
    is_whole = len(content) == 1 and texts[0] is not None and _is_plain(content[0])
    return _TEXT_SEPARATOR.join(text for text in texts if text), is_whole


def _is_plain(part: object) -> bool:
    """Whether a part with a text has nothing else."""
    if isinstance(part, Mapping):
        return part.keys() <= {"type", "text"} and isinstance(part["text"], str)
    return isinstance(part, str)


def _part_text(part: object) -> str | None:
    """The text of a part, or ``None`` for an image, a tool call or anything else."""
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping) or str(part.get("type", "text")) not in _TEXT_TYPES:
        return None
    text = part.get("text")
    if isinstance(text, Mapping):  # the Assistants API: {"text": {"value": ..., "annotations"}}
        text = text.get("value")
    return text if isinstance(text, str) else None


def _check_spelling(names: Iterable[str]) -> None:
    for name in names:
        meant = _meant(name)
        if meant is not None and meant != name:
            raise _Refused(
                f"has the unknown field {name!r}; did you mean {meant!r}? "
                "If not, put it into 'metadata'"
            )


@lru_cache(1024)
def _meant(name: str) -> str | None:
    """The field that is meant: one letter is wrong ("sesion", "speakers"), or the case ("Text").

    Another word is another field: "session_id" and "user_text" are not misspelled.
    """
    spelled = name.casefold().replace("-", "_")
    known = sorted(FIELDS | _CHAT)
    return next(
        (item for item in known if spelled == item or _is_typing_error(spelled, item)), None
    )


def _is_typing_error(name: str, meant: str) -> bool:
    """Whether a letter is missing, added or doubled, two are swapped, or one is another.

    Of four letters, another one makes another word: "test" is no misspelled "text".
    """
    from rapidfuzz.distance import OSA  # only for fields that are not known

    has_another_letter = len(name) == len(meant) and sorted(name) != sorted(meant)
    shortest = _SHORTEST + 1 if has_another_letter else _SHORTEST
    return len(meant) >= shortest and OSA.distance(name, meant) == 1


def _with_unknown(metadata: object, rest: Mapping[str, Any]) -> Any:
    if metadata is None:
        return dict(rest)
    if not isinstance(metadata, Mapping):
        return metadata  # refused later, where metadata is checked
    twice = sorted(set(metadata) & set(rest))
    if twice:
        raise _Refused(f"has {twice[0]!r} as a field and in its metadata")
    return {**rest, **metadata}
