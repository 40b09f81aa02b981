"""Reads the words of messages and facts that an index has not yet read, beside the searches."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from cognigraph.stores.sqlite.in_list import select_in
from cognigraph.stores.sqlite.index.space_index import SpaceIndex

_BATCH = 1024
CHUNK_TEXTS = "SELECT id, text FROM chunk WHERE id IN ({})"
TRIPLE_TEXTS = "SELECT id, subject || ' ' || relation || ' ' || object FROM triple WHERE id IN ({})"

Connect = Callable[[], AbstractContextManager[sqlite3.Connection]]


def read_words(index: SpaceIndex, connect: Connect) -> None:
    """Read the words of all texts of an index.

    Its lock is held for short times only: texts are read without it. If rows were removed or
    changed meanwhile, the texts are those of other rows, and are read again; so are those that
    another thread has read meanwhile.
    """
    while True:
        with index.lock:
            words = index.words
            read = words.chunks, words.triples
            chunks, triples = _next(index)
        if chunks:
            texts = _texts(connect, CHUNK_TEXTS, chunks)
        elif triples:
            texts = _texts(connect, TRIPLE_TEXTS, triples)
        else:
            break
        with index.lock:
            if index.words is words and read == (words.chunks, words.triples):
                (words.take_chunks if chunks else words.take_triples)(texts)
    with index.lock:
        index.words.rest()


def _next(index: SpaceIndex) -> tuple[list[int], list[int]]:
    """The ids of the next messages whose words are not known, and of the next such facts."""
    chunks, triples = index.words.chunks, index.words.triples
    return (
        index.chunks["id"][chunks : chunks + _BATCH].tolist(),
        index.triples["id"][triples : triples + _BATCH].tolist(),
    )


def _texts(connect: Connect, statement: str, ids: Sequence[int]) -> list[str]:
    """The texts with these ids; what was deleted meanwhile is empty, and its row will go too."""
    with connect() as connection:
        found = dict(select_in(connection, statement, ids))
    return [found.get(id, "") for id in ids]
