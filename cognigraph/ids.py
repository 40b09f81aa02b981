"""Unique ids of nodes: hashes of their natural keys, with names normalised."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import lru_cache

_SPACE_RUN = re.compile(r"\s+")
_EDGES = "\"'`´‘’‚‛“”„‟«»‹›()[]{}<>「」『』（）【】,;:!?…¿¡。、！？，；：*_~| "
"""Quotes, brackets and sentence marks, but not + - # $ % & @ /: C++ and C#, A+ and A- differ."""


def uid(label: str, *natural_key: str) -> str:
    """Hash a natural key to 32 hexadecimal digits (128 bits of BLAKE2b).

    The parts are length-prefixed, so ``("ab", "c")`` and ``("a", "bc")`` differ.
    """
    parts: list[bytes] = []
    for part in natural_key:
        raw = part.encode("utf-8", "surrogatepass")
        parts += (len(raw).to_bytes(8, "big"), raw)
    person = label.encode()[:16]
    return hashlib.blake2b(b"".join(parts), digest_size=16, person=person).hexdigest()


@lru_cache(maxsize=16_384)
def normalise(name: str) -> str:
    """Normalise a name or relation: NFKC, folded case, single spaces, no enclosing punctuation.

    A name that consists only of punctuation keeps it, so that two such names stay distinct.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    folded = _SPACE_RUN.sub(" ", folded).strip()
    return folded.lstrip(_EDGES).rstrip(_EDGES + ".") or folded


@lru_cache(maxsize=1024)
def session_uid(space: str, session: str) -> str:
    """Uid of a session: (space, session id)."""
    return uid("Session", space, session)


def message_uid(space: str, session: str, message_id: str) -> str:
    """Uid of a message with an id from the caller: (space, session, id)."""
    return uid("Message", space, session, message_id)


def anonymous_message_uid(
    space: str, session: str, speaker: str, text: str, at: str, ordinal: int
) -> str:
    """Uid of a message without an id: its content, its time, and its number among equal ones."""
    return uid("Message", space, session, "", speaker, text, at, str(ordinal))


def chunk_uid(message: str, part: int) -> str:
    """Uid of a chunk: its message and its part number (0 for a whole message)."""
    return uid("Chunk", message, str(part))


def entity_uid(space: str, name: str, type: str) -> str:
    """Uid of an entity: (space, normalised name, type)."""
    return uid("Entity", space, normalise(name), normalise(type))


def alias_uid(space: str, entity: str, name: str) -> str:
    """Uid of an alias found in the text: (space, entity uid, normalised alias)."""
    return uid("Alias", space, entity, normalise(name))


def triple_uid(
    space: str, subject: str, relation: str, object: str, when: str | None, negated: bool
) -> str:
    """Uid of a triple: (space, subject uid, relation, object uid, event time, polarity)."""
    polarity = "not" if negated else ""
    return uid("Triple", space, subject, normalise(relation), object, when or "", polarity)


def key_uid(space: str, name: str) -> str:
    """Uid of a session key: (space, name as it is spelled).

    Sessions that spell a key differently do not share it; else the first session would decide.
    """
    return uid("Key", space, name)


def theme_uid(space: str, session: str, title: str, ordinal: int = 0) -> str:
    """Uid of a session theme: (space, session, normalised title at first).

    A theme keeps its uid when it gets another title, so a later theme of the same title needs an
    ``ordinal``.
    """
    number = (str(ordinal),) if ordinal else ()
    return uid("Theme", space, session, normalise(title), *number)


def revision_uid(session_uid: str, version: int) -> str:
    """Uid of a revision of a summary: (session uid, version)."""
    return uid("Revision", session_uid, str(version))
