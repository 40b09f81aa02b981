"""Static word vectors (the default embedder, wordllama): means of texts, and matches of words.

Importing the package, which also imports an HTTP client, and loading the model with it takes .28 s
and 80 MB of memory. To read the tokenizer and to map the weights, which several processes then
share, takes .08 s and 22 MB.

In the vocabulary of its tokenizer no token continues beyond a space into the next word. So the
tokens of a text are those of its words, and most words were met before. To look them up takes a
sixth of the time that it takes to divide each text anew; the vectors are the same to the last bit.
"""

from __future__ import annotations

import json
import os
import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from cognigraph.arrays import Floats, Ints, Vector, products_of_rows, steps
from cognigraph.errors import ConfigurationError
from cognigraph.forks import ProcessLock
from cognigraph.text.terms import START, STOP_WORDS, marked_words, stem
from cognigraph.text.word_book import Numbers, Stems, WordBook, slices, stem_number

_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TENSOR = "embedding.weight"


def load() -> TokenMeans:
    """Read the model from the installed wheel, without the network.

    Raises:
        ConfigurationError: the installed wordllama does not have it.
    """
    spec = find_spec("wordllama")
    folder = Path() if spec is None or spec.origin is None else Path(spec.origin).parent
    tokenizer, weights = folder / _TOKENIZER, folder / _WEIGHTS
    if not (tokenizer.is_file() and weights.is_file()):
        raise ConfigurationError(
            f"the installed wordllama lacks {_TOKENIZER} or {_WEIGHTS}; install "
            "'wordllama==0.4.0.post1', or choose another embedder"
        )
    from tokenizers import Tokenizer

    return TokenMeans(Tokenizer.from_file(str(tokenizer)), mapped(weights))


def mapped(path: Path) -> npt.NDArray[np.floating]:
    """The tensor of a safetensors file: the length of a header, the header as JSON, the values."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        about = json.loads(file.read(size))[_TENSOR]
    dtype = {"F16": np.float16, "F32": np.float32}[about["dtype"]]
    start, _ = about["data_offsets"]
    tensor = np.memmap(path, dtype, "r", 8 + size + start, tuple(about["shape"]))
    return tensor.view(np.ndarray)


_SPACE = "\u2581"
"""What the tokenizer puts before a text and in place of each space."""
_WORDS = re.compile(f"{_SPACE}+[^{_SPACE}]*")
_LONGEST = 64
"""Longer runs without a space are no words, so they are not remembered."""
_MOST_WORDS_KEPT = 65_536

Ids = npt.NDArray[np.int32]
_NO_IDS = np.empty(0, np.int32)


class TokenMeans:
    """The mean of the token vectors of each text. Thread-safe."""

    def __init__(self, tokenizer: Any, vectors: npt.NDArray[np.floating]) -> None:
        """Take a tokenizer, and a vector for each of its tokens (tokens, dimension)."""
        self.vectors = vectors
        self._tokenizer = tokenizer
        self._special = tuple(
            token.content for token in tokenizer.get_added_tokens_decoder().values()
        )
        self._of_word = lru_cache(_MOST_WORDS_KEPT)(self._tokens)

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
        if any(special in text for special in self._special):
            return None
        if text.isalnum() and len(text) < _LONGEST:  # a word alone
            return np.frombuffer(of_word(_SPACE + text), np.int32)
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


class WordLlamaEmbedder:
    """Static word vectors with weights in the wheel: offline, 256 dimensions, about 15 µs a text.

    See https://github.com/dleemiller/WordLlama (MIT).
    """

    name = "wordllama-l2-256"
    dimension = 256
    static = True
    batch = 512

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Mean of the token vectors of each text."""
        return token_means().embed(texts)

    def embed_query(self, text: str) -> npt.NDArray[np.floating]:
        """Vector of a question, computed as for any other text."""
        return np.asarray(self.embed([text])[0])


_loading = ProcessLock()
_shared: list[TokenMeans] = []


