"""Prefixes that embedding models need before questions and passages, from their model cards."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prefixes:
    """The text put before every question, and the text put before every stored passage."""

    query: str = ""
    passage: str = ""


_SENTENCE = Prefixes("Represent this sentence for searching relevant passages: ")
_TASK = "Given a web search query, retrieve relevant passages that answer the query"

_FAMILIES = (
    # Version 1.5 is trained to work without the prefix: on conversations recall@15 is .881 without
    # it and .880 with it (bench/TRIED.md).
    (r"bge-(small|base|large)-en", _SENTENCE),
    (r"bge-(small|base|large)-zh", Prefixes("为这个句子生成表示以用于检索相关文章：")),
    (r"(multilingual-)?e5-.*-instruct", Prefixes(f"Instruct: {_TASK}\nQuery: ")),
    (r"(multilingual-)?e5-.*", Prefixes("query: ", "passage: ")),
    (r"nomic-embed-text.*", Prefixes("search_query: ", "search_document: ")),
    (r"modernbert-embed-.*", Prefixes("search_query: ", "search_document: ")),
    (r"snowflake-arctic-embed-.*-v2\.0", Prefixes("query: ")),
    (r"snowflake-arctic-embed-.*", _SENTENCE),
    (r"mxbai-embed-.*", _SENTENCE),
    (r"uae-large-v1", _SENTENCE),
    (r"embeddinggemma-.*", Prefixes("task: search result | query: ", "title: none | text: ")),
)
_PATTERNS = tuple((re.compile(pattern), prefixes) for pattern, prefixes in _FAMILIES)
_FINGERPRINT = re.compile(r"-[0-9a-f]{12}$")
_QUANTISED = re.compile(r"(-onnx)?(-(q|quantized|int8|fp16))?$")


def prefixes_for(model: str) -> Prefixes:
    """The prefixes of a model, recognised by its name, tag (``nomic-embed-text:v1.5``) or folder.

    Unknown models get none; gte, MiniLM, mpnet, bge-m3, jina and OpenAI's models need none.
    """
    name = model.rstrip("/").rsplit("/", 1)[-1].partition(":")[0].lower()
    name = _QUANTISED.sub("", _FINGERPRINT.sub("", name))
    for pattern, prefixes in _PATTERNS:
        if pattern.fullmatch(name):
            return prefixes
    return Prefixes()


def chosen(model: str, query: str | None, passage: str | None) -> Prefixes:
    """The prefixes of a model, each replaced by the given one unless that is ``None``."""
    known = prefixes_for(model)
    return Prefixes(
        known.query if query is None else query, known.passage if passage is None else passage
    )


def identity(name: str, prefixes: Prefixes) -> str:
    """A model's name with its passage prefix, because that prefix shapes the stored vectors."""
    return f"{name} after {prefixes.passage!r}" if prefixes.passage else name
