"""The word vectors and the tokenizer of the wordllama wheel, and the mean vectors of texts.

Importing the package, which also imports an HTTP client, and loading the model with it takes .28 s
and 80 MB of memory. To read the tokenizer and to map the weights, which several processes then
share, takes .08 s and 22 MB. If the wheel holds other files one day, the package loads them.

In the vocabulary of its tokenizer no token continues beyond a space into the next word. So the
tokens of a text are those of its words, and most words were met before. To look them up takes a
sixth of the time that it takes to divide each text anew; the vectors are the same to the last bit.
"""

from __future__ import annotations

import json
import logging
import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
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
    spec = find_spec("wordllama")
    folder = None if spec is None or spec.origin is None else Path(spec.origin).parent
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
    tensor = np.memmap(path, dtype, "r", 8 + size + start, tuple(about["shape"]))
    return tensor.view(np.ndarray)


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


_SPACE = "\u2581"
"""What the tokenizer puts before a text and in place of each space."""
_WORDS = re.compile(f"{_SPACE}+[^{_SPACE}]*")
_LONGEST = 64
"""Longer runs without a space are no words, so they are not remembered."""
_MOST_WORDS = 65_536

Ids = npt.NDArray[np.int32]
_NO_IDS = np.empty(0, np.int32)


class TokenMeans:
    """The mean of the token vectors of each text. Thread-safe."""

    def __init__(self, model: StaticModel) -> None:
        self.vectors = model.vectors
        self._tokenizer = model.tokenizer
        self._special = tuple(
            token.content for token in self._tokenizer.get_added_tokens_decoder().values()
        )
        vocabulary = self._tokenizer.get_vocab(with_added_tokens=False)
        self._by_words = not any(_SPACE in token.lstrip(_SPACE) for token in vocabulary)
        self._by_letters = self._by_words and not any(map(str.isalnum, self._special))
        self._of_word = lru_cache(_MOST_WORDS)(self._tokens)

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """The mean vectors (len(texts), dimension); zeros for a text without tokens."""
        return self.means(self._divided(texts, self._of_word))

    def tokens_of_words(self, words: Sequence[str]) -> list[Ids]:
        """The tokens of words whose tokens the caller keeps, so that they are not kept here."""
        return self._divided(words, self._tokens)

    def means(self, ids: Sequence[Ids]) -> npt.NDArray[np.float32]:
        """The mean vectors (len(ids), dimension) of tokens; zeros where there are none."""
        return means(self.vectors, ids)

    def _divided(self, texts: Sequence[str], of_word: Callable[[str], bytes]) -> list[Ids]:
        ids = [self._ids(text, of_word) for text in texts]
        others = [text for text, own in zip(texts, ids, strict=True) if own is None]
        whole = iter(self._whole(others))
        return [next(whole) if own is None else own for own in ids]

    def _ids(self, text: str, of_word: Callable[[str], bytes]) -> Ids | None:
        """The tokens of a text; ``None`` if it must be divided as a whole."""
        if not text:
            return _NO_IDS
        if self._by_letters and text.isalnum() and len(text) < _LONGEST:  # a word alone
            return np.frombuffer(of_word(_SPACE + text), np.int32)
        if not self._by_words or any(special in text for special in self._special):
            return None
        words = _WORDS.findall(_SPACE + text.replace(" ", _SPACE))
        if len(max(words, key=len)) > _LONGEST:
            return None
        return np.frombuffer(b"".join(map(of_word, words)), np.int32)

    def _tokens(self, word: str) -> bytes:
        """The numbers of 32 bits as bytes, which take a fifth of the memory of a tuple of them."""
        return array("i", [token.id for token in self._tokenizer.model.tokenize(word)]).tobytes()

    def _whole(self, texts: list[str]) -> list[Ids]:
        if not texts:
            return []
        encodings = self._tokenizer.encode_batch(texts, add_special_tokens=False)
        own = (
            encoding.ids[: sum(encoding.attention_mask)] for encoding in encodings
        )  # without padding
        return [np.array(ids, np.int32) for ids in own]


def means(vectors: npt.NDArray[np.floating], ids: Sequence[Ids]) -> npt.NDArray[np.float32]:
    """The mean of the rows of ``vectors`` that each text has, added up in their order.

    The order decides the last bit. Texts are sorted by their length, so that the next token of all
    texts that have one is added at once.
    """
    if len(ids) == 1:  # a question, or a new message
        own = vectors.take(ids[0], 0).astype(np.float32)
        total = np.add.reduce(own, axis=0, keepdims=True, initial=np.float32(0))
        return np.asarray(total / np.float32(max(len(own), 1)))
    counts = np.fromiter(map(len, ids), np.int64, len(ids))
    rows = np.concatenate([_NO_IDS, *ids])
    order = np.argsort(-counts, kind="stable")
    first = (np.cumsum(counts) - counts)[order]
    sums = np.zeros((len(ids), vectors.shape[1]), np.float32)
    taken = np.empty(sums.shape, vectors.dtype)
    having = np.searchsorted(-counts[order], -np.arange(counts.max(initial=0)), side="left")
    for position, many in enumerate(having.tolist()):
        np.take(vectors, rows[first[:many] + position], 0, out=taken[:many], mode="clip")
        sums[:many] += taken[:many]
    in_order = np.empty_like(sums)
    in_order[order] = sums / np.maximum(counts[order], 1)[:, None].astype(np.float32)
    return in_order