def token_means() -> TokenMeans:
    """The static model that this process shares."""
    if not _shared:
        with _loading:  # otherwise concurrent threads would each load the model
            if not _shared:
                _shared.append(load())
    return _shared[0]


# Late interaction over static word vectors: the best match of each question word in each text.
#
# The word vectors are those of the wordllama wheel, whichever embedder is used for the texts. They
# need no model inference, so words are compared at query time and nothing else is stored.

_Scalar = TypeVar("_Scalar", bound=np.generic)


class WordTokens:
    """The tokens of words by their number, in the order in which they were added.

    Neither the first ``without`` words nor an empty word have tokens: their vectors are zero.
    Only one thread may call it at a time.
    """

    def __init__(self, without: int) -> None:
        self._count = without
        self._ends = np.zeros(1 + without, np.int32)  # in the tokens of all words; 0 comes first
        self._tokens = np.empty(0, np.int32)
        self._scale = np.zeros(without, np.float32)  # makes the sum of the tokens a unit vector

    def __len__(self) -> int:
        """The number of words."""
        return self._count

    def append(self, words: Sequence[str]) -> None:
        """Add words."""
        if not words:
            return
        model = token_means()
        tokens = model.tokens_of_words(words)
        sizes = np.fromiter(map(len, tokens), np.int64, len(tokens))
        norms = np.linalg.norm(model.means(tokens), axis=1) * sizes.astype(np.float32)
        first, before = self._count, int(self._ends[self._count])
        self._count = count = first + len(words)
        end = before + int(sizes.sum())
        self._ends = extended(self._ends, count + 1)
        self._scale = extended(self._scale, count)
        self._tokens = extended(self._tokens, end)
        self._ends[first + 1 : count + 1] = before + np.cumsum(sizes)
        np.divide(1, norms, out=self._scale[first:count], where=norms > 0)
        self._tokens[before:end] = np.concatenate(tokens)

    def vectors(self, numbers: Ints) -> Vector:
        """The unit vectors (k, d) of some words; they may be zero."""
        tokens, sizes = self._tokens_of(numbers)
        own = np.split(tokens, np.cumsum(sizes)[:-1])
        scale = self._scale[numbers] * sizes.astype(np.float32)
        return token_means().means(own) * scale[:, None]

    def products(self, numbers: Ints, vectors: Vector) -> Vector:
        """The products (k, m) of the unit vectors of some words and other vectors (m, d)."""
        weights = token_means().vectors
        tokens, sizes = self._tokens_of(numbers)
        products = np.zeros((len(numbers), len(vectors)), np.float32)
        if len(tokens):
            used = np.zeros(len(weights), bool)
            used[tokens] = True
            rows = np.flatnonzero(used)
            position = np.empty(len(used), np.int32)
            position[rows] = np.arange(len(rows))
            of_tokens = products_of_rows(weights, rows, vectors)
            filled = np.flatnonzero(sizes)
            first = (np.cumsum(sizes) - sizes)[filled]
            sums = np.add.reduceat(of_tokens.take(position.take(tokens), 0), first, axis=0)
            products[filled] = sums * self._scale[numbers[filled], None]
        return products

    def _tokens_of(self, numbers: Ints) -> tuple[npt.NDArray[np.int32], Ints]:
        """The tokens of some words, one word after another, and the number of each."""
        starts = self._ends[numbers].astype(np.int64)
        sizes = self._ends[numbers + 1] - starts
        return self._tokens[slices(starts, sizes)], sizes


def extended(array: npt.NDArray[_Scalar], rows: int) -> npt.NDArray[_Scalar]:
    """The array with zeros behind it if it is shorter, which take no memory until they are written.

    It becomes twice as long as needed, so that adding rows takes amortised linear time.
    """
    if rows <= len(array):
        return array
    made = np.zeros((2 * rows, *array.shape[1:]), array.dtype)
    made[: len(array)] = array
    return made


