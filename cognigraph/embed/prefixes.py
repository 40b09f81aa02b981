"""What embedding models want before a question and before a passage, from their model cards."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prefixes:
    """Text put before every question, and before everything that is stored."""

    query: str = ""
    passage: str = ""


_SENTENCE = Prefixes("Represent this sentence for searching relevant passages: ")
_TASK = "Given a web search query, retrieve relevant passages that answer the query"

_FAMILIES = (
    # Version 1.5 was made to do without, and does: recall@15 is .881 without and .880 with it on
    # conversations (bench/TRIED.md).
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
    """Prefixes of a model by its name, a folder or a tag (``nomic-embed-text:v1.5``); else none.

    gte, MiniLM, mpnet, bge-m3, jina and OpenAI's models want none.
    """
    name = model.rstrip("/").rsplit("/", 1)[-1].partition(":")[0].lower()
    name = _QUANTISED.sub("", _FINGERPRINT.sub("", name))
    for pattern, prefixes in _PATTERNS:
        if pattern.fullmatch(name):
            return prefixes
    return Prefixes()


def chosen(model: str, query: str | None, passage: str | None) -> Prefixes:
    """The prefixes of a model, or those given in their place (``""`` for none)."""
    known = prefixes_for(model)
    return Prefixes(
        known.query if query is None else query, known.passage if passage is None else passage
    )


def identity(name: str, prefixes: Prefixes) -> str:
    """A model's name with what shapes the stored vectors; a query prefix does not."""
    return f"{name} after {prefixes.passage!r}" if prefixes.passage else name
