"""An ONNX sentence embedder of a few kilobytes, written without the onnx package.

Its vector of a token is that of its word plus the mean of all tokens, padding included. So padding
a text changes its vector, as it does in quantised models.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

WORDS = "ann ben moved to oslo the fjord is cold bread kayak piano query passage : hus båt".split()
DIMENSION = 8
LIMIT = 16
"""Tokens that the model reads of a text."""

_FLOAT, _INT64, _INTS, _INT = 1, 7, 7, 2


def write_model(folder: Path, *, file: str = "model.onnx") -> Path:
    """Write the model with its tokenizer into a new folder."""
    folder.mkdir(parents=True)
    vocabulary = {word: index for index, word in enumerate(["[PAD]", "[UNK]", *WORDS])}
    (folder / file).write_bytes(_model(len(vocabulary)))
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    for name, content in (
        ("tokenizer_config.json", {"model_max_length": LIMIT, "pad_token": "[PAD]"}),
        ("config.json", {"hidden_size": DIMENSION, "pad_token_id": 0}),
        ("special_tokens_map.json", {"pad_token": "[PAD]", "unk_token": "[UNK]"}),
    ):
        (folder / name).write_text(json.dumps(content))
    return folder


def _model(words: int) -> bytes:
    """A ModelProto: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto."""
    table = np.random.default_rng(5).normal(size=(words, DIMENSION)).astype(np.float32)
    weights = (
        _number(1, words) + _number(1, DIMENSION) + _number(2, _FLOAT) + _text(8, "table")
        + _bytes(9, table.tobytes())
    )  # fmt: skip
    mean_of = _bytes(5, _text(1, "axes") + _number(8, 1) + _number(20, _INTS)) + _bytes(
        5, _text(1, "keepdims") + _number(3, 1) + _number(20, _INT)
    )
    graph = (
        _bytes(1, _node("Gather", ["table", "input_ids"], "words"))
        + _bytes(1, _node("ReduceMean", ["words"], "mean") + mean_of)
        + _bytes(1, _node("Add", ["words", "mean"], "hidden"))
        + _text(2, "tiny")
        + _bytes(5, weights)
        + _bytes(11, _value("input_ids", _INT64, ["batch", "tokens"]))
        + _bytes(12, _value("hidden", _FLOAT, ["batch", "tokens", DIMENSION]))
    )
    return _number(1, 8) + _bytes(7, graph) + _bytes(8, _text(1, "") + _number(2, 13))


def _node(operator: str, inputs: list[str], output: str) -> bytes:
    return b"".join(_text(1, name) for name in inputs) + _text(2, output) + _text(4, operator)


def _value(name: str, kind: int, shape: list[str | int]) -> bytes:
    dimensions = b"".join(
        _bytes(1, _number(1, size) if isinstance(size, int) else _text(2, size)) for size in shape
    )
    return _text(1, name) + _bytes(2, _bytes(1, _number(1, kind) + _bytes(2, dimensions)))


def _varint(number: int) -> bytes:
    parts = []
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())
