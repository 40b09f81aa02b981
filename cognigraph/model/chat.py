"""Read a message from a mapping: with our own fields, or in the format of chat completions.

A chat message has a ``role`` and a ``content``, which is a text or a list of parts. Its text parts
are the text of the message. All else (images, audio, tool calls) is never turned into text: the
message is kept as it was given, in ``raw``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from rapidfuzz.distance import OSA

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


def fields_of(value: object, index: int) -> dict[str, Any]:
    """The fields of a message, from a mapping or an object with ``model_dump`` (as pydantic's).

    Fields that are neither ours nor those of a chat message become metadata, unless one is nearly
    spelled like ours: what a typing error hides would be lost.

    Raises:
        InvalidMessageError: the value is neither, has no text, or has a misspelled field.
    """
    given = {name: item for name, item in _mapping(value, index).items() if item is not None}
    if not FIELDS.isdisjoint(given) and "text" in given:
        found, rest = _own(given, index)
    elif not _CHAT.isdisjoint(given) or "raw" in given:
        found, rest = _chat(given, index)
    else:
        others = ", ".join(sorted(given.keys() - FIELDS))
        raise InvalidMessageError(
            f"message {index} has no 'text' or 'content'" + (f", but {others}" if others else ""),
            index=index,
        )
    if rest:
        _check_spelling(rest, index)
        found["metadata"] = _with_unknown(found.get("metadata"), rest, index)
    return found


def _mapping(value: object, index: int) -> Mapping[str, Any]:
    dump = getattr(value, "model_dump", None)
    if not isinstance(value, Mapping) and callable(dump) and not isinstance(value, type):
        value = dump(mode="json")
    if not isinstance(value, Mapping):
        raise InvalidMessageError(
            f"message {index} is a {type(value).__name__}; "
            "pass a Message or a dict with 'text', or with 'role' and 'content'",
            index=index,
        )
    odd = next((name for name in value if not isinstance(name, str)), None)
    if odd is not None:
        raise InvalidMessageError(
            f"message {index} has the field {odd!r}; names of fields are strings", index=index
        )
    return value


def _own(given: Mapping[str, Any], index: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Our fields, and the others; a tool call beside a text is kept as of a chat message."""
    found = {name: item for name, item in given.items() if name in FIELDS}
    payload = {name: item for name, item in given.items() if name in PAYLOAD}
    if payload:
        _set_raw(found, payload, index)
    if "content" in given:
        raise InvalidMessageError(
            f"message {index} has both 'text' and 'content'; give one of them", index=index
        )
    return found, _unknown(given, found)


def _chat(given: Mapping[str, Any], index: int) -> tuple[dict[str, Any], dict[str, Any]]:
    content = given.get("content", "")
    text, is_whole = text_of(content, index)
    found = {name: item for name, item in given.items() if name in FIELDS}
    found["text"] = text
    if not is_whole or not PAYLOAD.isdisjoint(given):
        message = {name: item for name, item in given.items() if name in _CHAT | {"role"}}
        _set_raw(found, message, index)
    return found, _unknown(given, found)


def _unknown(given: Mapping[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """The other fields. ``name`` is the speaker, unless there is one."""
    rest = {name: item for name, item in given.items() if name not in FIELDS | _CHAT}
    if "name" in given:
        if "speaker" in found:
            rest["name"] = given["name"]
        else:
            found["speaker"] = given["name"]
    return rest


def _set_raw(found: dict[str, Any], payload: Mapping[str, Any], index: int) -> None:
    if "raw" in found:
        name = next(iter(PAYLOAD & payload.keys()), "content")
        raise InvalidMessageError(
            f"message {index} has 'raw' and a {name!r} to be kept as it is; give one of them",
            index=index,
        )
    found["raw"] = payload


def text_of(content: object, index: int) -> tuple[str, bool]:
    """The text of a content, and whether that is all of it."""
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


def _check_spelling(names: Iterable[str], index: int) -> None:
    for name in names:
        meant = _meant(name)
        if meant is not None and meant != name:
            raise InvalidMessageError(
                f"message {index} has the unknown field {name!r}; did you mean {meant!r}? "
                "If not, put it into 'metadata'",
                index=index,
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
    has_another_letter = len(name) == len(meant) and sorted(name) != sorted(meant)
    shortest = _SHORTEST + 1 if has_another_letter else _SHORTEST
    return len(meant) >= shortest and OSA.distance(name, meant) == 1


def _with_unknown(metadata: object, rest: Mapping[str, Any], index: int) -> Any:
    if metadata is None:
        return dict(rest)
    if not isinstance(metadata, Mapping):
        return metadata  # refused later, where metadata is checked
    twice = sorted(set(metadata) & set(rest))
    if twice:
        raise InvalidMessageError(
            f"message {index} has {twice[0]!r} as a field and in its metadata", index=index
        )
    return {**rest, **metadata}