_MOST_WORDS = 50_000  # about 15 MB; beyond that a new vocabulary begins
_MOST_REMEMBERED = 2_000_000  # words of cached texts: about 30 MB with texts of twenty words
_MOST_COMPARED = 4
"""Questions whose words are compared with ever more texts: those of a search, then of a block."""
_FIRST = 1 + len(STOP_WORDS)

Rows = npt.NDArray[np.int32]
Marks = npt.NDArray[np.bool_]


@lru_cache(maxsize=1)
def word_vectors() -> WordVectors:
    """The vocabulary that this process shares."""
    return WordVectors()


if hasattr(os, "register_at_fork"):  # another thread may be changing it
    os.register_at_fork(after_in_child=word_vectors.cache_clear)


def beginning(word: str) -> int:
    """The first two letters of a word as a number above 0: equal for words with one stem.

    A second letter y counts as i, because the stem of "dying" is "die".
    """
    first, second = ord(word[0]), ord(word[1].replace("y", "i")) if len(word) > 1 else 0
    return first << 21 | second  # the code of a character has at most 21 bits


class _Rows(dict[str, int]):
    """The rows of words; a word that is looked up for the first time gets the next row."""

    def __init__(self) -> None:
        self.words: list[str] = []
        for word in (START, *sorted(STOP_WORDS)):
            self[word]

    def __missing__(self, word: str) -> int:
        row = self[word] = len(self.words)
        self.words.append(word)
        return row


class _Similar(NamedTuple):
    """How similar each word of a vocabulary is to some others (n, m), where that is known (n,)."""

    values: Vector
    has: Marks


