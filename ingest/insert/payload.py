"""Check and encode what a message carries beside its text: metadata, tags and a raw payload."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from datetime import datetime, tzinfo
from typing import Any

from cognigraph.errors import InvalidMessageError
from cognigraph.model import Message
from cognigraph.stores.records import MessageData
from cognigraph.text.terms import replace_surrogates
from cognigraph.times import to_utc
from cognigraph.validation import shown

MAX_METADATA = 64 * 1024
"""Largest size of a message's metadata, in bytes of UTF-8 JSON."""
MAX_RAW = 16 * 1024 * 1024
"""Largest size of a message's raw payload, in bytes of JSON."""
MAX_TAG = 100
"""Largest number of characters of a tag."""
MAX_TAGS = 100
"""Largest number of tags of a message."""
MAX_DEPTH = 200
"""Largest number of levels of lists and objects in metadata or a raw payload, so that all that is
stored can be read again, however deep the stack is then."""
_MAX_BITS = 1024
"""Python refuses to read numbers of thousands of digits."""


def message_data(
    message: Message, index: int, zone: tzinfo | None = None, facts: str | None = None
) -> MessageData | None:
    """What is to be stored beside the text; ``None`` if the message has nothing else.

    ``zone`` is that of times that have none; ``facts`` (JSON) are those that are stated with it.

    Raises:
        InvalidMessageError: something is of the wrong type, too large, or not JSON.
    """
    empty = message.metadata is None and message.raw is None and message.tags == ()
    if empty and message.expires is None and facts is None:
        return None
    data = MessageData(
        metadata=_metadata(message.metadata, index),
        tags=_tags(message.tags, index),
        raw=None if message.raw is None else _encoded(message.raw, "raw", MAX_RAW, index),
        facts=facts,
        expires=_expires(message.expires, zone, index),
    )
    return None if data == MessageData() else data


def _expires(expires: object, zone: tzinfo | None, index: int) -> datetime | None:
    if expires is None:
        return None
    if not isinstance(expires, str | datetime):
        raise _invalid(index, f"expires must be a time, not {shown(expires)}")
    try:
        return to_utc(expires, zone)
    except InvalidMessageError as error:
        raise _invalid(index, f"expires: {error}") from error


def _metadata(metadata: object, index: int) -> str | None:
    if metadata is None or metadata == {}:
        return None
    if not isinstance(metadata, Mapping):
        raise _invalid(index, f"metadata must be a JSON object (a dict), not {shown(metadata)}")
    return _encoded(metadata, "metadata", MAX_METADATA, index, readable=True)


def _encoded(value: object, what: str, limit: int, index: int, *, readable: bool = False) -> str:
    """JSON text; a ``readable`` one has no escapes for letters, so that Cypher can search it."""
    try:
        text = json.dumps(_json(value, what, MAX_DEPTH), ensure_ascii=not readable)
    except RecursionError:
        raise _invalid(
            index, f"{what} is nested too deeply; the most is {MAX_DEPTH} levels"
        ) from None
    except _NotJson as error:
        raise _invalid(index, str(error)) from None
    text = replace_surrogates(text)[0] if readable else text
    size = len(text.encode())
    if size > limit:
        raise _invalid(index, f"{what} has {size:,} bytes as JSON; the limit is {limit:,}")
    return text


class _NotJson(Exception):
    """A value that JSON cannot hold."""


def _json(value: object, path: str, depth: int) -> Any:
    """The value in the types that JSON gives back; ``path`` names it in errors.

    Raises:
        RecursionError: it has more than ``depth`` levels.
    """
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        if value.bit_length() > _MAX_BITS:
            raise _NotJson(f"{path} must have at most {_MAX_BITS:,} bits, not {shown(value)}")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise _NotJson(f"{path} must be a finite number, not {value}")
        return value
    if not depth:
        raise RecursionError
    if isinstance(value, Mapping):
        odd = next((name for name in value if not isinstance(name, str)), None)
        if odd is not None:
            raise _NotJson(f"{path} must have strings as keys, not {shown(odd)}")
        return {name: _json(item, f"{path}.{name}", depth - 1) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json(item, f"{path}[{number}]", depth - 1) for number, item in enumerate(value)]
    raise _NotJson(f"{path} must be of a type that JSON knows, not {shown(value)}")


def _tags(tags: object, index: int) -> tuple[str, ...]:
    if isinstance(tags, str) or not isinstance(tags, Iterable):
        raise _invalid(index, f"tags must be a list of strings, not {shown(tags)}")
    given = list(tags)
    for tag in given:
        if not _is_tag(tag):
            raise _invalid(
                index,
                f"a tag must be 1 to {MAX_TAG} characters, without NUL or lone surrogates, "
                f"not {shown(tag)}",
            )
    found = sorted(set(given))
    if len(found) > MAX_TAGS:
        raise _invalid(index, f"{len(found)} tags; the limit is {MAX_TAGS}")
    return tuple(found)


def _is_tag(tag: object) -> bool:
    return (
        isinstance(tag, str)
        and bool(tag.strip())
        and len(tag) <= MAX_TAG
        and "\0" not in tag
        and replace_surrogates(tag)[1] == 0
    )


def _invalid(index: int, problem: str) -> InvalidMessageError:
    return InvalidMessageError(f"message {index}: {problem}", index=index)
