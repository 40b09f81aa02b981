"""Loads the word vectors and the tokenizer of the wordllama wheel from its files.

Importing the package, which also imports an HTTP client, and loading the model with it takes .28 s
and 80 MB of memory. To read the tokenizer and to map the weights, which several processes then
share, takes .08 s and 22 MB. If the wheel holds other files one day, the package loads them.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TENSOR = "embedding.weight"


class StaticModel(NamedTuple):
    """A tokenizer, and a vector for each of its tokens: (tokens, dimension), of 16 or 32 bits."""

    tokenizer: Any
    vectors: npt.NDArray[np.floating]


def load() -> StaticModel:
    """Read the model from the installed wheel, without the network."""
    found = find_spec("wordllama")
    folder = None if found is None or found.origin is None else Path(found.origin).parent
    if folder is None or not all((folder / name).is_file() for name in (_TOKENIZER, _WEIGHTS)):
        return _by_package()
    from tokenizers import Tokenizer

    return StaticModel(Tokenizer.from_file(str(folder / _TOKENIZER)), mapped(folder / _WEIGHTS))


def mapped(path: Path) -> npt.NDArray[np.floating]:
    """The tensor of a safetensors file: the length of a header, the header as JSON, the values."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        about = json.loads(file.read(size))[_TENSOR]
    dtype = {"F16": np.float16, "F32": np.float32}[about["dtype"]]
    start, _ = about["data_offsets"]
    found = np.memmap(path, dtype, "r", 8 + size + start, tuple(about["shape"]))
    return found.view(np.ndarray)


def _by_package() -> StaticModel:
    with _logging_untouched():  # importing wordllama configures the root logger
        import wordllama

    # By default wordllama uses a cache folder in the home directory, and else the network.
    folder = Path(wordllama.__file__).parent
    model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
    return StaticModel(model.tokenizer, model.embedding)


@contextmanager
def _logging_untouched() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
