"""The vectors of wordllama, computed from remembered words, are those of the package itself."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import wordllama
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from cognigraph.embed import WordLlamaEmbedder
from cognigraph.embed.word_vectors import TokenMeans, means
from tests.property.alphabets import STORABLE_TEXT


@cache
def package() -> Any:
    folder = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)


PIECES = st.sampled_from(
    [
        "boat",
        " ",
        "  ",
        "\u2581",
        "\n",
        "<s>",
        "</s>",
        "<unk>",
        "<",
        "é",
        "犬",
        "🙂",
        "'s",
        "x" * 70,
    ]
)
TEXTS = st.lists(PIECES, max_size=8).map("".join) | STORABLE_TEXT | st.text("ab \u2581", max_size=9)


@pytest.mark.slow
@given(st.lists(TEXTS, min_size=1, max_size=6))
def test_the_vectors_are_those_of_the_package(texts):
    expected = package().embed(texts, norm=False)
    found = WordLlamaEmbedder().embed(texts)
    assert found.dtype == np.float32
    assert found.tolist() == expected.tolist()  # to the last bit


@pytest.mark.slow
def test_no_token_reaches_into_the_next_word():
    vocabulary = package().tokenizer.get_vocab(with_added_tokens=False)
    assert not any("\u2581" in token.lstrip("\u2581") for token in vocabulary)


@pytest.mark.slow
def test_a_word_that_holds_a_special_token_of_letters_is_divided_as_a_whole():
    tokenizer = Tokenizer.from_str(package().tokenizer.to_str())
    tokenizer.no_padding()
    tokenizer.add_special_tokens(["boat"])
    vectors = np.concatenate([package().embedding, np.ones((1, 256), package().embedding.dtype)])
    texts = ["boat", "boats", "fjord"]
    found = TokenMeans(tokenizer, vectors).embed(texts)
    ids = [item.ids for item in tokenizer.encode_batch(texts, add_special_tokens=False)]
    assert ids[0] == [len(vectors) - 1]
    assert found.tolist() == means(vectors, [np.array(own, np.int32) for own in ids]).tolist()