class Vocabulary:
    """The words seen so far and their tokens; it only grows.

    Row 0 stands for the start of a text, and stop words follow; their vectors are zero, so they
    match nothing. A word is divided into tokens when it is first compared. Stemming is slowest, so
    a word is stemmed only if it begins like a word that it is compared with (:func:`beginnings`).
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._rows = _Rows()
        self._tokens = WordTokens(_FIRST)
        self._beginnings = np.zeros(_FIRST, np.int64)
        self._stem = np.zeros(_FIRST, np.uint64)  # numbers of the stems; 0: not computed yet
        self._of_books: WeakKeyDictionary[WordBook, Rows] = WeakKeyDictionary()
        self._read: dict[int, Rows] = {}
        self._remembered = 0
        self._marks: dict[str, Marks] = {}
        self._similar: dict[tuple[int, ...], _Similar] = {}

    def is_full(self, words: int, remembered: int) -> bool:
        """Whether it holds more words, or remembers texts of more words in all."""
        return len(self._rows) > words or self._remembered > remembered

    def read(self, texts: Sequence[str]) -> TextWords:
        """Convert texts to rows of words. Results are cached, because the same texts recur.

        The cache holds 64-bit hashes and not the texts, which may be deleted in the meantime.
        """
        keys = list(map(hash, texts))
        with self._lock:
            known = self._read
            new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
            # Texts in ASCII are divided into words together, which is much faster.
            self._remember({key: text for key, text in new.items() if text.isascii()})
            self._remember({key: text for key, text in new.items() if not text.isascii()})
            read = [known[key] for key in keys]
        rows = np.concatenate(read) if read else np.empty(0, np.int32)
        return TextWords(self, rows, np.cumsum(np.fromiter(map(len, read), np.int64, len(read))))

    def rows_of(self, book: WordBook, numbers: Numbers) -> Rows:
        """The rows of words that a book has numbered; it knows their stems."""
        with self._lock:
            known = self._of_books.get(book, np.empty(0, np.int32))
            if len(known) < len(book):
                more = np.full(len(book) - len(known), -1, np.int32)
                known = self._of_books[book] = np.concatenate([known, more])
            rows = known.take(numbers)
            missing = np.flatnonzero(rows < 0)
            if len(missing):
                self._add_words(book, np.unique(numbers[missing]), known)
                rows[missing] = known[numbers[missing]]
            return rows

    def row(self, word: str) -> int:
        """The row of a word, -1 if it was in no text."""
        return self._rows.get(word, -1)

    def rows(self, words: Iterable[str]) -> list[int]:
        """The rows of those of the words that were in some text."""
        return [row for row in map(self.row, words) if row >= 0]

    def words(self, rows: Rows) -> list[str]:
        """The words with these rows."""
        return [self._rows.words[row] for row in rows.tolist()]

    def marks(self, name: str, test: Callable[[str], bool]) -> Marks:
        """Whether each word that was in some text passes a test, which has this name."""
        with self._lock:
            known, words = self._marks.get(name, np.empty(0, bool)), self._rows.words
            if len(known) < len(words):
                new = np.fromiter(map(test, words[len(known) :]), bool, len(words) - len(known))
                known = self._marks[name] = np.concatenate([known, new])
            return known

    def best_matches(self, asked: Sequence[str], said: TextWords) -> Floats:
        """See :meth:`WordVectors.best_matches`; the texts were read by this vocabulary."""
        numbers = said.rows[(said.rows == 0) | (said.rows >= _FIRST)]
        with self._lock:
            own = np.array([self._rows[word] for word in asked], np.int64)
            self._tokenise()
            known = self._similar_to(tuple(own.tolist()))
            new = np.zeros(len(self._tokens), bool)
            new[numbers] = True
            new &= ~known.has[: len(new)]
            rows = np.flatnonzero(new)
            if len(rows):
                known.values[rows] = self._similarity(rows, own)
                known.has[rows] = True
            of_words = known.values.take(numbers, 0)
        # Rounded because the last bits of a product depend on the other rows of the matrix.
        best = np.maximum.reduceat(of_words, np.flatnonzero(numbers == 0), axis=0)
        return best.astype(float).round(5)

    def _similar_to(self, asked: tuple[int, ...]) -> _Similar:
        """What is known of the words that are compared with these, with room for all words."""
        known = self._similar.pop(asked, None)
        if known is None:
            known = _Similar(np.zeros((0, len(asked)), np.float32), np.zeros(0, bool))
        rows = len(self._tokens)
        known = _Similar(extended(known.values, rows), extended(known.has, rows))
        self._similar[asked] = known
        if len(self._similar) > _MOST_COMPARED:
            del self._similar[next(iter(self._similar))]
        return known

    def _similarity(self, rows: Ints, asked: Ints) -> Vector:
        """How similar some words are to those that are asked for (k, m), in [0, 1]."""
        similar = np.clip(self._tokens.products(rows, self._tokens.vectors(asked)), 0.0, 1.0)
        stems, asked_stems = self._stems_of(rows, asked)
        for column, (row, number) in enumerate(zip(asked.tolist(), asked_stems, strict=True)):
            if row >= _FIRST:
                similar[stems == number, column] = 1.0
        return similar

    def _remember(self, texts: dict[int, str]) -> None:
        words = marked_words([*texts.values()])
        rows = np.fromiter(map(self._rows.__getitem__, words), np.int32, len(words))
        starts = [*np.flatnonzero(rows == 0).tolist(), len(rows)]
        for key, (start, end) in zip(texts, pairwise(starts), strict=True):
            self._read[key] = rows[start:end]
        self._remembered += len(rows)

    def _add_words(self, book: WordBook, numbers: Numbers, rows_of_book: Rows) -> None:
        """Add words of a book, and fill in their rows."""
        self._tokenise()
        first = len(self._rows)
        rows = np.array([self._rows[word] for word in book.strings(numbers)], np.int32)
        rows_of_book[numbers] = rows
        new = numbers[rows >= first]
        self._reserve(len(self._rows))
        self._tokens.append(self._rows.words[first:])
        self._stem[first : len(self._rows)] = book.stems(new)

    def _tokenise(self) -> None:
        """Find the tokens of the words that were added since."""
        first, count = len(self._tokens), len(self._rows)
        if first == count:
            return
        new = self._rows.words[first:count]
        self._reserve(count)
        self._tokens.append(new)
        self._beginnings[first:count] = [beginning(word) for word in new]

    def _reserve(self, count: int) -> None:
        """Make room for the beginnings and stems of words."""
        self._beginnings = extended(self._beginnings, count)
        self._stem = extended(self._stem, count)

    def _stems_of(self, present: Ints, asked: Ints) -> tuple[Stems, list[int]]:
        """The stems of the ``present`` words that may have that of an asked word, and of these."""
        words = [self._rows.words[row] for row in asked.tolist()]
        unknown = present[self._stem[present] == 0]
        alike = np.isin(self._beginnings[unknown], [beginning(word) for word in words])
        for row in unknown[alike].tolist():
            self._stem[row] = stem_number(stem(self._rows.words[row]))
        return self._stem[present], [stem_number(stem(word)) for word in words]


@dataclass(frozen=True, slots=True)
class TextWords:
    """The words of some texts.

    ``rows`` holds, for each word in order, its row in the vocabulary; a 0 (``START``) precedes the
    words of each text. ``ends`` (texts,) are the positions after the last word of each text.
    """

    vocabulary: Vocabulary
    rows: Rows
    ends: Ints

    @property
    def text_count(self) -> int:
        """Number of texts."""
        return len(self.ends)

    @property
    def sizes(self) -> Ints:
        """The number of words (texts,) of each text, with its ``START``."""
        return steps(self.ends)

    def first(self, count: int) -> TextWords:
        """The words of the first texts."""
        ends = self.ends[:count]
        return TextWords(self.vocabulary, self.rows[: ends[-1] if len(ends) else 0], ends)

    def count(self, chosen: Marks) -> Ints:
        """How many words (texts,) of each text are among those that are ``chosen`` (words,)."""
        total = np.concatenate([[0], np.cumsum(chosen)])
        return steps(total[self.ends])

    def holding(self, chosen: Marks) -> Marks:
        """Whether each text has one of the words that are ``chosen`` (words,)."""
        return np.asarray(self.count(chosen) > 0)


def joined(parts: Sequence[tuple[Rows, Ints]], order: Ints, vocabulary: Vocabulary) -> TextWords:
    """Texts whose words are put together from pieces.

    ``parts`` hold pieces, as the words of one after another and the size of each. ``order``
    (texts, pieces) names the pieces of each text by their numbers, counted through all parts; the
    first piece of a text begins with ``START``.
    """
    rows = np.concatenate([part[0] for part in parts])
    sizes = np.concatenate([part[1] for part in parts])
    pieces = order.ravel()
    starts, sizes = (np.cumsum(sizes) - sizes)[pieces], sizes[pieces]
    ends = sizes.reshape(order.shape).sum(axis=1).cumsum()
    return TextWords(vocabulary, rows[slices(starts, sizes)], ends)


class WordVectors:
    """Reads the words of texts and compares them; its vocabulary is bounded. Thread-safe."""

    def __init__(self, most: int = _MOST_WORDS, remembered: int = _MOST_REMEMBERED) -> None:
        self._most, self._most_remembered = most, remembered
        self._vocabulary = Vocabulary()

    def current(self) -> Vocabulary:
        """The vocabulary to read texts with: a new one if the last one has become large."""
        vocabulary = self._vocabulary
        if vocabulary.is_full(self._most, self._most_remembered):
            vocabulary = self._vocabulary = Vocabulary()
        return vocabulary

    def read(self, texts: Sequence[str]) -> TextWords:
        """Convert texts to rows of words."""
        return self.current().read(texts)

    def best_matches(self, asked: Sequence[str], said: TextWords) -> Floats:
        """Cosine (texts, len(asked)) of each asked word and its most similar word in each text.

        It is 1 for a word with the same stem, 0 for a text without words, and never negative.
        """
        if not asked or not said.text_count:
            return np.zeros((said.text_count, len(asked)))
        return said.vocabulary.best_matches(asked, said)
